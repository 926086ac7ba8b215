//! Walks the whole chain and finds what is not as it was written.

use std::collections::BTreeMap;
use std::path::Path;

use crate::anchor::Anchor;
use crate::ends::Ends;
use crate::error::LogError;
use crate::head::Found;
use crate::key::Key;
use crate::line::{self, LONGEST, Line};
use crate::lines::Piece;
use crate::place::{CURRENT, HEAD, number_of, rotated_name};
use crate::record::{Chain, Kind, Missing, Record};
use crate::report::{Problem, Report, Tail, Verdict};
use crate::seal::{Hash, Seal, Sum};
use crate::snapshot::{Part, Snapshot};

/// What is known of a log from outside of its folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Against<'a> {
    /// The file that its writers keep.
    pub file: Option<&'a Path>,
    /// What somebody noted elsewhere.
    pub kept: Option<&'a Anchor>,
}

/// Verifies a log. With a key, lines that were made without it do not hold: nobody can
/// replace the log by one without a key.
pub fn verify(folder: &Path, key: Option<&Key>) -> Result<Report, LogError> {
    verify_against(folder, key, Against::default())
}

/// The same, and that the log still has the lines that are known from elsewhere.
pub fn verify_against(
    folder: &Path,
    key: Option<&Key>,
    against: Against<'_>,
) -> Result<Report, LogError> {
    let seal = Seal::new(key);
    let Snapshot {
        files,
        head,
        anchor,
    } = Snapshot::take(folder, against.file, &seal)?;
    let mut ends = Ends::new(against, anchor);
    if files.is_empty() && matches!(head, None | Some(Found::Empty)) {
        return match ends.lines() {
            None => Err(LogError::NoLog(folder.to_path_buf())),
            Some(records) => {
                let mut report = Report::new();
                report.find(CURRENT, 0, Problem::LogGone { records });
                Ok(report)
            }
        };
    }
    let mut walk = Walk::new(&seal, &head, &mut ends);
    for part in files {
        let name = part.name.clone();
        walk.file(part)
            .map_err(|error| LogError::Io(folder.join(name), error))?;
    }
    let mut report = walk.finish(head.as_ref());
    ends.judge(&mut report);
    Ok(report)
}

/// Where the next line belongs.
#[derive(Clone, Copy)]
struct Place {
    seq: u64,
    prev: Hash,
}

/// Bytes that are no line.
struct Remains {
    line: u64,
    bytes: u64,
    sum: Sum,
    /// Whether a crash could have left them.
    torn: bool,
}

/// A file that is gone, as the first line of the next one tells of it.
struct Gone {
    number: u64,
    told_in: String,
    line: u64,
    last: (u64, Hash),
}

struct Walk<'a> {
    seal: &'a Seal,
    ends: &'a mut Ends,
    report: Report,
    file: String,
    /// The number of the file, and of the one before it that is there.
    number: Option<u64>,
    before: Option<u64>,
    begun: bool,
    next: Place,
    remains: Option<Remains>,
    gone: Vec<Gone>,
    /// Files that the log removed, with their last lines.
    pruned: BTreeMap<u64, (u64, Hash)>,
    holding: u64,
    /// The line that the head speaks of, and the hash that it has.
    head_seq: u64,
    at_head: Option<Hash>,
}

impl<'a> Walk<'a> {
    fn new(seal: &'a Seal, head: &Option<Found>, ends: &'a mut Ends) -> Self {
        let head_seq = match head {
            Some(Found::Head(head)) => head.seq,
            Some(Found::Empty | Found::Damaged) | None => 0,
        };
        Self {
            seal,
            ends,
            report: Report::new(),
            file: String::new(),
            number: None,
            before: None,
            begun: false,
            next: Place {
                seq: 1,
                prev: Hash::START,
            },
            remains: None,
            gone: Vec::new(),
            pruned: BTreeMap::new(),
            holding: 0,
            head_seq,
            at_head: None,
        }
    }

    fn file(&mut self, part: Part) -> std::io::Result<()> {
        // Only the file that is written may end within a line.
        self.drop_remains();
        if self.report.files > 0 && !self.begun {
            let file = self.file.clone();
            self.report.find(&file, 0, Problem::NoBeginning);
        }
        self.before = self.number;
        self.number = part.number;
        self.file.clone_from(&part.name);
        self.begun = false;
        self.report.files += 1;
        let mut lines = part.lines();
        while let Some(piece) = lines.next()? {
            self.piece(&piece);
        }
        Ok(())
    }

    fn piece(&mut self, piece: &Piece<'_>) {
        let line = piece.line().and_then(|bytes| line::read(bytes, self.seal));
        match line {
            Some(line) => self.line(piece, &line),
            None => {
                let torn = line::is_torn(piece.without_newline(), self.next.seq);
                let remains = self.remains.get_or_insert_with(|| Remains {
                    line: piece.number,
                    bytes: 0,
                    sum: self.seal.start(),
                    torn: true,
                });
                remains.bytes += piece.raw.len() as u64;
                remains.sum.add(piece.raw);
                remains.torn &= torn && remains.bytes <= LONGEST as u64;
            }
        }
    }

    fn line(&mut self, piece: &Piece<'_>, line: &Line<'_>) {
        self.report.records += 1;
        if !line.holds {
            self.drop_remains();
            self.find(piece.number, Problem::Changed);
            // The rest is judged as if this line were where it should be: one change is
            // one finding.
            self.begun = true;
            self.go_on(self.next.seq, line.hash);
            return;
        }
        self.holding += 1;
        let chain = self.chain_of(piece, line);
        self.check_remains(piece.number, chain.as_ref());
        self.check_beginning(piece.number, line, chain.as_ref());
        if let Some(chain) = &chain {
            self.read_chain(piece.number, line, chain);
        }
        let Place { seq, prev } = self.next;
        if line.seq > seq {
            let missing = Missing {
                from: seq,
                to: line.seq - 1,
            };
            self.find(piece.number, Problem::Removed(missing));
        } else if line.seq < seq {
            let problem = Problem::OutOfPlace {
                seq: line.seq,
                expected: seq,
            };
            self.find(piece.number, problem);
        } else if line.prev != prev {
            self.find(piece.number, Problem::Unlinked);
        }
        if line.seq == self.head_seq {
            self.at_head = Some(line.hash);
        }
        self.ends.line(line, piece.raw);
        self.go_on(line.seq, line.hash);
    }

    fn go_on(&mut self, seq: u64, hash: Hash) {
        if self.report.first == 0 {
            self.report.first = seq;
        }
        self.report.last = seq;
        self.report.last_hash = hash.hex();
        self.next = Place {
            seq: seq.saturating_add(1),
            prev: hash,
        };
    }

    /// What a line of the chain's own says. Others are not parsed: their hash is enough.
    fn chain_of(&self, piece: &Piece<'_>, line: &Line<'_>) -> Option<Chain> {
        let kind = Kind::parse(std::str::from_utf8(line.kind).ok()?)?;
        match kind {
            Kind::Decision | Kind::Call | Kind::Refusal | Kind::Ended | Kind::Dropped => None,
            Kind::Begun | Kind::Rotated | Kind::Pruned | Kind::Recovered | Kind::Lost => {
                let record: Record = serde_json::from_slice(piece.raw).ok()?;
                record.what.chain.map(|chain| *chain)
            }
        }
    }

    /// Remains of a line are explained by the line behind them, or are a finding.
    fn check_remains(&mut self, number: u64, chain: Option<&Chain>) {
        let told = chain.and_then(|chain| chain.torn.as_ref());
        match (self.remains.take(), told) {
            (None, None) => {}
            (Some(remains), Some(told)) => {
                let same = remains.bytes == told.bytes && remains.sum.end().hex() == told.hash;
                match (same, remains.torn) {
                    (true, true) => self.report.torn += 1,
                    (true, false) => self.find(remains.line, Problem::NotALine),
                    (false, _) => self.find(number, Problem::RemainsGone),
                }
            }
            (Some(remains), None) => self.find(remains.line, Problem::NotALine),
            (None, Some(_)) => self.find(number, Problem::RemainsGone),
        }
    }

    fn check_beginning(&mut self, number: u64, line: &Line<'_>, chain: Option<&Chain>) {
        let begins = line.kind == Kind::Begun.word().as_bytes();
        let rotates = line.kind == Kind::Rotated.word().as_bytes();
        if self.begun {
            if begins || rotates {
                self.find(number, Problem::NoBeginning);
            }
            return;
        }
        self.begun = true;
        if begins && self.before.is_none() && self.number.is_none_or(|number| number == 1) {
            self.number = Some(1);
            return;
        }
        let told = chain.and_then(|chain| number_of(chain.file.as_deref()?));
        let Some(told) = told.filter(|_| rotates) else {
            self.find(number, Problem::NoBeginning);
            return;
        };
        if self.number.is_some_and(|number| number != told + 1) {
            self.find(number, Problem::NoBeginning);
        }
        self.number = Some(told + 1);
        if self.before != Some(told) {
            self.gone.push(Gone {
                number: told,
                told_in: self.file.clone(),
                line: number,
                last: (line.seq.saturating_sub(1), line.prev),
            });
            // Where the lost file ended is judged once all is read.
            self.next = Place {
                seq: line.seq,
                prev: line.prev,
            };
        }
    }

    fn read_chain(&mut self, number: u64, line: &Line<'_>, chain: &Chain) {
        self.report.lost = self.report.lost.saturating_add(chain.lost.unwrap_or(0));
        if chain.head_lost {
            self.find(number, Problem::HeadWasLost);
        }
        if chain.anchored && self.ends.anchored() {
            self.find(number, Problem::AnchorWasLost);
        }
        if line.kind == Kind::Pruned.word().as_bytes() {
            let file = chain.file.as_deref().and_then(number_of);
            let last = chain.last.as_deref();
            let last = last.and_then(|hash| Hash::parse(hash.as_bytes()));
            if let (Some(file), Some(seq), Some(hash)) = (file, chain.last_seq, last) {
                self.pruned.insert(file, (seq, hash));
            }
        }
    }

    fn find(&mut self, line: u64, problem: Problem) {
        self.report.find(&self.file, line, problem);
    }

    fn drop_remains(&mut self) {
        if let Some(remains) = self.remains.take() {
            self.find(remains.line, Problem::NotALine);
        }
    }

    fn finish(mut self, head: Option<&Found>) -> Report {
        if self.report.records > 0 && self.holding == 0 {
            self.report.findings.clear();
            self.report.more = 0;
            self.find(1, Problem::OtherKey);
            return self.report;
        }
        for gone in std::mem::take(&mut self.gone) {
            let name = rotated_name(gone.number);
            if self.pruned.get(&gone.number) == Some(&gone.last) {
                self.report.pruned = Some(name);
            } else {
                let problem = Problem::FileGone { name };
                self.report.find(&gone.told_in, gone.line, problem);
            }
        }
        match head {
            None | Some(Found::Empty) => self.report.find(HEAD, 0, Problem::HeadGone),
            Some(Found::Damaged) => self.report.find(HEAD, 0, Problem::HeadChanged),
            Some(Found::Head(head)) => {
                if head.seq > self.report.last {
                    let missing = Missing {
                        from: self.report.last + 1,
                        to: head.seq,
                    };
                    let on_disk = head.synced > self.report.last;
                    self.report
                        .find(CURRENT, 0, Problem::CutOff { missing, on_disk });
                } else if head.seq > 0 && self.at_head.is_some_and(|hash| hash != head.hash) {
                    self.report.find(HEAD, 0, Problem::HeadChanged);
                }
            }
        }
        if let Some(remains) = self.remains.take() {
            if remains.torn && self.report.verdict == Verdict::Intact {
                self.report.verdict = Verdict::Torn;
                self.report.tail = Tail::Torn {
                    file: self.file.clone(),
                    line: remains.line,
                    bytes: remains.bytes,
                };
            } else {
                self.find(remains.line, Problem::NotALine);
            }
        }
        self.report
    }
}
