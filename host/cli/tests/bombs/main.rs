//! Components that were made to end the host that reads or compiles them.
//!
//! Each goes through `inspect`, `call` and `run`: each ends with a sentence, the host stays small, and
//! what comes after works.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

mod clients;
mod list;
mod output;
mod rules;
mod trees;
#[rustfmt::skip]
mod wasm;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use list::{BOMBS, Bomb, TOUGH};

/// Beyond this a run hangs.
const PATIENCE: Duration = Duration::from_secs(240);
/// The most that the host itself may take.
const MOST_MEMORY: u64 = 1 << 30;

struct Place {
    folder: tempfile::TempDir,
}

struct Ran {
    status: ExitStatus,
    out: String,
    err: String,
    /// The most memory that the process held, in bytes.
    peak: u64,
    took: Duration,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.path("bomb.wasm");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn start(&self, args: &[&str]) -> Child {
        let project = self.path("project");
        std::fs::create_dir_all(&project).unwrap();
        Command::new(env!("CARGO_BIN_EXE_toolbay"))
            .args(args)
            .env_clear()
            .envs([
                ("HOME", self.path("home")),
                // Kept from one run of the tests to the next: built-in tools compile once.
                (
                    "XDG_CACHE_HOME",
                    Path::new(env!("CARGO_TARGET_TMPDIR")).join("bombs-cache"),
                ),
                (
                    "XDG_STATE_HOME",
                    Path::new(env!("CARGO_TARGET_TMPDIR")).join("bombs-state"),
                ),
                ("TOOLBAY_MANAGED_SETTINGS", self.path("managed.json")),
            ])
            .current_dir(project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn run(&self, args: &[&str], input: &str) -> Ran {
        let started = Instant::now();
        let mut child = self.start(args);
        let (mut pipe, input) = (child.stdin.take().unwrap(), input.to_owned());
        std::thread::spawn(move || {
            // Who ends without reading does no wrong.
            let _ = pipe.write_all(input.as_bytes());
        });
        let out = collected(child.stdout.take().unwrap());
        let err = collected(child.stderr.take().unwrap());
        let mut peak = 0;
        let status = loop {
            peak = peak.max(peak_of(child.id()));
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{args:?} hangs");
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        Ran {
            status,
            out: out.join().unwrap(),
            err: err.join().unwrap(),
            peak,
            took: started.elapsed(),
        }
    }
}

fn collected(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The most memory that a process has held so far; nothing of one that has ended.
fn peak_of(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok())
        .unwrap_or(0)
        << 10
}

/// What holds for each run, whatever it was.
#[track_caller]
fn assert_calm(ran: &Ran, bomb: &Bomb, command: &str) {
    println!(
        "{command:>7} {:>6.2} s {:>4} MiB  {}",
        ran.took.as_secs_f32(),
        ran.peak >> 20,
        bomb.what
    );
    let both = format!("{}{}", ran.out, ran.err);
    assert!(
        ran.status.code().is_some(),
        "{}: {:?}: {both}",
        bomb.what,
        ran.status
    );
    assert!(!both.contains("panicked"), "{}: {both}", bomb.what);
    assert!(ran.peak < MOST_MEMORY, "{}: {} bytes", bomb.what, ran.peak);
    for line in both
        .lines()
        .filter(|line| !line.contains("\"type\":\"ready\""))
    {
        assert!(
            line.len() < 4_000,
            "{}: a wall of text: {} bytes",
            bomb.what,
            line.len()
        );
    }
}

fn call(place: &Place, bomb: &Bomb, file: &str) {
    let ran = place.run(
        &["call", "--plugin", file, "--allow", "Bomb", "Bomb", "{}"],
        "",
    );
    assert_calm(&ran, bomb, "call");
    assert_ne!(ran.status.code(), Some(0), "{}", bomb.what);
    assert!(ran.err.contains(bomb.says), "{}: {}", bomb.what, ran.err);
}

fn inspect(place: &Place, bomb: &Bomb, file: &str) {
    let ran = place.run(&["inspect", file], "");
    assert_calm(&ran, bomb, "inspect");
    // Nothing is compiled, so that some are not found out.
    if ran.status.code() != Some(0) {
        assert!(ran.err.contains("error: "), "{}: {}", bomb.what, ran.err);
    }
}

fn run(place: &Place, bomb: &Bomb, file: &str) {
    let lines = [
        r#"{"type":"tool_use","id":"bomb","name":"Bomb","input":{}}"#,
        r#"{"type":"tool_use","id":"other","name":"Glob","input":{"pattern":"*"}}"#,
    ];
    let ran = place.run(
        &["run", "--plugin", file, "--allow", "Bomb"],
        &(lines.join("\n") + "\n"),
    );
    assert_calm(&ran, bomb, "run");
    assert_eq!(ran.status.code(), Some(0), "{}: {}", bomb.what, ran.err);
    let events: Vec<serde_json::Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["type"], "ready", "{}", bomb.what);
    let result = |id: &str| {
        let found = events
            .iter()
            .find(|event| event["tool_use_id"] == id && event["type"] == "tool_result");
        found.unwrap_or_else(|| panic!("{}: no result of {id}: {}", bomb.what, ran.out))
    };
    assert_eq!(result("bomb")["is_error"], true, "{}", bomb.what);
    assert_ne!(
        result("other")["is_error"],
        true,
        "{}: {}",
        bomb.what,
        ran.out
    );
}

#[test]
fn there_are_bombs_of_many_kinds() {
    assert!(BOMBS.len() >= 30, "{}", BOMBS.len());
}

#[test]
fn a_bomb_ends_with_a_sentence_and_nothing_else_does() {
    let place = Place::new();
    for bomb in BOMBS {
        let file = place.file(&(bomb.make)());
        let file = file.to_str().unwrap();
        inspect(&place, bomb, file);
        call(&place, bomb, file);
        run(&place, bomb, file);
    }
}

#[test]
fn a_component_within_all_bounds_is_stopped_by_the_limits_of_its_compiler() {
    let place = Place::new();
    let file = place.file(&(TOUGH.make)());
    call(&place, &TOUGH, file.to_str().unwrap());
}

/// Workers that compile for this process.
fn workers_of(process: u32) -> Vec<PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.map(|entry| entry.path())
        .filter(|worker| {
            let stat = std::fs::read_to_string(worker.join("stat")).unwrap_or_default();
            let behind = stat.rsplit(") ").next().unwrap_or_default();
            behind.split(' ').nth(1) == Some(&process.to_string()) && is_worker(worker)
        })
        .collect()
}

fn is_worker(process: &Path) -> bool {
    let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0)
        .any(|word| word == b"--toolbay-worker")
}

/// Waits for what must come about, and says so if it does not.
#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, child: &Child) {
    let process = child.id().to_string();
    let sent = Command::new("kill").args([signal, &process]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn an_interrupt_and_a_deadline_end_a_compilation() {
    let place = Place::new();
    let file = place.file(&(TOUGH.make)());
    let plugin = file.to_str().unwrap();
    let ran = place.run(
        &[
            "call",
            "--timeout",
            "500",
            "--plugin",
            plugin,
            "--allow",
            "Bomb",
            "Bomb",
            "{}",
        ],
        "",
    );
    assert_eq!(ran.status.code(), Some(1), "{}", ran.err);
    assert!(!ran.err.contains(TOUGH.says), "{}", ran.err);

    let mut child = place.start(&["call", "--plugin", plugin, "--allow", "Bomb", "Bomb", "{}"]);
    wait_until("no worker starts", || !workers_of(child.id()).is_empty());
    let workers = workers_of(child.id());
    send("-INT", &child);
    let err = collected(child.stderr.take().unwrap());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{}", err.join().unwrap());
    wait_until("a worker stays", || {
        !workers.iter().any(|one| is_worker(one))
    });
}

#[test]
fn a_session_is_ready_and_works_while_a_plugin_is_compiled() {
    let place = Place::new();
    let file = place.file(&list::tough_and_nameless());
    let mut child = place.start(&["run", "--plugin", file.to_str().unwrap()]);
    let mut input = child.stdin.take().unwrap();
    let call = r#"{"type":"tool_use","id":"other","name":"Glob","input":{"pattern":"*"}}"#;
    writeln!(input, "{call}").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next =
        || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let ready = next();
    assert_eq!(ready["type"], "ready");
    let problems = ready["problems"].to_string();
    assert!(
        problems.contains("bomb.wasm has to be compiled"),
        "{problems}"
    );
    let result = loop {
        let event = next();
        if event["type"] == "tool_result" {
            break event;
        }
    };
    assert_ne!(result["is_error"], true, "{result}");
    wait_until("no worker starts", || !workers_of(child.id()).is_empty());
    let workers = workers_of(child.id());
    // Nothing handles it here: the host is gone at once, and its worker with it. An interrupt would be
    // ignored where these tests run in the background of a shell.
    send("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), None);
    wait_until("a worker stays", || {
        !workers.iter().any(|one| is_worker(one))
    });
}

#[test]
fn a_plugin_that_cannot_be_compiled_is_the_reason_that_its_name_leads_nowhere() {
    let place = Place::new();
    let module = wasm::functions(&[wasm::body(20_000, &[])]);
    let file = place.file(&wasm::nameless(&[wasm::section(1, &module)]));
    let call = "{\"type\":\"tool_use\",\"id\":\"bomb\",\"name\":\"Bomb\",\"input\":{}}\n";
    let ran = place.run(&["run", "--plugin", file.to_str().unwrap()], call);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.err);
    for text in [&ran.out, &ran.err] {
        assert!(
            text.contains("local variables in one function: 20000"),
            "{text}"
        );
    }
}
