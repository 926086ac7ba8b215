//! What we call read-only changes nothing: it is run, and everything is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::sync::Mutex;

use toolbay_shell::Place;

use super::corpus::Corpus;
use super::mutate;
use super::namespace::Namespace;
use super::random::Random;

/// Programs that take a second to say anything. Their cases all run; changed ones are rarer, so
/// that there is time for the others.
const SLOW: &[&str] = &[
    "apt",
    "apt-cache",
    "apt-mark",
    "aws",
    "gcloud",
    "java",
    "javac",
    "npm",
    "pip",
    "pip3",
    "rustup",
    "cargo",
];
/// Of so many changed commands of a slow program, one is run.
const RARER: usize = 12;
/// Findings of one program that are shown.
const MOST_OF_ONE: usize = 4;

#[derive(Default, Debug)]
pub struct Figures {
    generated: usize,
    pub executed: usize,
    /// The program is not on this machine.
    absent: usize,
    /// Did not end in time. Nothing that harms, but a table may be wrong about it.
    stopped: usize,
    programs: BTreeMap<String, usize>,
}

impl Figures {
    pub fn sentence(&self) -> String {
        let ran = self.executed - self.absent;
        format!(
            "{} read-only scripts of {} executed, {ran} with a program that is here ({} different ones), {} stopped",
            self.executed,
            self.generated,
            self.programs.len(),
            self.stopped
        )
    }
}

/// Executes so many different scripts on two sides; says what changed anything.
pub fn execute(wanted: usize, seed: u64, corpus: &Corpus) -> (Figures, Vec<String>) {
    let (scripts, generated) = generate(wanted, seed, corpus);
    let figures = Mutex::new(Figures {
        generated,
        ..Figures::default()
    });
    let wrong = Mutex::new(Vec::new());
    let sides = scripts.chunks(scripts.len().div_ceil(2));
    std::thread::scope(|scope| {
        for side in sides {
            scope.spawn(|| run(side, &figures, &wrong));
        }
    });
    let figures = figures.into_inner().expect("no panic");
    (figures, shorten(wrong.into_inner().expect("no panic")))
}

/// The cases as they are, and changed ones of programs that are here.
fn generate(wanted: usize, seed: u64, corpus: &Corpus) -> (Vec<String>, usize) {
    let place = Place::new("/home/dev/project").with_home("/home/dev");
    let programs = corpus.programs.iter();
    let here: Vec<(&String, &Vec<usize>)> =
        programs.filter(|(program, _)| is_here(program)).collect();
    let mut random = Random::new(seed);
    let mut scripts = Vec::new();
    let mut seen = BTreeSet::new();
    let mut generated = 0;
    let mut plain: Vec<&String> = corpus.ok.iter().collect();
    while scripts.len() < wanted {
        let script = if !plain.is_empty() && random.once_in(4) {
            plain.swap_remove(random.below(plain.len())).clone()
        } else {
            let (program, places) = *random.of(&here);
            if SLOW.contains(&program.as_str()) && !random.once_in(RARER) {
                continue;
            }
            let known = &corpus.commands[*random.of(places)];
            mutate::words(&mut random, corpus, known)
        };
        generated += 1;
        if toolbay_shell::inspect(&script, &place).read_only() && seen.insert(script.clone()) {
            scripts.push(script);
        }
    }
    (scripts, generated)
}

fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let builtins = [
        "command", "type", "ulimit", "jobs", "dirs", "times", "help", ":",
    ];
    builtins.contains(&program)
        || std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// At most a few findings for each program; the rest is counted.
fn shorten(wrong: Vec<String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for finding in wrong {
        let program = finding
            .trim_start_matches('"')
            .split([' ', '"', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned();
        let count = counts.entry(program).or_default();
        *count += 1;
        if *count <= MOST_OF_ONE {
            kept.push(finding);
        }
    }
    let more = counts.iter().filter(|(_, count)| **count > MOST_OF_ONE);
    kept.extend(more.map(|(program, count)| format!("{program}: {count} findings in all")));
    kept
}

fn run(scripts: &[String], figures: &Mutex<Figures>, wrong: &Mutex<Vec<String>>) {
    let namespace = Namespace::new();
    let mut command = namespace.bash(include_str!("cage.sh"));
    command.arg(namespace.folder());
    command.arg(std::env::current_exe().expect("this program"));
    command.arg(include_str!("fixture.sh"));
    let mut child = command.spawn().expect("unshare");
    let mut stdin = child.stdin.take().expect("a pipe");
    let stdout = child.stdout.take().expect("a pipe");
    let mut lines = BufReader::new(stdout).lines();
    for script in scripts {
        let sent = stdin
            .write_all(script.as_bytes())
            .and_then(|()| stdin.write_all(&[0]));
        let line = sent.ok().and_then(|()| lines.next()).and_then(Result::ok);
        let Some(line) = line else {
            wrong
                .lock()
                .expect("no panic")
                .push(format!("the runner stopped at {script:?}"));
            break;
        };
        let mut figures = figures.lock().expect("no panic");
        figures.executed += 1;
        if figures.executed.is_multiple_of(2_000) {
            println!("  {} executed", figures.executed);
        }
        if line.starts_with("0 127") {
            figures.absent += 1;
        } else {
            let program = script.split_whitespace().next().unwrap_or_default();
            *figures.programs.entry(program.to_owned()).or_default() += 1;
        }
        if line.starts_with('2') {
            figures.stopped += 1;
            println!("  not ended by itself: {script:?}");
        } else if let Some(change) = line.strip_prefix("1 ") {
            wrong
                .lock()
                .expect("no panic")
                .push(format!("{script:?}: status {change}"));
        }
    }
    drop(stdin);
    let status = child.wait().expect("unshare ends");
    assert!(status.success(), "the cage: {status}");
}
