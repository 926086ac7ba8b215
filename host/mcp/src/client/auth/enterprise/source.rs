//! Where a secret of the configuration comes from: never from the configuration itself.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolbay_sandbox::process::{How, Script, run};

use crate::client::auth::secret::Secret;

/// Identity tokens of large companies list many groups; more than this is a mistake.
const MAX_BYTES: usize = 64 << 10;

/// A helper may have to ask a person for a finger.
const PATIENCE: Duration = Duration::from_secs(120);

/// Fetched whenever it is needed, so that a renewed one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Variable(String),
    /// Must be out of everybody else's reach.
    File(PathBuf),
    /// A command of the user's own; what it prints is the secret.
    Command(String),
}

/// What sources are read from. Only the program's own settings may read the environment,
/// so they hand it over.
#[derive(Clone)]
pub struct Environment {
    pub variables: Arc<[(OsString, OsString)]>,
    /// Where commands run.
    pub folder: PathBuf,
}

impl Environment {
    /// The secret, or what was wrong, without a letter of it.
    pub(in crate::client) async fn fetch(&self, source: &Source) -> Result<Secret, String> {
        let (text, place) = match source {
            Source::Variable(name) => {
                let found = self.variables.iter().rev().find(|(key, _)| key == &**name);
                let Some((_, value)) = found else {
                    return Err(format!("the environment variable {name} is not set"));
                };
                let place = format!("the environment variable {name}");
                (value.clone().into_encoded_bytes(), place)
            }
            Source::File(path) => (read(path)?, path.display().to_string()),
            Source::Command(text) => (self.run(text).await?, format!("the command {text:?}")),
        };
        let text = String::from_utf8(text).map_err(|_| format!("{place}: it is no text"))?;
        let text = text.trim();
        if text.is_empty() {
            return Err(format!("{place}: it is empty"));
        }
        if text.contains(char::is_control) {
            return Err(format!("{place}: it holds more than one line"));
        }
        Ok(Secret::new(text))
    }

    async fn run(&self, text: &str) -> Result<Vec<u8>, String> {
        let script = Script {
            text: text.to_owned(),
            cwd: self.folder.clone(),
            env: self.variables.to_vec(),
            stdin: Arc::from([]),
            time: PATIENCE,
            max_output: MAX_BYTES,
        };
        let fail = |reason: String| format!("the command {text:?} gave no secret: {reason}");
        let ended = run(script).await.map_err(|error| fail(error.to_string()))?;
        // Not what it printed: that may be the secret, or half of it.
        match ended.how {
            How::Exit(0) if ended.truncated => Err(fail("it prints too much".to_owned())),
            How::Exit(0) => Ok(ended.stdout),
            How::Exit(code) => Err(fail(format!("it ended with {code}"))),
            How::Signal(signal) => Err(fail(format!("signal {signal} ended it"))),
            How::TimedOut => Err(fail("it took too long".to_owned())),
            How::Flooded => Err(fail("it prints too much".to_owned())),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment(…)")
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let fail = |reason: String| format!("{}: {reason}", path.display());
    // It may be a pipe that nobody writes to.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(|error| fail(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| fail(error.to_string()))?;
    if !metadata.is_file() {
        return Err(fail("it is no ordinary file".to_owned()));
    }
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if !ours || metadata.mode() & 0o077 != 0 {
        return Err(fail(
            "others can reach it; a secret must be readable by you alone (chmod 600)".to_owned(),
        ));
    }
    let mut text = Vec::new();
    file.take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| fail(error.to_string()))?;
    if text.len() > MAX_BYTES {
        return Err(fail("it is too large for a secret".to_owned()));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn environment() -> Environment {
        let path = ("PATH".into(), "/usr/bin:/bin".into());
        let own = ("OWN".into(), " sesame \n".into());
        Environment {
            variables: Arc::from([path, own]),
            folder: std::env::temp_dir(),
        }
    }

    #[tokio::test]
    async fn a_secret_comes_from_a_variable_a_file_or_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "sesame\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        for source in [
            Source::Variable("OWN".into()),
            Source::File(path),
            Source::Command("printf %s \"$OWN\"".into()),
        ] {
            let secret = environment().fetch(&source).await.unwrap();
            assert_eq!(secret.reveal(), "sesame", "{source:?}");
            assert!(!format!("{secret:?}").contains("sesame"));
        }
    }

    #[tokio::test]
    async fn what_is_wrong_is_told_without_a_letter_of_the_secret() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        std::fs::write(&open, "sesame").unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
        let half = "echo sesame; echo sesame >&2; exit 3";
        for (source, expected) in [
            (Source::Variable("MISSING".into()), "MISSING is not set"),
            (Source::File(open), "others can reach it"),
            (Source::File(folder.path().to_owned()), "no ordinary file"),
            (Source::File("/dev/zero".into()), "no ordinary file"),
            (
                Source::Command("read -r x < /dev/null; true".into()),
                "it is empty",
            ),
            (
                Source::Command("echo \"$OWN$OWN\"".into()),
                "more than one line",
            ),
            (
                Source::Command("yes sesame".replace("sesame", "\"$OWN\"")),
                "prints too much",
            ),
            (
                Source::Command(half.replace("sesame", "\"$OWN\"")),
                "ended with 3",
            ),
        ] {
            let error = environment().fetch(&source).await.unwrap_err();
            assert!(error.contains(expected), "{source:?}: {error}");
            assert!(!error.contains("sesame"), "{error}");
        }
    }
}
