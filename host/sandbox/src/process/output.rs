//! What a command writes, kept up to a limit.

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read past the limit and thrown away before the writer counts as one that
/// will not stop. A few pipes full: who ends soon keeps its exit code.
const SPILL: usize = 256 * 1024;

/// A quarter of what a pipe usually holds.
const CHUNK: usize = 16 * 1024;

/// The writer went far past the limit.
#[derive(Debug)]
pub(super) struct Flood;

/// One output of a command.
pub(super) struct Kept<R> {
    from: R,
    bytes: Vec<u8>,
    most: usize,
    spilled: usize,
}

impl<R: AsyncRead + Unpin> Kept<R> {
    pub(super) fn new(from: R, most: usize) -> Self {
        Self {
            from,
            bytes: Vec::new(),
            most,
            spilled: 0,
        }
    }

    /// Reads until the end. When it is dropped half way, what was read is still here.
    pub(super) async fn read(&mut self) -> Result<(), Flood> {
        let mut chunk = vec![0; CHUNK];
        loop {
            // A pipe that cannot be read gives nothing more, as one that is closed.
            let count = self.from.read(&mut chunk).await.unwrap_or(0);
            if count == 0 {
                return Ok(());
            }
            let room = self.most - self.bytes.len();
            let kept = count.min(room);
            self.bytes.extend_from_slice(&chunk[..kept]);
            self.spilled += count - kept;
            if self.spilled > SPILL {
                return Err(Flood);
            }
        }
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.spilled > 0
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
