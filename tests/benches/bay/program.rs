//! Programs that are started, and what that takes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The release build of the program, beside the folder that this benchmark runs from.
pub fn toolbay() -> Option<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let program = here.parent()?.parent()?.join("toolbay");
    if program.is_file() {
        return Some(program);
    }
    println!(
        "{} is missing; make it with `cargo build --release`. Left out.",
        program.display()
    );
    None
}

/// A program that tells nobody about backtraces and has folders of its own.
pub fn command(program: impl AsRef<Path>, home: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command
        .env_remove("RUST_BACKTRACE")
        .env_remove("TOOLBAY_LOG")
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_STATE_HOME", home.join("state"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Runs it to its end with its output read from a pipe; how long that took and what
/// it said.
pub fn run(command: &mut Command) -> (Duration, Vec<u8>) {
    let started = Instant::now();
    let output = command.stdout(Stdio::piped()).output().unwrap();
    let took = started.elapsed();
    // 1 is how a search says that it found nothing.
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    (took, output.stdout)
}
