//! Stage six: the call itself. The one place that calls a tool.

use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{Failure, KillReason, Outcome, Tool};
use toolbay_policy::{Claims, Permit};

use super::permission::Permitted;
use super::{Stage, Stopped, Ticket, noted, unless_killed};
use crate::dispatch::{Dispatch, is_shared};
use crate::gate::Company;

/// A call that ran.
pub(crate) struct Called {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) input: Value,
    pub(super) claims: Claims,
    pub(super) outcome: Outcome,
}

impl Permitted {
    pub(crate) async fn call(self, dispatch: &Dispatch) -> Result<Called, Box<Stopped>> {
        let Self {
            ticket,
            tool,
            input,
            claims,
            permit,
        } = self;
        match run(dispatch, &ticket, &*tool, claims, permit).await {
            Ok(outcome) => Ok(Called {
                ticket,
                tool,
                input,
                claims,
                outcome,
            }),
            Err(failure) => Err(Stopped::at(
                Stage::Call,
                ticket,
                failure,
                Some((tool, input)),
            )),
        }
    }
}

/// Waits for its turn among all calls of the session, then calls.
async fn run(
    dispatch: &Dispatch,
    ticket: &Ticket,
    tool: &dyn Tool,
    claims: Claims,
    permit: Permit,
) -> Result<Outcome, Failure> {
    let environment = &ticket.environment;
    let begin = || match ticket.begin.act() {
        true => Ok(()),
        false => Err(Failure::Killed(KillReason::Cancelled)),
    };
    let company = match is_shared(claims, tool.trust()) {
        true => Company::Beside,
        false => Company::Alone,
    };
    let entering = dispatch.gate().enter(&ticket.id, company);
    let _turn = unless_killed(environment, entering).await?;
    begin()?;
    act(ticket, tool, permit).await
}

/// The call, between the two lines that the audit log has of it.
async fn act(ticket: &Ticket, tool: &dyn Tool, permit: Permit) -> Result<Outcome, Failure> {
    let begun = noted::Begun::now(ticket, &permit)?;
    let result = tool.call(permit, ticket.environment.clone()).await;
    begun.ended(ticket, tool, &result);
    result
}
