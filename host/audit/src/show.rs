//! Reads the log for people and programs, record by record. It does not verify.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use toolbay_contract::Behavior;

use crate::error::LogError;
use crate::lines::Lines;
use crate::record::{Kind, Record};
use crate::seal::Seal;
use crate::snapshot::{Part, Snapshot};

/// Which records to show. What is not said does not matter.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub session: Option<String>,
    pub tool: Option<String>,
    pub kind: Option<Kind>,
    pub decision: Option<Behavior>,
    pub call: Option<String>,
    /// From this time on; as [`crate::parse_time`] answers.
    pub since: Option<String>,
    /// Before this time.
    pub until: Option<String>,
    /// Only the last so many of those that fit.
    pub last: Option<usize>,
}

impl Filter {
    fn fits(&self, record: &Record) -> bool {
        fn same(wanted: Option<&str>, is: Option<&str>) -> bool {
            wanted.is_none() || wanted == is
        }
        let what = &record.what;
        same(self.session.as_deref(), Some(&record.session))
            && same(self.tool.as_deref(), what.tool.as_deref())
            && same(self.call.as_deref(), what.call.as_deref())
            && self.kind.is_none_or(|kind| kind == record.kind)
            && (self.decision.is_none() || self.decision == what.decision)
            && self
                .since
                .as_ref()
                .is_none_or(|since| record.time >= *since)
            && self.until.as_ref().is_none_or(|until| record.time < *until)
    }
}

/// Something in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Record(Box<Record>),
    /// Whatever is asked for, it may have been in this line.
    Unreadable {
        file: String,
        line: u64,
    },
}

/// The records that fit, in order.
pub struct Show {
    folder: PathBuf,
    filter: Filter,
    parts: std::vec::IntoIter<Part>,
    open: Option<(String, Lines)>,
    /// What is left of the last so many, once they are known.
    last: Option<VecDeque<Result<Entry, LogError>>>,
}

/// Shows a log as it is now.
pub fn show(folder: &Path, filter: Filter) -> Result<Show, LogError> {
    let Snapshot { files, head, .. } = Snapshot::take(folder, None, &Seal::new(None))?;
    if files.is_empty() && head.is_none() {
        return Err(LogError::NoLog(folder.to_path_buf()));
    }
    if files.is_empty() {
        return Err(LogError::NoLog(folder.to_path_buf()));
    }
    Ok(Show {
        folder: folder.to_path_buf(),
        filter,
        parts: files.into_iter(),
        open: None,
        last: None,
    })
}

impl Iterator for Show {
    type Item = Result<Entry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(most) = self.filter.last else {
            return self.read();
        };
        if self.last.is_none() {
            let mut last = VecDeque::new();
            while let Some(entry) = self.read() {
                last.push_back(entry);
                if last.len() > most {
                    last.pop_front();
                }
            }
            self.last = Some(last);
        }
        self.last.as_mut()?.pop_front()
    }
}

impl Show {
    fn read(&mut self) -> Option<Result<Entry, LogError>> {
        loop {
            let Some((name, lines)) = &mut self.open else {
                let part = self.parts.next()?;
                self.open = Some((part.name.clone(), part.lines()));
                continue;
            };
            let piece = match lines.next() {
                Ok(Some(piece)) => piece,
                Ok(None) => {
                    self.open = None;
                    continue;
                }
                Err(error) => {
                    let path = self.folder.join(name);
                    self.open = None;
                    return Some(Err(LogError::Io(path, error)));
                }
            };
            match serde_json::from_slice::<Record>(piece.raw) {
                Ok(record) if self.filter.fits(&record) => {
                    return Some(Ok(Entry::Record(Box::new(record))));
                }
                Ok(_) => {}
                Err(_) => {
                    let line = piece.number;
                    return Some(Ok(Entry::Unreadable {
                        file: name.clone(),
                        line,
                    }));
                }
            }
        }
    }
}
