//! Commands that only read, each with the flags that keep it so.
//!
//! A flag that is not listed is refused, harmless or not: lists of what is dangerous
//! are never complete. Long flags count only as they are written here.

use crate::{Check, Finding};

/// What may stand beside the flags.
#[derive(Clone, Copy)]
pub(crate) enum Operands {
    Any,
    None,
    /// Only output formats; any other operand would set the clock.
    Format,
}

pub(crate) struct Command {
    pub name: &'static str,
    /// Letters without a value.
    short: &'static str,
    /// Letters that take one.
    valued: &'static str,
    /// Long flags, as they are written.
    long: &'static [&'static str],
    operands: Operands,
}

const fn row(
    name: &'static str,
    short: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    operands: Operands,
) -> Command {
    Command {
        name,
        short,
        valued,
        long,
        operands,
    }
}

/// Each row has its hit and miss cases in `tests.rs`; one without them fails there.
pub(crate) const COMMANDS: &[Command] = &[
    row("pwd", "LP", "", &[], Operands::None),
    row("whoami", "", "", &[], Operands::None),
    row("true", "", "", &[], Operands::None),
    row("false", "", "", &[], Operands::None),
    row("echo", "neE", "", &[], Operands::Any),
    row(
        "ls",
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "",
        &["--all"],
        Operands::Any,
    ),
    row("cat", "AbeEnstTuv", "", &["--number"], Operands::Any),
    row("head", "qvz0123456789", "nc", &["--quiet"], Operands::Any),
    row("tail", "qvz0123456789", "nc", &["--quiet"], Operands::Any),
    row("wc", "cmlLw", "", &["--lines", "--words"], Operands::Any),
    row("date", "uRI", "d", &["--utc"], Operands::Format),
    row("uname", "asnrvmpio", "", &["--all"], Operands::None),
    row("basename", "az", "s", &[], Operands::Any),
    row("dirname", "z", "", &[], Operands::Any),
];

/// What keeps this command from being read-only, if anything does.
pub(crate) fn check(words: &[String]) -> Option<Finding> {
    let (name, arguments) = words.split_first()?;
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Some(Check::Command.found(format!("`{name}` is not known to only read")));
    };
    let bad = bad_argument(command, arguments)?;
    Some(Check::Argument.found(format!("`{bad}` is not known to be harmless for `{name}`")))
}

fn bad_argument<'a>(command: &Command, arguments: &'a [String]) -> Option<&'a str> {
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        let fine = if word == "--" {
            return rest.find(|word| !command.operands.allow(word));
        } else if word.starts_with("--") {
            command.long.contains(&word)
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            match letters.find(|letter| !command.short.contains(letter)) {
                None => true,
                // A value follows its letter, in the same word or as the next.
                Some(at) => {
                    let mut tail = letters.get(at..).unwrap_or_default().chars();
                    let known = tail.next().is_some_and(|c| command.valued.contains(c));
                    known && (!tail.as_str().is_empty() || rest.next().is_some())
                }
            }
        } else {
            command.operands.allow(word)
        };
        if !fine {
            return Some(word);
        }
    }
    None
}

impl Operands {
    fn allow(self, word: &str) -> bool {
        match self {
            Self::Any => true,
            Self::None => false,
            Self::Format => word.starts_with('+'),
        }
    }
}
