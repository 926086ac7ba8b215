//! The runner inside of the namespaces: runs command after command and looks at what changed.
//!
//! Commands come on standard input, each ended by NUL; for each, a line goes out: `0 STATUS`
//! if nothing changed, `1 STATUS` and what did, or `2` if it did not end by itself.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::snapshot::{Cage, difference, processes};

/// A command that takes longer is stopped.
const LONGEST: Duration = Duration::from_secs(6);
/// What a command left is given this long to end.
const GRACE: Duration = Duration::from_millis(500);

pub fn run(cage: &Path) {
    let cage = Cage::new(cage);
    let mut before = cage.snapshot();
    let others = processes();
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut script = Vec::new();
    while input
        .read_until(0, &mut script)
        .is_ok_and(|length| length > 0)
    {
        script.pop();
        let script_text = String::from_utf8_lossy(&script).into_owned();
        script.clear();
        let ended = execute(&cage, &script_text);
        let mut changes = left_over(&others, ended.is_none());
        let after = cage.snapshot();
        changes.extend(
            difference(&before, &after)
                .into_iter()
                .filter(|change| is_lasting(change)),
        );
        // The next one is measured against what is there now.
        before = after;
        let line = match (ended, changes.is_empty()) {
            (Some(status), true) => format!("0 {status}"),
            (None, true) => "2".to_owned(),
            (ended, false) => {
                changes.truncate(6);
                let status = ended.map_or("none".to_owned(), |status| status.to_string());
                format!("1 {status} {:?}", changes.join("; "))
            }
        };
        writeln!(output, "{line}").expect("somebody listens");
        output.flush().expect("somebody listens");
    }
}

/// A command that is called read-only gets a `/tmp` of its own, which goes with it: what it
/// puts there (java's counters, tac's copy of a pipe) is no change. What was there must stay.
fn is_lasting(change: &str) -> bool {
    let is_new = change.starts_with("/tmp/") && change.contains(" is new: ");
    let is_counter = change.starts_with("/tmp/hsperfdata_");
    !is_new && !is_counter
}

/// The status, or none if it was stopped.
fn execute(cage: &Cage, script: &str) -> Option<i32> {
    let mut root = std::ffi::OsString::from("--root=");
    root.push(cage.root());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new("unshare");
    command.arg(root).arg("--wd=/home/dev/project");
    command.args(["bash", "-c", script]);
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", "/home/dev")
        .env("LANG", "C.UTF-8");
    // Where rustup keeps its compilers; a home without one would get a new folder.
    if let Some(home) = std::env::var_os("RUSTUP_HOME") {
        command.env("RUSTUP_HOME", home);
    }
    // What the product says to every command that it calls read-only.
    command.envs(toolbay_shell::QUIET.iter().copied());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.process_group(0).spawn().expect("unshare");
    let begin = Instant::now();
    let mut pause = Duration::from_micros(300);
    while begin.elapsed() < LONGEST {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Some(status.code().unwrap_or(-1));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Processes that were not there before, or that are there no more. Whatever is left is ended.
fn left_over(before: &BTreeMap<u32, String>, stopped: bool) -> Vec<String> {
    let begin = Instant::now();
    loop {
        let now = processes();
        let new: Vec<String> = now
            .keys()
            .filter(|id| !before.contains_key(id))
            .map(u32::to_string)
            .collect();
        let changes = difference(before, &now);
        if changes.is_empty() {
            return changes;
        }
        if stopped && !new.is_empty() {
            // Those of a command that was stopped are no news.
            kill(&new);
        } else if begin.elapsed() > GRACE {
            kill(&new);
            return changes
                .into_iter()
                .map(|change| format!("process {change}"))
                .collect();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends processes of this namespace, by their numbers in it.
fn kill(ids: &[String]) {
    if !ids.is_empty() {
        let _ = Command::new("kill")
            .arg("-KILL")
            .args(ids)
            .stderr(Stdio::null())
            .status();
    }
}
