//! What the content of a rule says about commands.
//!
//! A rule that forbids is looked for in everything that a script mentions, however it is
//! wrapped; a rule that allows must cover every command of a script that was understood.

mod wild;

use globset::Glob;
use toolbay_shell::{Place, Report, SimpleCommand, inspect};

use crate::path_pattern::check_glob;
use wild::BORDER;
pub(crate) use wild::Wild;

/// The commands that a rule speaks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandPattern {
    /// `*`
    Every,
    /// `git commit:*` and `git commit *`: these words, and whatever follows them.
    Prefix(Vec<String>),
    /// This command and no other.
    Exact { text: String, words: Vec<String> },
    /// `git * main`
    Wild(Wild),
}

impl CommandPattern {
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.trim();
        if matches!(text, "*" | ":*") {
            return Self::Every;
        }
        let open = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        if let Some(wild) = Wild::parse(open.unwrap_or(text), open.is_some()) {
            return Self::Wild(wild);
        }
        match open {
            Some(prefix) => Self::Prefix(plain_words(&unescaped(prefix))),
            None => {
                let text = unescaped(text);
                let words = words_of(&text);
                Self::Exact { text, words }
            }
        }
    }

    /// The content of the rule for this command and no other.
    pub(crate) fn text_for(command: &str) -> String {
        let command = command.trim();
        if !command.contains('*') {
            return command.to_owned();
        }
        command.replace('\\', "\\\\").replace('*', "\\*")
    }

    /// Whether the script holds such a command anywhere.
    pub(crate) fn is_mentioned(&self, script: &str, report: &Report) -> bool {
        self.is_text(script)
            || report
                .mentions
                .iter()
                .any(|mention| self.hears(&mention.words) || self.may_be(&mention.words))
    }

    /// Whether it is this script, letter by letter.
    pub(crate) fn is_text(&self, script: &str) -> bool {
        match self {
            Self::Every => true,
            Self::Exact { text, .. } => script.trim() == text,
            Self::Prefix(_) | Self::Wild(_) => false,
        }
    }

    /// Whether a command whose name is a pattern of file names may turn out to be one of these.
    pub(crate) fn may_be(&self, words: &[String]) -> bool {
        let Some((name, program)) = words.first().zip(self.program()) else {
            return false;
        };
        if !is_pattern(name) {
            return false;
        }
        // What is too complex to be read may be any program.
        let may_name = check_glob(name).is_err()
            || Glob::new(name).is_ok_and(|glob| glob.compile_matcher().is_match(program));
        let mut named = words.to_vec();
        named[0] = program.to_owned();
        may_name && self.hears(&named)
    }

    /// The program that it names.
    pub(crate) fn program(&self) -> Option<&str> {
        match self {
            Self::Every => None,
            Self::Prefix(words) | Self::Exact { words, .. } => words.first().map(String::as_str),
            Self::Wild(wild) => wild.program(),
        }
    }

    /// Whether it lets anything run: everything, any program, or a program whose arguments are
    /// programs (shells, interpreters, wrappers) with any arguments.
    pub(crate) fn is_wide(&self) -> bool {
        let words: Vec<&str> = match self {
            Self::Every => return true,
            Self::Exact { .. } => return false,
            Self::Prefix(words) => words.iter().map(String::as_str).collect(),
            Self::Wild(wild) => wild.leading_words(),
        };
        match words.as_slice() {
            [] => true,
            [program] => runs_anything(program),
            [program, second, ..] => second.starts_with('-') && runs_anything(program),
        }
    }

    /// Whether it covers a command that a script is made of. One that reads outside is covered by a
    /// rule for itself alone.
    pub(crate) fn covers(&self, command: &SimpleCommand) -> bool {
        let may_be_any = !command.reads_outside() || matches!(self, Self::Exact { .. });
        command.for_rules.is_some() && may_be_any && self.covers_words(&command.words)
    }

    pub(crate) fn covers_words(&self, words: &[String]) -> bool {
        match self {
            Self::Every => true,
            Self::Prefix(prefix) => words.starts_with(prefix),
            Self::Exact { words: exact, .. } => words == exact,
            Self::Wild(wild) => wild.matches(&joined(words)),
        }
    }

    /// The same for rules that forbid: blanks inside of words are borders too.
    fn hears(&self, words: &[String]) -> bool {
        let wildly = |wild: &Wild| wild.matches(&joined(words).replace(' ', &BORDER.to_string()));
        self.covers_words(words) || matches!(self, Self::Wild(wild) if wildly(wild))
    }
}

/// Whether the validator would offer no rule for a program because its arguments are programs.
fn runs_anything(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let probe = format!("{name} x");
    inspect(&probe, &Place::anywhere()).prefixes.is_empty()
}

/// Whether a command's name is a pattern that the shell would fill in.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Words as one text that no other words make.
pub(crate) fn joined(words: &[String]) -> String {
    words.join(&BORDER.to_string())
}

/// Takes `\*` for a star; a text without one is what it is.
fn unescaped(text: &str) -> String {
    if !text.contains('*') {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = chars.next_if(|next| c == '\\' && matches!(next, '*' | '\\'));
        plain.push(escaped.unwrap_or(c));
    }
    plain
}

fn plain_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The words that a command has once the shell has taken its quotes away.
fn words_of(text: &str) -> Vec<String> {
    if !text.contains(['\'', '"', '\\']) {
        return plain_words(text);
    }
    match inspect(text, &Place::anywhere()).commands.as_slice() {
        [command] => command.words.clone(),
        _ => plain_words(text),
    }
}

#[cfg(test)]
mod tests;
