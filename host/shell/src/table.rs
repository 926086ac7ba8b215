//! The tables of commands that only read. `README.md` has their format.

mod arguments;
mod catalogue;
mod class;
mod files;
mod flags;
mod format;
mod names;
mod operands;
#[cfg(test)]
mod tests;

use arguments::Arguments;
use flags::Takes;
use format::{Dash, Table};

pub use class::Class;
pub(crate) use operands::may_assign;

use crate::check::{Check, Finding};
use crate::reading::Word;

/// What a command is, if it is in a table and all its arguments are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// The table that decided, such as `git log`.
    pub(crate) name: String,
    pub(crate) reads: Vec<Word>,
    /// A path that is read although none is named.
    pub(crate) implicit: Option<String>,
    pub(crate) network: bool,
    /// A function of `program` took part: some arguments may be programs.
    pub(crate) runs_program: bool,
    /// It follows links that it finds below what is named.
    pub(crate) follows: bool,
}

/// Looks a command up, its name being the first word.
pub(crate) fn judge(words: &[Word]) -> Result<Known, Finding> {
    let Some((command, arguments)) = words.split_first() else {
        return Err(Check::UnknownCommand.found("there is no command"));
    };
    let unknown = || {
        let message = format!("`{}` is not known to be read-only", command.text);
        Check::UnknownCommand.found(message)
    };
    if command.tilde || command.glob {
        return Err(unknown());
    }
    let name = command_name(&command.text).ok_or_else(unknown)?;
    let table = catalogue::command(name).ok_or_else(unknown)?;
    let known = Known {
        name: name.to_owned(),
        reads: Vec::new(),
        implicit: None,
        network: false,
        runs_program: false,
        follows: false,
    };
    judge_with(table, known, arguments)
}

/// How a view may show a command, given by its name.
pub(crate) fn class(name: &str) -> Option<Class> {
    last_of(name, |table| table.class)
}

/// What an exit status means that is no error, such as "no match" for 1 of `grep`.
pub(crate) fn exit_meaning(command: &str, status: i32) -> Option<String> {
    last_of(command, |table| table.exit.get(&status).cloned())
}

/// Goes down the names of `git log` and takes the last answer.
fn last_of<T>(names: &str, ask: impl Fn(&Table) -> Option<T>) -> Option<T> {
    let mut names = names.split(' ');
    let mut table = catalogue::command(command_name(names.next()?)?)?;
    let mut answer = ask(table);
    while let Some(below) = names.next().and_then(|name| table.subcommands.get(name)) {
        table = below;
        answer = ask(table).or(answer);
    }
    answer
}

/// Folders whose programs are those that the tables mean.
const FOLDERS: &[&str] = &["/bin/", "/usr/bin/", "/usr/local/bin/"];

fn command_name(text: &str) -> Option<&str> {
    if !text.contains('/') {
        return Some(text);
    }
    let mut names = FOLDERS
        .iter()
        .filter_map(|folder| text.strip_prefix(folder));
    names.find(|name| !name.contains('/'))
}

/// Flags that print something about the command itself when they stand alone.
const ABOUT: &[&str] = &["--help", "--version", "-h", "-V", "-v", "-help", "-version"];

/// Whether a word that stands alone is one of them, as the table has it.
fn asks_about(table: &Table, word: &Word) -> bool {
    ABOUT.contains(&&*word.text)
        && word.plain == word.text.len()
        && table.flags.get(&word.text) == Some(&Takes::Nothing)
        && (word.text.starts_with("--") || is_enough(table, &word.text))
}

/// A short flag may mean something else, such as `-v` of a compiler.
fn is_enough(table: &Table, flag: &str) -> bool {
    let mut groups = table.requires.iter();
    groups.all(|group| group.iter().any(|required| required == flag))
}

fn judge_with(table: &Table, mut known: Known, words: &[Word]) -> Result<Known, Finding> {
    known.network |= table.network;
    if let [word] = words
        && asks_about(table, word)
    {
        return Ok(known);
    }
    if !table.subcommands.is_empty() {
        let command = known.name.clone();
        let mut before = Arguments::new(table, &command, words);
        if let Some(operand) = before.next_operand()? {
            let name = operand.word;
            // Behind `--` it is an operand, whatever its name.
            let is_behind = operand.behind && table.dash != Dash::None;
            let is_subcommand = !name.glob && !is_behind;
            let below = table.subcommands.get(&name.text);
            if let Some(below) = below.filter(|_| is_subcommand) {
                known.name = format!("{command} {}", name.text);
                known.reads.append(&mut before.reads);
                return judge_with(below, known, before.rest());
            }
            if table.subcommands_only {
                return Err(before.unknown(&name.text));
            }
        } else if table.subcommands_only {
            let message = format!("`{command}` alone is not known to be harmless");
            return Err(Check::UnknownArgument.found(message));
        }
    }
    let mut names_path = false;
    if !table.check_only {
        let mut arguments = Arguments::new(table, &known.name, words);
        names_path = operands::judge(&mut arguments)?;
        known.reads.append(&mut arguments.reads);
        known.follows |= arguments.follows_links();
    }
    if let Some(check) = table.check {
        known.runs_program = true;
        let used = check(words)?;
        known.follows |= used.follows;
        let mut reads = used.reads;
        reads.retain(|word| !known.reads.contains(word));
        known.reads.append(&mut reads);
    }
    if !names_path {
        known.implicit.clone_from(&table.implicit);
    }
    Ok(known)
}
