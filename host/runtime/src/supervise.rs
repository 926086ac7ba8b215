//! Waiting for a guest, and ending it.
//!
//! Cancellation comes in three steps: `context.is-cancelled` turns true and host
//! calls answer `cancelled` as soon as the switch is thrown; a guest that has not
//! come to an end shortly after is dropped, wherever it is. A guest in a loop
//! gives its thread back at each tick of the epoch; one that sleeps or waits for
//! the host is a future like any other.

use std::future::Future;
use std::time::Duration;

use toolbay_contract::{KillReason, KillSwitch};

use crate::clock::CallClock;

/// What a guest has between the signal and its end. Together with a tick it must
/// stay well below the tenth of a second that is promised.
const GRACE: Duration = Duration::from_millis(40);

/// How waiting ended.
pub(crate) enum End<T> {
    Done(T),
    Killed(KillReason),
}

/// Waits for the work until it is done, the limit passes, or one of the switches
/// is thrown. `call` is thrown in any case, so that the guest can see it.
pub(crate) async fn supervise<T>(
    work: impl Future<Output = T>,
    (clock, limit): (&CallClock, Duration),
    call: &KillSwitch,
    plugin: &KillSwitch,
) -> End<T> {
    tokio::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return End::Done(done),
        () = call.thrown() => {}
        () = plugin.thrown() => call.throw(plugin.reason().unwrap_or(KillReason::Cancelled)),
        () = clock.reached(limit) => call.throw(KillReason::Deadline(limit)),
    }
    match tokio::time::timeout(GRACE, &mut work).await {
        Ok(done) => End::Done(done),
        Err(_) => End::Killed(call.reason().unwrap_or(KillReason::Cancelled)),
    }
}
