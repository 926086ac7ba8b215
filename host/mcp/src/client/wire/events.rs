//! Server-sent events, none of which is larger than a message may be.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use sse_stream::{Error as SseError, Sse, SseStream};
use toolbay_contract::JsonCount;

use crate::client::bounds;

/// The events of a body.
pub(super) fn events<S, E>(body: S) -> BoxStream<'static, Result<Sse, SseError>>
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    let bounded = Bounded {
        body,
        since: 0,
        count: JsonCount::default(),
        at_line_start: true,
        is_over: false,
    };
    SseStream::from_bytes_stream(bounded).boxed()
}

/// Counts the bytes since the last empty line, which is what ends an event.
struct Bounded<S> {
    body: S,
    since: usize,
    /// Of the values since then. The library reads them before anybody here sees them.
    count: JsonCount,
    at_line_start: bool,
    is_over: bool,
}

impl<S> Bounded<S> {
    fn check(&mut self, bytes: &[u8]) -> Result<(), String> {
        for byte in bytes {
            self.since += 1;
            self.count.add(std::slice::from_ref(byte));
            let counted = self.count.size().within(bounds::VALUES);
            counted.map_err(|error| error.to_string())?;
            match byte {
                b'\n' if self.at_line_start => {
                    self.since = 0;
                    self.count = JsonCount::default();
                }
                b'\n' => self.at_line_start = true,
                b'\r' => {}
                _ => self.at_line_start = false,
            }
            if self.since > bounds::MESSAGE {
                return Err(format!("an event of more than {} bytes", bounds::MESSAGE));
            }
        }
        Ok(())
    }
}

impl<S, E> Stream for Bounded<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: std::error::Error + Send + Sync + 'static,
{
    type Item = Result<Bytes, std::io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let Poll::Ready(next) = self.body.poll_next_unpin(context) else {
            return Poll::Pending;
        };
        Poll::Ready(next.map(|bytes| {
            let bytes = bytes.map_err(std::io::Error::other)?;
            let Err(excess) = self.check(&bytes) else {
                return Ok(bytes);
            };
            self.is_over = true;
            Err(std::io::Error::other(format!("it sent {excess}")))
        }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    type Parts = Vec<Result<Bytes, std::io::Error>>;

    async fn count(parts: Parts) -> (usize, bool) {
        let mut events = events(futures_util::stream::iter(parts));
        let (mut good, mut broke) = (0, false);
        while let Some(event) = events.next().await {
            match event {
                Ok(_) => good += 1,
                Err(_) => broke = true,
            }
            if broke {
                break;
            }
        }
        (good, broke)
    }

    #[tokio::test]
    async fn many_events_pass_and_one_without_an_end_does_not() {
        let event = Bytes::from(format!("data: {}\r\n\r\n", "x".repeat(1 << 20)));
        let many: Parts = (0..64).map(|_| Ok(event.clone())).collect();
        assert_eq!(count(many).await, (64, false));
        let part = Bytes::from(vec![b'x'; 1 << 20]);
        let endless = (0..64).map(|_| Ok(part.clone()));
        let parts: Parts = std::iter::once(Ok(Bytes::from_static(b"data: ")))
            .chain(endless)
            .collect();
        assert_eq!(count(parts).await, (0, true));
    }

    #[tokio::test]
    async fn an_event_of_too_many_values_does_not_pass_whatever_stands_before_it() {
        let values = |count: usize| format!("data: [{}]\n\n", ",".repeat(count));
        for (text, wanted) in [
            (values(bounds::VALUES / 2).repeat(4), (4, false)),
            (values(bounds::VALUES), (0, true)),
            (values(bounds::VALUES) + &values(1), (0, true)),
            // A quote that is no part of the data.
            (format!(": \"\n{}", values(bounds::VALUES)), (0, true)),
            (format!(": \"\r{}", values(bounds::VALUES)), (0, true)),
        ] {
            let parts: Parts = vec![Ok(Bytes::from(text))];
            assert_eq!(count(parts).await, wanted);
        }
    }
}
