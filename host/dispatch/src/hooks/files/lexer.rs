//! The words of a shell command as a shell would cut them, as far as that can be said without running it.
//!
//! Not a parser: where a text has two readings, both are taken, since a word too many closes a file too
//! many, and a word too few leaves a guard open. Texts in quotes, in substitutions and in here-documents
//! are read as commands as well.

mod patterns;
mod quotes;
mod redirections;
mod skips;

use super::bounds::{MOST_TOKENS, TooMuchNamed};

pub(super) use patterns::alternatives;

/// What a shell fills in: any text without a slash.
pub(super) const ANY: char = '\u{1}';
/// One character of its choice.
pub(super) const ONE: char = '\u{2}';
/// Around a variable as it is written between braces, `{` and a choice, or nothing for the output of a
/// command.
pub(super) const NAME: char = '\u{3}';
pub(super) const NAME_END: char = '\u{4}';

/// Texts in texts are read so deep. Scripts of people take three or four levels.
const MOST_DEPTH: usize = 12;

/// Here-documents of one text; each is looked for to the end of the text.
const MOST_DOCUMENTS: usize = 64;

/// Words behind which a command begins.
pub(super) const BEFORE_COMMANDS: &[&str] = &[
    "if", "then", "else", "elif", "while", "until", "do", "{", "!", "time",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    /// The end of a simple command.
    End,
    /// The word behind it is written to.
    Into,
    /// The word behind it is read.
    From,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// Without quotes, with the marks of this file.
    pub(super) text: String,
    pub(super) is_quoted: bool,
    /// It is compared with, as in `case` and in `[[`: nothing is filled in for its stars.
    pub(super) is_compared: bool,
    /// It stands in a text in quotes, which need not be a command.
    pub(super) is_inner: bool,
    /// Which of the texts it stands in.
    pub(super) text_number: usize,
    /// Nothing in front of it in its text decides whether it is reached.
    pub(super) is_certain: bool,
}

impl Word {
    /// A word that no shell has read.
    pub(super) fn given(text: &str) -> Self {
        Self {
            text: text.replace(|c| matches!(c, ANY..=NAME_END), &ANY.to_string()),
            is_quoted: true,
            ..Self::default()
        }
    }
}

/// The tokens of a command and of all texts in it.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, TooMuchNamed> {
    let mut tokens = Vec::new();
    lex_into(text, MOST_DEPTH, &mut tokens)?;
    Ok(tokens)
}

/// The tokens of words that a program gets as they are; one of them may be a command for a shell.
pub(super) fn of_words(words: &[String]) -> Result<Vec<Token>, TooMuchNamed> {
    let mut tokens: Vec<Token> = words
        .iter()
        .map(|word| Token::Word(Word::given(word)))
        .collect();
    tokens.push(Token::End);
    let mut commands = words.iter().filter(|word| may_be_command(word));
    commands.try_for_each(|word| lex_into(word, MOST_DEPTH, &mut tokens))?;
    Ok(tokens)
}

/// The tokens of a text that a word may stand for once its variables are put in.
pub(super) fn lex_more(text: &str, tokens: &mut Vec<Token>) -> Result<(), TooMuchNamed> {
    let first = tokens.len();
    lex_into(&restored(text), MOST_DEPTH, tokens)?;
    set_inner(&mut tokens[first..]);
    Ok(())
}

/// A text as a part of one word.
pub(super) fn part(text: &str) -> String {
    let mut lexer = Lexer::new(text);
    while let Some(c) = lexer.next() {
        lexer.in_word(c);
    }
    lexer.word.unwrap_or_default().text
}

/// A text with its escapes, as `printf` and `echo` read it.
pub(super) fn unescaped(text: &str) -> String {
    let mut lexer = Lexer::new(text);
    lexer.escaped(None);
    lexer.word.unwrap_or_default().text
}

fn lex_into(text: &str, depth: usize, all: &mut Vec<Token>) -> Result<(), TooMuchNamed> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(TooMuchNamed::Depth);
    };
    let mut lexer = Lexer::new(text);
    lexer.run();
    let mut in_quotes = Vec::new();
    // What is in quotes may be a command for another shell.
    for token in &lexer.tokens {
        if let Token::Word(word) = token
            && word.is_quoted
            && may_be_command(&word.text)
            && word.text != text
        {
            in_quotes.push(restored(&word.text));
            // What a variable or an alias holds.
            let behind = word.text.split_once('=').map(|(_, value)| value);
            let behind = behind.filter(|value| may_be_command(value));
            in_quotes.extend(behind.map(restored));
        }
    }
    let Lexer { tokens, inner, .. } = lexer;
    let text_number = all.len();
    for mut token in tokens {
        if let Token::Word(word) = &mut token {
            word.text_number = text_number;
        }
        all.push(token);
    }
    all.push(Token::End);
    if all.len() > MOST_TOKENS {
        return Err(TooMuchNamed::Words);
    }
    for text in inner.iter().filter(|text| !text.trim().is_empty()) {
        lex_into(text, depth, all)?;
    }
    for text in in_quotes {
        let first = all.len();
        lex_into(&text, depth, all)?;
        set_inner(&mut all[first..]);
    }
    Ok(())
}

fn set_inner(tokens: &mut [Token]) {
    for token in tokens {
        if let Token::Word(word) = token {
            word.is_inner = true;
        }
    }
}

/// Whether a shell would find more in a text than one word.
fn may_be_command(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || ";|&<*?[{$`'\"\\".contains(c))
}

/// A text with marks, as it was written.
fn restored(text: &str) -> String {
    let mut restored = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ANY => restored.push('*'),
            ONE => restored.push('?'),
            NAME if chars.peek() == Some(&'{') => {}
            NAME => restored.push_str("${"),
            NAME_END => restored.push('}'),
            c => restored.push(c),
        }
    }
    restored
}

/// Where in a `case` we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Subject,
    Patterns,
    Commands,
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    tokens: Vec<Token>,
    word: Option<Word>,
    /// Texts that are commands of their own.
    inner: Vec<String>,
    /// The ends of here-documents that begin with the next line.
    documents: Vec<String>,
    documents_left: usize,
    cases: Vec<Case>,
    in_brackets: bool,
    in_double: bool,
    /// The next word begins a command.
    is_fresh: bool,
    /// So far, one command follows the other.
    is_certain: bool,
    /// How many lists and expansions this text is in.
    nesting: usize,
}

impl Lexer {
    fn new(text: &str) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            tokens: Vec::new(),
            word: None,
            inner: Vec::new(),
            documents: Vec::new(),
            documents_left: MOST_DOCUMENTS,
            cases: Vec::new(),
            in_brackets: false,
            in_double: false,
            is_fresh: true,
            is_certain: true,
            nesting: 0,
        }
    }

    fn run(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\n' => {
                    self.end();
                    self.read_documents();
                }
                c if c.is_whitespace() => self.finish_word(),
                '(' if self.is_list() => self.list(),
                ';' | '&' | '|' | '(' | ')' => self.operator(c),
                '<' | '>' => self.redirection(c),
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '~' if self.word.is_none() => self.home(),
                c => self.in_word(c),
            }
        }
        self.end();
    }

    /// What is filled in, and what is the same in and out of quotes.
    fn in_word(&mut self, c: char) {
        match c {
            '?' | '*' | '+' | '@' | '!' if self.opens_group(c) => self.group(),
            '*' => self.push(ANY),
            '?' => self.push(ONE),
            '[' => self.set(),
            '{' => self.choice(),
            c => self.part(c),
        }
    }

    /// Behind `!`, brackets may hold commands.
    fn opens_group(&self, c: char) -> bool {
        self.peek() == Some('(') && (c != '!' || self.word.is_some() || !self.is_fresh)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = (self.at + 1).min(self.chars.len());
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    /// What is the same in and out of quotes, and quotes themselves.
    fn part(&mut self, c: char) {
        match c {
            '\\' => {
                match self.next() {
                    // A line goes on.
                    Some('\n') | None => {}
                    Some(c) => self.plain(c),
                }
            }
            '\'' => self.single(),
            '"' => self.double(),
            '`' => self.backticks(),
            '$' => self.dollar(),
            c => self.plain(c),
        }
    }

    /// A character that means itself. The marks of this file could not be told from its own.
    fn plain(&mut self, c: char) {
        self.push(match c {
            ANY..=NAME_END => ANY,
            c => c,
        });
    }

    fn quoted(&mut self) {
        self.word.get_or_insert_default().is_quoted = true;
    }

    fn home(&mut self) {
        let mut name = String::new();
        while let Some(c) = self
            .peek()
            .filter(|c| c.is_alphanumeric() || "_-+.".contains(*c))
        {
            name.push(c);
            self.at += 1;
        }
        match self.peek() {
            Some('/') | None => self.variable("HOME"),
            Some(c) if c.is_whitespace() => self.variable("HOME"),
            Some(_) => format!("~{name}").chars().for_each(|c| self.plain(c)),
        }
    }

    /// Whether a bracket begins the values of a list: `A=(…)`.
    fn is_list(&self) -> bool {
        let name = self.word.as_ref().map(|word| &*word.text);
        let name = name.and_then(|text| text.strip_suffix('='));
        name.is_some_and(|name| !name.contains('=')) && self.nesting < MOST_DEPTH
    }

    /// Each value of a list is read as one of the variable.
    fn list(&mut self) {
        let text = self.commands();
        let mut values = Self {
            nesting: self.nesting + 1,
            ..Self::new(&text)
        };
        values.run();
        let Some(name) = self.word.take() else {
            return;
        };
        let name = name.text.trim_end_matches(['=', '+']).to_owned();
        let empty = Word::default();
        let tokens = values.tokens.into_iter().filter_map(|token| match token {
            Token::Word(word) => Some(word),
            Token::End | Token::Into | Token::From => None,
        });
        for word in std::iter::once(empty).chain(tokens) {
            let text = format!("{name}={}", word.text);
            self.tokens.push(Token::Word(Word {
                text,
                is_certain: self.is_certain,
                ..word
            }));
        }
        self.inner.extend(values.inner);
    }

    fn finish_word(&mut self) {
        let Some(mut word) = self.word.take() else {
            return;
        };
        let is_bare = |text: &str| !word.is_quoted && word.text == text;
        let case = self.cases.last_mut();
        match case {
            Some(case @ Case::Subject) if is_bare("in") => *case = Case::Patterns,
            Some(Case::Patterns) if is_bare("esac") => {
                self.cases.pop();
            }
            Some(Case::Commands) if self.is_fresh && is_bare("esac") => {
                self.cases.pop();
            }
            Some(Case::Patterns) => word.is_compared = true,
            Some(Case::Subject | Case::Commands) | None => {
                if self.is_fresh && is_bare("case") {
                    self.cases.push(Case::Subject);
                }
            }
        }
        self.in_brackets |= self.is_fresh && !word.is_quoted && word.text == "[[";
        self.in_brackets &= word.is_quoted || word.text != "]]";
        word.is_compared |= self.in_brackets;
        let leaves_fresh = !word.is_quoted && BEFORE_COMMANDS.contains(&&*word.text);
        word.is_certain = self.is_certain;
        let decides = leaves_fresh || ["case", "function"].contains(&&*word.text);
        self.is_certain &= !(self.is_fresh && decides);
        self.is_fresh = self.is_fresh && leaves_fresh;
        self.tokens.push(Token::Word(word));
    }

    fn end(&mut self) {
        self.finish_word();
        self.is_fresh = true;
        self.tokens.push(Token::End);
    }

    fn operator(&mut self, c: char) {
        self.finish_word();
        self.is_certain &= c == ';';
        if self.in_brackets {
            return;
        }
        let before = self.at.checked_sub(2).map(|at| self.chars[at]);
        match (self.cases.last_mut(), c) {
            (Some(Case::Patterns), '|' | '(') => return,
            (Some(case @ Case::Patterns), ')') => *case = Case::Commands,
            (Some(case @ Case::Commands), ';' | '&') if before == Some(';') => {
                *case = Case::Patterns;
            }
            (_, _) => {}
        }
        self.end();
    }
}

#[cfg(test)]
mod tests;
