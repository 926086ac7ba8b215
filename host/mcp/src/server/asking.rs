//! Questions about permission, by elicitation.

use std::sync::Arc;

use rmcp::model::{ElicitRequestParams, ElicitationAction, ElicitationSchema};
use rmcp::service::ElicitationMode;
use serde_json::{Value, json};
use toolbay_contract::BoxFuture;
use toolbay_dispatch::{Answer, Approver, PermissionQuestion, RuleScope};

use super::routes::Routes;

/// Asks the person at the other end of the client.
pub struct Elicit {
    routes: Arc<Routes>,
}

const ONCE: &str = "allow once";
const SESSION: &str = "allow for this session";
const DENY: &str = "deny";

impl Elicit {
    pub fn new(routes: Arc<Routes>) -> Self {
        Self { routes }
    }

    async fn elicit(&self, question: &PermissionQuestion) -> Result<Answer, String> {
        let peer = self.routes.peer(&question.call_id);
        let peer = peer.ok_or("its client is gone")?;
        if !peer
            .supported_elicitation_modes()
            .contains(&ElicitationMode::Form)
        {
            return Err("the client has no way to ask a person (elicitation)".into());
        }
        let request = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message(question),
            requested_schema: schema(question)?,
        };
        let answered = peer.create_elicitation(request).await;
        let answered = answered.map_err(|error| format!("the client could not ask: {error}"))?;
        let content = answered.content.unwrap_or_default();
        let word = content.get("answer").and_then(Value::as_str);
        Ok(match (answered.action, word) {
            (ElicitationAction::Accept, Some(ONCE)) => Answer::Yes,
            (ElicitationAction::Accept, Some(SESSION)) if !question.rules.is_empty() => {
                Answer::Always {
                    rules: question.rules.clone(),
                    scope: RuleScope::Session,
                }
            }
            // Whatever else it may be is no yes.
            _ => {
                let reason = content.get("reason").and_then(Value::as_str);
                let reason = reason.filter(|reason| !reason.trim().is_empty());
                Answer::No {
                    reason: reason.unwrap_or("the person said no").to_owned(),
                }
            }
        })
    }
}

impl Approver for Elicit {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            match self.elicit(&question).await {
                Ok(answer) => answer,
                Err(why) => Answer::No {
                    reason: format!(
                        "{} needs permission because {}, and {why}{}",
                        question.tool,
                        question.reason,
                        question.hint()
                    ),
                },
            }
        })
    }
}

/// What the person reads. Tools and models write parts of it, so it is marked as theirs.
fn message(question: &PermissionQuestion) -> String {
    let mut lines = vec![
        format!("{} wants to run, and {}.", question.tool, question.reason),
        format!("Input: {}", question.input),
        format!("It would get: {}", question.grants()),
    ];
    lines.extend(
        question
            .warnings
            .iter()
            .map(|warning| format!("Warning: {warning}")),
    );
    if !question.rules.is_empty() {
        lines.push(format!(
            "For the session this allows: {}",
            question.rules.join(", ")
        ));
    }
    lines.join("\n")
}

fn schema(question: &PermissionQuestion) -> Result<ElicitationSchema, String> {
    let mut choices = vec![ONCE];
    if question.scopes.contains(&RuleScope::Session) && !question.rules.is_empty() {
        choices.push(SESSION);
    }
    choices.push(DENY);
    let schema = json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "enum": choices, "title": "Answer"},
            "reason": {"type": "string", "title": "Why not, for the model"},
        },
        "required": ["answer"],
    });
    match schema {
        Value::Object(schema) => {
            ElicitationSchema::from_json_schema(schema).map_err(|error| error.to_string())
        }
        _ => Err("no schema".into()),
    }
}
