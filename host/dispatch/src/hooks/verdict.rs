//! What all hooks of an event say together.

use std::sync::Arc;

use serde_json::Value;

use super::HookedCall;
use super::answer::{Answer, Said};
use super::event::HookEvent;
use super::message::{HookMessage, HookSource, PermissionWord, name};
use super::run::Reply;
use super::settings::OnError;

/// What comes of the hooks before a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Before {
    pub opinion: HookOpinion,
    /// Which hook, by its command, wrote which input.
    pub(super) wrote: Vec<(Arc<str>, Value)>,
    /// The input to use instead. It was validated by nobody yet.
    pub updated_input: Option<Value>,
    /// What the model should know, in the order of the settings.
    pub context: Vec<String>,
    /// Why the agent should stop after this call.
    pub stop: Option<String>,
    pub messages: Vec<HookMessage>,
}

/// What hooks think of a call, with their reasons. Deny beats ask beats allow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HookOpinion {
    #[default]
    None,
    Allow(String),
    Ask(String),
    Deny(String),
}

impl HookOpinion {
    /// The stricter of two, and both reasons if they are equally strict.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny(one), Self::Deny(two)) if one != two => Self::Deny(format!("{one}\n{two}")),
            (Self::Deny(reason), _) | (_, Self::Deny(reason)) => Self::Deny(reason),
            (Self::Ask(one), Self::Ask(two)) if one != two => Self::Ask(format!("{one}\n{two}")),
            (Self::Ask(reason), _) | (_, Self::Ask(reason)) => Self::Ask(reason),
            (Self::Allow(reason), _) | (_, Self::Allow(reason)) => Self::Allow(reason),
            (Self::None, Self::None) => Self::None,
        }
    }
}

/// What comes of the hooks after a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct After {
    /// What the model should know.
    pub context: Vec<String>,
    /// What the model should make good.
    pub feedback: Vec<String>,
    /// Why the agent should stop now.
    pub stop: Option<String>,
    /// What to give the model instead of the tool's response.
    pub updated_output: Option<Value>,
    pub messages: Vec<HookMessage>,
}

pub(super) fn before(call: &HookedCall, replies: Vec<Reply<'_>>) -> Before {
    let mut sum = Sum::of(call, HookEvent::PreToolUse, replies);
    sum.drop_stale_allows();
    sum.summarise();
    let opinion = opinion(sum.decisions);
    let updated_input = match opinion {
        HookOpinion::Deny(_) => None,
        HookOpinion::None | HookOpinion::Allow(_) | HookOpinion::Ask(_) => sum.updated_input.value,
    };
    Before {
        opinion,
        wrote: sum.wrote,
        updated_input,
        context: sum.context,
        stop: sum.stop,
        messages: sum.messages,
    }
}

/// What hooks say about the input that will run, who have seen another one before. They only
/// tighten: a yes to what somebody else wrote is no more than silence, and nobody may change the
/// input once more.
pub(super) fn again(call: &HookedCall, replies: Vec<Reply<'_>>) -> Before {
    let mut sum = Sum::of(call, HookEvent::PreToolUse, replies);
    sum.summarise();
    let mut decisions = sum.decisions;
    decisions.retain(|decision| decision.word != PermissionWord::Allow);
    let opinion = opinion(decisions);
    let changes = sum.wrote.iter().filter(|(_, input)| *input != call.input);
    let opinion = changes.fold(opinion, |opinion, (command, _)| {
        opinion.and(HookOpinion::Ask(format!(
            "the hook `{}` would change the input again after it was changed, and is not followed",
            name(command)
        )))
    });
    Before {
        opinion,
        wrote: Vec::new(),
        updated_input: None,
        context: sum.context,
        stop: sum.stop,
        messages: sum.messages,
    }
}

pub(super) fn after(call: &HookedCall, event: HookEvent, replies: Vec<Reply<'_>>) -> After {
    let mut sum = Sum::of(call, event, replies);
    sum.summarise();
    After {
        context: sum.context,
        feedback: sum.feedback,
        stop: sum.stop,
        updated_output: sum.updated_output.value,
        messages: sum.messages,
    }
}

/// The strictest decisions, with all their reasons.
fn opinion(decisions: Vec<HookDecision>) -> HookOpinion {
    let Some(strictest) = decisions.iter().map(|decision| decision.word).max() else {
        return HookOpinion::None;
    };
    let mut reasons: Vec<String> = Vec::new();
    for HookDecision { word, reason, .. } in decisions {
        if word == strictest && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let reasons = reasons.join("\n");
    match strictest {
        PermissionWord::Allow => HookOpinion::Allow(reasons),
        PermissionWord::Ask => HookOpinion::Ask(reasons),
        PermissionWord::Deny => HookOpinion::Deny(reasons),
    }
}

/// What one hook decided, and about which input.
struct HookDecision {
    source: HookSource,
    word: PermissionWord,
    reason: String,
    /// The input that the hook put in place of the one that it saw; none if it left it alone.
    wrote: Option<Value>,
}

/// The answers added up, in the order of the settings.
struct Sum<'a> {
    call: &'a HookedCall,
    event: HookEvent,
    decisions: Vec<HookDecision>,
    wrote: Vec<(Arc<str>, Value)>,
    updated_input: Latest,
    updated_output: Latest,
    context: Vec<String>,
    feedback: Vec<String>,
    stop: Option<String>,
    hooks: Vec<String>,
    errors: Vec<String>,
    messages: Vec<HookMessage>,
}

impl<'a> Sum<'a> {
    fn of(call: &'a HookedCall, event: HookEvent, replies: Vec<Reply<'_>>) -> Self {
        let mut sum = Self {
            call,
            event,
            decisions: Vec::new(),
            wrote: Vec::new(),
            updated_input: Latest::default(),
            updated_output: Latest::default(),
            context: Vec::new(),
            feedback: Vec::new(),
            stop: None,
            hooks: Vec::new(),
            errors: Vec::new(),
            messages: Vec::new(),
        };
        for reply in replies {
            let source = HookSource::new(reply.hook, call);
            sum.hooks.push(source.hook.clone());
            match reply.answer {
                Answer::Said(said) => {
                    let input = said.updated_input.clone();
                    sum.wrote
                        .extend(input.map(|input| (reply.hook.command.clone(), input)));
                    sum.add(source, *said);
                }
                Answer::Failed(error) => {
                    let effect = match reply.on_error {
                        OnError::Open | OnError::Usual => Effect::GoesOn,
                        OnError::Closed => Effect::Denies,
                    };
                    sum.add_failure(source, error, effect);
                }
                Answer::Broken(error) => {
                    let effect = match reply.on_error {
                        OnError::Open => Effect::GoesOn,
                        OnError::Usual | OnError::Closed => Effect::Denies,
                    };
                    sum.add_failure(source, error, effect);
                }
                // It never had its say, whatever it would accept of itself.
                Answer::Changed(error) => sum.add_failure(source, error, Effect::Denies),
                Answer::Cancelled(reason) => sum.add_cancelled(source, reason),
            }
        }
        sum
    }

    fn add(&mut self, source: HookSource, said: Said) {
        // Whoever wants everything to stop before a call does not want the call.
        if self.event == HookEvent::PreToolUse
            && let Some(reason) = &said.stop
        {
            self.decide(&source, PermissionWord::Deny, reason.clone(), None);
        }
        if let Some((word, reason)) = said.decision {
            self.decide(&source, word, reason, said.updated_input.clone());
        }
        if let Some(input) = said.updated_input {
            let note = self.updated_input.put(&source, input, "the input");
            self.messages.extend(note);
        }
        if let Some(output) = said.updated_output {
            let note = self.updated_output.put(&source, output, "the output");
            self.messages.extend(note);
        }
        if let Some(context) = said.context {
            self.context.push(context.clone());
            self.messages.push(HookMessage::HookAdditionalContext {
                source: source.clone(),
                context,
            });
        }
        self.feedback.extend(said.feedback);
        if let Some(reason) = said.stop {
            self.stop.get_or_insert_with(|| reason.clone());
            self.messages.push(HookMessage::HookStoppedContinuation {
                source: source.clone(),
                reason,
            });
        }
        if let Some(message) = said.message {
            self.messages
                .push(HookMessage::SystemMessage { source, message });
        }
    }

    fn decide(
        &mut self,
        source: &HookSource,
        word: PermissionWord,
        reason: String,
        wrote: Option<Value>,
    ) {
        self.messages.push(HookMessage::HookPermissionDecision {
            source: source.clone(),
            decision: word,
            reason: reason.clone(),
        });
        self.decisions.push(HookDecision {
            source: source.clone(),
            word,
            reason,
            wrote,
        });
    }

    /// Drops each allow that is about another input than the one that will run. All hooks see
    /// the original input at the same time, so a hook knows that input and the one it wrote
    /// itself, and no other. A deny or ask counts whatever the input has become.
    fn drop_stale_allows(&mut self) {
        let runs = self.updated_input.value.as_ref();
        let runs = runs.unwrap_or(&self.call.input);
        let (stale, counted) =
            std::mem::take(&mut self.decisions)
                .into_iter()
                .partition(|decision| {
                    let known = decision.wrote.as_ref().unwrap_or(&self.call.input);
                    decision.word == PermissionWord::Allow && known != runs
                });
        self.decisions = counted;
        let notes = Vec::into_iter(stale).map(|decision| HookMessage::SystemMessage {
            source: decision.source,
            message: format!(
                "this hook allowed the call, but `{}` changed the input that it allowed; its \
                 allow does not count",
                self.updated_input.set_by
            ),
        });
        self.messages.extend(notes);
    }

    fn add_failure(&mut self, source: HookSource, error: String, effect: Effect) {
        self.errors.push(error.clone());
        let words = match (self.event, effect) {
            (HookEvent::PreToolUse, Effect::Denies) => "; the call is denied",
            (HookEvent::PreToolUse, Effect::GoesOn) => "; the call goes on without it",
            (HookEvent::PostToolUse | HookEvent::PostToolUseFailure, _) => "",
        };
        self.messages.push(HookMessage::HookErrorDuringExecution {
            source: source.clone(),
            error: format!("{error}{words}"),
        });
        if self.event == HookEvent::PreToolUse && effect == Effect::Denies {
            let reason = format!(
                "the hook `{}` must agree to this call but failed: {error}",
                source.hook
            );
            self.decide(&source, PermissionWord::Deny, reason, None);
        }
    }

    fn add_cancelled(&mut self, source: HookSource, reason: String) {
        // Nobody knows what it would have said, so the call must not run.
        if self.event == HookEvent::PreToolUse {
            let reason = format!("the call was ended before its hooks had answered: {reason}");
            self.decisions.push(HookDecision {
                source: source.clone(),
                word: PermissionWord::Deny,
                reason,
                wrote: None,
            });
        }
        self.messages
            .push(HookMessage::HookCancelled { source, reason });
    }

    /// When the agent stops, people want to see who was asked and what broke.
    fn summarise(&mut self) {
        let Some(stop_reason) = self.stop.clone() else {
            return;
        };
        self.messages.push(HookMessage::StopHookSummary {
            event: self.event,
            tool: self.call.tool.clone(),
            call_id: self.call.call_id.clone(),
            hook_count: self.hooks.len(),
            hooks: std::mem::take(&mut self.hooks),
            errors: std::mem::take(&mut self.errors),
            prevented_continuation: true,
            stop_reason,
        });
    }
}

/// What a hook that failed means for its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    GoesOn,
    Denies,
}

/// A value that several hooks may set: the last one in the settings wins.
#[derive(Default)]
struct Latest {
    value: Option<Value>,
    set_by: String,
}

impl Latest {
    /// Sets it. Tells of it where another hook had set it otherwise.
    fn put(&mut self, source: &HookSource, value: Value, what: &str) -> Option<HookMessage> {
        let was = std::mem::replace(&mut self.set_by, name(&source.hook));
        let before = self.value.replace(value);
        (before.is_some() && before != self.value).then(|| HookMessage::SystemMessage {
            source: source.clone(),
            message: format!(
                "this hook and `{was}` both change {what} of the call; this one counts, because it stands later in the settings"
            ),
        })
    }
}
