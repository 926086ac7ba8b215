//! Where a guest's prints and log lines go: into its own bounded log, never to
//! the host's output.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The log of one instance.
pub(crate) struct Log {
    limit: usize,
    text: Mutex<Text>,
}

#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    dropped: u64,
}

impl Log {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            text: Mutex::default(),
        })
    }

    pub(crate) fn append(&self, bytes: &[u8]) {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.limit.saturating_sub(text.bytes.len());
        let taken = bytes.len().min(room);
        text.bytes.extend_from_slice(&bytes[..taken]);
        text.dropped += (bytes.len() - taken) as u64;
    }

    /// What was logged, with a note about what was dropped.
    pub(crate) fn take(&self) -> String {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = String::from_utf8_lossy(&text.bytes).into_owned();
        if text.dropped > 0 {
            all.push_str(&format!("\n[{} bytes more were dropped]", text.dropped));
        }
        text.bytes.clear();
        text.dropped = 0;
        all
    }
}

/// A guest's standard output or error.
#[derive(Clone)]
pub(crate) struct Print(pub(crate) Arc<Log>);

impl IsTerminal for Print {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Print {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // Only WASI 0.3 asks for this; what it would write is dropped.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Print {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Print {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 * 1024)
    }
}
