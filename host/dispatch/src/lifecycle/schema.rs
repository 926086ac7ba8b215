//! Stage two: whether the input has the shape that the tool asks for.

use std::sync::Arc;

use serde_json::Value;
use toolbay_contract::{Failure, Tool};

use super::lookup::Found;
use super::{Stage, Stopped, Ticket};
use crate::pool::Compiled;
use crate::schema::Schema;

/// A call whose input has the right shape.
pub(crate) struct Shaped {
    pub(super) ticket: Ticket,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) input: Value,
    pub(super) schema: Compiled,
}

impl Found {
    pub(crate) fn shape(self) -> Result<Shaped, Box<Stopped>> {
        match shape(&*self.tool, &self.schema, self.ticket.raw.clone()) {
            Ok(input) => Ok(Shaped {
                ticket: self.ticket,
                tool: self.tool,
                input,
                schema: self.schema,
            }),
            Err(failure) => {
                let name = &self.tool.info().name;
                let failure = match failure {
                    Failure::InvalidInput(problems) if self.unseen => {
                        Failure::InvalidInput(format!(
                            "{problems}\n{name} is a deferred tool whose definition you have not \
                             seen. Load it first with the tool search, by the query \
                             \"select:{name}\", and call it again."
                        ))
                    }
                    failure => failure,
                };
                let known = Some((self.tool.clone(), self.ticket.raw.clone()));
                Err(Stopped::at(Stage::Schema, self.ticket, failure, known))
            }
        }
    }
}

/// The input as the tool's schema wants it.
pub(super) fn shape(
    tool: &dyn Tool,
    schema: &Result<Schema, String>,
    input: Value,
) -> Result<Value, Failure> {
    let name = &tool.info().name;
    match schema {
        Ok(schema) => match schema.shape(input) {
            Ok(shaped) => Ok(shaped.value),
            Err(problems) => Err(Failure::InvalidInput(format!(
                "the input does not fit {name}:\n{problems}"
            ))),
        },
        Err(reason) => Err(Failure::BadComponent {
            plugin: name.clone(),
            reason: format!("its input schema cannot be used: {reason}"),
        }),
    }
}
