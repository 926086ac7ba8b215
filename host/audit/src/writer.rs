//! Appends lines, whoever else does.
//!
//! Several programs write one chain: each takes the lock, asks the head where the chain
//! ends, writes its line with one `write`, and puts the new end into the head. A line is
//! with the kernel before `append` returns, so that no end of this program loses it.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use crate::anchor::{AnchorFile, compared};
use crate::error::LogError;
use crate::head::{Found, Head};
use crate::line::{self, Draft};
use crate::lines::Lines;
use crate::lock::{Lock, Share};
use crate::place::{CURRENT, Folder, HEAD, How, Id, rotated_name};
use crate::record::{Actor, Body, Chain, Kind, Record, What};
use crate::recover::{End, find_end, rotation};
use crate::seal::Seal;

/// Room on the disk that is taken ahead of the lines, in pieces. A full disk is noticed
/// when the next piece cannot be had, while there is still room to write how the calls
/// end that run already.
const AHEAD: u64 = 128 << 10;
/// Room for some ten of the longest records.
const LEAST_AHEAD: u64 = 64 << 10;

/// When a file is full, and how many full ones are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    pub max_bytes: u64,
    pub keep: usize,
}

impl Default for Rotation {
    /// Some 20,000 records a file, which any editor opens; a quarter of a gigabyte at most.
    fn default() -> Self {
        Self {
            max_bytes: 16 << 20,
            keep: 15,
        }
    }
}

/// In whose name lines are written, and when.
pub(crate) struct Author<'a> {
    pub(crate) time: &'a str,
    pub(crate) session: &'a str,
    pub(crate) actor: &'a Actor,
}

impl Author<'_> {
    pub(crate) fn draft(&self, kind: Kind, what: &What) -> Result<Draft, LogError> {
        Draft::new(&Body {
            kind,
            time: self.time,
            session: self.session,
            actor: self.actor,
            what,
        })
    }

    pub(crate) fn chain(&self, kind: Kind, chain: Chain) -> Result<Draft, LogError> {
        let what = What {
            chain: Some(Box::new(chain)),
            ..What::default()
        };
        self.draft(kind, &what)
    }
}

struct Opened {
    file: Arc<File>,
    id: Id,
}

/// What has to reach the disk.
pub(crate) struct OpenFiles {
    pub(crate) head: Arc<File>,
    pub(crate) log: Arc<File>,
    pub(crate) anchor: Option<Arc<File>>,
}

pub(crate) struct Writer {
    folder: Folder,
    seal: Seal,
    rotation: Rotation,
    anchor: Option<AnchorFile>,
    head: Option<Opened>,
    log: Option<Opened>,
    /// How long the current file was when this writer last wrote, and as far as room is
    /// taken in it.
    length: u64,
    reserved: u64,
    /// What this writer put into the head: found again, it need not be checked.
    known_head: Option<(Vec<u8>, Head)>,
    buffer: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(folder: Folder, seal: Seal, rotation: Rotation) -> Self {
        Self {
            folder,
            seal,
            rotation,
            anchor: None,
            head: None,
            log: None,
            length: 0,
            reserved: 0,
            known_head: None,
            buffer: Vec::new(),
        }
    }

    /// Notes the end in this file as well.
    pub(crate) fn anchor_in(&mut self, path: &Path) -> Result<(), LogError> {
        self.anchor = Some(AnchorFile::new(path)?);
        Ok(())
    }

    /// Finds out whether the log can be gone on with, and writes nothing.
    pub(crate) fn check(&mut self) -> Result<(), LogError> {
        self.locked(|writer, head| {
            if let Some(anchor) = &mut writer.anchor {
                anchor.read(&writer.seal)?;
            }
            writer.end(head).map(drop)
        })
    }

    /// Writes a line, and answers with its number.
    pub(crate) fn append(&mut self, author: &Author<'_>, draft: &Draft) -> Result<u64, LogError> {
        self.locked(|writer, head| {
            let End {
                head: mut at,
                note,
                wants_newline,
            } = writer.end(head)?;
            let note = match &mut writer.anchor {
                Some(anchor) => compared(&anchor.read(&writer.seal)?, &mut at, note),
                None => note,
            };
            let mut lead: &[u8] = if wants_newline { b"\n" } else { b"" };
            if let Some((kind, chain)) = note {
                // Only the very first line must not come without a head that knows of it.
                if kind == Kind::Begun || at.seq == 0 {
                    writer.write_head(head, &at)?;
                }
                let draft = author.chain(kind, chain)?;
                writer.put(head, &mut at, lead, &draft)?;
                lead = b"";
            }
            if at.length >= writer.rotation.max_bytes && lead.is_empty() {
                writer.rotate(head, &mut at, author)?;
            }
            writer.put(head, &mut at, lead, draft)?;
            Ok(at.seq)
        })
    }

    /// Takes room for the lines to come. `Ok(false)` if there is none.
    pub(crate) fn reserve(&mut self) -> Result<bool, LogError> {
        let (Some(log), length) = (&self.log, self.length) else {
            return Ok(true);
        };
        if length + LEAST_AHEAD <= self.reserved {
            return Ok(true);
        }
        match take_room(&log.file, length, AHEAD) {
            Ok(()) => self.reserved = length + AHEAD,
            // Not every file system can; then a full disk is noticed by the line that
            // does not fit.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => self.reserved = u64::MAX,
            Err(Errno::NOSPC | Errno::DQUOT) => return Ok(false),
            Err(error) => return Err(self.folder.fail(CURRENT, error.into())),
        }
        Ok(true)
    }

    /// The open files, to wait for the disk without keeping others from writing.
    pub(crate) fn files(&self) -> Option<OpenFiles> {
        let (head, log) = (self.head.as_ref()?, self.log.as_ref()?);
        let anchor = self.anchor.as_ref().and_then(AnchorFile::file);
        Some(OpenFiles {
            head: head.file.clone(),
            log: log.file.clone(),
            anchor,
        })
    }

    /// Notes that the lines up to this one are on the disk.
    pub(crate) fn mark_synced(&mut self, seq: u64) -> Result<(), LogError> {
        self.locked(|writer, head| match writer.read_head(head)? {
            Found::Head(at) if at.synced < seq && seq <= at.seq => {
                let anchor = writer.anchor.as_mut();
                let anchor = anchor.map(|anchor| anchor.read(&writer.seal)).transpose()?;
                match anchor {
                    None => {}
                    Some(Found::Head(known)) if known.seq == at.seq && known.hash == at.hash => {}
                    // One that differs has something to say to the next line.
                    Some(_) => return Ok(()),
                }
                writer.write_head(head, &Head { synced: seq, ..at })
            }
            Found::Head(_) | Found::Empty | Found::Damaged => Ok(()),
        })
    }

    /// Does something while nobody else writes.
    fn locked<T>(
        &mut self,
        work: impl FnOnce(&mut Self, &File) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let path = self.folder.path().join(HEAD);
        for _ in 0..5 {
            let (file, id) = match &self.head {
                Some(head) => (head.file.clone(), head.id),
                None => {
                    let (file, id) = self.folder.open(HEAD, How::InPlace)?;
                    let file = Arc::new(file);
                    self.head = Some(Opened {
                        file: file.clone(),
                        id,
                    });
                    (file, id)
                }
            };
            let lock = Lock::take(&file, Share::Alone, &path)?;
            // Removed or replaced, it locks nobody out any more.
            if self.folder.stat(HEAD)?.is_some_and(|(now, _)| now == id) {
                let done = work(self, &file);
                drop(lock);
                return done;
            }
            self.head = None;
        }
        Err(LogError::Busy(path))
    }

    /// Where the log ends.
    fn end(&mut self, head: &File) -> Result<End, LogError> {
        let found = self.read_head(head)?;
        let now = self.folder.stat(CURRENT)?;
        if self.log.as_ref().map(|log| log.id) != now.map(|(id, _)| id) {
            self.log = None;
        }
        match found {
            Found::Head(head)
                if now.is_some_and(|(_, length)| length == head.length) && head.seq > 0 =>
            {
                Ok(End {
                    head,
                    note: None,
                    wants_newline: false,
                })
            }
            found @ (Found::Head(_) | Found::Empty | Found::Damaged) => {
                find_end(&self.folder, &self.seal, &found)
            }
        }
    }

    /// Writes a line at the end, then the head.
    fn put(
        &mut self,
        head: &File,
        at: &mut Head,
        lead: &[u8],
        draft: &Draft,
    ) -> Result<(), LogError> {
        let file = match &self.log {
            Some(log) => log.file.clone(),
            None => {
                let (file, id) = self.folder.open(CURRENT, How::Append)?;
                let file = Arc::new(file);
                self.reserved = 0;
                self.log = Some(Opened {
                    file: file.clone(),
                    id,
                });
                file
            }
        };
        self.buffer.clear();
        self.buffer.extend_from_slice(lead);
        let hash = line::write(&mut self.buffer, &self.seal, at.seq + 1, draft, at.hash);
        if let Err(error) = (&*file).write_all(&self.buffer) {
            // Part of the line may be there. If it cannot be taken back, the next line
            // says that this one is torn.
            let _ = file.set_len(at.length);
            self.reserved = 0;
            return Err(self.folder.fail(CURRENT, error));
        }
        at.seq += 1;
        at.hash = hash;
        at.length += self.buffer.len() as u64;
        self.length = at.length;
        self.write_head(head, at)
    }

    /// Puts the full file aside and begins the next one.
    fn rotate(&mut self, head: &File, at: &mut Head, author: &Author<'_>) -> Result<(), LogError> {
        self.log = None;
        if let Some(file) = self.folder.open_to_read(CURRENT)? {
            let synced = file.sync_data();
            synced.map_err(|error| self.folder.fail(CURRENT, error))?;
            at.synced = at.seq;
        }
        let full = at.file;
        self.folder.rename(CURRENT, &rotated_name(full))?;
        at.file += 1;
        at.length = 0;
        let chain = rotation(Chain::default(), full, at.seq, at.hash);
        let draft = author.chain(Kind::Rotated, chain)?;
        self.put(head, at, b"", &draft)?;
        self.prune(head, at, author)?;
        self.folder.sync()
    }

    /// Removes the oldest files, each after a line that says so: a file that is gone
    /// without one was removed by somebody else.
    fn prune(&mut self, head: &File, at: &mut Head, author: &Author<'_>) -> Result<(), LogError> {
        let rotated = self.folder.rotated()?;
        let spare = rotated.len().saturating_sub(self.rotation.keep);
        for (index, number) in rotated.iter().enumerate().take(spare) {
            let next = rotated.get(index + 1).copied();
            let next = next.map_or_else(|| CURRENT.to_owned(), rotated_name);
            // What the file ended with stands in the first line of the next.
            let chain = match self.first_record(&next)? {
                Some(first) => Chain {
                    file: Some(rotated_name(*number)),
                    last_seq: Some(first.seq.saturating_sub(1)),
                    last: Some(first.prev),
                    ..Chain::default()
                },
                // The next file is damaged; nothing is removed on its word.
                None => return Ok(()),
            };
            let draft = author.chain(Kind::Pruned, chain)?;
            self.put(head, at, b"", &draft)?;
            // If it cannot be removed it is kept, and tried again with the next one.
            let _ = self.folder.remove(&rotated_name(*number));
        }
        Ok(())
    }

    fn first_record(&self, name: &str) -> Result<Option<Record>, LogError> {
        let Some(file) = self.folder.open_to_read(name)? else {
            return Ok(None);
        };
        let mut lines = Lines::new(file, u64::MAX);
        while let Some(piece) = lines
            .next()
            .map_err(|error| self.folder.fail(name, error))?
        {
            // What a crash left of the first line may stand before it.
            if let Ok(record) = serde_json::from_slice(piece.raw) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    fn read_head(&self, head: &File) -> Result<Found, LogError> {
        let bytes = Head::read_bytes(head).map_err(|error| self.folder.fail(HEAD, error))?;
        if let Some((_, known)) = self.known_head.as_ref().filter(|(text, _)| *text == bytes) {
            return Ok(Found::Head(*known));
        }
        Ok(Head::found(&bytes, &self.seal))
    }

    fn write_head(&mut self, head: &File, at: &Head) -> Result<(), LogError> {
        let text = at.text(&self.seal);
        let written = head.write_all_at(&text, 0);
        written.map_err(|error| self.folder.fail(HEAD, error))?;
        // Last, so that a crash leaves it behind the log and never before it.
        if let Some(anchor) = &mut self.anchor {
            anchor.write(&text, at)?;
        }
        self.known_head = Some((text, *at));
        Ok(())
    }
}

/// Takes room behind the end of a file without making it longer.
#[cfg(target_os = "linux")]
fn take_room(file: &File, from: u64, bytes: u64) -> Result<(), Errno> {
    use rustix::fs::{FallocateFlags, fallocate};

    fallocate(file, FallocateFlags::KEEP_SIZE, from, bytes)
}

#[cfg(not(target_os = "linux"))]
fn take_room(_file: &File, _from: u64, _bytes: u64) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}
