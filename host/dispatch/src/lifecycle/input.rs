//! Stage three: what the tool itself says about the input.

use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{CallEnvironment, Failure, Review, Tool, Verdict};
use toolbay_policy::Claims;

use super::schema::{Shaped, shape};
use super::{Stage, Stopped, Ticket, unless_killed};
use crate::pool::Compiled;
use crate::schema::Schema;

/// A call whose input the tool accepts.
pub(crate) struct Reviewed {
    pub(super) ticket: Ticket,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) schema: Compiled,
    pub(super) checked: Checked,
}

/// An input and all that the tool says about it.
pub(super) struct Checked {
    pub(super) input: Value,
    /// The same as text, as the tool gets it.
    pub(super) text: Arc<str>,
    pub(super) claims: Claims,
    pub(super) review: Review,
}

impl Shaped {
    pub(crate) async fn review(self) -> Result<Reviewed, Box<Stopped>> {
        let Self {
            ticket,
            tool,
            input,
            schema,
        } = self;
        let raw = input.clone();
        match check(&*tool, &schema, input, &ticket.environment).await {
            Ok(checked) => Ok(Reviewed {
                ticket,
                tool,
                schema,
                checked,
            }),
            Err(failure) => Err(Stopped::at(
                Stage::Input,
                ticket,
                failure,
                Some((tool, raw)),
            )),
        }
    }
}

/// Asks the tool. If it would rather run another input, that one is asked about
/// instead, but only once: a tool that is never content is broken.
pub(super) async fn check(
    tool: &dyn Tool,
    schema: &Result<Schema, String>,
    input: Value,
    environment: &CallEnvironment,
) -> Result<Checked, Failure> {
    let checked = ask(tool, input, environment).await?;
    let Some(updated) = &checked.review.updated_input else {
        return Ok(checked);
    };
    let broken = |reason: String| Failure::Broke {
        plugin: tool.info().name.clone(),
        phase: toolbay_contract::Phase::CheckPermissions,
        reason,
    };
    let updated: Value = serde_json::from_str(updated).map_err(|error| {
        broken(format!(
            "the input that it would rather run is no JSON: {error}"
        ))
    })?;
    let shaped = shape(tool, schema, updated)?;
    let again = ask(tool, shaped, environment).await?;
    match &again.review.updated_input {
        Some(third) if **third != *again.text => {
            Err(broken("it would rather run yet another input".into()))
        }
        Some(_) | None => Ok(again),
    }
}

async fn ask(
    tool: &dyn Tool,
    input: Value,
    environment: &CallEnvironment,
) -> Result<Checked, Failure> {
    let text: Arc<str> = input.to_string().into();
    let asking = async {
        let claims = tool.claims(&text).await?;
        let review = match tool.review(&text, environment).await {
            Ok(review) => review,
            // The tool leaves it to a person.
            Err(rejection) if rejection.ask_user => Review {
                verdict: Verdict::Ask(rejection.message),
                ..Review::SILENT
            },
            Err(rejection) => return Err(Failure::InvalidInput(rejection.message)),
        };
        Ok((claims, review))
    };
    let (claims, review) = unless_killed(environment, asking).await??;
    Ok(Checked {
        input,
        text,
        claims,
        review,
    })
}
