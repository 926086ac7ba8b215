//! Questions of servers to the person, put by whoever asks the person about permission.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolbay_contract::{AskUser, BoxFuture, Question, View};
use toolbay_dispatch::{Answer, Approver, GrantSummary, PermissionQuestion};

use super::text::clean;

/// What a server wants to know.
#[derive(Debug, Clone)]
pub struct Elicitation {
    pub server: String,
    /// The call during which it asks; empty where that is not known.
    pub call_id: String,
    pub message: String,
    /// The schema of an object with plain fields.
    pub schema: Value,
}

/// How a question of a server was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited {
    Accepted(Value),
    Declined,
    /// Nobody was there, or the question was withdrawn.
    Cancelled,
}

/// Somebody who answers questions of servers.
pub trait Asker: Send + Sync {
    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited>;
}

/// Asks the person who is asked about permission. A yes answers what a yes can answer; for
/// words and choices there must be somebody to ask questions of.
pub struct AskPerson {
    approver: Arc<dyn Approver>,
    ask_user: Option<Arc<dyn AskUser>>,
}

const LONGEST_MESSAGE: usize = 2_000;
/// Fields of one form. Nobody fills in more than this for a stranger.
const MOST_FIELDS: usize = 20;

impl AskPerson {
    pub fn new(approver: Arc<dyn Approver>, ask_user: Option<Arc<dyn AskUser>>) -> Self {
        Self { approver, ask_user }
    }

    async fn yes_or_no(&self, asked: &Elicitation, content: Value) -> Elicited {
        let server = clean(&asked.server, 64);
        let message = clean(&asked.message, LONGEST_MESSAGE);
        let question = PermissionQuestion {
            tool: format!("mcp__{server}"),
            caller: None,
            call_id: asked.call_id.clone(),
            input: serde_json::json!({"message": message, "answer": content}).to_string(),
            reason: format!("the MCP server `{server}` asks: {message}"),
            asked_by: None,
            granted: GrantSummary::reading(),
            view: View::Plain(format!("{message}\na yes sends: {content}")),
            commands: Vec::new(),
            warnings: Vec::new(),
            rules: Vec::new(),
            no_rule: None,
            more_rules: Vec::new(),
            scopes: Vec::new(),
            destructive: None,
        };
        let _turn = match self.approver.queue() {
            Some(queue) => Some(queue.lock().await),
            None => None,
        };
        let answer = self.approver.ask(question.clone()).await;
        match (question.check(&answer), answer) {
            (Ok(()), Answer::Yes) => Elicited::Accepted(content),
            // No rule was offered, so an answer that keeps one is no answer to this.
            (Ok(()), Answer::Always { .. } | Answer::No { .. }) | (Err(_), _) => Elicited::Declined,
        }
    }

    async fn fields(&self, ask_user: &dyn AskUser, asked: &Elicitation) -> Elicited {
        let fields = fields(&asked.schema);
        let server = clean(&asked.server, 64);
        let message = clean(&asked.message, LONGEST_MESSAGE);
        let question = |field: &Field| Question {
            header: format!("MCP {server}"),
            text: format!("{message}\n{}", field.label),
            options: field.options.clone(),
            multiple: false,
        };
        let Ok(answers) = ask_user.ask(fields.iter().map(question).collect()).await else {
            return Elicited::Cancelled;
        };
        let mut content = Map::new();
        let mut answers = answers.into_iter();
        for field in &fields {
            let answer = answers.next().unwrap_or_default();
            let Some(text) = answer.into_iter().next().filter(|text| !text.is_empty()) else {
                if field.is_required {
                    return Elicited::Declined;
                }
                continue;
            };
            match field.value(&text) {
                Some(value) => content.insert(field.name.clone(), value),
                None => return Elicited::Declined,
            };
        }
        Elicited::Accepted(Value::Object(content))
    }
}

impl Asker for AskPerson {
    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited> {
        Box::pin(async move {
            if let Some(content) = answer_of_yes(&asked.schema) {
                return self.yes_or_no(&asked, content).await;
            }
            match &self.ask_user {
                Some(ask_user) if fields(&asked.schema).len() <= MOST_FIELDS => {
                    self.fields(&**ask_user, &asked).await
                }
                _ => Elicited::Declined,
            }
        })
    }
}

struct Field {
    name: String,
    kind: String,
    label: String,
    options: Vec<String>,
    default: Option<Value>,
    is_required: bool,
}

impl Field {
    fn value(&self, text: &str) -> Option<Value> {
        match self.kind.as_str() {
            "boolean" => match text {
                "yes" | "true" => Some(true.into()),
                "no" | "false" => Some(false.into()),
                _ => None,
            },
            "integer" => text.trim().parse::<i64>().ok().map(Value::from),
            "number" => text.trim().parse::<f64>().ok().map(Value::from),
            _ if self.options.is_empty() || self.options.iter().any(|one| one == text) => {
                Some(text.into())
            }
            _ => None,
        }
    }
}

fn fields(schema: &Value) -> Vec<Field> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object();
    let field = |(name, field): (&String, &Value)| {
        let kind = text(field, "type");
        let named = [text(field, "title"), text(field, "description")];
        let label = named.iter().find(|text| !text.is_empty()).unwrap_or(name);
        let words = field["enum"].as_array().cloned().unwrap_or_default();
        let titled = field["oneOf"].as_array().cloned().unwrap_or_default();
        let mut options: Vec<String> = words
            .iter()
            .chain(titled.iter().map(|one| &one["const"]))
            .filter_map(|one| one.as_str().map(str::to_owned))
            .collect();
        if kind == "boolean" {
            options = vec!["yes".into(), "no".into()];
        }
        Field {
            name: name.clone(),
            kind,
            label: clean(label, 200),
            options,
            default: field.get("default").cloned(),
            is_required: required.iter().any(|one| one == name.as_str()),
        }
    };
    properties.into_iter().flatten().map(field).collect()
}

/// What a plain yes says, if it says anything: defaults, and the one field that is itself a yes.
fn answer_of_yes(schema: &Value) -> Option<Value> {
    let fields = fields(schema);
    let open: Vec<&Field> = fields
        .iter()
        .filter(|field| field.is_required && field.default.is_none())
        .collect();
    let mut content: Map<String, Value> = fields
        .iter()
        .filter_map(|field| Some((field.name.clone(), field.default.clone()?)))
        .collect();
    match open.as_slice() {
        [] => {}
        [field] if field.kind == "boolean" => {
            content.insert(field.name.clone(), true.into());
        }
        _ => return None,
    }
    Some(Value::Object(content))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_contract::PowerFuture;
    use toolbay_dispatch::{Nobody, RuleOrigin, RuleScope};

    use super::*;

    struct Says(Vec<&'static str>);

    impl AskUser for Says {
        fn ask(&self, questions: Vec<Question>) -> PowerFuture<'_, Vec<Vec<String>>> {
            assert!(questions.iter().all(|one| one.text.contains("why?")));
            let answers = self.0.iter().map(|one| vec![(*one).to_owned()]);
            let answers = answers.collect();
            Box::pin(async { Ok(answers) })
        }
    }

    struct Agrees(Answer);

    impl Approver for Agrees {
        fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
            assert!(question.reason.contains("the MCP server `s` asks: why?"));
            Box::pin(async { self.0.clone() })
        }
    }

    fn asked(schema: Value) -> Elicitation {
        Elicitation {
            server: "s".into(),
            call_id: String::new(),
            message: "why?\u{202e}".into(),
            schema,
        }
    }

    #[tokio::test]
    async fn a_yes_answers_what_a_yes_can_answer() {
        let person = AskPerson::new(Arc::new(Agrees(Answer::Yes)), None);
        let sure = json!({"properties": {
            "sure": {"type": "boolean"}, "note": {"type": "string", "default": "x"},
        }, "required": ["sure"]});
        assert_eq!(
            person.elicit(asked(sure.clone())).await,
            Elicited::Accepted(json!({"sure": true, "note": "x"}))
        );
        let name = json!({"properties": {"name": {"type": "string"}}, "required": ["name"]});
        assert_eq!(person.elicit(asked(name)).await, Elicited::Declined);
        let nobody = AskPerson::new(Arc::new(Nobody), None);
        assert_eq!(nobody.elicit(asked(sure.clone())).await, Elicited::Declined);
        // Nothing is kept by such an answer, so one that would keep a rule is no yes.
        for origin in [RuleOrigin::Offered, RuleOrigin::Typed] {
            let always = Answer::Always {
                rules: vec!["*".into()],
                scope: RuleScope::Session,
                origin,
            };
            let person = AskPerson::new(Arc::new(Agrees(always)), None);
            assert_eq!(person.elicit(asked(sure.clone())).await, Elicited::Declined);
        }
    }

    #[tokio::test]
    async fn fields_are_asked_for_and_checked() {
        let schema = json!({"properties": {
            "age": {"type": "integer"}, "colour": {"type": "string", "enum": ["red", "blue"]},
        }, "required": ["age", "colour"]});
        for (answers, wanted) in [
            (
                vec!["7", "red"],
                Elicited::Accepted(json!({"age": 7, "colour": "red"})),
            ),
            (vec!["seven", "red"], Elicited::Declined),
            (vec!["7", "green"], Elicited::Declined),
            (vec!["", "red"], Elicited::Declined),
            (vec!["7"], Elicited::Declined),
            (vec![], Elicited::Declined),
        ] {
            let person = AskPerson::new(Arc::new(Nobody), Some(Arc::new(Says(answers))));
            assert_eq!(person.elicit(asked(schema.clone())).await, wanted);
        }
    }
}
