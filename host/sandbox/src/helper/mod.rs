//! The helper: this same program, started again to build a cage and to stand guard in it.
//!
//! Three processes stand between the host and a command. The *outer* one is what the host
//! starts; it waits, and kills when the host goes away. The *inner* one is the first process
//! of the cage: it builds the walls, then answers as the doorman and reaps. The *command* is
//! its child, which takes the last powers from itself before it becomes the program.
//! All of them have one thread, so that forking is safe.

mod command;
mod doorman;
mod doors;
mod fences;
mod filter;
mod follow;
mod inner;
mod keeper;
mod mounts;
mod outer;
mod report;
mod resolve;
mod usage;
mod walls;

use std::ffi::OsStr;

/// The first argument that makes a program the helper.
pub(crate) const ASKED: &str = "--toolbay-cage-helper";
/// The second one, behind bubblewrap: the walls stand.
pub(crate) const INSIDE: &str = "inside";
/// The second one, for a helper that stays and forks.
pub(crate) const KEEP: &str = "keep";

/// Becomes the helper if this program was started as one, and then never returns.
///
/// A program that wants cages calls this first in its `main`: before any thread, before
/// arguments are read.
pub fn main_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(ASKED)) {
        return;
    }
    match arguments.next() {
        Some(word) if word == KEEP => keeper::run(),
        Some(word) if word == INSIDE => outer::run_inside(),
        _ => outer::run(),
    }
}

/// Says what was being done when something failed.
pub(crate) trait While<T> {
    fn during(self, what: impl AsRef<str>) -> Result<T, String>;
}

impl<T> While<T> for std::io::Result<T> {
    fn during(self, what: impl AsRef<str>) -> Result<T, String> {
        self.map_err(|error| format!("{}: {error}", what.as_ref()))
    }
}
