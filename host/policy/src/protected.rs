//! Names whose content other programs run or obey: the one list for the component fence, the cage,
//! the modes and the approval card.
//!
//! To change such a file is more than an edit, because something outside of every sandbox acts on
//! it later: a hook of a repository, a task of an editor, a line of a shell's start-up file. So a
//! grant for a folder never includes them. A call changes one only if the call itself names it, and
//! a rule or a user permits that very name.

use std::ffi::OsStr;
use std::path::Path;

/// Wherever they stand; whole folders where they are folders. In lower case: some file systems do
/// not tell case apart.
const PROTECTED: &[&str] = &[
    // Repositories: configuration and hooks run programs.
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".hg",
    ".hgrc",
    ".svn",
    ".jj",
    ".husky",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    // Agents: settings, hooks, commands, servers.
    ".toolbay",
    ".claude",
    ".claude.json",
    ".mcp.json",
    "mcp.json",
    ".codex",
    ".agents",
    ".agent",
    ".cursor",
    ".cursorrules",
    ".gemini",
    ".windsurf",
    ".continue",
    ".cline",
    ".clinerules",
    ".roo",
    ".kiro",
    ".opencode",
    ".goose",
    ".qwen",
    ".amazonq",
    ".aider.conf.yml",
    // Editors: tasks, launchers, local configuration.
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".vs",
    ".devcontainer",
    ".devcontainer.json",
    ".exrc",
    ".vim",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".gvimrc",
    ".dir-locals.el",
    ".emacs",
    ".emacs.d",
    // Shells and desktops: run at the next start, or on entering a folder.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".envrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    ".screenrc",
    ".tmux.conf",
    ".gdbinit",
    ".lldbinit",
    // Package managers: registries, and scripts that run with every install.
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    // Keys.
    ".ssh",
    ".gnupg",
    ".netrc",
];

/// Settings of build servers. A list of its own, because a git command that was permitted writes
/// them whenever it checks something out.
const BUILD_SERVERS: &[&str] = &[
    ".github",
    ".gitlab-ci.yml",
    ".forgejo",
    ".gitea",
    ".circleci",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker",
    ".woodpecker.yml",
    ".buildkite",
    ".cirrus.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
];

/// The protected names, in lower case.
pub fn protected_names() -> &'static [&'static str] {
    PROTECTED
}

/// Protected too, but for git: what a permitted git command checks out.
pub fn ci_names() -> &'static [&'static str] {
    BUILD_SERVERS
}

/// Whether a file or folder of this name is protected, wherever it stands.
pub fn is_protected(name: &OsStr) -> bool {
    // Asked for each part of each path that is opened: nearly all names end here.
    if may_be_protected(name.as_encoded_bytes()) {
        let name = folded(&name.to_string_lossy());
        let name = name.as_str();
        PROTECTED.contains(&name) || BUILD_SERVERS.contains(&name)
    } else {
        false
    }
}

/// Whether a name begins as one of the list does, or as something that may look like it.
fn may_be_protected(name: &[u8]) -> bool {
    match name.first() {
        Some(b'.') => true,
        Some(first) if first.is_ascii() => {
            let first = first.to_ascii_lowercase();
            b"abjlm".contains(&first)
        }
        Some(_) => true,
        None => false,
    }
}

/// A name as file systems compare it that do not tell case apart: some of them fold all of Unicode
/// and skip what cannot be seen, so that `.ſſh` opens `.ssh`.
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let is_blank = |c: char| {
        let is_filler = matches!(
            c,
            '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        );
        !c.is_ascii() && (is_filler || !c.is_alphanumeric())
    };
    let seen = name.chars().filter(|c| !is_blank(*c));
    let upper = seen.flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

/// The first protected name in what lies below `base` on the way to a path, or in the whole path
/// if it does not lie there.
pub(crate) fn protected_part<'a>(base: &Path, path: &'a Path) -> Option<&'a OsStr> {
    // Most paths have no such part at all, which is seen without taking them apart.
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes.split(|byte| *byte == b'/').any(may_be_protected) {
        return None;
    }
    let below = path.strip_prefix(base).unwrap_or(path);
    let mut names = below.components().map(|part| part.as_os_str());
    names.find(|name| is_protected(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_below_the_base_and_in_any_case() {
        for (base, path, wanted) in [
            ("/p", "/p/.git/config", Some(".git")),
            ("/p", "/p/a/.GIT/hooks", Some(".GIT")),
            ("/p", "/p/src/.git.rs", None),
            ("/p/.claude/trees/x", "/p/.claude/trees/x/a.rs", None),
            ("/p", "/home/u/.bashrc", Some(".bashrc")),
            ("/p/.git", "/p/.git/config", None),
            ("/p/.git", "/p/.git/x/.vscode/tasks.json", Some(".vscode")),
            ("/p", "/p/.github/workflows/ci.yml", Some(".github")),
        ] {
            let found = protected_part(Path::new(base), Path::new(path));
            assert_eq!(found, wanted.map(OsStr::new), "{base} {path}");
        }
    }

    #[test]
    fn names_are_compared_as_a_file_system_may() {
        for (name, wanted) in [
            (".ſſh", true),
            (".g\u{200c}it", true),
            ("\u{feff}.git", true),
            ("MCP.json", true),
            ("LeftHook.YML", true),
            ("git", false),
            ("main.rs", false),
            ("läger.txt", false),
            ("", false),
        ] {
            assert_eq!(is_protected(OsStr::new(name)), wanted, "{name:?}");
        }
        for name in PROTECTED.iter().chain(BUILD_SERVERS) {
            assert!(is_protected(OsStr::new(&name.to_uppercase())), "{name}");
        }
    }

    #[test]
    fn each_name_stands_once_and_in_lower_case() {
        // What the cage is given.
        assert!(protected_names().contains(&".git") && ci_names().contains(&".github"));
        let given = protected_names().iter().chain(ci_names());
        let mut all: Vec<&str> = given.copied().collect();
        assert_eq!(all.len(), PROTECTED.len() + BUILD_SERVERS.len());
        let count = all.len();
        assert!(all.iter().all(|name| *name == name.to_lowercase()));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
