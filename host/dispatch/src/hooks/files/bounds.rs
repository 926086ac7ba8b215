//! How much of what a command names is looked at.
//!
//! The command may have been written by whoever made the project, and each of its words is looked for
//! from each folder that it names. Past these bounds it is not looked at any further, and so not run.

use thiserror::Error;

/// The longest scripts that people write into settings have a few thousand characters.
pub(super) const LONGEST_COMMAND: usize = 64 << 10;
/// Different words of one command.
pub(super) const MOST_WORDS: usize = 4096;
/// All words and signs of one command, with those that are read twice.
pub(super) const MOST_TOKENS: usize = 4 * MOST_WORDS;
/// What may be written down of the values of its variables, in pieces of 16 bytes.
pub(super) const MOST_VALUE_PIECES: usize = 200_000;
/// Folders that the words of one command may start from.
pub(super) const MOST_FOLDERS: usize = 48;
/// Names that are looked for, for one command: a script of a thousand words in the settings stays below,
/// and the look takes about a tenth of a second.
const MOST_LOOKS: usize = 60_000;
/// The same for all commands of one file.
const MOST_LOOKS_OF_FILE: usize = 4 * MOST_LOOKS;

/// Why a command is not looked at any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TooMuchNamed {
    #[error("it names too much to be checked: it has more than {LONGEST_COMMAND} bytes")]
    Length,
    #[error("it names too much to be checked: it has texts in texts too deep")]
    Depth,
    #[error("it names too much to be checked: it has more than {MOST_WORDS} words")]
    Words,
    #[error("it names too much to be checked: its variables have too many values")]
    Values,
    #[error("it names too much to be checked: it names more than {MOST_FOLDERS} folders")]
    Folders,
    #[error("it names too much to be checked: more than {MOST_LOOKS} names would be looked for")]
    Looks,
    #[error(
        "it names too much to be checked together with the rest of its file: more than \
         {MOST_LOOKS_OF_FILE} names would be looked for"
    )]
    LooksOfFile,
}

/// What may still be looked for, for all commands of one file.
#[derive(Debug)]
pub struct LookBudget {
    file: usize,
    command: usize,
}

impl Default for LookBudget {
    fn default() -> Self {
        Self {
            file: MOST_LOOKS_OF_FILE,
            command: MOST_LOOKS,
        }
    }
}

impl LookBudget {
    pub(super) fn next_command(&mut self) {
        self.command = MOST_LOOKS;
    }

    /// Before that many names are looked for.
    pub(super) fn spend(&mut self, looks: usize) -> Result<(), TooMuchNamed> {
        let command = self.command.checked_sub(looks);
        self.command = command.ok_or(TooMuchNamed::Looks)?;
        let file = self.file.checked_sub(looks);
        self.file = file.ok_or(TooMuchNamed::LooksOfFile)?;
        Ok(())
    }
}
