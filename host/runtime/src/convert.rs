//! Between the words of the contract's bindings and those of the host.

use toolbay_contract as host;
use toolbay_policy::SubjectKind;

use crate::bindings::exports::toolbay::tool::{guard, render};
use crate::bindings::toolbay::tool::types as wire;

pub(crate) fn info(info: wire::ToolInfo) -> host::ToolInfo {
    host::ToolInfo {
        name: info.name,
        aliases: info.aliases,
        summary: info.summary,
        input_schema: info.input_schema,
        output_schema: info.output_schema,
        subjects: info
            .subjects
            .into_iter()
            .map(|subject| host::SubjectAt {
                kind: match subject.kind {
                    wire::SubjectKind::Command => SubjectKind::Command,
                    wire::SubjectKind::Path => SubjectKind::Path,
                    wire::SubjectKind::Url => SubjectKind::Url,
                    wire::SubjectKind::Text => SubjectKind::Text,
                },
                pointer: subject.pointer,
            })
            .collect(),
        limit: match info.limit {
            wire::ResultLimit::Standard => host::ResultLimit::Standard,
            wire::ResultLimit::Chars(chars) => host::ResultLimit::Chars(chars),
            wire::ResultLimit::SelfManaged => host::ResultLimit::SelfManaged,
        },
        interrupt: match info.interrupt {
            wire::OnInterrupt::Finish => host::OnInterrupt::Finish,
            wire::OnInterrupt::Cancel => host::OnInterrupt::Cancel,
        },
        error: match info.error {
            wire::OnError::Isolate => host::OnError::Isolate,
            wire::OnError::CancelSiblings => host::OnError::CancelSiblings,
        },
        deferred: info.deferred,
        search_hint: info.search_hint,
        annotations: info.annotations,
    }
}

fn content(content: wire::Content) -> host::Content {
    let blob = |blob: wire::Blob| host::Blob {
        mime: blob.mime,
        data: blob.data,
    };
    match content {
        wire::Content::Text(text) => host::Content::Text(text),
        wire::Content::Image(image) => host::Content::Image(blob(image)),
        wire::Content::Document(document) => host::Content::Document(blob(document)),
        wire::Content::Link(link) => host::Content::Link(host::Link {
            uri: link.uri,
            name: link.name,
            mime: link.mime,
        }),
    }
}

fn content_to_wire(content: &host::Content) -> wire::Content {
    let blob = |blob: &host::Blob| wire::Blob {
        mime: blob.mime.clone(),
        data: blob.data.clone(),
    };
    match content {
        host::Content::Text(text) => wire::Content::Text(text.clone()),
        host::Content::Image(image) => wire::Content::Image(blob(image)),
        host::Content::Document(document) => wire::Content::Document(blob(document)),
        host::Content::Link(link) => wire::Content::Link(wire::Link {
            uri: link.uri.clone(),
            name: link.name.clone(),
            mime: link.mime.clone(),
        }),
    }
}

fn modifier(modifier: wire::ContextModifier) -> host::Modifier {
    match modifier {
        wire::ContextModifier::FileSeen(seen) => host::Modifier::FileSeen(host::FileSeen {
            path: seen.path,
            digest: seen.digest,
            whole: seen.whole,
            shown: seen.shown,
        }),
        wire::ContextModifier::WorkingDirectory(path) => host::Modifier::WorkingDirectory(path),
        wire::ContextModifier::PermissionMode(mode) => host::Modifier::PermissionMode(mode),
        wire::ContextModifier::AllowRule(rule) => host::Modifier::AllowRule(rule),
        wire::ContextModifier::LoadTools(names) => host::Modifier::LoadTools(names),
        wire::ContextModifier::Custom((kind, json)) => host::Modifier::Custom { kind, json },
    }
}

pub(crate) fn outcome(outcome: wire::Outcome) -> host::Outcome {
    host::Outcome {
        content: outcome.content.into_iter().map(content).collect(),
        structured: outcome.structured,
        failed: outcome.failed,
        modifiers: outcome.modifiers.into_iter().map(modifier).collect(),
        messages: outcome
            .messages
            .into_iter()
            .map(|message| host::Message {
                role: match message.role {
                    wire::Role::User => host::Role::User,
                    wire::Role::System => host::Role::System,
                },
                content: message.content.into_iter().map(content).collect(),
                hidden: message.hidden,
            })
            .collect(),
    }
}

/// What a render function needs of an outcome: modifiers are none of its business.
pub(crate) fn outcome_to_wire(outcome: &host::Outcome) -> wire::Outcome {
    wire::Outcome {
        content: outcome.content.iter().map(content_to_wire).collect(),
        structured: outcome.structured.clone(),
        failed: outcome.failed,
        modifiers: Vec::new(),
        messages: Vec::new(),
    }
}

pub(crate) fn failure(error: wire::ToolError, kill: &host::KillSwitch) -> host::Failure {
    match error {
        wire::ToolError::InvalidInput(message) => host::Failure::InvalidInput(message),
        wire::ToolError::Denied(reason) => host::Failure::Denied(reason),
        wire::ToolError::Cancelled => {
            host::Failure::Killed(kill.reason().unwrap_or(host::KillReason::Cancelled))
        }
        wire::ToolError::TimedOut => host::Failure::TimedOut,
        wire::ToolError::Failed(failure) => host::Failure::Tool {
            message: failure.message,
            code: failure.code,
            retryable: failure.retryable,
        },
    }
}

/// A failure as the guest's own words have it; what it has no word for is told.
pub(crate) fn failure_to_wire(failure: &host::Failure) -> wire::ToolError {
    match failure {
        host::Failure::InvalidInput(message) => wire::ToolError::InvalidInput(message.clone()),
        host::Failure::Denied(reason) => wire::ToolError::Denied(reason.clone()),
        host::Failure::Killed(_) => wire::ToolError::Cancelled,
        host::Failure::TimedOut => wire::ToolError::TimedOut,
        host::Failure::Tool {
            message,
            code,
            retryable,
        } => wire::ToolError::Failed(wire::Failure {
            message: message.clone(),
            code: code.clone(),
            retryable: *retryable,
        }),
        host::Failure::Broke { .. }
        | host::Failure::BadComponent { .. }
        | host::Failure::Host(_) => wire::ToolError::Failed(wire::Failure {
            message: failure.to_string(),
            code: None,
            retryable: false,
        }),
    }
}

pub(crate) fn rejection(rejection: guard::Rejection) -> host::Rejection {
    host::Rejection {
        message: rejection.message,
        code: rejection.code,
        ask_user: rejection.ask_user,
    }
}

pub(crate) fn review(answer: guard::Verdict) -> host::Review {
    let reason = answer.reason.unwrap_or_else(|| "it gave no reason".into());
    let verdict = match answer.behaviour {
        guard::Behaviour::Passthrough => host::Verdict::NoOpinion,
        guard::Behaviour::Allow => host::Verdict::Allow,
        guard::Behaviour::Ask => host::Verdict::Ask(reason),
        guard::Behaviour::Deny => host::Verdict::Deny(reason),
    };
    host::Review {
        verdict,
        updated_input: answer.updated_input,
        suggested_rules: answer.suggested_rules,
    }
}

/// A view cannot drive a terminal: what could has a sign instead. Nothing is dropped, because a
/// user may be asked about what the view shows.
pub(crate) fn view(view: render::View) -> host::View {
    let clean = |text: String| host::visible(&text);
    match view {
        render::View::Plain(text) => host::View::Plain(clean(text)),
        render::View::Markdown(text) => host::View::Markdown(clean(text)),
        render::View::Diff(text) => host::View::Diff(clean(text)),
        render::View::Rows(rows) => host::View::Rows(
            rows.into_iter()
                .map(|(key, value)| (clean(key), clean(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_cannot_drive_a_terminal() {
        assert_eq!(
            view(render::View::Plain("a\u{1b}[2Jb\r\n\tc\u{9b}d".into())),
            host::View::Plain("a␛[2Jb␍\n\tc<U+009B>d".into())
        );
    }
}
