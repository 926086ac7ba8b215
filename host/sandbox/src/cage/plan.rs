//! What the host tells its helper: everything about one command and its cage.
//!
//! It travels through a socket that nobody else holds, never through arguments or the
//! environment, which the inside of a cage could read.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::guard::Guard;
use super::limits::Limits;
use super::programs::ProgramGuard;

/// The walls that stand around a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Walls {
    /// Namespaces of our own making.
    Namespaces,
    /// Bubblewrap made the namespaces and the mounts; the helper adds the rest inside.
    Bubblewrap,
    /// No namespaces: Landlock and seccomp alone.
    Kernel,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) walls: Walls,
    pub(crate) program: Program,
    /// In order: later ones lie on top of earlier ones.
    pub(crate) steps: Vec<Step>,
    pub(crate) guard: Guard,
    /// Which programs may be started, where not all may.
    pub(crate) programs: Option<ProgramGuard>,
    pub(crate) limits: Limits,
    /// What must stay unreadable where there are no mounts to hide it.
    pub(crate) unreadable: Vec<Text>,
    pub(crate) network: Network,
    pub(crate) input: Input,
    pub(crate) landlock_abi: i64,
    /// The user and group to become first, where this is user 0 and the roots are not.
    pub(crate) owner: Option<(u32, u32)>,
    /// The program and its arguments that make the walls, where we cannot.
    pub(crate) bubblewrap: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) arguments: Vec<Text>,
    pub(crate) environment: Vec<(Text, Text)>,
    pub(crate) folder: Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Network {
    None,
    /// A proxy of the host listens on this port of the loopback device inside.
    Proxy(u16),
}

/// What the command reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Input {
    None,
    /// A pipe that came with the plan; for a last word it is one to write to.
    FromHost,
}

/// One change to the file system that the command sees. All paths are real ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// An empty folder in memory that goes away with the command.
    Private { at: Text, bytes: u64 },
    /// The host's own, to be changed.
    Writable(Text),
    /// The host's own, not to be changed.
    ReadOnly(Text),
    /// The same, and nothing in it can be started or loaded as code.
    Data(Text),
    /// Neither to be changed nor read.
    Hidden(Text),
}

/// What the helper tells the host, a line each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Report {
    /// The doorman refused something.
    Refused(String),
    /// The program is not there or does not start.
    NotStarted(String),
    /// The cage could not be built; nothing ran.
    Failed(String),
    Exit(i32),
    Signal(i32),
    /// Ended, because all processes together used too much memory.
    OutOfMemory,
    /// Ended, because there were too many processes.
    TooManyProcesses,
}

/// A path or an argument, which need not be text. Written as text where it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Text(pub(crate) OsString);

impl Text {
    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl<T: AsRef<OsStr> + ?Sized> From<&T> for Text {
    fn from(text: &T) -> Self {
        Self(text.as_ref().to_owned())
    }
}

impl From<PathBuf> for Text {
    fn from(path: PathBuf) -> Self {
        Self(path.into_os_string())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form<'a> {
    Text(std::borrow::Cow<'a, str>),
    Bytes(Vec<u8>),
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => Form::Text(text.into()),
            None => Form::Bytes(self.0.as_bytes().to_vec()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Form::deserialize(deserializer)? {
            Form::Text(text) => text.into_owned().into(),
            Form::Bytes(bytes) => OsString::from_vec(bytes),
        }))
    }
}

/// A plan as it travels: its length, then itself. Once for each process that reads one: with
/// bubblewrap in between, the inner one cannot inherit what the outer one read.
pub(crate) fn frame(plan: &Plan) -> serde_json::Result<Vec<u8>> {
    let body = serde_json::to_vec(plan)?;
    let mut one = (body.len() as u32).to_le_bytes().to_vec();
    one.extend(body);
    Ok(match plan.walls {
        Walls::Namespaces | Walls::Kernel => one,
        Walls::Bubblewrap => one.repeat(2),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_no_text_survives_the_journey() {
        for bytes in [&b"plain"[..], b"\xff\xfe", b"quote\"\n", b""] {
            let text = Text(OsString::from_vec(bytes.to_vec()));
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text, "{json}");
        }
    }
}
