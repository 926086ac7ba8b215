//! Which commands of a reading run, if every command ends with the same status.
//!
//! A reading has no brackets, only depths: `(a) && (b)` and `(a && b)` are the same to it, and it
//! does not say how often `!` stands where. So there may be several outcomes; one of them must be
//! what bash did.

use std::collections::BTreeSet;

use toolbay_shell::fuzzing::{Join, Operator, ReadCommand, Redirection, Word};

/// The commands that ran, a bit each, and whether the last status was 0.
pub type Outcome = (u64, bool);

/// More than this and only the words are compared.
const MOST_WAYS: usize = 512;
const MOST_COMMANDS: usize = 12;
/// What `~` is to bash there.
const HOME: &str = "/home/dev";

/// All that may happen; `None` if that is too much to say.
pub fn outcomes(commands: &[ReadCommand], succeeds: bool) -> Option<BTreeSet<Outcome>> {
    if commands.len() > MOST_COMMANDS {
        return None;
    }
    let bounds: Vec<usize> = commands
        .windows(2)
        .map(|pair| pair[0].depth.min(pair[1].depth) + 1)
        .collect();
    let ways = bounds
        .iter()
        .try_fold(1_usize, |ways, bound| ways.checked_mul(*bound))?;
    if ways > MOST_WAYS {
        return None;
    }
    let mut all = BTreeSet::new();
    for way in 0..ways {
        // How far up each border between two commands goes.
        let mut rest = way;
        let borders: Vec<usize> = bounds
            .iter()
            .map(|bound| {
                let border = rest % bound;
                rest /= bound;
                border
            })
            .collect();
        let script = Script {
            commands,
            borders: &borders,
            succeeds,
            turned: commands.iter().any(|command| command.negated),
            closes: closes(commands),
        };
        all.extend(script.list(0, commands.len(), 0));
    }
    Some(all)
}

struct Script<'a> {
    commands: &'a [ReadCommand],
    borders: &'a [usize],
    succeeds: bool,
    turned: bool,
    closes: bool,
}

impl Script<'_> {
    /// Commands from one place to another, all at least so deep.
    fn list(&self, from: usize, to: usize, depth: usize) -> BTreeSet<Outcome> {
        let mut parts = vec![from];
        parts.extend((from + 1..to).filter(|at| self.borders[at - 1] == depth));
        parts.push(to);
        // Pipelines first: they bind closest.
        let mut pipelines: Vec<(Join, BTreeSet<Outcome>)> = Vec::new();
        for pair in parts.windows(2) {
            let part = self.part(pair[0], pair[1], depth);
            let join = if pair[0] == from {
                Join::Then
            } else {
                self.commands[pair[0]].join
            };
            match pipelines.last_mut() {
                Some((_, before)) if join == Join::Pipe => *before = combine(before, &part),
                _ => pipelines.push((join, part)),
            }
        }
        let mut result = BTreeSet::from([(0, true)]);
        for (join, mut pipeline) in pipelines {
            if self.turned {
                let other: Vec<Outcome> = pipeline
                    .iter()
                    .map(|(ran, status)| (*ran, !status))
                    .collect();
                pipeline.extend(other);
            }
            let (skipping, running): (BTreeSet<_>, BTreeSet<_>) =
                result.into_iter().partition(|(_, status)| match join {
                    Join::And => !status,
                    Join::Or => *status,
                    _ => false,
                });
            result = combine(&running, &pipeline);
            result.extend(skipping);
        }
        result
    }

    /// A command, or a group.
    fn part(&self, from: usize, to: usize, depth: usize) -> BTreeSet<Outcome> {
        let command = &self.commands[from];
        if command.depth > depth || to - from > 1 {
            return self.list(from, to, depth + 1);
        }
        let ran = 1_u64 << from;
        let succeeds = match command.words.first() {
            Some(name) => self.succeeds && !is_silent(&expanded(name)),
            None => true,
        };
        let mut outcomes = BTreeSet::from([(ran, succeeds)]);
        if command
            .redirections
            .iter()
            .any(|redirection| may_fail(redirection, self.closes))
        {
            outcomes.insert((0, false));
        }
        outcomes
    }
}

/// Whether a descriptor is closed anywhere.
pub fn closes(commands: &[ReadCommand]) -> bool {
    let mut redirections = commands.iter().flat_map(|command| &command.redirections);
    redirections.any(|redirection| redirection.target.text == "-")
}

/// One after, or beside, the other; the status is the second one's.
fn combine(first: &BTreeSet<Outcome>, second: &BTreeSet<Outcome>) -> BTreeSet<Outcome> {
    let pairs = first.iter().flat_map(|(ran, _)| {
        second
            .iter()
            .map(move |(also, status)| (ran | also, *status))
    });
    pairs.collect()
}

/// A redirection that bash may be unable to make in an empty folder; then the command
/// does not run. Where something is closed, there may be nothing to duplicate.
pub fn may_fail(redirection: &Redirection, closes: bool) -> bool {
    let target = &redirection.target;
    let text = target.text.as_str();
    if target.glob || target.tilde || redirection.descriptor.is_some_and(|number| number > 200) {
        return true;
    }
    match redirection.operator {
        Operator::DuplicateInput | Operator::DuplicateOutput => {
            closes && text != "-" || !matches!(text, "0" | "1" | "2" | "-")
        }
        Operator::Read => text != "/dev/null",
        _ => !(text == "/dev/null" || is_file_name(text)),
    }
}

/// The file that a redirection makes, if it is in the folder.
pub fn made(redirection: &Redirection) -> Option<&str> {
    let writes = !matches!(
        redirection.operator,
        Operator::DuplicateInput | Operator::DuplicateOutput | Operator::Read
    );
    let text = redirection.target.text.as_str();
    (writes && text != "/dev/null").then_some(text)
}

fn is_file_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('/') && !matches!(text, "." | "..") && text.len() < 200
}

/// The word behind the expansion of `~`: only if all up to the first slash was written plainly.
pub fn expanded(word: &Word) -> String {
    let text = &word.text;
    let prefix = text.find('/').map_or(text.len(), |at| at + 1);
    match text.strip_prefix('~') {
        Some(rest)
            if word.tilde && prefix <= word.plain && (rest.is_empty() || rest.starts_with('/')) =>
        {
            format!("{HOME}{rest}")
        }
        _ => text.clone(),
    }
}

/// A name with a slash for which there can be no function: bash looks for the file, finds none,
/// and fails without asking its handler. Only the trace shows it.
pub fn is_silent(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    name.contains('/') && (name.starts_with('-') || !name.chars().all(is_plain))
}
