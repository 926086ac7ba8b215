//! A real bash that tells what it would run.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use toolbay_shell::fuzzing::ReadCommand;

use super::namespace::Namespace;
use super::predict;

/// A script, and what we read in it.
pub struct Case {
    pub script: String,
    pub commands: Vec<ReadCommand>,
}

/// What bash did with one script under one status.
#[derive(Default, Debug)]
pub struct Run {
    pub commands: Vec<Vec<String>>,
    /// Commands and assignments in the trace.
    pub traced: usize,
    pub files: BTreeSet<String>,
}

/// What became of each script, with all commands succeeding and with all failing.
pub fn evaluate(batch: &[Case]) -> Vec<[Run; 2]> {
    let (one, other) = batch.split_at(batch.len().div_ceil(2));
    std::thread::scope(|scope| {
        let one = scope.spawn(|| one_side(one));
        let mut runs = Vec::new();
        let other = one_side(other);
        runs.extend(one.join().expect("no panic"));
        runs.extend(other);
        runs
    })
}

/// One bash for all of them; two runs each.
fn one_side(batch: &[Case]) -> Vec<[Run; 2]> {
    if batch.is_empty() {
        return Vec::new();
    }
    let namespace = Namespace::new();
    let mut command = namespace.bash(include_str!("argv_root.sh"));
    command
        .arg(namespace.folder())
        .arg((batch.len() * 2).to_string());
    command.arg(include_str!("argv.sh"));
    let mut child = command.spawn().expect("unshare");
    let mut input = Vec::new();
    for case in batch {
        let names: BTreeSet<String> = case.commands.iter().filter_map(slash_name).collect();
        let real = match names_builtin(case) {
            true => "command",
            false => "builtin",
        };
        for text in [
            real,
            &names.into_iter().collect::<Vec<_>>().join("\x05"),
            &case.script,
        ] {
            input.extend_from_slice(text.as_bytes());
            input.push(0);
        }
    }
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let mut output = Vec::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_end(&mut output).expect("what bash says");
    writer
        .join()
        .expect("no panic")
        .expect("bash reads all scripts");
    let status = child.wait().expect("unshare ends");
    let mut runs = parse(&String::from_utf8_lossy(&output));
    assert!(
        status.success() && runs.len() == batch.len() * 2,
        "bash stopped after {} runs: {status}",
        runs.len()
    );
    let mut pairs = Vec::new();
    while let (Some(second), Some(first)) = (runs.pop(), runs.pop()) {
        pairs.push([first, second]);
    }
    pairs.reverse();
    pairs
}

fn names_builtin(case: &Case) -> bool {
    case.commands
        .iter()
        .any(|command| command.words.iter().any(|word| word.text == "builtin"))
}

/// Bash does not ask its handler about names with a slash: they get functions.
fn slash_name(command: &ReadCommand) -> Option<String> {
    let name = predict::expanded(command.words.first()?);
    (name.contains('/') && !predict::is_silent(&name)).then_some(name)
}

fn parse(output: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut run = Run::default();
    let mut rest = output;
    while let Some(at) = rest.find(['\x04', '\x07', '\x10']) {
        let sign = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        if sign == 0x10 {
            run.traced += usize::from(rest.starts_with('\x11'));
            continue;
        }
        let (record, behind) = rest.split_once('\x06').expect("a record ends");
        rest = behind;
        let record = record.replace('\x0e', "\n");
        if sign == 0x04 {
            let words = record.strip_suffix('\x05').unwrap_or(&record).split('\x05');
            run.commands.push(words.map(str::to_owned).collect());
        } else {
            run.files = record
                .split('\x05')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect();
            // The evaluation itself is in the trace too.
            run.traced = run.traced.saturating_sub(1);
            run.commands.sort();
            runs.push(std::mem::take(&mut run));
        }
    }
    runs
}
