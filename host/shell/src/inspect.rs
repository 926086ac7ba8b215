//! From the text to the report: both readings, all checks, every command.

use std::path::PathBuf;

use crate::check::{Check, Finding};
use crate::cwd::Wanderer;
use crate::mention;
use crate::place::Place;
use crate::reading::{Command, Join, Operator, Reading, Word};
use crate::report::{Report, SimpleCommand, Verdict};
use crate::unroll;
use crate::{
    destructive, display, effects, environment, gate, history, lexer, paths, prefix, raw, syntax,
    table, wrapper, zsh,
};

/// More commands than anybody reads before approving them.
const MOST_COMMANDS: usize = 50;

/// Looks at a script that would run in a place.
pub fn inspect(script: &str, place: &Place) -> Report {
    let mut findings = gate::check(script);
    let short = script.len() <= gate::MOST_BYTES;
    let tree = if short { syntax::parse(script) } else { None };
    let mentioned = mention::find(script, tree.as_ref());
    let reading = if findings.is_empty() {
        agreed(script, tree.as_ref())
    } else {
        Err(Vec::new())
    };
    let mut judged = Judged::default();
    let mut is_loop = false;
    match reading {
        Ok(reading) => judged.judge(&reading, place),
        Err(why) => match harmless_loop(script, tree.as_ref(), place) {
            Some(commands) if findings.is_empty() => {
                judged = commands;
                is_loop = true;
            }
            _ => {
                findings.extend(why);
                judged.too_complex = true;
            }
        },
    }
    findings.append(&mut judged.findings);
    if judged.too_complex {
        let more = raw::check(script);
        let known: Vec<Check> = findings.iter().map(|finding| finding.check).collect();
        findings.extend(
            more.into_iter()
                .filter(|finding| !known.contains(&finding.check)),
        );
    }
    findings.extend(mentioned.findings);
    // Those in substitutions and loops count too, where there is no reading.
    if mentioned.count > MOST_COMMANDS && judged.too_complex {
        findings.push(too_many(mentioned.count));
    }
    findings.sort_by_key(|finding| finding.check);
    findings.dedup();
    let verdict = match (judged.too_complex, findings.is_empty()) {
        (true, _) => Verdict::TooComplex,
        (false, true) => Verdict::ReadOnly,
        (false, false) => Verdict::Ask,
    };
    let printed = history::printed(&mentioned.mentions, place);
    let known = judged.reads.clone();
    let more = printed.paths.into_iter();
    judged
        .reads
        .extend(more.filter(|path| !known.contains(path)));
    let warnings = destructive::warnings(script, &mentioned.mentions);
    Report {
        verdict,
        findings,
        prefixes: prefix::of_all(&judged.commands),
        class: display::class_of(
            judged
                .commands
                .iter()
                .map(|command| command.words.as_slice()),
        ),
        commands: judged.commands,
        is_loop,
        mentions: mentioned.mentions,
        is_opaque: mentioned.is_opaque,
        reads: judged.reads,
        prints_history: printed.unnamed,
        writes: judged.writes,
        warnings,
    }
}

fn too_many(count: usize) -> Finding {
    Check::TooManyCommands.found(format!(
        "it has {count} commands, more than {MOST_COMMANDS}"
    ))
}

/// What a plain loop comes to, if all of it only reads. Any other loop stays too complex: to allow or
/// let out what is repeated is more than to read it.
fn harmless_loop(script: &str, tree: Option<&tree_sitter::Tree>, place: &Place) -> Option<Judged> {
    let commands = unroll::unrolled(script, tree?)?;
    let reading = agreed(&commands, syntax::parse(&commands).as_ref()).ok()?;
    let mut judged = Judged::default();
    judged.judge(&reading, place);
    judged.findings.is_empty().then_some(judged)
}

/// What both readings say, if they say the same.
pub(crate) fn agreed(
    script: &str,
    tree: Option<&tree_sitter::Tree>,
) -> Result<Reading, Vec<Finding>> {
    let ours = lexer::read(script).map_err(|finding| vec![finding])?;
    let Some(tree) = tree else {
        return Err(vec![Check::TooComplex.found("reading it takes too long")]);
    };
    let theirs = syntax::read(script, tree).map_err(|finding| vec![finding])?;
    if ours == theirs {
        Ok(ours)
    } else {
        Err(vec![
            Check::ReadingsDiffer.found("two ways to read it come to different commands"),
        ])
    }
}

#[derive(Default)]
struct Judged {
    too_complex: bool,
    findings: Vec<Finding>,
    commands: Vec<SimpleCommand>,
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
}

impl Judged {
    fn judge(&mut self, reading: &Reading, place: &Place) {
        let mut wanderer = Wanderer::new(place);
        let (looked_into, rest) = reading
            .commands
            .split_at(reading.commands.len().min(MOST_COMMANDS));
        // What comes after so many is refused unseen.
        if !rest.is_empty() {
            self.findings.push(too_many(reading.commands.len()));
        }
        for command in looked_into {
            wanderer.arrive(command);
            self.command(command, &mut wanderer);
        }
        self.joints(&reading.commands);
    }

    fn command(&mut self, command: &Command, wanderer: &mut Wanderer) {
        for redirection in &command.redirections {
            self.redirection(redirection.operator, &redirection.target, wanderer);
        }
        let unsafe_variable = environment::check(&command.assignments);
        self.findings.extend(unsafe_variable.clone());
        let finding = self.words(&command.words, wanderer).err();
        self.findings.extend(finding.clone());
        if !command.words.is_empty() {
            let words: Vec<String> = command.words.iter().map(|word| word.text.clone()).collect();
            let spelled_plainly = !command.words.iter().any(|word| word.tilde);
            let for_rules = (unsafe_variable.is_none() && spelled_plainly).then(|| words.join(" "));
            self.commands.push(SimpleCommand {
                join: command.join,
                depth: command.depth,
                words,
                for_rules,
                finding: finding.or(unsafe_variable),
            });
        }
    }

    /// Whether the words alone are read-only; notes what they read and write.
    fn words(&mut self, words: &[Word], wanderer: &mut Wanderer) -> Result<(), Finding> {
        let Some(name) = words.first() else {
            return Ok(());
        };
        if name.text.starts_with('-') {
            return Err(Check::IncompleteCommands.found("it begins with a flag"));
        }
        if let Some(finding) = zsh::check(name) {
            return Err(finding);
        }
        if !name.text.is_ascii() {
            return Err(Check::UnicodeWhitespace
                .found(format!("`{}` may look like another command", name.text)));
        }
        if let Some(inner) = wrapper::harmless(words) {
            return self.words(inner, wanderer);
        }
        let effects = effects::of(words);
        for word in &effects.writes {
            self.writes
                .extend(paths::resolve_any(word, &wanderer.place()));
        }
        if name.text == "cd" {
            return wanderer.change(words);
        }
        let known = table::judge(words).inspect_err(|_| {
            for word in &effects.reads {
                self.reads
                    .extend(paths::resolve_any(word, &wanderer.place()));
            }
        })?;
        wanderer.permits(&known.name)?;
        if known.follows {
            wanderer.follows(&known.name)?;
        }
        let implicit = known.implicit.as_deref().map(Word::plain);
        for word in known.reads.iter().chain(&implicit) {
            self.reads.extend(wanderer.reads(word)?);
        }
        Ok(())
    }

    fn redirection(&mut self, operator: Operator, target: &Word, wanderer: &Wanderer) {
        let finding = match operator {
            Operator::DuplicateOutput | Operator::DuplicateInput => return,
            Operator::Read => match wanderer.reads(target) {
                Ok(paths) => {
                    self.reads.extend(paths);
                    return;
                }
                Err(finding) if finding.check == Check::ProcEnvironAccess => finding,
                Err(finding) => Check::InputRedirection.found(finding.message),
            },
            Operator::Write
            | Operator::Append
            | Operator::Clobber
            | Operator::WriteBoth
            | Operator::AppendBoth
                if target.text == "/dev/null" && !target.glob =>
            {
                return;
            }
            _ => {
                self.writes
                    .extend(paths::resolve_any(target, &wanderer.place()));
                Check::OutputRedirection.found(format!("it writes to `{}`", target.text))
            }
        };
        self.findings.push(finding);
    }

    /// Operators and line ends that put something doubtful behind something harmless.
    fn joints(&mut self, commands: &[Command]) {
        if self.findings.is_empty() || commands.len() < 2 {
            return;
        }
        for (check, by) in [
            (Check::ShellMetacharacters, "operators"),
            (Check::Newlines, "line ends"),
        ] {
            let joins = commands
                .iter()
                .skip(1)
                .any(|command| (command.join == Join::Line) == (check == Check::Newlines));
            if joins {
                let message = format!("several commands are joined by {by}, and not all only read");
                self.findings.push(check.found(message));
            }
        }
    }
}
