//! A command that is talked to while it runs, as servers on standard input and output are.

use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::leash::Leash;
use super::run::Feed;
use super::{CageError, Command, Enclosure, Ended};

/// A running command and the three pipes to it. When it is dropped, everything in the cage is
/// killed.
#[derive(Debug)]
pub struct Conversation {
    /// What the command reads. Dropping it ends the command's input.
    pub input: Sender,
    /// What it says. Nothing is bounded here: whoever reads knows how much is too much.
    pub output: Receiver,
    /// What it says beside that. Must be read, or the command stops when the pipe is full.
    pub errors: Receiver,
    pub life: Life,
}

/// The life of the command, apart from what it says.
#[derive(Debug)]
pub struct Life(JoinHandle<Result<Ended, CageError>>);

impl Life {
    /// Waits for the end; `limits.time` of the command is one. To be asked once.
    pub async fn ended(&mut self) -> Result<Ended, CageError> {
        match (&mut self.0).await {
            Ok(ended) => ended,
            // The runtime goes down.
            Err(_) => Err(CageError::Lost),
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // The task holds the line to the helper, which kills when the line is closed.
        self.0.abort();
    }
}

impl Enclosure {
    /// Starts a command and leaves the talking to the caller. Its outputs come apart,
    /// whatever `streams` says, and `limits.output` does not count.
    ///
    /// Needs a tokio runtime with I/O and time.
    pub async fn open(&self, command: &Command) -> Result<Conversation, CageError> {
        let started = Instant::now();
        let leash = Leash::new(&command.limits);
        let mut command = command.clone();
        command.streams = super::Streams::Apart;
        let mut running = self.begin(&command, Feed::Pipe).await?;
        let pipes = (
            running.input.take(),
            running.output.take(),
            running.errors.take(),
        );
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(CageError::Lost);
        };
        let enclosure = self.clone();
        let life = tokio::spawn(async move {
            let end = running
                .watch(&command, &leash, started, &mut |_, _| {})
                .await;
            enclosure.judge(end)
        });
        Ok(Conversation {
            input,
            output,
            errors,
            life: Life(life),
        })
    }
}
