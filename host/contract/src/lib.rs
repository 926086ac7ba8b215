//! The words that all crates of the host share.
//!
//! Types and traits: what a tool is, what a call is given and what comes of
//! it, what goes into the audit log, and the powers that a session may lend to a
//! tool; and three things that must be done the same way everywhere: showing text of tools and
//! models, counting a JSON text before it is read, and reading a path that somebody else made. What points upward at run time (asking a person, starting agents) is a
//! trait here and is filled where the program is composed.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod audit;
mod failure;
mod grants;
mod info;
mod json_size;
mod kill;
mod links;
mod nested;
mod outcome;
mod powers;
pub mod regular_file;
mod rules_now;
mod session;
mod tool;
mod view;
mod visible;

pub use audit::{About, Audit, AuditEvent, Called, Decided, Discard};
pub use failure::{Failure, Phase};
pub use grants::{AllGranted, CapabilityRequest, GrantTable, Grants};
pub use info::{
    ContractVersion, InfoError, Keep, OnError, OnInterrupt, ResultLimit, SubjectAt, ToolInfo,
};
pub use json_size::{JSON_VALUES, JsonCount, JsonSize, TooManyValues};
pub use kill::{KillReason, KillSwitch};
pub use links::names_over_links;
pub use nested::{NestedAct, NestedDecisions, NestedRequest};
pub use outcome::{Blob, Content, FileSeen, Link, Message, Modifier, Outcome, Role};
pub use powers::{
    AgentBrief, Agents, AskUser, CommandEnd, CommandExit, CommandRun, HostFailure, OnOutput,
    PowerFuture, Powers, Question, Resource, ResourceBody, ResourcePart, Resources, Shell,
    ShellWalls, Skill, SkillArgument, SkillMessage, SkillRole, Skills, TaskEntry, TaskSnapshot,
    TaskState, Tasks, ToolEntry, ToolIndex,
};
pub use rules_now::RulesNow;
pub use session::{SeenFile, Session, SessionSnapshot};
pub use tool::{
    BoxFuture, CallEnvironment, LogLevel, Origin, Progress, ProgressSink, Rejection, Review, Tool,
    ToolUse, Verdict,
};
// A tool is asked and called in these words of the policy, whoever writes it.
pub use toolbay_policy::{Access, Behavior, Claims, Permit, Reach, SubjectKind, Trust};
pub use view::View;
pub use visible::{visible, visible_line};
