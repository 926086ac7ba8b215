//! Runs the calls of one turn while the model still speaks.
//!
//! A task holds the [`schedule`] and does what it says: nothing is polled, and every
//! event is followed by all that it makes possible. Whatever happens, each call gets
//! exactly one result: also when it is interrupted, its turn is discarded, or the code
//! that runs it breaks.

mod schedule;
mod turn;

use std::sync::Arc;

use tokio::sync::mpsc;
use toolbay_contract::{KillSwitch, Progress, ToolUse};

pub(crate) use self::schedule::Manners;
use crate::dispatch::Dispatch;
use crate::result::ToolResult;

/// Calls that run at once unless somebody says otherwise: enough to hide waiting,
/// few enough for file handles.
pub const DEFAULT_CAP: usize = 10;

/// How a turn is run.
#[derive(Debug, Clone, Copy)]
pub struct TurnSetting {
    /// Calls that run at once at most.
    pub cap: usize,
    pub budget: Budget,
}

impl Default for TurnSetting {
    fn default() -> Self {
        Self {
            cap: DEFAULT_CAP,
            budget: Budget::AsTheyCome,
        }
    }
}

/// When the results of a turn are made to fit into one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// As each is handed out, among those that wait to be: the first ones are out
    /// before the last are known.
    AsTheyCome,
    /// All together at the end, and handed out then.
    Together,
}

/// What comes out of a turn.
#[derive(Debug)]
pub enum Event {
    Started {
        id: String,
        tool: String,
    },
    /// At once, in no order.
    Progress {
        id: String,
        progress: Progress,
    },
    /// In call order, one for each call.
    Result(Box<ToolResult>),
    /// Nothing comes after this.
    Over {
        /// Why a hook wants the conversation to stop.
        stop: Option<String>,
    },
}

pub type Events = mpsc::UnboundedReceiver<Event>;

/// A turn that is running. Dropping it means that the model has made its last call.
#[derive(Debug, Clone)]
pub struct Executor {
    commands: mpsc::UnboundedSender<Command>,
}

#[derive(Debug)]
enum Command {
    Add(ToolUse),
    Interrupt,
    Discard,
    Close,
}

impl Executor {
    /// Begins a turn. Needs a running tokio.
    pub fn start(
        dispatch: Arc<Dispatch>,
        setting: TurnSetting,
        kill: KillSwitch,
    ) -> (Self, Events) {
        let (commands, orders) = mpsc::unbounded_channel();
        let (sender, events) = mpsc::unbounded_channel();
        tokio::spawn(turn::Turn::new(dispatch, setting, kill, sender).run(orders));
        (Self { commands }, events)
    }

    /// The model has made a call; it starts as soon as it may.
    pub fn add(&self, block: ToolUse) {
        self.tell(Command::Add(block));
    }

    /// The person wants it to stop: calls that can be cancelled are, those at work
    /// that would rather finish do, nothing starts any more.
    pub fn interrupt(&self) {
        self.tell(Command::Interrupt);
    }

    /// The model's answer is thrown away, and its calls with it.
    pub fn discard(&self) {
        self.tell(Command::Discard);
    }

    /// The model has made its last call.
    pub fn close(&self) {
        self.tell(Command::Close);
    }

    fn tell(&self, command: Command) {
        // A turn that is over takes no orders; its results are out.
        let _ = self.commands.send(command);
    }
}

/// Runs calls that are all known, and answers with their results in call order.
pub async fn run_batch(
    dispatch: Arc<Dispatch>,
    blocks: Vec<ToolUse>,
    cap: usize,
    kill: KillSwitch,
) -> Vec<ToolResult> {
    let setting = TurnSetting {
        cap,
        budget: Budget::Together,
    };
    let (executor, mut events) = Executor::start(dispatch, setting, kill);
    for block in blocks {
        executor.add(block);
    }
    executor.close();
    let mut results = Vec::new();
    while let Some(event) = events.recv().await {
        match event {
            Event::Result(result) => results.push(*result),
            Event::Started { .. } | Event::Progress { .. } => {}
            Event::Over { .. } => break,
        }
    }
    results
}

#[cfg(test)]
mod tests;
