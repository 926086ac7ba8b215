//! Ctrl-C: calls end with a result that says so, then the program ends.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use toolbay::contract::{KillReason, KillSwitch};

/// What shells report for a program that an interrupt has ended.
const INTERRUPTED: u8 = 130;

static CAME: AtomicBool = AtomicBool::new(false);

/// From here on an interrupt throws the switch; a second one ends the program at once. Needs a
/// running tokio.
pub fn heed(kill: KillSwitch) {
    let mut interrupts = match signal(SignalKind::interrupt()) {
        Ok(interrupts) => interrupts,
        Err(error) => {
            tracing::debug!(%error, "an interrupt ends the program at once");
            return;
        }
    };
    tokio::spawn(async move {
        interrupts.recv().await;
        CAME.store(true, Ordering::Release);
        kill.throw(KillReason::Cancelled);
        interrupts.recv().await;
        std::process::exit(INTERRUPTED.into());
    });
}

/// The exit code of a program that was interrupted, if it was.
pub fn exit_code() -> Option<ExitCode> {
    CAME.load(Ordering::Acquire)
        .then(|| ExitCode::from(INTERRUPTED))
}
