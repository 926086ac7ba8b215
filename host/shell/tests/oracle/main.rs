//! Proof by oracle: bash itself says what a script runs, and the file system says what a
//! read-only one changed.
//!
//! `TOOLBAY_ORACLE` is the number of scripts that are compared with bash; a third of it hide a
//! command that must be heard, a fifth are executed. `TOOLBAY_ORACLE=0` leaves the proof out. `TOOLBAY_ORACLE_SEED` starts elsewhere. See
//! "Proof" in the README of the crate.
//!
//! Everything runs in namespaces of its own, so this has a `main` and starts itself again inside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    // It needs processes, and no cage of the host's: it makes its own.
    clippy::disallowed_methods
)]

mod bash;
mod corpus;
mod generate;
mod inside;
mod mentions;
mod mutate;
mod namespace;
mod predict;
mod random;
mod readings;
mod snapshot;
mod strays;
mod verdicts;

use std::path::Path;

/// What a run for every change has time for.
const SCRIPTS: u64 = 3_000;
/// Of so many scripts that are compared with bash, one hides a command.
const HIDDEN: usize = 3;
/// Of so many scripts that are compared with bash, one is executed.
const EXECUTED: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, cage] = arguments.as_slice()
        && flag == "--inside"
    {
        return inside::run(Path::new(cage));
    }
    if let [flag, folder] = arguments.as_slice()
        && flag == "--seeds"
    {
        return corpus::Corpus::read().write(Path::new(folder));
    }
    let scripts = number("TOOLBAY_ORACLE").unwrap_or(SCRIPTS);
    if scripts == 0 {
        println!("the proof by oracle is left out: TOOLBAY_ORACLE=0");
        return;
    }
    let seed = number("TOOLBAY_ORACLE_SEED").unwrap_or(1);
    let wanted = |name: &str| {
        let mut names = arguments
            .iter()
            .filter(|argument| !argument.starts_with('-'));
        names.clone().next().is_none() || names.any(|argument| name.contains(argument.as_str()))
    };
    let corpus = corpus::Corpus::read();
    let scripts = usize::try_from(scripts).expect("a number of scripts");
    let mut wrong = Vec::new();
    if wanted("strays") {
        wrong.extend(strays::inspect(scripts, seed, &corpus));
    }
    let missing = namespace::missing();
    if let Some(missing) = &missing {
        // Asked for by name, and in CI, it must run. Another machine without namespaces still passes.
        let must = ["TOOLBAY_ORACLE", "CI"].map(std::env::var_os);
        assert!(must.iter().all(Option::is_none), "{missing}");
        println!("LEFT OUT, the proof by oracle: {missing}");
    }
    let can_run = missing.is_none();
    if can_run && wanted("readings") {
        let (figures, found) = readings::compare(scripts, seed, &corpus);
        println!("readings: {}", figures.sentence());
        wrong.extend(found);
    }
    if can_run && wanted("mentions") {
        let (figures, found) = mentions::listen(scripts.div_ceil(HIDDEN), seed);
        println!("mentions: {}", figures.sentence());
        wrong.extend(found);
    }
    if can_run && wanted("verdicts") {
        let (figures, found) = verdicts::execute(scripts.div_ceil(EXECUTED), seed, &corpus);
        println!("verdicts: {}", figures.sentence());
        wrong.extend(found);
    }
    for line in &wrong {
        println!("WRONG {line}");
    }
    assert!(
        wrong.is_empty(),
        "{} findings with TOOLBAY_ORACLE={scripts} TOOLBAY_ORACLE_SEED={seed}",
        wrong.len()
    );
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{variable} is no number: {text}"),
    }
}
