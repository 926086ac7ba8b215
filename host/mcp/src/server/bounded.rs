//! The input of a client on a pipe, none of whose lines is larger than a message may be.
//!
//! The library reads a line as a whole and then builds a message of it. So lines are counted before it
//! sees them, as requests over HTTP are. One that is too much ends nothing but itself: the library gets
//! its beginning, with a byte behind it that makes it no message, and the client is told.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;
use toolbay_contract::JsonCount;

use super::http::limits::{DEEPEST, MOST_BYTES, MOST_VALUES};

/// Bytes that are looked at at once.
const PIECE: usize = 8 << 10;
/// Reasons that wait to be told. Who sends worse faster than it reads does not read them anyway.
const MOST_REASONS: usize = 16;
/// No JSON text has this byte.
const NO_MESSAGE: &[u8] = b"\0\n";

/// Why lines were passed over.
pub(super) type Reasons = mpsc::Receiver<String>;

/// Input with an end to each of its lines.
pub(super) struct BoundedLines<R> {
    input: R,
    /// What passed and was not taken yet.
    passed: VecDeque<u8>,
    piece: Box<[u8]>,
    /// Of the line so far.
    bytes: usize,
    count: JsonCount,
    /// The rest of the line is passed over.
    is_skipping: bool,
    reasons: mpsc::Sender<String>,
}

impl<R> BoundedLines<R> {
    pub(super) fn new(input: R) -> (Self, Reasons) {
        let (sender, reasons) = mpsc::channel(MOST_REASONS);
        let lines = Self {
            input,
            passed: VecDeque::new(),
            piece: vec![0; PIECE].into(),
            bytes: 0,
            count: JsonCount::default(),
            is_skipping: false,
            reasons: sender,
        };
        (lines, reasons)
    }

    /// Lets bytes through, up to a line that is too much and again from the next one.
    fn pass(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_skipping {
                match self.check(part) {
                    Ok(()) => self.passed.extend(part),
                    Err(why) => {
                        self.is_skipping = true;
                        self.passed.extend(NO_MESSAGE);
                        // Nobody may have room for it.
                        let _ = self.reasons.try_send(why);
                    }
                }
            }
            if part.ends_with(b"\n") {
                (self.bytes, self.count) = (0, JsonCount::default());
                self.is_skipping = false;
            }
        }
    }

    /// Counts a part of a line.
    fn check(&mut self, part: &[u8]) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(part.len());
        if self.bytes > MOST_BYTES {
            return Err(format!("a message has {MOST_BYTES} bytes at most"));
        }
        self.count.add(part);
        let size = self.count.size();
        if size.depth > DEEPEST {
            return Err(format!(
                "more than {DEEPEST} arrays and objects inside each other"
            ));
        }
        let within = size.within(MOST_VALUES);
        within.map(drop).map_err(|error| error.to_string())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let lines = &mut *self;
        while lines.passed.is_empty() {
            let mut piece = std::mem::take(&mut lines.piece);
            let mut read = ReadBuf::new(&mut piece);
            let polled = Pin::new(&mut lines.input).poll_read(context, &mut read);
            let count = read.filled().len();
            if polled.is_ready() {
                lines.pass(&piece[..count]);
            }
            lines.piece = piece;
            ready!(polled)?;
            if count == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        let (first, _) = lines.passed.as_slices();
        let count = first.len().min(buffer.remaining());
        buffer.put_slice(&first[..count]);
        lines.passed.drain(..count);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_much_is_no_message_and_the_others_pass() {
        let line = |bytes: usize| format!("{}\n", "x".repeat(bytes - 1));
        let values = |count: usize| format!("{{\"a\":[{}]}}\n", ",".repeat(count - 3));
        for (text, why) in [
            (line(MOST_BYTES), None),
            (line(MOST_BYTES + 1), Some("bytes at most")),
            (line(64 << 20), Some("bytes at most")),
            (values(MOST_VALUES), None),
            (values(MOST_VALUES + 1), Some("values in one JSON text")),
            (values(MOST_VALUES * 10), Some("values in one JSON text")),
            ("[".repeat(DEEPEST) + "\n", None),
            ("[".repeat(DEEPEST + 1) + "\n", Some("inside each other")),
            ("[".repeat(1 << 20) + "\n", Some("inside each other")),
        ] {
            let (mut input, mut reasons) = BoundedLines::new(text.as_bytes().chain(&b"next\n"[..]));
            let mut read = String::new();
            input.read_to_string(&mut read).await.unwrap();
            let start: String = text.chars().take(20).collect();
            let (first, next) = read.split_once('\n').unwrap();
            assert_eq!(next, "next\n", "{start}");
            assert_eq!(first.ends_with('\0'), why.is_some(), "{start}");
            assert!(first.len() <= MOST_BYTES + 1, "{start}: {}", first.len());
            match why {
                None => assert_eq!(first.len() + 1, text.len(), "{start}"),
                Some(part) => {
                    let told = reasons.try_recv().unwrap();
                    assert!(told.contains(part), "{start}: {told}");
                }
            }
            assert!(reasons.try_recv().is_err(), "{start}");
        }
    }

    #[tokio::test]
    async fn a_line_without_an_end_takes_no_memory() {
        let (input, _reasons) =
            BoundedLines::new(tokio::io::repeat(b'x').take(MOST_BYTES as u64 * 20));
        let mut read = Vec::new();
        input.take(1 << 30).read_to_end(&mut read).await.unwrap();
        assert!(
            read.len() <= MOST_BYTES + NO_MESSAGE.len(),
            "{}",
            read.len()
        );
    }
}
