//! Where the log ended, outside of its folder.
//!
//! A folder that is put back to an earlier state, head and all, is a log that simply ended
//! earlier; one that is removed is no log at all. So the head is written a second time, into a
//! file beside the folder (`AnchorFile`), by whoever writes a line and under the same lock. It is
//! written last: after a crash it is behind the log, which is nothing, and never before it. And
//! somebody may note the end somewhere else altogether (`Anchor`), where no one who reaches
//! this machine reaches.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::LogError;
use crate::head::{Found, Head};
use crate::place::{Folder, How, Id};
use crate::record::{Chain, Kind, Missing};
use crate::seal::{Hash, Seal};

/// Which form an anchor has.
const FORMAT: u32 = 1;

/// A line of the log, noted to be looked for later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    anchor: u32,
    pub seq: u64,
    pub hash: String,
}

impl Anchor {
    pub(crate) fn new(seq: u64, hash: &str) -> Self {
        Self {
            anchor: FORMAT,
            seq,
            hash: hash.to_owned(),
        }
    }

    /// Reads what `toolbay audit anchor` printed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let anchor: Self = serde_json::from_str(text.trim())
            .map_err(|error| format!("it is no anchor of an audit log: {error}"))?;
        if anchor.anchor != FORMAT {
            return Err(format!(
                "it is an anchor of the unknown form {}",
                anchor.anchor
            ));
        }
        if anchor.seq == 0 || Hash::parse(anchor.hash.as_bytes()).is_none() {
            return Err("its number or its hash is none that a log has".to_owned());
        }
        Ok(anchor)
    }
}

/// The file beside the folder.
pub(crate) struct AnchorFile {
    folder: Folder,
    name: String,
    opened: Option<(Arc<File>, Id)>,
    known: Option<(Vec<u8>, Head)>,
}

impl AnchorFile {
    pub(crate) fn new(path: &Path) -> Result<Self, LogError> {
        let (folder, name) = parts(path)?;
        Ok(Self {
            folder: Folder::make(folder)?,
            name,
            opened: None,
            known: None,
        })
    }

    /// What it says. It is made if need be.
    pub(crate) fn read(&mut self, seal: &Seal) -> Result<Found, LogError> {
        let now = self.folder.stat(&self.name)?.map(|(id, _)| id);
        let file = match &self.opened {
            Some((file, id)) if Some(*id) == now => file.clone(),
            _ => {
                let (file, id) = self.folder.open(&self.name, How::InPlace)?;
                let file = Arc::new(file);
                self.opened = Some((file.clone(), id));
                file
            }
        };
        let bytes = Head::read_bytes(&file);
        let bytes = bytes.map_err(|error| self.folder.fail(&self.name, error))?;
        if let Some((_, known)) = self.known.as_ref().filter(|(text, _)| *text == bytes) {
            return Ok(Found::Head(*known));
        }
        Ok(Head::found(&bytes, seal))
    }

    /// Writes the text of a head.
    pub(crate) fn write(&mut self, text: &[u8], at: &Head) -> Result<(), LogError> {
        let Some((file, _)) = &self.opened else {
            return Ok(());
        };
        let written = file.write_all_at(text, 0);
        written.map_err(|error| self.folder.fail(&self.name, error))?;
        self.known = Some((text.to_vec(), *at));
        Ok(())
    }

    pub(crate) fn file(&self) -> Option<Arc<File>> {
        self.opened.as_ref().map(|(file, _)| file.clone())
    }
}

/// What the file says, for those who only read; none if it is gone.
pub(crate) fn look(path: &Path, seal: &Seal) -> Result<Option<Found>, LogError> {
    let (folder, name) = parts(path)?;
    let folder = match Folder::look(folder) {
        Err(LogError::NoLog(_)) => return Ok(None),
        other => other?,
    };
    let Some(file) = folder.open_to_read(&name)? else {
        return Ok(None);
    };
    let bytes = Head::read_bytes(&file).map_err(|error| folder.fail(&name, error))?;
    Ok(match Head::found(&bytes, seal) {
        // Made, and never written.
        Found::Empty => None,
        found @ (Found::Head(_) | Found::Damaged) => Some(found),
    })
}

fn parts(path: &Path) -> Result<(&Path, String), LogError> {
    let name = path.file_name().and_then(|name| name.to_str());
    match (path.parent(), name) {
        (Some(folder), Some(name)) => Ok((folder, name.to_owned())),
        _ => Err(LogError::NotAFile(path.to_path_buf())),
    }
}

/// What the next line must say, by what the anchor says of the end that was found. Numbers are
/// never given twice: if the log was put back, the gap stays to be seen.
pub(crate) fn compared(
    found: &Found,
    at: &mut Head,
    note: Option<(Kind, Chain)>,
) -> Option<(Kind, Chain)> {
    match found {
        Found::Head(known) if known.seq < at.seq => note,
        Found::Head(known) if known.seq == at.seq && known.hash == at.hash => note,
        Found::Head(known) if known.seq > at.seq => {
            let (kind, mut chain) = note.unwrap_or((Kind::Recovered, Chain::default()));
            let from = chain.missing.map_or(at.seq + 1, |missing| missing.from);
            chain.missing = Some(Missing {
                from,
                to: known.seq,
            });
            at.seq = known.seq;
            Some((kind, chain))
        }
        // The lines at the end are gone and the head knows it: the note says so already.
        Found::Head(_)
            if note
                .as_ref()
                .is_some_and(|(_, chain)| chain.missing.is_some()) =>
        {
            note
        }
        Found::Head(_) | Found::Empty | Found::Damaged => {
            let (kind, mut chain) = note.unwrap_or((Kind::Recovered, Chain::default()));
            chain.anchored = true;
            Some((kind, chain))
        }
    }
}
