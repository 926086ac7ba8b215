//! Questions to the person at the other end: about permission, and those of tools.

mod questions;

use std::sync::Arc;

use rmcp::model::{ElicitRequestParams, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};
use toolbay_contract::{
    AskUser, BoxFuture, HostFailure, LogLevel, PowerFuture, Question, visible_line,
};
use toolbay_dispatch::{Answer, Approver, PermissionQuestion, RuleOrigin, RuleScope};

use super::routes::Routes;
use crate::client::text::clean;
use crate::client::{Asker, Elicitation, Elicited, Sampler, Sampling};
use crate::name::ToolName;

tokio::task_local! {
    /// The call in whose name this task acts: a tool's question does not say whose it is.
    pub(super) static CALL: String;
}

/// Under this name a client answers a question about permission.
pub(super) const PERMISSION: &str = "permission";

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
        let for_session = self.offers_session(question);
        let params = form(message(question, for_session), schema(for_session))?;
        let answered = self.routes.ask(&question.call_id, PERMISSION, params);
        let answered = answered.await?;
        if answered.action == ElicitationAction::Cancel {
            return Err("the client closed the question without an answer".into());
        }
        let content = answered.content.unwrap_or_default();
        let word = content.get("answer").and_then(Value::as_str);
        Ok(match (answered.action, word) {
            (ElicitationAction::Accept, Some(ONCE)) => Answer::Yes,
            (ElicitationAction::Accept, Some(SESSION)) if for_session => Answer::Always {
                rules: question.rules.clone(),
                scope: RuleScope::Session,
                origin: RuleOrigin::Offered,
            },
            // Whatever else it may be is no yes.
            _ => {
                let reason = content.get("reason").and_then(Value::as_str);
                let reason = reason.filter(|reason| !reason.trim().is_empty());
                Answer::No {
                    reason: reason.unwrap_or("the user said no").to_owned(),
                }
            }
        })
    }

    /// Whether a yes can be for the session: if there is one, and rules that would say so.
    fn offers_session(&self, question: &PermissionQuestion) -> bool {
        !self.routes.has_no_session
            && !question.rules.is_empty()
            && question.scopes.contains(&RuleScope::Session)
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

    fn tell(&self, trouble: &str) {
        self.routes.say(LogLevel::Warn, trouble);
    }
}

impl AskUser for Elicit {
    fn ask(&self, asked: Vec<Question>) -> PowerFuture<'_, Vec<Vec<String>>> {
        Box::pin(async move {
            let unavailable = HostFailure::Unavailable;
            let id = CALL.try_with(Clone::clone);
            let id = id.map_err(|_| unavailable("nobody knows whose question it is".into()))?;
            let params = form(questions::message(&asked), questions::schema(&asked));
            let params = params.map_err(HostFailure::Failed)?;
            let key = questions::key(&asked);
            let answered = self.routes.ask(&id, &key, params).await;
            let answered = answered.map_err(unavailable)?;
            match answered.action {
                ElicitationAction::Accept => {
                    let content = answered.content.unwrap_or_default();
                    Ok(questions::answers(&asked, &content))
                }
                ElicitationAction::Decline => {
                    Err(HostFailure::Denied("the person would not answer".into()))
                }
                _ => Err(HostFailure::Cancelled),
            }
        })
    }
}

/// Questions of servers behind this one go to whoever called their tool, as theirs.
impl Asker for Elicit {
    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited> {
        Box::pin(async move {
            let message = format!(
                "The MCP server `{}` asks: {}",
                clean(&asked.server, 64),
                clean(&asked.message, LONGEST_MESSAGE)
            );
            let Ok(params) = form(message, asked.schema) else {
                return Elicited::Declined;
            };
            let key = key_of(&asked.server);
            match self.routes.ask(&asked.call_id, &key, params).await {
                Err(_) => Elicited::Cancelled,
                Ok(answered) => match answered.action {
                    ElicitationAction::Accept => {
                        Elicited::Accepted(answered.content.unwrap_or_else(|| json!({})))
                    }
                    ElicitationAction::Decline => Elicited::Declined,
                    _ => Elicited::Cancelled,
                },
            }
        })
    }
}

/// The client's model, for servers behind this one that may use it.
impl Sampler for Elicit {
    fn sample(&self, asked: Sampling) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async move {
            let params = serde_json::from_value(asked.params).map_err(|error| error.to_string())?;
            let key = key_of(&asked.server);
            self.routes.sample(&asked.call_id, &key, params).await
        })
    }
}

/// What a person reads of a stranger's question.
const LONGEST_MESSAGE: usize = 2_000;

/// Under this name a client answers a server behind this one; never that of a question about
/// permission.
fn key_of(server: &str) -> String {
    let name = ToolName::new(server, "question");
    name.map_or_else(|| "question".into(), |name| name.to_string())
}

fn form(message: String, schema: Value) -> Result<ElicitRequestParams, String> {
    let Value::Object(schema) = schema else {
        return Err("a form is an object".into());
    };
    let schema = ElicitationSchema::from_json_schema(schema);
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema.map_err(|error| error.to_string())?,
    })
}

/// What the user reads: the whole input, however long, because there is no second look at it.
/// Tools and models write parts of it, so each part stays on its line and nothing in it is hidden.
fn message(question: &PermissionQuestion, for_session: bool) -> String {
    let mut lines = vec![
        format!("{} wants to run, and {}.", question.tool, question.reason),
        format!("Input: {}", question.input),
        format!("It would get: {}", question.grants().join("; ")),
    ];
    lines.extend(
        question
            .warnings
            .iter()
            .map(|warning| format!("Warning: {warning}")),
    );
    if for_session {
        lines.push(format!(
            "For the session this allows: {}",
            question.rules.join(", ")
        ));
    }
    let lines: Vec<String> = lines.iter().map(|line| visible_line(line)).collect();
    lines.join("\n")
}

fn schema(for_session: bool) -> Value {
    let mut choices = vec![ONCE];
    if for_session {
        choices.push(SESSION);
    }
    choices.push(DENY);
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "enum": choices, "title": "Answer"},
            "reason": {"type": "string", "title": "Why not, for the model"},
        },
        "required": ["answer"],
    })
}

#[cfg(test)]
mod tests {
    use toolbay_contract::View;
    use toolbay_dispatch::GrantSummary;
    use toolbay_policy::{Access, Zone, Zones};

    use super::*;

    #[test]
    fn the_message_is_whole_and_hides_nothing() {
        let nasty = "x\nWarning: none\r\u{202e}";
        let long = format!("echo {}; curl evil", "padding ".repeat(10_000));
        let question = PermissionQuestion {
            tool: nasty.into(),
            call_id: "c".into(),
            input: json!({"command": long}).to_string(),
            reason: nasty.into(),
            asked_by: None,
            caller: None,
            granted: GrantSummary {
                access: Access::ReadWrite {
                    zones: Zones::new(vec![Zone::Folder("/p".into())]),
                },
                ..GrantSummary::reading()
            },
            view: View::Plain(String::new()),
            commands: Vec::new(),
            warnings: vec![nasty.into()],
            rules: vec![nasty.into()],
            no_rule: None,
            more_rules: Vec::new(),
            scopes: Vec::new(),
            destructive: None,
        };
        let text = message(&question, true);
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.contains(&long) && text.contains("It would get: writing in /p/"));
        assert_eq!(
            text.matches("x⏎Warning: none␍<U+202E>").count(),
            4,
            "{text}"
        );
    }
}
