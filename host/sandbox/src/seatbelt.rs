//! The profile for macOS's `sandbox-exec`: the same rules in the words of another kernel.
//!
//! A text and nothing else, so that it can be checked on every system. There the last rule
//! that fits decides: everything is denied, then some is allowed, then some of that is
//! denied again.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Where the program is; one of that name elsewhere would not be it.
pub const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// What the profile is about. All paths are real ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seatbelt {
    /// To be written to, except for protected names. Empty for a command that only reads.
    pub write: Vec<PathBuf>,
    /// A private folder for temporary files: anything goes there.
    pub temporary: PathBuf,
    /// Not to be changed, whether they exist or not.
    pub protect: Vec<PathBuf>,
    /// Names that must not be changed wherever they stand in `write`, in any case.
    pub names: Vec<String>,
    /// Neither to be changed nor read.
    pub deny_read: Vec<PathBuf>,
    /// The port of a proxy on the loopback device, if there is one.
    pub proxy: Option<u16>,
}

/// A path that the profile's language cannot say for sure.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path:?} cannot be put into a profile: {reason}")]
pub struct Unsayable {
    pub path: PathBuf,
    pub reason: &'static str,
}

/// What every program needs before it does anything.
const BASE: &str = "(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name \"com.apple.system.opendirectoryd.libinfo\")
  (global-name \"com.apple.system.notification_center\")
  (global-name \"com.apple.system.logger\")
  (global-name \"com.apple.bsd.dirhelper\"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read*)
(allow file-ioctl (literal \"/dev/tty\") (regex #\"^/dev/ttys[0-9]+$\"))
(allow file-write*
  (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (literal \"/dev/ptmx\")
  (literal \"/dev/stdout\") (literal \"/dev/stderr\") (regex #\"^/dev/ttys[0-9]+$\"))
(allow network-bind (local ip \"localhost:*\"))
(allow network-inbound (local ip \"localhost:*\"))
";

/// The whole profile.
pub fn profile(seatbelt: &Seatbelt) -> Result<String, Unsayable> {
    let mut text = BASE.to_owned();
    let mut line = |rule: String| {
        text.push_str(&rule);
        text.push('\n');
    };
    // There is no network of its own: loopback leads to the services of the host.
    line(match seatbelt.proxy {
        Some(port) => format!("(allow network-outbound (remote ip \"localhost:{port}\"))"),
        None => "(deny network-outbound)".into(),
    });
    line("(deny network-outbound (remote unix-socket))".into());
    for path in &seatbelt.write {
        line(format!("(allow file-write* (subpath {}))", quoted(path)?));
    }
    for path in &seatbelt.write {
        let place = quoted(path)?;
        for name in &seatbelt.names {
            let name = pattern(name);
            line(format!(
                "(deny file-write* (require-all (subpath {place}) (regex #\"/{name}(/|$)\")))"
            ));
        }
        // Nobody may move the ground itself.
        line(format!("(deny file-write-unlink (literal {place}))"));
    }
    for path in &seatbelt.protect {
        line(format!("(deny file-write* (subpath {}))", quoted(path)?));
        // What is above it must stay where it is, or the path would mean something else.
        for parent in parents(path, &seatbelt.write) {
            line(format!(
                "(deny file-write-unlink (literal {}))",
                quoted(parent)?
            ));
        }
    }
    line(format!(
        "(allow file-write* (subpath {}))",
        quoted(&seatbelt.temporary)?
    ));
    for path in &seatbelt.deny_read {
        let path = quoted(path)?;
        line(format!("(deny file-read* file-write* (subpath {path}))"));
    }
    // A file that runs as its owner outlives the cage.
    line("(deny file-write-setugid)".into());
    Ok(text)
}

/// The folders between a path and the place that may be written to around it.
fn parents<'a>(path: &'a Path, write: &[PathBuf]) -> Vec<&'a Path> {
    path.ancestors()
        .skip(1)
        .take_while(|parent| {
            write
                .iter()
                .any(|place| parent.starts_with(place) && parent != place)
        })
        .collect()
}

/// A path as the profile's language quotes it.
fn quoted(path: &Path) -> Result<String, Unsayable> {
    let unsayable = |reason| Unsayable {
        path: path.to_owned(),
        reason,
    };
    let text = path.to_str().ok_or_else(|| unsayable("it is no text"))?;
    if !path.is_absolute() {
        return Err(unsayable("it is not absolute"));
    }
    if text.chars().any(char::is_control) {
        return Err(unsayable("it holds a control character"));
    }
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{text}\""))
}

/// A name as a regular expression, in any case: the file system does not tell cases apart.
fn pattern(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            c if c.is_ascii_alphabetic() => {
                format!("[{}{}]", c.to_ascii_uppercase(), c.to_ascii_lowercase())
            }
            '.' => "\\.".into(),
            other => other.into(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
