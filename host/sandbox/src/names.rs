//! Names that are protected, how they are compared, and what is hidden unless the caller says
//! otherwise.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Names that decide what runs outside the cage, wherever they stand below a path that may be
/// written to and whether they exist or not. Whole folders are meant where they are folders.
/// The caller has the list: components, modes and prompts go by the same one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtectedNames {
    /// No command may change them.
    pub always: Vec<String>,
    /// Only a command that may write to repositories may: a `git checkout` writes the settings
    /// of CI as it writes any other file of the tree.
    pub but_for_git: Vec<String>,
}

/// Paths below a home that run something or hold keys, beside protected names: closed where a
/// home itself may be written to.
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
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/configstore",
    ".config/hcloud",
    ".config/heroku",
    ".config/linode-cli",
    ".config/netlify",
    ".config/ngrok",
    ".config/scw",
    ".config/stripe",
    ".config/composer/auth.json",
    ".config/pulumi/credentials.json",
    ".mozilla",
    ".docker",
    ".kube",
    ".minikube",
    ".oci",
    ".fly",
    ".databrickscfg",
    ".snowflake",
    ".pulumi/credentials.json",
    ".kaggle",
    ".huggingface",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".composer/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".ivy2/.credentials",
    ".nuget/NuGet/NuGet.Config",
    ".sbt/.credentials",
    ".vercel",
    ".local/share/com.vercel.cli",
    ".wrangler",
    ".smbcredentials",
    ".msmtprc",
    ".fetchmailrc",
    ".mutt",
    ".offlineimaprc",
    ".authinfo",
    ".authinfo.gpg",
    ".electrum",
    ".bitcoin",
    ".ethereum",
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

impl ProtectedNames {
    /// The same as they are compared.
    pub(crate) fn folded(&self) -> Self {
        let fold = |list: &[String]| {
            let folded = list.iter().map(|name| folded(name.as_bytes()).into_owned());
            // What folds a text gives a text.
            let texts = folded.filter_map(|name| String::from_utf8(name).ok());
            texts.collect()
        };
        Self {
            always: fold(&self.always),
            but_for_git: fold(&self.but_for_git),
        }
    }
}

/// A name as file systems compare it that do not tell cases apart: some of them fold all of
/// Unicode and skip what cannot be seen, so that `.ſſh` opens `.ssh`.
pub(crate) fn folded(name: &[u8]) -> Cow<'_, [u8]> {
    if name.is_ascii() {
        if name.iter().any(u8::is_ascii_uppercase) {
            return name.to_ascii_lowercase().into();
        }
        return name.into();
    }
    match std::str::from_utf8(name) {
        Ok(text) => {
            let seen = text.chars().filter(|c| !is_ignored(*c));
            let upper = seen.flat_map(char::to_uppercase);
            let lower: String = upper.flat_map(char::to_lowercase).collect();
            lower.into_bytes().into()
        }
        Err(_) => name.to_ascii_lowercase().into(),
    }
}

/// Characters that such file systems skip.
fn is_ignored(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The names that the tests of this crate go by.
#[cfg(test)]
pub(crate) fn of_tests() -> ProtectedNames {
    let list = |text: &str| text.lines().map(str::to_owned).collect();
    ProtectedNames {
        always: list(include_str!("../tests/names/always.txt")),
        but_for_git: list(include_str!("../tests/names/but-for-git.txt")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_the_most_forgiving_file_system_does() {
        for (name, expected) in [
            (&b".git"[..], &b".git"[..]),
            (b".GiT", b".git"),
            (".\u{17f}sh".as_bytes(), b".ssh"),
            (".\u{df}h".as_bytes(), b".ssh"),
            (".\u{212a}shrc".as_bytes(), b".kshrc"),
            (".g\u{200c}it\u{feff}".as_bytes(), b".git"),
            (b".GIT\xff", b".git\xff"),
            (".\u{e9}".as_bytes(), ".\u{e9}".as_bytes()),
        ] {
            assert_eq!(&*folded(name), expected, "{name:?}");
        }
    }
}
