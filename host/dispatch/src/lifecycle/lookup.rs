//! Stage one: which tool is meant.

use std::sync::Arc;

use toolbay_contract::{Failure, Tool};

use super::{Stage, Stopped, Ticket, noted, unless_killed};
use crate::dispatch::Dispatch;
use crate::pool::{Compiled, LazySchema};
use crate::unknown::unknown_tool;

/// A call whose tool is known.
pub(crate) struct Found {
    pub(crate) ticket: Ticket,
    pub(crate) tool: Arc<dyn Tool>,
    pub(super) schema: Compiled,
    /// The model has never seen the tool's schema.
    pub(super) unseen: bool,
}

/// Takes what is no tool of the pool. What a rule removes is not to be had this way either.
pub(super) async fn take(tool: Arc<dyn Tool>, ticket: Ticket) -> Result<Found, Box<Stopped>> {
    let stop = |ticket, failure| Stopped::at(Stage::Lookup, ticket, failure, None);
    if let Some(failure) = removed(&ticket, &tool.info().name) {
        return Err(stop(ticket, failure));
    }
    let compiling = LazySchema::of(tool.clone());
    match unless_killed(&ticket.environment, compiling.ready()).await {
        Ok(schema) => Ok(Found {
            ticket,
            tool,
            schema,
            unseen: false,
        }),
        Err(killed) => Err(stop(ticket, killed)),
    }
}

/// That a rule removes this name, if one does.
fn removed(ticket: &Ticket, name: &str) -> Option<Failure> {
    let rule = ticket.policy.removed_by(name)?;
    let reason = format!("the deny rule `{rule}` forbids it");
    noted::removed(ticket, &reason);
    Some(Failure::Denied(reason))
}

pub(super) async fn look_up(
    dispatch: &Dispatch,
    mut ticket: Ticket,
) -> Result<Found, Box<Stopped>> {
    let stop = |ticket, failure| Stopped::at(Stage::Lookup, ticket, failure, None);
    let pool = dispatch.pool();
    let arriving = pool.await_newcomer(&ticket.called);
    match unless_killed(&ticket.environment, arriving).await {
        Ok(Ok(())) => {}
        Ok(Err(reason)) => {
            let failure = Failure::Tool {
                message: reason,
                code: None,
                retryable: true,
            };
            return Err(stop(ticket, failure));
        }
        Err(killed) => return Err(stop(ticket, killed)),
    }
    let Some(found) = pool.find(&ticket.called) else {
        let failure = removed(&ticket, &ticket.called)
            .unwrap_or_else(|| Failure::InvalidInput(unknown_tool(pool, &ticket.called)));
        return Err(stop(ticket, failure));
    };
    // The first use of a tool compiles its schema while the tool itself is loaded.
    let both = async { tokio::join!(found.tool.is_enabled(), found.schema.ready()) };
    let schema = match unless_killed(&ticket.environment, both).await {
        Ok((Ok(true), schema)) => schema,
        Ok((Ok(false), _)) => {
            let sentence = format!("{} is not available here", found.tool.info().name);
            return Err(stop(ticket, Failure::InvalidInput(sentence)));
        }
        Ok((Err(failure), _)) | Err(failure) => return Err(stop(ticket, failure)),
    };
    if found.by_alias {
        ticket.notes.push(format!(
            "({} is an old name that will go away; the tool is called {} now.)",
            ticket.called,
            found.tool.info().name
        ));
    }
    Ok(Found {
        ticket,
        tool: found.tool,
        schema,
        unseen: found.deferred_unloaded,
    })
}
