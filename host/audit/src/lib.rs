//! The log of what was decided and done, so that somebody else can prove it later.
//!
//! Lines of JSON in a folder of the state folder, where no tool reaches. Each line carries
//! the hash of the one before and its own; a key makes them impossible to forge without it.
//! Several programs write one chain (`writer`), a crash costs at most the line that was
//! being written (`recover`), and a full disk stops calls or is counted, as settings say
//! (`log`). `verify` finds every line that was changed, removed, added or moved.
//!
//! A whole folder that is put back to an earlier state, head and all, is a log that simply ended
//! earlier; so the end is noted once more beside the folder (`anchor`). Who puts both back is
//! found by nobody but those who noted an [`Anchor`] somewhere else.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod anchor;
mod ends;
mod error;
mod head;
mod key;
mod line;
mod lines;
mod lock;
mod log;
mod place;
mod record;
mod recover;
mod redact;
mod render;
mod report;
mod seal;
mod show;
mod snapshot;
mod sync;
mod time;
mod verify;
mod writer;

pub use anchor::Anchor;
pub use error::LogError;
pub use key::Key;
pub use log::{Log, OnFull, OnTrouble, Options, Trouble};
pub use record::{Actor, Chain, Kind, Missing, Record, Torn, What};
pub use redact::redact;
pub use render::{harmless, render};
pub use report::{Finding, Problem, Report, Tail, Verdict};
pub use show::{Entry, Filter, Show, show};
pub use time::{Clock, SystemClock, parse as parse_time, stamp};
pub use verify::{Against, verify, verify_against};
pub use writer::Rotation;
