//! What a hook answers, by its exit code and its output.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolbay_contract::{JSON_VALUES, JsonSize};
use toolbay_sandbox::process::{Ended, How};

use super::event::HookEvent;
use super::message::{PermissionWord, bounded, name};
use super::run::MOST_OUTPUT;
use super::settings::Hook;

/// The exit code of a hook that blocks.
const BLOCKS: i32 = 2;
/// What a shell says when the program is not there or cannot be started, and the codes above for one
/// that a signal ended.
const NOT_STARTED: std::ops::RangeInclusive<i32> = 126..=255;

/// Some programs write it in front of their text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Keys of an answer that can say no, with their quotes.
const DECISIONS: [&str; 3] = ["\"permissionDecision\"", "\"decision\"", "\"continue\""];

/// One hook's answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// What it says; of a hook that is content, nothing at all.
    Said(Box<Said>),
    /// It ended with an exit code that says neither yes nor no: why.
    Failed(String),
    /// It did not come to an answer, or to one that cannot be understood: why.
    Broken(String),
    /// It did not run, because what it runs has changed: what.
    Changed(String),
    /// The call was over before the hook was: why.
    Cancelled(String),
}

/// All that a hook can say. What its event has no use for is dropped already.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Said {
    /// Whether the call may run, and why.
    pub(super) decision: Option<(PermissionWord, String)>,
    pub(super) updated_input: Option<Value>,
    pub(super) updated_output: Option<Value>,
    pub(super) context: Option<String>,
    /// What the model should make good after the call.
    pub(super) feedback: Option<String>,
    /// Why the agent should stop.
    pub(super) stop: Option<String>,
    /// What people should read.
    pub(super) message: Option<String>,
}

/// Reads the answer of a hook that was started.
pub(super) fn read(hook: &Hook, ended: &Ended) -> Answer {
    let broken = match ended.how {
        How::Exit(0) => match said(hook, ended) {
            Ok(said) => return Answer::Said(Box::new(said)),
            Err(problem) => problem,
        },
        How::Exit(BLOCKS) => return Answer::Said(Box::new(blocked(hook, ended))),
        How::Exit(code) => {
            let what = format!("it ended with exit code {code}{}", complaint(ended));
            match NOT_STARTED.contains(&code) {
                true => what,
                false => return Answer::Failed(what),
            }
        }
        How::Signal(signal) => {
            format!("it was killed by signal {signal}{}", complaint(ended))
        }
        How::TimedOut => format!("it took longer than {:?} and was ended", hook.time),
        How::Flooded => format!("it wrote more than {MOST_OUTPUT} bytes and was ended"),
    };
    Answer::Broken(broken)
}

fn said(hook: &Hook, ended: &Ended) -> Result<Said, String> {
    let stdout = ended.stdout.trim_ascii();
    let stdout = stdout.strip_prefix(BYTE_ORDER_MARK).unwrap_or(stdout);
    if stdout.starts_with(b"{") {
        let size = JsonSize::of(stdout).within(JSON_VALUES);
        size.map_err(|error| format!("its output holds {error}"))?;
        let answer: Json = serde_json::from_slice(stdout)
            .map_err(|error| format!("its output begins like JSON but is no answer: {error}"))?;
        return answer.understood(hook);
    }
    if ended.truncated {
        return Err(format!("it wrote more than {MOST_OUTPUT} bytes"));
    }
    if hook.event == HookEvent::PreToolUse {
        if ended.held_open {
            return Err(
                "a program that it started still held its output after it had ended, so that its \
                 answer may not be whole; the hook must wait for it, or redirect its output"
                    .into(),
            );
        }
        // A no behind a line of a debugger must not be taken for chatter.
        let has = |key: &&&str| stdout.windows(key.len()).any(|part| part == key.as_bytes());
        if let Some(key) = DECISIONS.iter().find(has) {
            return Err(format!(
                "its output holds {key} but does not begin with JSON; an answer is the JSON alone"
            ));
        }
    }
    // Not meant for us, so only people see it.
    Ok(Said {
        message: text(Some(String::from_utf8_lossy(stdout).into_owned())),
        ..Said::default()
    })
}

/// The old and plain way to say no: the exit code, and why on standard error.
fn blocked(hook: &Hook, ended: &Ended) -> Said {
    let reason = text(Some(String::from_utf8_lossy(&ended.stderr).into_owned()));
    let reason = reason.unwrap_or_else(|| unexplained(hook, "blocks it"));
    match hook.event {
        HookEvent::PreToolUse => Said {
            decision: Some((PermissionWord::Deny, reason)),
            ..Said::default()
        },
        HookEvent::PostToolUse | HookEvent::PostToolUseFailure => Said {
            feedback: Some(reason),
            ..Said::default()
        },
    }
}

/// The JSON form. Keys that we do not know are for others (`suppressOutput` among them:
/// we never show an answer as it came); a known key with a wrong value is an error, lest
/// a misspelt no be taken for silence.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Json {
    #[serde(rename = "continue")]
    go_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<OldDecision>,
    reason: Option<String>,
    hook_specific_output: Option<Specific>,
    /// These belong one level deeper; where they stand, other agents overlook them.
    permission_decision: Option<Value>,
    updated_input: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<NewDecision>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Map<String, Value>>,
    additional_context: Option<String>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_output: Option<Value>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum OldDecision {
    Approve,
    Block,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum NewDecision {
    Allow,
    Ask,
    Deny,
}

impl Json {
    fn understood(self, hook: &Hook) -> Result<Said, String> {
        let misplaced = [
            ("permissionDecision", self.permission_decision.is_some()),
            ("updatedInput", self.updated_input.is_some()),
        ];
        if let Some((key, _)) = misplaced.iter().find(|(_, is_there)| *is_there) {
            return Err(format!("`{key}` belongs into `hookSpecificOutput`"));
        }
        let specific = self.hook_specific_output.unwrap_or_default();
        let event = hook.event;
        if let Some(named) = specific.hook_event_name
            && named != event.name()
        {
            let named = name(&named);
            return Err(format!(
                "it answers to {named}, but was asked at {}",
                event.name()
            ));
        }
        let mut said = Said {
            context: text(specific.additional_context),
            message: text(self.system_message),
            stop: (self.go_on == Some(false)).then(|| {
                text(self.stop_reason).unwrap_or_else(|| unexplained(hook, "stops the agent"))
            }),
            ..Said::default()
        };
        let reason = text(self.reason);
        match event {
            HookEvent::PreToolUse => {
                said.updated_input = specific.updated_input.map(Value::Object);
                let new_reason = text(specific.permission_decision_reason).or(reason.clone());
                let new = specific.permission_decision.map(|new| match new {
                    NewDecision::Allow => (PermissionWord::Allow, new_reason),
                    NewDecision::Ask => (PermissionWord::Ask, new_reason),
                    NewDecision::Deny => (PermissionWord::Deny, new_reason),
                });
                let old = self.decision.map(|old| match old {
                    OldDecision::Approve => (PermissionWord::Allow, reason),
                    OldDecision::Block => (PermissionWord::Deny, reason),
                });
                // Who says both means the stricter.
                let stricter = new.into_iter().chain(old).max_by_key(|(word, _)| *word);
                said.decision = stricter.map(|(word, reason)| {
                    let reason = reason.unwrap_or_else(|| unexplained(hook, word.verb()));
                    (word, reason)
                });
            }
            HookEvent::PostToolUse | HookEvent::PostToolUseFailure => {
                if event == HookEvent::PostToolUse {
                    said.updated_output = specific.updated_output;
                }
                said.feedback = match self.decision {
                    Some(OldDecision::Block) => {
                        Some(reason.unwrap_or_else(|| unexplained(hook, "blocks it")))
                    }
                    Some(OldDecision::Approve) | None => None,
                };
            }
        }
        Ok(said)
    }
}

/// A text, if there is anything in it.
fn text(text: Option<String>) -> Option<String> {
    text.map(|text| bounded(&text))
        .filter(|text| !text.is_empty())
}

fn unexplained(hook: &Hook, verb: &str) -> String {
    format!(
        "the hook `{}` {verb} and gives no reason",
        name(&hook.command)
    )
}

fn complaint(ended: &Ended) -> String {
    let stderr = String::from_utf8_lossy(&ended.stderr);
    match bounded(&stderr) {
        text if text.is_empty() => String::new(),
        text => format!(": {text}"),
    }
}

#[cfg(test)]
mod tests;
