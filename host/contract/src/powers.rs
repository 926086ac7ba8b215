//! What a session may lend to a tool beyond files. Each is filled where the
//! program is composed; what is `None` is unavailable.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use toolbay_policy::{Access, PathRules};

use crate::outcome::Content;

/// How a power says no.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostFailure {
    #[error("denied: {0}")]
    Denied(String),
    #[error("cancelled")]
    Cancelled,
    #[error("timed out")]
    TimedOut,
    #[error("too large: {0} bytes")]
    TooLarge(u64),
    #[error("unavailable: {0}")]
    Unavailable(String),
    #[error("{0}")]
    Failed(String),
}

pub type PowerFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HostFailure>> + Send + 'a>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub header: String,
    pub text: String,
    pub options: Vec<String>,
    pub multiple: bool,
}

/// Questions to the person at the other end.
pub trait AskUser: Send + Sync {
    fn ask(&self, questions: Vec<Question>) -> PowerFuture<'_, Vec<Vec<String>>>;
}

#[derive(Debug, Clone)]
pub struct CommandRun {
    pub script: String,
    pub cwd: Option<PathBuf>,
    pub timeout: Option<Duration>,
    pub sandboxed: bool,
    /// What the call was permitted: the cage can write there and nowhere else.
    pub access: Access,
    /// What is closed to the call; commands must not be a way around.
    pub path_rules: Arc<PathRules>,
    /// Gets output as it comes.
    pub on_output: OnOutput,
}

impl CommandRun {
    /// Whether the cage must not be able to write at all.
    pub fn is_read_only(&self) -> bool {
        match self.access {
            Access::ReadOnly => true,
            Access::ReadWrite { .. } => false,
        }
    }
}

type Look = dyn Fn(&[u8]) + Send + Sync;

/// Whoever looks at output while a command runs.
#[derive(Clone)]
pub struct OnOutput(pub Arc<Look>);

impl fmt::Debug for OnOutput {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("OnOutput")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandExit {
    pub code: i32,
    /// Both outputs, in order.
    pub output: Vec<u8>,
    /// What the cage has to say about the run, a sentence a line.
    pub remarks: Vec<String>,
    pub truncated: bool,
    /// Where the shell ended, if it said so.
    pub folder: Option<PathBuf>,
}

/// What came of a command that may become a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    Ended(CommandExit),
    /// It still runs, as a task.
    Moved {
        id: String,
        /// What it had written by then; the task's output goes on from there.
        output: Vec<u8>,
    },
}

/// What the cage of a call's commands opens beyond what the call itself was permitted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellWalls {
    pub writable: Vec<PathBuf>,
    pub hosts: Vec<String>,
}

/// Commands of the operating system, in a cage.
pub trait Shell: Send + Sync {
    /// What commands with this access can do beyond it, by the same values that build the cage.
    fn walls(&self, access: &Access) -> ShellWalls;
    fn run(&self, command: CommandRun) -> PowerFuture<'_, CommandExit>;
    /// The same; but where the session goes on, one that takes long becomes a task.
    fn run_or_move(&self, command: CommandRun) -> PowerFuture<'_, CommandEnd>;
    fn run_in_background(&self, command: CommandRun) -> PowerFuture<'_, String>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    Running,
    Done,
    Failed,
    Stopped,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSnapshot {
    pub id: String,
    pub state: TaskState,
    pub output: Vec<u8>,
}

/// A task in the list of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEntry {
    pub id: String,
    /// What it does; of a command its script.
    pub title: String,
    pub state: TaskState,
    /// Since its start; of one that has ended, what it took.
    pub age: Duration,
    /// What it has written so far.
    pub bytes: u64,
    /// Where that is kept.
    pub file: Option<PathBuf>,
}

/// Background work.
pub trait Tasks: Send + Sync {
    /// Those that are still known, the oldest first.
    fn list(&self) -> Result<Vec<TaskEntry>, HostFailure>;
    fn read(&self, id: String, wait: Duration) -> PowerFuture<'_, TaskSnapshot>;
    fn stop(&self, id: String) -> PowerFuture<'_, ()>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentBrief {
    pub kind: String,
    pub prompt: String,
    pub model: Option<String>,
    pub tools: Vec<String>,
    pub max_turns: Option<u32>,
    /// The agent's own tools are held to read-only calls.
    pub read_only: bool,
}

/// Agents below this one.
pub trait Agents: Send + Sync {
    fn spawn(&self, brief: AgentBrief) -> PowerFuture<'_, String>;
    fn wait(&self, id: String) -> PowerFuture<'_, String>;
}

/// A tool as a search sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEntry {
    pub name: String,
    pub summary: String,
    pub search_hint: Option<String>,
    /// JSON Schema as text, as the tool gave it.
    pub input_schema: String,
    /// Hidden from the model until it is loaded.
    pub deferred: bool,
    /// On the model's list now; true for every tool that is not deferred.
    pub loaded: bool,
}

/// The tools that the model could use in this session, in the order of its list.
pub trait ToolIndex: Send + Sync {
    /// Asked on the path of a call, so it only looks at memory. Tools that are
    /// denied or switched off are not among them.
    fn entries(&self) -> Vec<ToolEntry>;
}

/// Something that a server offers to be read, in the server's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub server: String,
    pub uri: String,
    pub name: String,
    pub description: Option<String>,
    pub mime: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    Text(String),
    Bytes(Vec<u8>),
}

/// A part of what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePart {
    pub uri: String,
    pub mime: Option<String>,
    pub body: ResourceBody,
}

/// What servers offer to be read.
pub trait Resources: Send + Sync {
    /// Of one server, or of all that answer.
    fn list(&self, server: Option<String>) -> PowerFuture<'_, Vec<Resource>>;
    fn read(&self, server: String, uri: String) -> PowerFuture<'_, Vec<ResourcePart>>;
}

/// Something that has to be filled in before a skill can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillArgument {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
}

/// A text that somebody wrote for a model to work by, in the words of whoever offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    /// Who offers it, for people.
    pub source: String,
    pub description: Option<String>,
    pub arguments: Vec<SkillArgument>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillRole {
    User,
    Assistant,
}

/// A part of the text, and who is meant to have said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillMessage {
    pub role: SkillRole,
    pub content: Content,
}

/// What the session knows how to do.
pub trait Skills: Send + Sync {
    /// Those of all that answer.
    fn list(&self) -> PowerFuture<'_, Vec<Skill>>;
    fn load(
        &self,
        name: String,
        arguments: Vec<(String, String)>,
    ) -> PowerFuture<'_, Vec<SkillMessage>>;
}

/// All that a session can lend, visible in one place.
#[derive(Clone, Default)]
pub struct Powers {
    pub ask_user: Option<Arc<dyn AskUser>>,
    pub shell: Option<Arc<dyn Shell>>,
    pub tasks: Option<Arc<dyn Tasks>>,
    pub agents: Option<Arc<dyn Agents>>,
    pub tools: Option<Arc<dyn ToolIndex>>,
    pub resources: Option<Arc<dyn Resources>>,
    pub skills: Option<Arc<dyn Skills>>,
}
