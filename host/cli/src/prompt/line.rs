//! Reads a line from a terminal, unless the question is withdrawn first.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

/// The longest line that is read. A terminal gives up sooner, but it may not be in the mode in
/// which it collects lines.
const LONGEST: usize = 64 << 10;
/// Where a terminal does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Typed(String),
    /// Nobody types there any more.
    Ended,
    Withdrawn,
}

/// Wakes whoever reads.
#[derive(Debug)]
pub(super) struct Bell(OwnedFd);

impl Bell {
    pub(super) fn new() -> rustix::io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        eventfd(0, flags).map(Self)
    }

    pub(super) fn ring(&self) {
        // It can only fail if it rings already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// Forgets what was typed so far: it was no answer to what is asked from here on.
pub(super) fn forget_typed(terminal: BorrowedFd<'_>) {
    // What is no terminal holds nothing that was typed too early.
    let _ = tcflush(terminal, QueueSelector::IFlush);
}

/// Columns of the terminal as it is now.
pub(super) fn width(terminal: BorrowedFd<'_>) -> usize {
    match tcgetwinsize(terminal) {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        Ok(_) | Err(_) => USUAL_WIDTH,
    }
}

/// Waits for a line. Nothing beyond it is read, so what is typed later is for others.
pub(super) fn read_line(terminal: BorrowedFd<'_>, bell: &Bell) -> Line {
    let mut line = Vec::new();
    loop {
        match wait(terminal, bell) {
            Ok(Woken::Bell) => return Line::Withdrawn,
            Ok(Woken::Typed) => {}
            Err(_) => return Line::Ended,
        }
        let mut buffer = [0; 4096];
        let read = match rustix::io::read(terminal, &mut buffer) {
            Ok(read) => read,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(_) => return Line::Ended,
        };
        let new = buffer.get(..read).unwrap_or_default();
        // Whoever ends the input in the middle of a line has not given an answer.
        if new.is_empty() || line.len() + read > LONGEST {
            return Line::Ended;
        }
        line.extend_from_slice(new);
        // In its ordinary mode a terminal hands out one line at a time; in others, Enter is `\r`.
        if let Some(end) = line.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            line.truncate(end);
            return Line::Typed(String::from_utf8_lossy(&line).into_owned());
        }
    }
}

enum Woken {
    Typed,
    Bell,
}

fn wait(terminal: BorrowedFd<'_>, bell: &Bell) -> rustix::io::Result<Woken> {
    loop {
        let mut both = [
            PollFd::from_borrowed_fd(terminal, PollFlags::IN),
            PollFd::from_borrowed_fd(bell.0.as_fd(), PollFlags::IN),
        ];
        match poll(&mut both, None) {
            Ok(_) => {}
            // Such as by a change of the terminal's size.
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error),
        }
        let [typed, rung] = both.map(|one| !one.revents().is_empty());
        // A question that nobody has any more is not answered.
        if rung {
            return Ok(Woken::Bell);
        }
        if typed {
            return Ok(Woken::Typed);
        }
    }
}
