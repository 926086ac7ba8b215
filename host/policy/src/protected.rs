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
    let name = name.to_string_lossy().to_lowercase();
    let name = name.as_str();
    PROTECTED.contains(&name) || BUILD_SERVERS.contains(&name)
}

/// The first protected name in what lies below `base` on the way to a path, or in the whole path
/// if it does not lie there.
pub(crate) fn protected_part<'a>(base: &Path, path: &'a Path) -> Option<&'a OsStr> {
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
    fn each_name_stands_once_and_in_lower_case() {
        let mut all: Vec<&str> = PROTECTED.iter().chain(BUILD_SERVERS).copied().collect();
        let count = all.len();
        assert!(all.iter().all(|name| *name == name.to_lowercase()));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
