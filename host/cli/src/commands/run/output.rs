//! The lines that go out.

use std::io::Write;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::Context;
use serde_json::{Value, json};
use toolbay::contract::{KillReason, KillSwitch, Modifier, Progress};
use toolbay::dispatch::ToolResult;

use super::PROTOCOL;
use crate::view;
use toolbay::compose::Bay;

/// Where lines go. A thread writes them, so that a slow reader holds up nothing but
/// itself.
#[derive(Clone)]
pub(super) struct Output {
    lines: Arc<Mutex<Option<mpsc::Sender<String>>>>,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
    human: bool,
}

impl Output {
    /// `kill` is thrown when nobody reads any more.
    pub(super) fn start(human: bool, kill: KillSwitch) -> anyhow::Result<Self> {
        let (lines, waiting) = mpsc::channel::<String>();
        let writer = std::thread::Builder::new()
            .name("toolbay-output".into())
            .spawn(move || {
                for line in waiting {
                    let mut out = std::io::stdout().lock();
                    let written = writeln!(out, "{line}").and_then(|()| out.flush());
                    if written.is_err() {
                        kill.throw(KillReason::Shutdown);
                        return;
                    }
                }
            })
            .context("the thread that writes the output")?;
        Ok(Self {
            lines: Arc::new(Mutex::new(Some(lines))),
            writer: Arc::new(Mutex::new(Some(writer))),
            human,
        })
    }

    pub(super) fn is_human(&self) -> bool {
        self.human
    }

    /// Sends an event to a program; people get what concerns them elsewhere.
    pub(super) fn send(&self, event: Value) {
        if !self.human {
            self.print(event.to_string());
        } else if let Some(text) = view::event(&event) {
            self.print(text);
        }
    }

    pub(super) fn print(&self, line: String) {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = &*lines {
            // The writer that is gone has thrown the switch.
            let _ = lines.send(line);
        }
    }

    /// The first line: who speaks, and what can be called.
    pub(super) fn ready(&self, session: &str, bay: &Bay) {
        self.send(json!({
            "type": "ready",
            "protocol": PROTOCOL,
            "version": env!("CARGO_PKG_VERSION"),
            "session_id": session,
            "tools": bay.dispatch.pool().messages_definitions(),
            "problems": bay.problems,
        }));
    }

    pub(super) fn result(&self, result: &ToolResult) {
        for message in &result.hook_messages {
            self.send(json!({
                "type": "hook_message",
                "tool_use_id": result.id,
                "message": message,
            }));
        }
        let mut line = result.to_block();
        line["tool_name"] = json!(result.tool);
        if let Some(failure) = &result.failure {
            line["error_class"] = json!(failure.class());
        }
        if let Some(stage) = result.stage {
            line["stage"] = json!(stage.word());
        }
        if let Some(path) = &result.persisted {
            line["persisted_to"] = json!(path);
        }
        let structured = result.structured.as_deref();
        if let Some(value) = structured.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            line["structured"] = value;
        }
        self.send(line);
        for modifier in result.outcome.iter().flat_map(|outcome| &outcome.modifiers) {
            self.send(json!({
                "type": "modifier",
                "tool_use_id": result.id,
                "modifier": modifier_json(modifier),
            }));
        }
    }

    pub(super) fn progress(&self, id: &str, progress: &Progress) {
        let progress = match progress {
            Progress::Text(text) => json!({"kind": "text", "text": text}),
            Progress::Output(bytes) => {
                json!({"kind": "output", "text": String::from_utf8_lossy(bytes)})
            }
            Progress::Percent(percent) => json!({"kind": "percent", "percent": percent}),
            Progress::Custom { kind, json } => json!({
                "kind": kind,
                "data": serde_json::from_str::<Value>(json).unwrap_or_default(),
            }),
            // Its log is for people who look for a mistake in it, not for the conversation.
            Progress::Log { .. } => return,
            Progress::Dropped => json!({"kind": "dropped"}),
        };
        self.send(json!({"type": "progress", "tool_use_id": id, "progress": progress}));
    }

    pub(super) fn bad_line(&self, number: Option<u64>, problem: &str) {
        self.send(json!({"type": "error", "line": number, "message": problem}));
    }

    /// Writes what is waiting, and ends.
    pub(super) fn finish(&self) {
        *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let writer = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(writer) = writer {
            // A writer that broke has nothing left to write.
            let _ = writer.join();
        }
    }
}

fn modifier_json(modifier: &Modifier) -> Value {
    match modifier {
        Modifier::FileSeen(seen) => json!({
            "kind": "file_seen", "path": seen.path, "digest": seen.digest, "whole": seen.whole,
        }),
        Modifier::WorkingDirectory(path) => json!({"kind": "working_directory", "path": path}),
        Modifier::PermissionMode(mode) => json!({"kind": "permission_mode", "mode": mode}),
        Modifier::AllowRule(rule) => json!({"kind": "allow_rule", "rule": rule}),
        Modifier::LoadTools(names) => json!({"kind": "load_tools", "names": names}),
        Modifier::Custom { kind, json } => json!({
            "kind": "custom",
            "name": kind,
            "data": serde_json::from_str::<Value>(json).unwrap_or_default(),
        }),
    }
}
