//! What a reading of a script yields. Two readers make it independently; only what
//! both say counts.

/// A script as a list of simple commands, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    pub commands: Vec<Command>,
}

/// A simple command: assignments, words, redirections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// What stands between it and the command before.
    pub join: Join,
    /// A `!` stands before it, or before what it begins.
    pub negated: bool,
    /// How many groups, `( … )` or `{ … }`, it is inside.
    pub depth: usize,
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    pub redirections: Vec<Redirection>,
}

/// How a command hangs together with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Join {
    /// `;`, or the beginning.
    #[default]
    Then,
    /// A line end.
    Line,
    And,
    Or,
    Pipe,
}

impl Join {
    /// As people write it.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Then => ";",
            Self::Line => "\u{23ce}",
            Self::And => "&&",
            Self::Or => "||",
            Self::Pipe => "|",
        }
    }
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: String,
}

/// One word as the command will get it: quotes removed, nothing expanded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    pub text: String,
    /// It holds `*`, `?` or `[` outside of quotes: bash may put file names in its place.
    pub glob: bool,
    /// It begins with a `~` that bash replaces by a home folder.
    pub tilde: bool,
    /// Bytes at its beginning that were written without quotes or backslashes. A flag
    /// that is quoted further in front than its value is a disguise.
    pub plain: usize,
}

impl Word {
    /// A word that was written as it is.
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            plain: text.len(),
            ..Self::default()
        }
    }
}

/// `2> file`, `< file`, `2>&1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The number in front, if there is one.
    pub descriptor: Option<u32>,
    pub operator: Operator,
    pub target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `>|`
    Clobber,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `>&` and a number or `-`
    DuplicateOutput,
    /// `<&` and a number or `-`
    DuplicateInput,
    /// `<>`
    ReadWrite,
}
