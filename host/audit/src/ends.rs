//! Whether a log still has the ends that it is known to have had.

use crate::anchor::Anchor;
use crate::head::Found;
use crate::line::Line;
use crate::record::{Missing, Record};
use crate::report::{Problem, Report};
use crate::seal::Hash;
use crate::verify::Against;

/// How the anchor is called in a report.
const FILE: &str = "the log's anchor";
const KEPT: &str = "the anchor that was given";

/// What is known from outside of the folder, and what the log has there.
pub(crate) struct Ends {
    known: Vec<End>,
    /// The file is there and says nothing that can be believed.
    is_damaged: bool,
    /// A file is expected and is not there.
    is_gone: bool,
    /// The log says that it has such a file.
    is_anchored: bool,
    last: Vec<u8>,
}

struct End {
    file: &'static str,
    seq: u64,
    hash: Option<Hash>,
    /// Lines up to this one had reached the disk.
    synced: u64,
    found: Option<Hash>,
}

impl Ends {
    pub(crate) fn new(against: Against<'_>, anchor: Option<Found>) -> Self {
        let mut known = Vec::new();
        if let Some(Found::Head(head)) = &anchor {
            known.push(End {
                file: FILE,
                seq: head.seq,
                hash: Some(head.hash),
                synced: head.synced,
                found: None,
            });
        }
        known.extend(against.kept.map(|kept: &Anchor| End {
            file: KEPT,
            seq: kept.seq,
            hash: Hash::parse(kept.hash.as_bytes()),
            // Whoever noted it saw it, whatever the disk had by then.
            synced: kept.seq,
            found: None,
        }));
        Self {
            known,
            is_damaged: matches!(anchor, Some(Found::Damaged)),
            is_gone: against.file.is_some() && anchor.is_none(),
            is_anchored: false,
            last: Vec::new(),
        }
    }

    /// The number of lines that there must have been, if there was a log at all.
    pub(crate) fn lines(&self) -> Option<u64> {
        let most = self.known.iter().map(|end| end.seq).max();
        let most = most.filter(|lines| *lines > 0);
        most.or(self.is_damaged.then_some(0))
    }

    /// A line that holds.
    pub(crate) fn line(&mut self, line: &Line<'_>, raw: &[u8]) {
        for end in &mut self.known {
            if end.seq == line.seq {
                end.found = Some(line.hash);
            }
        }
        self.last.clear();
        self.last.extend_from_slice(raw);
    }

    /// The log says here that the file was made. Answers whether it had said so before.
    pub(crate) fn anchored(&mut self) -> bool {
        std::mem::replace(&mut self.is_anchored, true)
    }

    pub(crate) fn judge(&self, report: &mut Report) {
        if self.is_damaged {
            report.find(FILE, 0, Problem::AnchorChanged);
        }
        if self.is_gone && self.is_anchored {
            report.find(FILE, 0, Problem::AnchorGone);
        }
        for end in &self.known {
            if end.seq > report.last {
                let record: Option<Record> = serde_json::from_slice(&self.last).ok();
                let problem = Problem::RolledBack {
                    missing: Missing {
                        from: report.last + 1,
                        to: end.seq,
                    },
                    since: record.map(|record| record.time).unwrap_or_default(),
                    on_disk: end.synced > report.last,
                };
                report.find(end.file, 0, problem);
            } else if end.found.is_some_and(|found| Some(found) != end.hash) {
                report.find(end.file, 0, Problem::Replaced { seq: end.seq });
            }
        }
    }
}
