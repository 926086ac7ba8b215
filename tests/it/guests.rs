//! Guests that misbehave, and a host that does not mind.
//!
//! Every test states the same few things: what came of the misdeed, and that its
//! text says so; that the disk is as it was, to the last time stamp; that the audit
//! log heard of it; that the next call of the same tool works; and that no slot is
//! lost. `tests/guests/README.md` says what each guest does.

// Two tests start this program anew, and tell it so by a variable.
#![allow(clippy::disallowed_methods)]

// Infos, claims, verdicts and views that lie, change or panic.
mod answers;
// Files that are no components, or components that are no tools.
mod broken;
// Components of released contract versions.
mod compat;
// Panics, traps, exits and answers that break the contract.
mod crash;
// Guests that do not end, ended by deadline, cancellation, revocation, shutdown.
mod ended;
// Memory, stack and floods.
mod hungry;
// Writing where only reading was granted.
mod liar;
// Environment, paths outside, networks, forged output.
mod prying;
// Acting where a tool is only asked.
mod questions;
// Deny rules about paths.
mod rules;
// Wishes and parallel runs beyond what a tool may have.
mod session;
// Ten thousand calls, good and bad.
mod soak;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolbay_contract::{AuditEvent, Content, Failure, Phase};
use toolbay_dispatch::ToolResult;
use toolbay_runtime::engine::SLOTS;
use toolbay_tests::bay::{Running, TestBay, own_runtime, snapshot};
use toolbay_tests::guests;

/// An empty bay whose slots nobody else uses.
fn own_bay() -> TestBay {
    TestBay::with_runtime(own_runtime())
}

/// A bay of its own with the rogue in it.
async fn rogue_bay() -> TestBay {
    own_bay().guest(guests::ROGUE).await
}

/// Calls the rogue with an act and further fields.
async fn act(running: &Running, act: &str, more: Value) -> ToolResult {
    let mut input = json!({"act": act});
    for (key, value) in more.as_object().unwrap() {
        input[key] = value.clone();
    }
    running.call("Rogue", input).await
}

/// The same tool works, and nobody holds a slot.
async fn assert_still_serves(running: &Running) {
    let answer = act(running, "echo", json!({"text": "still here"})).await;
    assert_eq!(answer.text(), "still here");
    assert!(!answer.is_error);
    assert_no_slot_lost(running);
}

fn assert_no_slot_lost(running: &Running) {
    assert_eq!(running.runtime.free_slots(), SLOTS as usize);
}

/// The call broke: its text names the plugin, the phase and the reason, and the
/// audit log has the same.
fn assert_broke(running: &Running, result: &ToolResult, reason: &str) {
    assert!(result.is_error, "{}", result.text());
    let Some(Failure::Broke {
        plugin,
        phase: Phase::Call,
        reason: told,
    }) = &result.failure
    else {
        panic!("not broken in its call: {:?}", result.failure);
    };
    assert_eq!(*plugin, result.tool);
    assert!(told.contains(reason), "wanted {reason:?}: {told}");
    let text = result.sentence();
    assert!(
        text.starts_with(&format!("plugin {plugin} broke in call: ")),
        "{text}"
    );
    assert_ended(running, "broke", reason);
}

/// The audit log says that the rogue was ended, and why.
fn assert_ended(running: &Running, class: &str, reason: &str) {
    let events = running.events.take();
    let found = events.iter().any(|event| {
        matches!(event, AuditEvent::Ended { class: of, reason: told, .. }
            if of == class && told.contains(reason))
    });
    assert!(found, "no end of class {class} ({reason}): {events:?}");
}

/// What a report of the rogue says: what was tried, and what came of it.
struct Report(Value);

impl Report {
    fn of(result: &ToolResult) -> Self {
        let text = result.structured.as_deref().unwrap_or_else(|| {
            panic!("no report: {}", result.text());
        });
        Self(serde_json::from_str(text).unwrap())
    }

    fn succeeded(&self) -> Vec<&str> {
        names(&self.0["succeeded"])
    }

    fn refused(&self) -> Vec<&str> {
        names(&self.0["refused"])
    }

    /// What one try came to.
    fn tried(&self, what: &str) -> &Value {
        let found = &self.0["tries"][what];
        assert!(found.is_object(), "{what} was not tried: {}", self.0);
        found
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect()
}

/// All that a result could leak, in one text.
fn everything_in(result: &ToolResult) -> String {
    let mut all = format!("{:?}", result.structured);
    for content in &result.content {
        if let Content::Text(text) = content {
            all.push_str(text);
        }
    }
    all
}

/// Folders as they are on disk: names, contents, and the times of the last change
/// of content and of anything else.
#[derive(Debug, PartialEq)]
struct Disk(BTreeMap<PathBuf, (Option<Vec<u8>>, [i64; 4])>);

impl Disk {
    fn of(folders: &[&Path]) -> Self {
        let mut all = BTreeMap::new();
        for folder in folders {
            let below = snapshot(folder);
            let itself = (PathBuf::new(), None);
            for (name, content) in below.into_iter().chain([itself]) {
                let path = folder.join(name);
                let found = std::fs::symlink_metadata(&path).unwrap();
                let times = [
                    found.mtime(),
                    found.mtime_nsec(),
                    found.ctime(),
                    found.ctime_nsec(),
                ];
                all.insert(path, (content, times));
            }
        }
        Self(all)
    }

    fn assert_unchanged(&self) {
        let folders: Vec<&Path> = self.0.keys().map(PathBuf::as_path).collect();
        let top: Vec<&Path> = folders
            .iter()
            .copied()
            .filter(|path| !folders.iter().any(|other| path.parent() == Some(*other)))
            .collect();
        let now = Self::of(&top);
        for (path, was) in &self.0 {
            assert_eq!(now.0.get(path), Some(was), "{}", path.display());
        }
        for path in now.0.keys() {
            assert!(self.0.contains_key(path), "{} is new", path.display());
        }
    }
}

/// One test of this program in a process of its own.
fn alone(module: &str, test: &str) -> Command {
    let (_, module) = module.split_once("::").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .arg(format!("{module}::{test}"));
    command
}

/// Puts what `write-every-way` needs into a folder.
fn stock(folder: &Path) {
    std::fs::create_dir_all(folder.join("victim_dir")).unwrap();
    std::fs::write(folder.join("victim.txt"), "the victim").unwrap();
    std::fs::write(folder.join("bystander.txt"), "the bystander").unwrap();
}
