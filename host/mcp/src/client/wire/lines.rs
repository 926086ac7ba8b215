//! One message a line, over any pair of streams: a process, or the other half of this program.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::{Trouble, excerpt, message};
use crate::client::bounds;

/// Reads and writes lines. A line that is too long, or that is JSON but no message, ends the
/// connection: an answer may have been in it, and whoever waits for that must be told.
pub(in crate::client) struct Lines<R, W> {
    read: BufReader<R>,
    /// The beginning of a line, kept when a read is given up in the middle.
    line: Vec<u8>,
    write: Arc<Mutex<Option<W>>>,
    strays: usize,
    trouble: Trouble,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Lines<R, W> {
    pub(in crate::client) fn new(read: R, write: W, trouble: Trouble) -> Self {
        Self {
            read: BufReader::with_capacity(64 << 10, read),
            line: Vec::new(),
            write: Arc::new(Mutex::new(Some(write))),
            strays: 0,
            trouble,
        }
    }

    /// Fills `line` up to its end. Nothing is lost if this is given up while it waits.
    async fn fill(&mut self) -> Option<()> {
        loop {
            let available = match self.read.fill_buf().await {
                Ok(available) => available,
                Err(error) => {
                    self.trouble.note(format!("its output broke: {error}"));
                    return None;
                }
            };
            if available.is_empty() {
                if !self.line.is_empty() {
                    self.trouble.note("it ended in the middle of a message");
                }
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            if self.line.len() + taken > bounds::MESSAGE {
                self.trouble.note(format!(
                    "it sent a message of more than {} bytes",
                    bounds::MESSAGE
                ));
                return None;
            }
            self.line.extend_from_slice(&available[..taken]);
            self.read.consume(taken);
            if end.is_some() {
                return Some(());
            }
        }
    }

    /// A message, or nothing if the line is none and may be passed over.
    fn parse(&mut self) -> Result<Option<ServerJsonRpcMessage>, String> {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(None);
        }
        if text.first() != Some(&b'{') {
            self.strays += 1;
            if self.strays > bounds::STRAY_LINES {
                return Err(format!(
                    "it writes what is not MCP, such as `{}`",
                    excerpt(text, 120)
                ));
            }
            return Ok(None);
        }
        message(text).map(Some)
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = self.write.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else {
                return Err(std::io::ErrorKind::NotConnected.into());
            };
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            self.fill().await?;
            match self.parse() {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(trouble) => {
                    self.trouble.note(trouble);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A server that does not read must not hold us: whoever writes to it keeps the lock.
        if let Ok(mut write) = self.write.try_lock() {
            *write = None;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    async fn heard(bytes: Vec<u8>) -> (usize, Option<String>) {
        let (ours, mut theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(ours);
        let trouble = Trouble::default();
        let mut lines = Lines::new(read, write, trouble.clone());
        tokio::spawn(async move {
            let _ = theirs.write_all(&bytes).await;
        });
        let mut count = 0;
        while lines.receive().await.is_some() {
            count += 1;
        }
        (count, trouble.told())
    }

    const GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[tokio::test]
    async fn stray_lines_are_passed_over_and_half_ones_are_told() {
        let text = format!("starting…\n\n{GOOD}\r\n[1]\n{GOOD}\n");
        assert_eq!(heard(text.into_bytes()).await, (2, None));
        let (count, trouble) = heard(format!("{GOOD}\n{{\"json").into_bytes()).await;
        assert_eq!(count, 1);
        assert!(trouble.unwrap().contains("in the middle"));
    }

    #[tokio::test]
    async fn what_cannot_be_read_ends_the_connection_with_its_reason() {
        let deep = format!("{{\"a\":{}{}}}\n", "[".repeat(5000), "]".repeat(5000));
        let huge = [b"{\"a\":\"".to_vec(), vec![b'x'; bounds::MESSAGE + 1]].concat();
        let many = format!("{{\"a\":[{}0]}}\n", "0,".repeat(bounds::VALUES));
        let chatter = "log\n".repeat(bounds::STRAY_LINES + 1);
        for (bytes, part) in [
            (deep.into_bytes(), "recursion limit"),
            (b"{\"jsonrpc\":\"2.0\"\n".to_vec(), "no message"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":{}}\n".to_vec(), "no message"),
            (huge, "more than"),
            (many.into_bytes(), "values in one JSON text"),
            (chatter.into_bytes(), "not MCP"),
        ] {
            let (count, trouble) = heard(bytes).await;
            let trouble = trouble.unwrap();
            assert_eq!(count, 0, "{trouble}");
            assert!(trouble.contains(part), "{trouble}");
        }
    }
}
