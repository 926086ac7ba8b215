//! Streams over files. Reads and writes happen at once on the calling thread:
//! handing each to another thread costs several times the work itself.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

/// Most bytes moved by one call, so that a guest cannot make the host allocate
/// what it likes.
pub(super) const MAX_CHUNK: usize = 4 * 1024 * 1024;

pub(super) struct FileReader {
    pub(super) file: Arc<File>,
    pub(super) position: u64,
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileReader {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl InputStream for FileReader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let buffer = read_at(&self.file, size, self.position)
            .map_err(|error| StreamError::LastOperationFailed(error.into()))?;
        if buffer.is_empty() && size > 0 {
            return Err(StreamError::Closed);
        }
        self.position += buffer.len() as u64;
        Ok(buffer.into())
    }
}

/// Larger buffers cost page faults, so that they are made no larger than the file.
const LARGE: usize = 65_536;

/// Reads up to `size` bytes, no more than are left and no more than one call may
/// move.
pub(super) fn read_at(file: &File, size: usize, position: u64) -> std::io::Result<Vec<u8>> {
    let mut wanted = size.min(MAX_CHUNK);
    if wanted > LARGE {
        let left = file.metadata()?.len().saturating_sub(position);
        wanted = wanted.min(usize::try_from(left).unwrap_or(usize::MAX));
    }
    let mut buffer = Vec::with_capacity(wanted);
    while buffer.len() < wanted {
        let at = position + buffer.len() as u64;
        let read = rustix::io::pread(file, rustix::buffer::spare_capacity(&mut buffer), at)?;
        if read == 0 {
            break;
        }
    }
    Ok(buffer)
}

/// Where a writer puts its bytes.
pub(super) enum Place {
    At(u64),
    End,
}

pub(super) struct FileWriter {
    pub(super) file: Arc<File>,
    pub(super) place: Place,
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileWriter {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for FileWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let failed = |error: std::io::Error| StreamError::LastOperationFailed(error.into());
        match &mut self.place {
            Place::At(position) => {
                self.file.write_all_at(&bytes, *position).map_err(failed)?;
                *position += bytes.len() as u64;
            }
            Place::End => {
                let end = self.file.metadata().map_err(failed)?.len();
                self.file.write_all_at(&bytes, end).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_CHUNK)
    }
}
