//! What is protected and hidden unless somebody says otherwise.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Names that decide what runs outside the cage, wherever they stand in a project. Whole
/// folders are meant where they are folders. In lower case.
pub(crate) const PROTECTED: &[&str] = &[
    // Repositories: configuration and hooks run programs.
    ".git",
    ".gitconfig",
    ".hg",
    ".jj",
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
    // Shells and sessions: run at the next start, or on entering a folder.
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
    // Keys.
    ".ssh",
    ".gnupg",
    ".netrc",
];

/// Paths below a home that run something or hold keys, beside the names above: protected
/// where a home itself may be written to.
const IN_HOMES: &[&str] = &[
    ".config",
    ".local/bin",
    ".local/share",
    ".local/state",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/config",
    ".cargo/env",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    "bin",
];

/// Keys, tokens and passwords below a home.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/op",
    ".config/doctl",
    ".config/rclone",
    ".config/sops",
    ".config/age",
    ".config/git/credentials",
    ".config/containers/auth.json",
    ".config/github-copilot",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".docker",
    ".kube",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".boto",
    ".s3cfg",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
];

/// Secrets of the machine that only its administrator can read anyway; this host may be it.
const OF_THE_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/spool/cron",
];

/// Whether no command may change a file or folder of this name, wherever it stands in a project.
pub fn is_protected(name: &OsStr) -> bool {
    // Some file systems do not tell case apart.
    let name = name.to_string_lossy().to_lowercase();
    PROTECTED.contains(&name.as_str())
}

/// Which paths nobody in a cage may read, by default.
pub fn secrets(home: Option<&Path>) -> Vec<PathBuf> {
    let in_home = home
        .into_iter()
        .flat_map(|home| SECRETS.iter().map(|part| home.join(part)));
    let of_the_machine = OF_THE_MACHINE.iter().map(PathBuf::from);
    let host_keys = std::fs::read_dir("/etc/ssh").into_iter().flatten();
    let host_keys = host_keys
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("ssh_host_") && name.ends_with("_key")
        });
    in_home.chain(of_the_machine).chain(host_keys).collect()
}

/// Which paths of a home stay unchanged, by default, even where the home may be written to.
pub fn home_controls(home: &Path) -> Vec<PathBuf> {
    IN_HOMES.iter().map(|part| home.join(part)).collect()
}
