//! The tokens that clients show: given, or made for this run.

use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use toolbay::mcp::{Access, Tokens};

use crate::args::McpServe;
use crate::places;

/// What lets others read or write.
const OTHERS: u32 = 0o077;

/// Who may speak to the server, and the file of a token that was made for this run.
pub(super) struct Door {
    pub(super) access: Access,
    pub(super) made: Option<Made>,
}

/// A token that nobody knows yet.
pub(super) struct Made {
    token: String,
}

/// The file with a token. Gone with the server.
pub(super) struct TokenFile {
    pub(super) path: PathBuf,
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        // If it stays, it holds a token that nobody takes any more.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Door {
    pub(super) fn of(how: &McpServe) -> anyhow::Result<Self> {
        let known = |text: &str| {
            let tokens = Tokens::parse(text).map_err(anyhow::Error::msg)?;
            anyhow::Ok(Self {
                access: Access::Tokens(tokens),
                made: None,
            })
        };
        if how.no_token {
            return Ok(Self {
                access: Access::Open,
                made: None,
            });
        }
        if let Some(file) = &how.token_file {
            let text = private(file).with_context(|| format!("--token-file {}", file.display()))?;
            return known(&text).with_context(|| file.display().to_string());
        }
        if let Some(name) = &how.token_env {
            let value = places::variable(name).and_then(|value| value.into_string().ok());
            let value = value.with_context(|| format!("--token-env: {name} is not set"))?;
            return known(&value).with_context(|| format!("the variable {name}"));
        }
        let token = words(&super::serve::random::<32>()?);
        let door = known(&token)?;
        Ok(Self {
            made: Some(Made { token }),
            ..door
        })
    }
}

impl Made {
    /// Writes the token where nobody but this user, and no tool, can read it.
    pub(super) fn write(self, state: &Path, port: u16) -> anyhow::Result<TokenFile> {
        let folder = state.join("mcp");
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .with_context(|| folder.display().to_string())?;
        let path = folder.join(format!("token-{port}"));
        // One that was left behind belongs to a server that had this port before.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| path.display().to_string());
            }
            _ => {}
        }
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let mut file = file.with_context(|| path.display().to_string())?;
        let written = TokenFile { path };
        writeln!(file, "{}", self.token)?;
        Ok(written)
    }
}

/// A file with a token holds one line.
const LONGEST_FILE: u64 = 64 << 10;

/// The text of a file that only this user can read. What is looked at is the file that is read,
/// whatever the name leads to by then.
fn private(file: &Path) -> anyhow::Result<String> {
    let file = toolbay::contract::regular_file::open(file)?;
    let found = file.metadata()?;
    let mode = found.permissions().mode();
    let me = rustix::process::geteuid().as_raw();
    if mode & OTHERS != 0 || (found.uid() != me && found.uid() != 0) {
        bail!("others can read it or change it; `chmod 600` it, as its owner");
    }
    let mut text = String::new();
    file.take(LONGEST_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_FILE {
        bail!("it is larger than {LONGEST_FILE} bytes");
    }
    Ok(text)
}

fn words(bytes: &[u8]) -> String {
    let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
    hex.collect()
}
