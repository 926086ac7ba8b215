//! What `verify` has to say.

use std::fmt;

use serde::Serialize;

use crate::anchor::Anchor;
use crate::record::Missing;

/// Beyond so many findings the log is not one that was changed here and there.
const MOST_FINDINGS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every line is there and as it was written.
    Intact,
    /// So is every line that was written to its end; a crash left the start of one more.
    Torn,
    Tampered,
}

/// How the log ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "end")]
pub enum Tail {
    Whole,
    /// The next writer will say so in a line of its own.
    Torn {
        file: String,
        line: u64,
        bytes: u64,
    },
}

/// Something that no crash explains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub file: String,
    /// 0 where it is about the file as a whole.
    pub line: u64,
    #[serde(flatten)]
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "problem")]
pub enum Problem {
    /// The line has not the hash that it says it has.
    Changed,
    /// It has not even the form of a line.
    NotALine,
    /// Lines before this one are gone.
    Removed(Missing),
    /// The line has a number that was there before.
    OutOfPlace { seq: u64, expected: u64 },
    /// The line follows another one than it says.
    Unlinked,
    /// A file begins with a line that no file begins with.
    NoBeginning,
    /// Lines at the end are gone. If they had not reached the disk, a loss of power may
    /// have taken them.
    CutOff { missing: Missing, on_disk: bool },
    /// A file before this one is gone, and was not removed by the log itself.
    FileGone { name: String },
    /// The file that says where the log ends is gone.
    HeadGone,
    /// It is not as the log's writer leaves it.
    HeadChanged,
    /// A writer found it gone or changed; what was cut off before, nobody can say.
    HeadWasLost,
    /// Remains of a line that the next line speaks of are not there.
    RemainsGone,
    /// The log ends before a line that it had: its folder was put back to an earlier state.
    RolledBack {
        missing: Missing,
        /// When the last line that is left was written.
        since: String,
        on_disk: bool,
    },
    /// There is no log where one of so many lines was; 0 where nobody knows how many.
    LogGone { records: u64 },
    /// The log has another line where the anchor's was: it was put back, and gone on with.
    Replaced { seq: u64 },
    /// The file outside of the folder that says where the log ends is gone.
    AnchorGone,
    /// It is not as the log's writer leaves it.
    AnchorChanged,
    /// A writer found it gone or changed.
    AnchorWasLost,
    /// Not one line holds: the key is another one, or every line was changed.
    OtherKey,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub verdict: Verdict,
    pub files: u64,
    pub records: u64,
    /// The numbers of the first and the last line that are there.
    pub first: u64,
    pub last: u64,
    /// The hash of the last line. Noted elsewhere, it tells later whether the log was put
    /// back to an earlier state.
    pub last_hash: String,
    pub tail: Tail,
    /// Lines that crashes left unfinished, each spoken of by the line behind it.
    pub torn: u64,
    /// The newest file that the log itself removed.
    pub pruned: Option<String>,
    /// Events that could not be written, as the log says.
    pub lost: u64,
    pub findings: Vec<Finding>,
    /// Findings beyond those.
    pub more: u64,
}

impl Report {
    /// The last line, to be looked for later. None if there is no line.
    pub fn anchor(&self) -> Option<Anchor> {
        (self.last > 0).then(|| Anchor::new(self.last, &self.last_hash))
    }

    pub(crate) fn new() -> Self {
        Self {
            verdict: Verdict::Intact,
            files: 0,
            records: 0,
            first: 0,
            last: 0,
            last_hash: String::new(),
            tail: Tail::Whole,
            torn: 0,
            pruned: None,
            lost: 0,
            findings: Vec::new(),
            more: 0,
        }
    }

    pub(crate) fn find(&mut self, file: &str, line: u64, problem: Problem) {
        self.verdict = Verdict::Tampered;
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding {
                file: file.to_owned(),
                line,
                problem,
            });
        } else {
            self.more += 1;
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.problem),
            line => write!(f, "{}:{line}: {}", self.file, self.problem),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("the line was changed"),
            Self::NotALine => f.write_str("this is no line of the log"),
            Self::Removed(missing) => write!(f, "{} gone before this line", Which(*missing)),
            Self::OutOfPlace { seq, expected } => {
                write!(f, "record {seq} stands where {expected} belongs")
            }
            Self::Unlinked => f.write_str("the line does not belong behind the one before it"),
            Self::NoBeginning => f.write_str("the file does not begin like one of this log"),
            Self::CutOff { missing, on_disk } => {
                write!(f, "{} gone at the end", Which(*missing))?;
                if !on_disk {
                    f.write_str(" (a loss of power may have taken what had not reached the disk)")?;
                }
                Ok(())
            }
            Self::FileGone { name } => {
                write!(f, "{name} is gone, and the log did not remove it itself")
            }
            Self::HeadGone => f.write_str("the file is gone, so lines may be gone at the end"),
            Self::HeadChanged => f.write_str("the file was changed, or the key is another one"),
            Self::HeadWasLost => {
                f.write_str("audit.head was gone or changed by then; lines may be gone before this")
            }
            Self::RolledBack {
                missing,
                since,
                on_disk,
            } => {
                let lines = lines(missing.to.saturating_sub(missing.from).saturating_add(1));
                write!(f, "the log was rolled back: {lines} missing since ")?;
                match since.as_str() {
                    "" => f.write_str("its beginning")?,
                    since => write!(f, "{since}")?,
                }
                write!(f, " (records {} to {})", missing.from, missing.to)?;
                if !on_disk {
                    f.write_str(" (a loss of power may have taken what had not reached the disk)")?;
                }
                Ok(())
            }
            Self::LogGone { records: 0 } => f.write_str("the log's folder is gone, or emptied"),
            Self::LogGone { records } => {
                let lines = lines(*records);
                write!(f, "the log's folder is gone, or emptied: {lines} missing")
            }
            Self::Replaced { seq } => write!(
                f,
                "record {seq} is another one than was noted: the log was replaced, or rolled back and \
                 written on"
            ),
            Self::AnchorGone => f.write_str(
                "the file is gone, so that lines may be gone at the end, or the whole log before",
            ),
            Self::AnchorChanged => f.write_str("the file was changed, or the key is another one"),
            Self::AnchorWasLost => f.write_str(
                "the file that notes the end of the log outside of its folder was gone or changed by \
                 then; the log may have been rolled back before this",
            ),
            Self::RemainsGone => f.write_str("the remains that this line speaks of were changed"),
            Self::OtherKey => {
                f.write_str("no line holds: the key is another one, or all were changed")
            }
        }
    }
}

fn lines(count: u64) -> String {
    match count {
        1 => "1 line is".to_owned(),
        more => format!("{more} lines are"),
    }
}

struct Which(Missing);

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Missing { from, to } if from == to => write!(f, "record {from} is"),
            Missing { from, to } => write!(f, "records {from} to {to} are"),
        }
    }
}
