//! What a hook reads on its standard input.

use std::sync::Arc;

use serde_json::{Value, json};

use super::event::HookEvent;
use super::{Ending, HookedCall};

pub(super) fn before(call: &HookedCall) -> Arc<[u8]> {
    line(&common(call, HookEvent::PreToolUse))
}

pub(super) fn after(call: &HookedCall, event: HookEvent, ending: &Ending) -> Arc<[u8]> {
    let mut told = common(call, event);
    match ending {
        Ending::Success { response } => told["tool_response"] = response.clone(),
        Ending::Failure { error, interrupted } => {
            told["error"] = json!(error);
            told["is_interrupt"] = json!(interrupted);
        }
    }
    line(&told)
}

fn common(call: &HookedCall, event: HookEvent) -> Value {
    json!({
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd.to_string_lossy(),
        "permission_mode": call.permission_mode,
        "hook_event_name": event.name(),
        "tool_name": call.tool,
        "tool_input": call.input,
        "tool_use_id": call.call_id,
    })
}

/// One line with its end: a shell's `read` wants to see it.
fn line(told: &Value) -> Arc<[u8]> {
    format!("{told}\n").into_bytes().into()
}
