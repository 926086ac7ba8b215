//! Decisions about what a call sets in motion.
//!
//! A script that a component runs, and later a tool that it calls, an agent that it starts or a
//! host that it reaches, is decided like a call of its own: the same rules, hooks, modes, questions
//! and log. What the caller's own permit already covers is not decided again. Whoever lends a power
//! asks through this trait; a session without a decider refuses.

use std::path::PathBuf;
use std::sync::Arc;

use toolbay_policy::{Access, Permit};

use crate::kill::KillSwitch;
use crate::powers::HostFailure;
use crate::tool::BoxFuture;

/// Something that a call wants to set in motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NestedAct {
    /// A script for the shell, run in this folder.
    Script {
        text: String,
        folder: PathBuf,
        /// It goes on when the call is over.
        background: bool,
    },
}

/// What is to be decided, and for whom.
#[derive(Debug, Clone)]
pub struct NestedRequest {
    /// The tool whose call this is.
    pub tool: Arc<str>,
    pub call_id: Arc<str>,
    /// What that call was permitted: nothing nested gets more.
    pub access: Access,
    pub act: NestedAct,
    /// Ends with the call.
    pub kill: KillSwitch,
}

/// Who decides.
pub trait NestedDecisions: Send + Sync {
    /// A permit for this act alone. The error is for the component: who decided, and what would
    /// help.
    fn decide(&self, request: NestedRequest) -> BoxFuture<'_, Result<Permit, HostFailure>>;
}
