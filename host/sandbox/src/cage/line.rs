//! The host's end of the line: reports come in, sometimes with an open file.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use super::plan::Report;
use crate::kernel::socket;

/// Longer than any report; more without an end of line is not from our helper.
const LONGEST: usize = 64 << 10;

pub(super) struct Line {
    stream: UnixStream,
    unread: Vec<u8>,
}

/// What came.
pub(super) enum Word {
    Report(Report),
    /// The socket that the proxy shall listen on.
    Listener(OwnedFd),
    /// Nobody is left at the other end.
    End,
}

impl Line {
    pub(super) fn new(stream: std::os::unix::net::UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: UnixStream::from_std(stream)?,
            unread: Vec::new(),
        })
    }

    pub(super) async fn send(&mut self, plan: &[u8]) -> io::Result<()> {
        self.stream.write_all(plan).await
    }

    /// Tells the helper to end everything.
    pub(super) async fn stop(&mut self) {
        // If it is gone, everything has ended.
        let _ = self.stream.shutdown().await;
    }

    /// The next word. Nothing is lost when this is dropped while it waits.
    pub(super) async fn next(&mut self) -> Word {
        loop {
            if let Some(report) = self.take_report() {
                return Word::Report(report);
            }
            let mut buffer = [0; 4096];
            let stream = &self.stream;
            let read = async {
                stream.readable().await?;
                stream.try_io(Interest::READABLE, || {
                    socket::receive(stream.as_fd(), &mut buffer)
                })
            };
            match read.await {
                Ok((0, None)) => return Word::End,
                Ok((count, file)) => {
                    self.unread.extend_from_slice(&buffer[..count]);
                    if let Some(file) = file {
                        return Word::Listener(file);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Word::End,
            }
            if self.unread.len() > LONGEST {
                return Word::End;
            }
        }
    }

    fn take_report(&mut self) -> Option<Report> {
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            if let Ok(report) = serde_json::from_slice(&line) {
                return Some(report);
            }
        }
        None
    }
}
