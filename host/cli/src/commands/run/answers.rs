//! Questions that go out as lines and are answered by lines.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolbay::contract::{AskUser, BoxFuture, HostFailure, PowerFuture, Question};
use toolbay::dispatch::{Answer, Approver, PermissionQuestion, RuleOrigin, RuleScope};
use toolbay::mcp::client::{Sampler, Sampling};
use toolbay::policy::{Access, Zone};

use super::input::Behavior;
use super::output::Output;

/// What is open, by the id under which it was asked.
pub(super) struct Answers {
    output: Output,
    next: AtomicU64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Nobody is there any more.
    closed: bool,
    /// Each with what was asked and offered.
    permissions: HashMap<String, (oneshot::Sender<Answer>, PermissionQuestion)>,
    questions: HashMap<String, oneshot::Sender<Vec<Vec<String>>>>,
    samples: HashMap<String, oneshot::Sender<Result<Value, String>>>,
}

impl Answers {
    pub(super) fn new(output: Output) -> Self {
        Self {
            output,
            next: AtomicU64::new(1),
            open: Mutex::default(),
        }
    }

    /// Answers a permission question; says what is wrong if there is none. An answer that goes
    /// beyond what was offered, or cannot be used, is refused as a whole, and the question with it:
    /// the other side believes to have answered, and would wait for the result for ever.
    pub(super) fn permission(&self, id: &str, given: Permission) -> Result<(), String> {
        let Some((waiting, question)) = self.open().permissions.remove(id) else {
            return Err(format!("there is no open permission request {id:?}"));
        };
        let (answer, within) = match answer(given, &question.rules) {
            Ok(answer) => {
                let within = question.check(&answer);
                (answer, within)
            }
            Err(problem) => {
                let reason = format!("the answer cannot be used: {problem}");
                (Answer::No { reason }, Err(problem))
            }
        };
        // Dispatch checks it as well. The caller may be gone.
        let _ = waiting.send(answer);
        within.map_err(|problem| format!("{id}: {problem}; the request counts as denied"))
    }

    /// Denies what a line was to answer that is none, and says so; it may be about nothing open.
    pub(super) fn unusable(&self, id: &str, problem: String) -> String {
        let Some((waiting, _)) = self.open().permissions.remove(id) else {
            return problem;
        };
        let reason = format!("the answer cannot be used: {problem}");
        // The caller may be gone.
        let _ = waiting.send(Answer::No { reason });
        format!("{id}: {problem}; the request counts as denied")
    }

    /// Answers a tool's question.
    pub(super) fn user(&self, id: &str, answers: Vec<Vec<String>>) -> Result<(), String> {
        let Some(waiting) = self.open().questions.remove(id) else {
            return Err(format!("there is no open question {id:?}"));
        };
        let _ = waiting.send(answers);
        Ok(())
    }

    /// Answers a server that wants the model to write something.
    pub(super) fn sampling(
        &self,
        id: &str,
        result: Option<Value>,
        error: Option<String>,
    ) -> Result<(), String> {
        let answer = match (result, error) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => Err(error),
            (Some(_), Some(_)) | (None, None) => {
                return Err("a sampling_response has either a `result` or an `error`".into());
            }
        };
        let Some(waiting) = self.open().samples.remove(id) else {
            return Err(format!("there is no open sampling request {id:?}"));
        };
        let _ = waiting.send(answer);
        Ok(())
    }

    /// The input has ended: whatever is open, and whatever comes, has no answer.
    pub(super) fn close(&self) {
        let mut open = self.open();
        open.closed = true;
        open.permissions.clear();
        open.questions.clear();
        open.samples.clear();
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self, kind: &str) -> String {
        format!("{kind}_{}", self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// Tells the other side that a question is void, if it goes away unanswered.
struct Asked<'a> {
    answers: &'a Answers,
    id: String,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut open = self.answers.open();
        let unanswered = open.permissions.remove(&self.id).is_some()
            | open.questions.remove(&self.id).is_some()
            | open.samples.remove(&self.id).is_some();
        drop(open);
        if unanswered {
            self.answers
                .output
                .send(json!({"type": "request_cancelled", "request_id": self.id}));
        }
    }
}

impl Approver for Answers {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let nobody = || Answer::No {
                reason: format!(
                    "{} needs permission because {}, and nobody is there to answer: the input was \
                     closed{}",
                    question.tool,
                    question.reason,
                    question.hint()
                ),
            };
            let (sender, answer) = oneshot::channel();
            let id = self.id("permission");
            {
                let mut open = self.open();
                if open.closed {
                    return nobody();
                }
                let offered = question.clone();
                open.permissions.insert(id.clone(), (sender, offered));
            }
            let asked = Asked { answers: self, id };
            self.output.send(request(&asked.id, &question));
            answer.await.unwrap_or_else(|_| nobody())
        })
    }

    fn tell(&self, trouble: &str) {
        self.output
            .send(json!({"type": "warning", "message": trouble}));
    }
}

impl AskUser for Answers {
    fn ask(&self, questions: Vec<Question>) -> PowerFuture<'_, Vec<Vec<String>>> {
        Box::pin(async move {
            let nobody = || {
                HostFailure::Unavailable("nobody is there to answer: the input was closed".into())
            };
            let (sender, answer) = oneshot::channel();
            let id = self.id("question");
            {
                let mut open = self.open();
                if open.closed {
                    return Err(nobody());
                }
                open.questions.insert(id.clone(), sender);
            }
            let asked = Asked { answers: self, id };
            let questions: Vec<Value> = questions
                .iter()
                .map(|question| {
                    json!({
                        "header": question.header,
                        "text": question.text,
                        "options": question.options,
                        "multiple": question.multiple,
                    })
                })
                .collect();
            self.output
                .send(json!({"type": "question", "request_id": asked.id, "questions": questions}));
            answer.await.map_err(|_| nobody())
        })
    }
}

impl Sampler for Answers {
    fn sample(&self, sampling: Sampling) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async move {
            let nobody = || "nobody is there to answer: the input was closed".to_owned();
            let (sender, answer) = oneshot::channel();
            let id = self.id("sampling");
            {
                let mut open = self.open();
                if open.closed {
                    return Err(nobody());
                }
                open.samples.insert(id.clone(), sender);
            }
            let asked = Asked { answers: self, id };
            self.output.send(json!({
                "type": "sampling_request",
                "request_id": asked.id,
                "tool_use_id": sampling.call_id,
                "server": sampling.server,
                "params": sampling.params,
            }));
            answer.await.unwrap_or_else(|_| Err(nobody()))
        })
    }
}

/// What a line says about a permission.
pub(super) struct Permission {
    pub(super) behavior: Behavior,
    pub(super) message: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) rules: Option<Vec<String>>,
}

fn answer(given: Permission, offered: &[String]) -> Result<Answer, String> {
    let scope = match (&given.behavior, given.scope) {
        (Behavior::Deny, _) => {
            return Ok(Answer::No {
                reason: given.message.unwrap_or_else(|| "the user said no".into()),
            });
        }
        (Behavior::Allow, None) if given.rules.is_some() => {
            return Err(
                "`rules` are kept in a scope: name one in `scope`, or leave them out".into(),
            );
        }
        (Behavior::Allow, None) => return Ok(Answer::Yes),
        (Behavior::Allow, Some(scope)) => scope,
    };
    let Some(scope) = RuleScope::parse(&scope) else {
        let known = RuleScope::ALL.map(RuleScope::word).join(", ");
        return Err(format!("{scope:?} is no scope; one of {known}"));
    };
    Ok(Answer::Always {
        rules: given.rules.unwrap_or_else(|| offered.to_vec()),
        scope,
        origin: RuleOrigin::Offered,
    })
}

fn request(id: &str, question: &PermissionQuestion) -> Value {
    let input: Value = serde_json::from_str(&question.input).unwrap_or_default();
    let access = match &question.granted.access {
        Access::ReadOnly => json!({"kind": "read_only"}),
        Access::ReadWrite { zones } => {
            let (mut files, mut folders) = (Vec::new(), Vec::new());
            for zone in zones.iter() {
                match zone {
                    Zone::File(path) => files.push(path),
                    Zone::Folder(path) => folders.push(path),
                }
            }
            json!({"kind": "read_write", "files": files, "folders": folders})
        }
    };
    let scopes: Vec<&str> = question.scopes.iter().map(|scope| scope.word()).collect();
    let commands: Vec<Value> = question
        .commands
        .iter()
        .map(|part| json!({"depth": part.depth, "command": part.text, "doubt": part.doubt}))
        .collect();
    json!({
        "type": "permission_request",
        "request_id": id,
        "tool_use_id": question.call_id,
        "tool_name": question.tool,
        "caller": question.caller,
        "input": input,
        "reason": question.reason,
        "access": access,
        "grants": question.grants(),
        "destructive": question.destructive,
        "asked_by": question.asked_by,
        "commands": commands,
        "warnings": question.warnings,
        "suggested_rule": question.rules.first(),
        "suggested_rules": question.rules,
        "more_rules": question.more_rules,
        "scopes": scopes,
    })
}
