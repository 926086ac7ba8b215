//! Stage eight: results that are too large go to files.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{Content, Outcome, Tool};

use super::Ticket;
use super::mapping::Mapped;
use crate::dispatch::Dispatch;
use crate::results::KeptCall;

/// A call whose result is as large as it may be.
pub(crate) struct Kept {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) input: Value,
    pub(super) content: Vec<Content>,
    pub(super) persisted: Option<PathBuf>,
    pub(super) outcome: Outcome,
}

impl Mapped {
    pub(crate) fn persist(self, dispatch: &Dispatch) -> Kept {
        let info = self.tool.info();
        let call = KeptCall {
            call_id: &self.ticket.id,
            limit: info.limit,
            keep: info.keep(),
            is_error: self.outcome.failed,
        };
        let kept = dispatch.results().keep(&call, self.content);
        Kept {
            ticket: self.ticket,
            tool: self.tool,
            input: self.input,
            content: kept.content,
            persisted: kept.persisted,
            outcome: self.outcome,
        }
    }
}
