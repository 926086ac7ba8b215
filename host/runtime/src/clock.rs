//! The time that a call may take. It stands still while a user is asked: how long somebody thinks
//! says nothing about the tool.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// One call's clock.
#[derive(Debug)]
pub(crate) struct CallClock {
    state: Mutex<Reading>,
    changed: Notify,
}

#[derive(Debug)]
struct Reading {
    /// What ran before the last pause.
    spent: Duration,
    /// Since when it runs.
    since: Instant,
    /// Several questions may be open at once.
    pauses: usize,
}

/// The clock stands still as long as this lives.
pub(crate) struct Paused(Arc<CallClock>);

impl CallClock {
    pub(crate) fn start() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(Reading {
                spent: Duration::ZERO,
                since: Instant::now(),
                pauses: 0,
            }),
            changed: Notify::new(),
        })
    }

    pub(crate) fn pause(self: &Arc<Self>) -> Paused {
        let mut state = self.state();
        if state.pauses == 0 {
            let ran = state.since.elapsed();
            state.spent += ran;
        }
        state.pauses += 1;
        drop(state);
        self.changed.notify_waiters();
        Paused(self.clone())
    }

    /// Waits until this much has run.
    pub(crate) async fn reached(&self, limit: Duration) {
        loop {
            // Taken before the state is read, so that no change in between is missed.
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let left = {
                let state = self.state();
                match state.pauses {
                    0 => Some(limit.saturating_sub(state.spent + state.since.elapsed())),
                    _ => None,
                }
            };
            match left {
                Some(Duration::ZERO) => return,
                Some(left) => tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    () = changed => {}
                },
                None => changed.await,
            }
        }
    }

    // A panic while the lock is held cannot leave it half-changed.
    fn state(&self) -> MutexGuard<'_, Reading> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.pauses -= 1;
        if state.pauses == 0 {
            state.since = Instant::now();
        }
        drop(state);
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_limit_is_never_reached_while_a_user_is_asked() {
        let clock = CallClock::start();
        let first = clock.pause();
        let second = clock.pause();
        for _ in 0..2 {
            let waited = tokio::time::timeout(SHORT * 3, clock.reached(SHORT)).await;
            assert!(waited.is_err(), "the clock ran on");
        }
        drop(first);
        let waited = tokio::time::timeout(SHORT * 3, clock.reached(SHORT)).await;
        assert!(waited.is_err(), "one question is still open");
        drop(second);
        clock.reached(SHORT).await;
    }

    #[tokio::test]
    async fn a_pause_that_begins_or_ends_while_somebody_waits_is_noticed() {
        let clock = CallClock::start();
        let pausing = async {
            let paused = clock.pause();
            tokio::time::sleep(SHORT * 3).await;
            drop(paused);
            Instant::now()
        };
        let reaching = async {
            clock.reached(SHORT).await;
            Instant::now()
        };
        let (reached, ended) = tokio::join!(reaching, pausing);
        assert!(reached > ended);
    }

    #[tokio::test]
    async fn what_ran_before_a_pause_counts() {
        let clock = CallClock::start();
        tokio::time::sleep(SHORT).await;
        drop(clock.pause());
        assert!(clock.state().spent >= SHORT);
        clock.reached(SHORT).await;
    }
}
