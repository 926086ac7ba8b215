//! Brings lines to the disk, at most once a second, off the path of calls.
//!
//! A line is with the kernel before its call acts, so it outlives this program however
//! that ends. Only a loss of power can take it back, and to rule that out for each line
//! would cost each call the milliseconds that a disk takes. A second of records is what
//! such a loss may cost; what is known to be on the disk stands in the head, so that
//! `verify` can tell this loss from a theft.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::log::{OnTrouble, Shared, Trouble};

const AT_MOST_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Syncer {
    bell: Arc<Bell>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Bell {
    wants: Mutex<Wants>,
    rung: Condvar,
}

#[derive(Default)]
struct Wants {
    sync: bool,
    stop: bool,
}

impl Syncer {
    pub(crate) fn new(shared: Arc<Shared>, on_trouble: OnTrouble) -> Self {
        let bell = Arc::new(Bell::default());
        let thread = {
            let bell = bell.clone();
            std::thread::Builder::new()
                .name("toolbay-audit".into())
                .spawn(move || work(&bell, &shared, &on_trouble))
        };
        Self {
            bell,
            // Without the thread lines reach the disk when the log is closed, and when
            // the kernel sees fit.
            thread: Mutex::new(thread.ok()),
        }
    }

    pub(crate) fn wake(&self) {
        let mut wants = self
            .bell
            .wants
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !wants.sync {
            wants.sync = true;
            self.bell.rung.notify_one();
        }
    }

    pub(crate) fn stop(&self) {
        let mut wants = self
            .bell
            .wants
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        wants.stop = true;
        self.bell.rung.notify_one();
        drop(wants);
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // A thread that broke has nothing left to wait for.
            let _ = thread.join();
        }
    }
}

fn work(bell: &Bell, shared: &Shared, on_trouble: &OnTrouble) {
    loop {
        let wants = bell.wants.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wants = bell
            .rung
            .wait_while(wants, |wants| !wants.sync && !wants.stop)
            .unwrap_or_else(PoisonError::into_inner);
        if wants.stop {
            return;
        }
        wants.sync = false;
        drop(wants);
        if let Err(error) = shared.sync() {
            on_trouble(&Trouble::NotOnDisk {
                reason: error.to_string(),
            });
        }
        let wants = bell.wants.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = bell
            .rung
            .wait_timeout_while(wants, AT_MOST_EVERY, |wants| !wants.stop);
        drop(waited);
    }
}
