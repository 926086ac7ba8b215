//! What does this bash text do? Pure: no I/O, no process.
//!
//! A first piece that would rather ask than guess: it understands plain commands
//! joined by `&&`, `;` and `|`, with quotes but without any expansion. Everything else
//! is "too complex" and so not read-only. It says what a text *may* do, never that
//! running it is wise.
//!
//! One check, one number, one sentence: see [`Check`]. A script is read-only exactly
//! when no check fired.

mod commands;
mod gate;
mod lexer;
mod prefix;
#[cfg(test)]
mod tests;

/// The validator's opinion about a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether it is certain that the script changes nothing.
    pub read_only: bool,
    /// Every check that fired.
    pub findings: Vec<Finding>,
    /// The words that a rule for this script would name. Only a script of one command
    /// has them: a rule for the first of two would silently cover the second.
    pub prefix: Option<String>,
}

/// One check that fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The number of the check; see [`Check::number`].
    pub check: u32,
    /// What was found, for people.
    pub message: String,
}

/// What can be wrong with a script. The numbers are for logs and rules; they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Longer than anybody reads before approving it.
    Length,
    /// Control characters, which terminals obey instead of showing.
    Control,
    /// Characters that change the order in which text is shown.
    Direction,
    /// Characters that take no room on the screen.
    Invisible,
    /// Characters that look like a space and are none to bash.
    Blank,
    /// Syntax beyond plain commands.
    Syntax,
    /// A command that is not known to only read.
    Command,
    /// An argument that is not known to be harmless for a known command.
    Argument,
}

impl Check {
    pub const fn number(self) -> u32 {
        match self {
            Self::Length => 1,
            Self::Control => 2,
            Self::Direction => 3,
            Self::Invisible => 4,
            Self::Blank => 5,
            Self::Syntax => 6,
            Self::Command => 7,
            Self::Argument => 8,
        }
    }

    pub(crate) fn found(self, message: impl Into<String>) -> Finding {
        Finding {
            check: self.number(),
            message: message.into(),
        }
    }
}

/// Looks at a script.
pub fn inspect(script: &str) -> Report {
    let mut findings = gate::check(script);
    let mut prefix = None;
    // What cannot be trusted to look like what it is, is not worth reading further.
    if findings.is_empty() {
        match lexer::commands(script) {
            Ok(commands) => {
                findings.extend(commands.iter().filter_map(|words| commands::check(words)));
                if let [only] = commands.as_slice() {
                    prefix = prefix::of(only);
                }
            }
            Err(message) => findings.push(Check::Syntax.found(message)),
        }
    }
    Report {
        read_only: findings.is_empty(),
        findings,
        prefix,
    }
}
