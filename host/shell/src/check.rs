//! The catalogue of checks: a number for logs and rules, a name, and a sentence.
//!
//! The numbers 1 to 23 and their names are shared with other validators; those from 101 on are
//! our own. A number stays with its meaning for ever.

mod catalogue;

pub use catalogue::{CATALOGUE, Entry};

/// What can be wrong with a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Check {
    IncompleteCommands = 1,
    JqSystemFunction = 2,
    JqFileArguments = 3,
    ObfuscatedFlags = 4,
    ShellMetacharacters = 5,
    DangerousVariables = 6,
    Newlines = 7,
    CommandSubstitution = 8,
    InputRedirection = 9,
    OutputRedirection = 10,
    IfsInjection = 11,
    GitCommitSubstitution = 12,
    ProcEnvironAccess = 13,
    MalformedTokenInjection = 14,
    BackslashEscapedWhitespace = 15,
    BraceExpansion = 16,
    ControlCharacters = 17,
    UnicodeWhitespace = 18,
    MidWordHash = 19,
    ZshDangerousCommands = 20,
    BackslashEscapedOperators = 21,
    CommentQuoteDesync = 22,
    QuotedNewline = 23,
    /// Longer than anybody reads before approving it.
    TooLong = 101,
    /// Syntax beyond plain commands.
    TooComplex = 102,
    /// The two readings do not say the same.
    ReadingsDiffer = 103,
    /// More commands than are looked into.
    TooManyCommands = 104,
    /// A command that is in no table.
    UnknownCommand = 105,
    /// A flag or operand that the command's table does not have.
    UnknownArgument = 106,
    /// A path outside the project's folders, or one that cannot be told.
    OutsidePath = 107,
    /// A variable that may change what a command does.
    UnsafeAssignment = 108,
    /// Removes something that nobody wants to lose.
    DangerousRemoval = 109,
    /// Runs a text or file that cannot be looked into.
    RunsCode = 110,
    /// A program, such as one for `sed`, that may write or run something.
    UnsafeProgram = 111,
    /// Does not end by itself, or floods.
    Endless = 112,
}

/// One check that fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: Check,
    /// What was found, for people.
    pub message: String,
}

impl Check {
    pub fn number(self) -> u16 {
        self as u16
    }

    /// Whether it speaks of what one command does, so that a rule for that command answers it.
    /// The others speak of the script: no rule for a command covers them.
    pub fn is_about_a_command(self) -> bool {
        matches!(
            self,
            Self::UnknownCommand
                | Self::UnknownArgument
                | Self::UnsafeProgram
                | Self::RunsCode
                | Self::Endless
                | Self::ShellMetacharacters
                | Self::Newlines
                | Self::JqSystemFunction
                | Self::JqFileArguments
        )
    }

    pub(crate) fn found(self, message: impl Into<String>) -> Finding {
        Finding {
            check: self,
            message: message.into(),
        }
    }
}
