//! Bounds of a running command that its holder may change, and the pace of one that may write
//! for days.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::Limits;

/// How far a writer may be ahead of its pace before it has to wait.
const AHEAD: Duration = Duration::from_secs(1);

/// What holds for a command now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Wall time since its start; then everything is killed.
    pub time: Duration,
    /// Bytes of output that are passed on; who writes much more is killed.
    pub output: u64,
    /// Bytes a second that are read of its output at most. Who writes faster waits.
    pub pace: Option<u64>,
}

/// In whose hand it is, the bounds are.
#[derive(Debug)]
pub struct Leash(watch::Sender<Bounds>);

impl Leash {
    /// With the bounds that a command has by its limits.
    pub fn new(limits: &Limits) -> Self {
        Self::with(Bounds {
            time: limits.time,
            output: limits.output,
            pace: None,
        })
    }

    pub fn with(bounds: Bounds) -> Self {
        Self(watch::Sender::new(bounds))
    }

    /// What holds from now on. What has ended by then has ended.
    pub fn change(&self, bounds: Bounds) {
        self.0.send_replace(bounds);
    }

    pub(crate) fn follow(&self) -> watch::Receiver<Bounds> {
        self.0.subscribe()
    }
}

/// How much was read when.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// When a writer at its pace would have written what was read.
    due: Option<Instant>,
}

impl Pace {
    pub(crate) fn took(&mut self, count: usize, pace: Option<u64>) {
        let Some(pace) = pace else {
            self.due = None;
            return;
        };
        let now = Instant::now();
        let took = Duration::from_secs_f64(count as f64 / pace.max(1) as f64);
        self.due = Some(self.due.map_or(now, |due| due.max(now)) + took);
    }

    /// Until when nothing is read.
    pub(crate) fn wait(&self) -> Option<Instant> {
        let until = self.due?.checked_sub(AHEAD)?;
        (until > Instant::now()).then_some(until)
    }
}
