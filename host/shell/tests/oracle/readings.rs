//! What we read is what bash runs: the words of every command, and which commands.

use std::collections::BTreeSet;

use toolbay_shell::fuzzing::{self, ReadCommand};
use toolbay_shell::{Place, Verdict};

use super::bash::{self, Case, Run};
use super::corpus::Corpus;
use super::predict;
use super::random::Random;
use super::{generate, mutate};

/// Scripts that are evaluated before the next ones are made.
const BATCH: usize = 1_000;

#[derive(Default, Debug)]
pub struct Figures {
    generated: usize,
    refused: usize,
    /// One reading accepts, the other does not.
    by_one: usize,
    /// Both accept, and say something else.
    differ: usize,
    /// Read, but a home or pattern in it means something else in the empty root.
    left_out: usize,
    compared: usize,
    /// Compared with one possible outcome.
    exact: usize,
    commands: usize,
}

impl Figures {
    pub fn sentence(&self) -> String {
        format!(
            "{} scripts with {} commands are read as bash reads them, {} of them with one possible outcome; \
             {} generated, {} refused ({} by one reading only, {} because the readings differ), {} left out",
            self.compared,
            self.commands,
            self.exact,
            self.generated,
            self.refused,
            self.by_one,
            self.differ,
            self.left_out
        )
    }
}

/// Compares so many scripts; says what is wrong.
pub fn compare(wanted: usize, seed: u64, corpus: &Corpus) -> (Figures, Vec<String>) {
    let mut figures = Figures::default();
    let mut wrong = Vec::new();
    let mut random = Random::new(seed);
    let mut seen = BTreeSet::new();
    let mut found = generate::FOUND.iter();
    let mut fixed = corpus.ok.iter().chain(&corpus.no);
    while figures.compared < wanted && wrong.len() < 200 {
        let mut batch = Vec::new();
        while batch.len() < BATCH.min(wanted - figures.compared) {
            // The corpus as it is makes up a small part, so that a short run has it all.
            let script = match (found.next(), random.below(10)) {
                (Some(found), _) => (*found).to_owned(),
                (None, 0) if figures.generated % 2 == 0 => fixed
                    .next()
                    .cloned()
                    .unwrap_or_else(|| generate::script(&mut random)),
                (None, 0..=5) => generate::script(&mut random),
                (None, 6..=8) => {
                    let case = random_case(&mut random, corpus);
                    mutate::characters(&mut random, case)
                }
                (None, _) => mutate::words(
                    &mut random,
                    corpus,
                    &corpus.commands[(figures.generated * 7) % corpus.commands.len()],
                ),
            };
            figures.generated += 1;
            if let Some(commands) = read(&script, &mut figures, &mut wrong)
                && seen.insert(script.clone())
            {
                batch.push(Case { script, commands });
            }
        }
        let runs = bash::evaluate(&batch);
        for (case, runs) in batch.iter().zip(&runs) {
            figures.compared += 1;
            figures.commands += case.commands.len();
            let mut exact = true;
            for (run, succeeds) in runs.iter().zip([true, false]) {
                match check(case, run, succeeds) {
                    Ok(is_exact) => exact &= is_exact,
                    Err(why) => {
                        wrong.push(format!(
                            "{:?} with status {}: {why}",
                            case.script,
                            u8::from(!succeeds)
                        ));
                        break;
                    }
                }
            }
            figures.exact += usize::from(exact);
        }
    }
    (figures, wrong)
}

fn random_case<'a>(random: &mut Random, corpus: &'a Corpus) -> &'a str {
    let cases = if random.once_in(3) {
        &corpus.no
    } else {
        &corpus.ok
    };
    random.of(cases).as_str()
}

/// What we read, if it can be compared. Checks on the way that the report says the same.
fn read(script: &str, figures: &mut Figures, wrong: &mut Vec<String>) -> Option<Vec<ReadCommand>> {
    let commands = fuzzing::agreed(script);
    let report = toolbay_shell::inspect(script, &Place::new("/home/dev/project"));
    // A loop is read as what it comes to, which is another text.
    if !report.is_loop && (report.verdict == Verdict::TooComplex) != commands.is_none() {
        wrong.push(format!(
            "{script:?}: the report and the readings do not say the same"
        ));
    }
    let Some(commands) = commands else {
        match (fuzzing::lexer(script), fuzzing::grammar(script)) {
            (Some(ours), Some(theirs)) if ours != theirs => figures.differ += 1,
            (Some(_), None) | (None, Some(_)) => figures.by_one += 1,
            _ => {}
        }
        figures.refused += 1;
        return None;
    };
    let reported: Vec<&[String]> = report
        .commands
        .iter()
        .map(|command| &*command.words)
        .collect();
    let read: Vec<Vec<String>> = commands
        .iter()
        .filter(|command| !command.words.is_empty())
        .map(|command| command.words.iter().map(|word| word.text.clone()).collect())
        .collect();
    if reported != read {
        wrong.push(format!(
            "{script:?}: the report has {reported:?}, the readings {read:?}"
        ));
    }
    if is_comparable(&commands) {
        Some(commands)
    } else {
        figures.left_out += 1;
        None
    }
}

/// Whether the empty root shows what the words become.
fn is_comparable(commands: &[ReadCommand]) -> bool {
    let writes = commands
        .iter()
        .flat_map(|command| &command.redirections)
        .any(|r| predict::made(r).is_some());
    let named = |name: &str| {
        let mut words = commands.iter().flat_map(|command| &command.words);
        words.any(|word| word.text == name)
    };
    let assigned = |name: &str| {
        commands
            .iter()
            .flat_map(|command| &command.assignments)
            .any(|a| a.name == name)
    };
    let words = commands.iter().flat_map(|command| {
        command.words.iter().chain(
            command
                .redirections
                .iter()
                .map(|redirection| &redirection.target),
        )
    });
    let mut odd = words.filter(|word| {
        let text = word.text.as_str();
        // A file of the script itself or of the root may match, or the name of a folder.
        (word.glob && (writes || text.starts_with('/') || text.contains("..")))
            || (word.tilde
                && text[1..].starts_with(|next: char| "+-".contains(next) || next.is_ascii_digit()))
    });
    // A word of the language cannot be hidden, so that nobody is told about it.
    if named("[[") {
        return false;
    }
    odd.next().is_none()
        // These change how bash looks for commands and homes, which is no matter of reading.
        && !["PATH", "HOME", "IFS", "PS4"].into_iter().any(assigned)
        // One of them is needed for the test itself.
        && !(named("builtin") && named("command"))
}

/// Whether a run is one that we foresee; says whether there was only one to foresee.
fn check(case: &Case, run: &Run, succeeds: bool) -> Result<bool, String> {
    let outcomes = predict::outcomes(&case.commands, succeeds);
    let redirections = || {
        case.commands
            .iter()
            .flat_map(|command| &command.redirections)
    };
    let closes = predict::closes(&case.commands);
    let certain = !redirections().any(|redirection| predict::may_fail(redirection, closes));
    // A redirection of a group stands at its last command.
    let grouped = case
        .commands
        .iter()
        .any(|command| command.depth > 0 && !command.redirections.is_empty());
    let Some(outcomes) = outcomes.filter(|_| certain || !grouped) else {
        return subset(case, run).map(|()| false);
    };
    let masks: BTreeSet<u64> = outcomes.iter().map(|(mask, _)| *mask).collect();
    let mut foreseen = Vec::new();
    for mask in &masks {
        let expected = expect(&case.commands, *mask);
        let files_fit = grouped || !certain || expected.files == run.files;
        let traced_fits = !certain || expected.traced == run.traced;
        if expected.commands == run.commands && files_fit && traced_fits {
            return Ok(masks.len() == 1);
        }
        foreseen.push(expected);
    }
    foreseen.truncate(3);
    Err(format!("bash: {run:?}, we: {foreseen:?}"))
}

/// Nothing ran that we did not read.
fn subset(case: &Case, run: &Run) -> Result<(), String> {
    let all = expect(&case.commands, u64::MAX).commands;
    match run.commands.iter().find(|command| !all.contains(command)) {
        Some(unknown) => Err(format!("bash ran {unknown:?}, we read {all:?}")),
        None => Ok(()),
    }
}

/// What ran if it was these.
fn expect(commands: &[ReadCommand], mask: u64) -> Run {
    let mut run = Run::default();
    for (at, command) in commands.iter().enumerate() {
        if at < 64 && mask & (1 << at) == 0 {
            continue;
        }
        run.traced += command.assignments.len();
        run.files.extend(
            command
                .redirections
                .iter()
                .filter_map(predict::made)
                .map(str::to_owned),
        );
        if !command.words.is_empty() {
            run.traced += 1;
            let words: Vec<String> = command.words.iter().map(predict::expanded).collect();
            if !predict::is_silent(&words[0]) {
                run.commands.push(words);
            }
        }
    }
    run.commands.sort();
    run
}
