//! What a command says beside its outputs: on a pipe that it finds as its input, and writes to.
//!
//! Its outputs are passed on as they are, since nothing has to be found in them. Whatever a command
//! started may write here too: it is a word of the command, to be judged by whoever reads it.

use std::io;
use std::io::{PipeReader, PipeWriter};
use std::os::fd::OwnedFd;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// Bytes that are read in all. Who writes more is no longer listened to: a word is a path or so.
const MOST: usize = 64 << 10;
const CHUNK: usize = 4 << 10;
/// Stands behind each word; no path and no text has it inside.
const END: u8 = 0;

/// Of several words the last one counts. Serves one command.
#[derive(Debug, Default)]
pub struct LastWord {
    pipe: Option<Receiver>,
    bytes: Vec<u8>,
}

impl LastWord {
    /// Listens from now on. Needs a tokio runtime with I/O.
    pub(crate) fn listen(&mut self) -> io::Result<PipeWriter> {
        let (reader, writer): (PipeReader, PipeWriter) = io::pipe()?;
        self.pipe = Some(Receiver::from_owned_fd(OwnedFd::from(reader))?);
        self.bytes.clear();
        Ok(writer)
    }

    /// Takes what comes while a command runs, so that no writer has to wait. Nothing is lost when
    /// this is dropped while it waits; it never ends when nothing more is to come.
    pub(crate) async fn hear(&mut self) {
        let Some(pipe) = &mut self.pipe else {
            return std::future::pending().await;
        };
        let mut buffer = [0; CHUNK];
        let count = pipe.read(&mut buffer).await.unwrap_or(0);
        self.keep(&buffer[..count]);
    }

    /// The command has ended: takes what still lies there. Others may have the pipe open.
    pub(crate) fn finish(&mut self) {
        let mut buffer = [0; CHUNK];
        while let Some(pipe) = &self.pipe {
            // The runtime may not know yet that something came. The pipe does not block.
            let count = rustix::io::read(pipe, &mut buffer).unwrap_or(0);
            self.keep(&buffer[..count]);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if bytes.is_empty() || self.bytes.len() > MOST {
            self.pipe = None;
        }
    }

    /// What was said last, without its end. Half a word does not count.
    pub fn get(&self) -> Option<&[u8]> {
        let end = self.bytes.iter().rposition(|byte| *byte == END)?;
        let words = &self.bytes[..end];
        let begin = words.iter().rposition(|byte| *byte == END);
        Some(&words[begin.map_or(0, |at| at + 1)..])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn the_last_whole_word_counts() {
        for (said, wanted) in [
            (&b""[..], None),
            (b"half", None),
            (b"/a\0", Some(&b"/a"[..])),
            (b"/a\0/b\n\0half", Some(b"/b\n")),
            (b"/a\0\0", Some(b"")),
        ] {
            let mut word = LastWord::default();
            let mut writer = word.listen().unwrap();
            writer.write_all(said).unwrap();
            // The writer stays open, as one in the background may.
            word.finish();
            assert_eq!(word.get(), wanted, "{said:?}");
        }
    }

    #[tokio::test]
    async fn who_does_not_stop_is_not_listened_to() {
        let mut word = LastWord::default();
        let mut writer = word.listen().unwrap();
        let flood = std::thread::spawn(move || while writer.write_all(&[b'x'; 4096]).is_ok() {});
        while word.pipe.is_some() {
            word.hear().await;
        }
        flood.join().unwrap();
        assert!(word.bytes.len() <= MOST + CHUNK);
    }
}
