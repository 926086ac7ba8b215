//! What the validator says about a script.

use std::path::PathBuf;

use crate::check::{Check, Finding};
use crate::mention::Mention;
use crate::prefix;
use crate::reading::Join;
use crate::table::Class;

/// The opinion about a script as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is certain that it changes nothing.
    ReadOnly,
    /// It was understood, and it may change something.
    Ask,
    /// It was not understood; so it may do anything.
    TooComplex,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::TooComplex => "too-complex",
        }
    }
}

/// Everything that is known about a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub verdict: Verdict,
    /// Every check that fired, the gravest first.
    pub findings: Vec<Finding>,
    /// The simple commands that it is made of, in order. Empty if it is too complex.
    pub commands: Vec<SimpleCommand>,
    /// They are what a loop comes to that only reads. Rules for commands do not speak about loops.
    pub is_loop: bool,
    /// Every command that it mentions anywhere, as far as one can tell: in substitutions, loops,
    /// strings for other shells, behind wrappers. For rules that forbid, never for rules that allow.
    pub mentions: Vec<Mention>,
    /// Something runs that cannot be named, so that no rule that forbids can be sure.
    pub is_opaque: bool,
    /// Files and folders that it names and reads, as far as they are known: as they are written, and
    /// where links lead. What git prints of them counts too.
    pub reads: Vec<PathBuf>,
    /// It prints what files hold or held, out of a repository, and does not name them.
    pub prints_history: bool,
    /// Those that it changes.
    pub writes: Vec<PathBuf>,
    /// What a person should know before saying yes. Decides nothing.
    pub warnings: Vec<&'static str>,
    /// Rules that would cover it, each the first words of a command; none if one of its commands
    /// has no such words.
    pub prefixes: Vec<String>,
    /// How a view may show it in one word.
    pub class: Option<Class>,
}

/// One command of a script that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// How it hangs together with the one before.
    pub join: Join,
    /// How many groups it is inside.
    pub depth: usize,
    /// The words that the program gets, its name first.
    pub words: Vec<String>,
    /// The command for rules that allow: without assignments that change nothing. None if it
    /// has others.
    pub for_rules: Option<String>,
    /// Why it is not read-only.
    pub finding: Option<Finding>,
}

impl SimpleCommand {
    pub fn is_read_only(&self) -> bool {
        self.finding.is_none()
    }

    /// The first words for a rule about commands like it, if such a rule would not allow anything
    /// else.
    pub fn prefix(&self) -> Option<String> {
        prefix::of(self)
    }

    /// Whether it only reads, but elsewhere. A rule must name the very command then: one for its
    /// first words says nothing about where.
    pub fn reads_outside(&self) -> bool {
        let finding = self.finding.as_ref();
        finding.is_some_and(|finding| finding.check == Check::OutsidePath)
    }

    /// The command as a shell reads it back, its words quoted where they need it. None if it has
    /// variables in front that matter.
    pub fn quoted(&self) -> Option<String> {
        self.for_rules.as_ref()?;
        let mut words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        // In front of a command it would be read as an assignment.
        if let Some(name) = words.first_mut().filter(|name| name.contains('=')) {
            *name = format!("'{}'", name.trim_matches('\''));
        }
        Some(words.join(" "))
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl Report {
    pub fn read_only(&self) -> bool {
        self.verdict == Verdict::ReadOnly
    }

    pub fn has(&self, check: Check) -> bool {
        self.findings.iter().any(|finding| finding.check == check)
    }

    /// Whether a rule may allow it command by command: it was understood, and what it does beside
    /// running its commands (redirections, odd spellings) gives no reason to ask. A command that
    /// [reads outside](SimpleCommand::reads_outside) needs a rule for itself alone.
    pub fn may_be_allowed_by_parts(&self) -> bool {
        self.verdict != Verdict::TooComplex
            && !self.is_loop
            && self
                .findings
                .iter()
                .all(|finding| finding.check.is_about_a_command() || self.is_read_outside(finding))
    }

    /// Whether a finding is one command's, which only reads, but elsewhere. Behind a `cd` the same
    /// words mean other files, and programs obey other settings.
    fn is_read_outside(&self, finding: &Finding) -> bool {
        let moves = |command: &SimpleCommand| command.words.iter().any(|word| word == "cd");
        if self.commands.iter().any(moves) {
            return false;
        }
        let is_its = |command: &&SimpleCommand| command.finding.as_ref() == Some(finding);
        let mut whose = self.commands.iter().filter(is_its).peekable();
        whose.peek().is_some() && whose.all(SimpleCommand::reads_outside)
    }

    /// Whether a person must be asked whatever the rules say.
    pub fn always_asks(&self) -> Option<&Finding> {
        self.findings
            .iter()
            .find(|finding| finding.check == Check::DangerousRemoval)
    }

    /// The first words for a rule, if the script is one command.
    pub fn prefix(&self) -> Option<&str> {
        match (self.commands.as_slice(), self.prefixes.as_slice()) {
            ([_], [prefix]) => Some(prefix),
            _ => None,
        }
    }
}
