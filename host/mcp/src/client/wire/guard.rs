//! Around every way to a server: one that floods is told apart from one that is busy.

use std::time::Instant;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use super::Trouble;
use crate::client::bounds;
use crate::client::departures::Stay;

/// Lets answers through, and of what a server says unasked as much as it may say.
pub(in crate::client) struct Guarded<T> {
    inner: T,
    rate: Rate,
    trouble: Trouble,
    /// What it sends is not read any more.
    is_flooded: bool,
    /// Until the other side was told that this is over.
    _stay: Stay,
}

impl<T> Guarded<T> {
    pub(in crate::client) fn new(inner: T, trouble: Trouble, stay: Stay) -> Self {
        Self {
            inner,
            rate: Rate::new(Instant::now()),
            trouble,
            is_flooded: false,
            _stay: stay,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Guarded<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = self.inner.receive().await?;
            match &message {
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return Some(message),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
            }
            match self.rate.take(Instant::now()) {
                Taken::Passed => return Some(message),
                Taken::Dropped => {}
                Taken::Flood => {
                    self.is_flooded = true;
                    self.trouble.note(
                        "it sent far more notifications and requests than anybody could read",
                    );
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Who waits to hand over what nobody reads never ends: to drop it ends it.
        if self.is_flooded {
            return Ok(());
        }
        let closing = tokio::time::timeout(bounds::CLOSING, self.inner.close());
        closing.await.unwrap_or(Ok(()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Passed,
    Dropped,
    Flood,
}

/// A bucket that fills by the second.
struct Rate {
    left: u32,
    filled: Instant,
    dropped: u32,
}

impl Rate {
    fn new(now: Instant) -> Self {
        Self {
            left: bounds::BURST,
            filled: now,
            dropped: 0,
        }
    }

    fn take(&mut self, now: Instant) -> Taken {
        let seconds = now.saturating_duration_since(self.filled).as_secs();
        if seconds > 0 {
            let more = u32::try_from(seconds).unwrap_or(u32::MAX);
            let more = more.saturating_mul(bounds::PER_SECOND);
            self.left = self.left.saturating_add(more).min(bounds::BURST);
            self.filled = now;
        }
        if self.left > 0 {
            self.left -= 1;
            return Taken::Passed;
        }
        self.dropped += 1;
        if self.dropped > bounds::FLOOD {
            return Taken::Flood;
        }
        Taken::Dropped
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_passes_and_a_flood_does_not() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        let passed = |rate: &mut Rate, now, count: u32| {
            (0..count)
                .filter(|_| rate.take(now) == Taken::Passed)
                .count() as u32
        };
        assert_eq!(passed(&mut rate, start, 1_000), bounds::BURST);
        let later = start + Duration::from_secs(1);
        assert_eq!(passed(&mut rate, later, 1_000), bounds::PER_SECOND);
        let much_later = start + Duration::from_secs(1_000);
        assert_eq!(passed(&mut rate, much_later, 1_000), bounds::BURST);
        let last = (0..=bounds::FLOOD).map(|_| rate.take(much_later)).last();
        assert_eq!(last, Some(Taken::Flood));
    }
}
