//! What a tool's author implements.

use serde::de::DeserializeOwned;

use crate::info::Info;
use crate::{Outcome, ToolError};

pub use crate::bindings::guard::exports::toolbay::tool::guard::{Behaviour, Rejection, Verdict};
pub use crate::bindings::prompt::exports::toolbay::tool::prompt::Setting;
pub use crate::bindings::render::exports::toolbay::tool::render::View;

/// What a call comes to.
pub type Result<T = Outcome, E = ToolError> = core::result::Result<T, E>;

/// A tool. Only `INFO` and `call` are needed; what is left out is strict.
pub trait Tool {
    /// The input; `serde_json::Value` takes anything.
    type Input: DeserializeOwned;

    /// Who the tool is.
    const INFO: Info;

    /// Whether this call changes nothing. After `true` the host refuses every
    /// write. An input that does not parse counts as `false`.
    fn is_read_only(_input: &Self::Input) -> bool {
        false
    }

    /// Whether this call may run beside others. An input that does not parse
    /// counts as `false`.
    fn is_concurrency_safe(_input: &Self::Input) -> bool {
        false
    }

    /// Does the work.
    fn call(input: Self::Input) -> Result;
}

/// The tool's own opinion about a call.
pub trait Guard: Tool {
    /// Whether the tool makes sense here at all.
    fn is_enabled() -> bool {
        true
    }

    /// Whether the call destroys what cannot be brought back. By default every
    /// call that is not read-only does.
    fn is_destructive(input: &Self::Input) -> bool {
        !Self::is_read_only(input)
    }

    /// Checks what a schema cannot say.
    fn validate_input(_input: &Self::Input) -> Result<(), Rejection> {
        Ok(())
    }

    /// The tool's opinion on permission.
    fn check_permissions(_input: &Self::Input) -> Verdict {
        Verdict::passthrough()
    }
}

/// Texts for the model.
pub trait Prompt: Tool {
    /// One line that says what this call does.
    fn describe(_input: &Self::Input) -> String {
        Self::INFO.summary.into()
    }

    /// How to use the tool, as a rule `include_str!("../prompt.md")`.
    fn prompt(setting: &Setting) -> String;
}

/// How a call looks to people.
pub trait Render: Tool {
    /// The call, before it runs.
    fn render_use(_input: &Self::Input) -> View {
        View::Plain(Self::INFO.name.into())
    }

    /// What came of it.
    fn render_result(_input: &Self::Input, outcome: &Outcome) -> View {
        View::Plain(outcome.plain_text())
    }

    /// A call that was not permitted.
    fn render_rejected(_input: &Self::Input, reason: &str) -> View {
        View::Plain(format!("{}: not permitted: {reason}", Self::INFO.name))
    }

    /// A call that broke.
    fn render_error(_input: &Self::Input, error: &ToolError) -> View {
        View::Plain(format!("{}: {error}", Self::INFO.name))
    }

    /// Several calls in a row as one; `None` draws them one by one.
    fn render_grouped(_inputs: &[Self::Input]) -> Option<View> {
        None
    }
}

impl Verdict {
    /// No opinion: the host decides.
    pub fn passthrough() -> Self {
        Self::new(Behaviour::Passthrough, None)
    }

    /// A person should decide.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::new(Behaviour::Ask, Some(reason.into()))
    }

    /// The call must not run.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(Behaviour::Deny, Some(reason.into()))
    }

    fn new(behaviour: Behaviour, reason: Option<String>) -> Self {
        Self {
            behaviour,
            reason,
            updated_input: None,
            suggested_rules: Vec::new(),
        }
    }
}

impl Rejection {
    /// A rejection that nobody may overrule.
    pub fn new(code: u32, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code,
            ask_user: false,
        }
    }
}
