//! The words of a shell command as a shell would cut them, as far as that can be said without running it.
//!
//! Not a parser: where a text has two readings, both are taken, since a word too many closes a file too
//! many, and a word too few leaves a guard open. Texts in quotes, in substitutions and in here-documents
//! are read as commands as well.

mod quotes;
mod redirections;

use super::bounds::TooMuchNamed;

/// What a shell fills in: any text without a slash.
pub(super) const ANY: char = '\u{1}';
/// One character of its choice.
pub(super) const ONE: char = '\u{2}';
/// Around the name of a variable; around nothing for the output of a command.
pub(super) const NAME: char = '\u{3}';
pub(super) const NAME_END: char = '\u{4}';

/// Texts in texts are read so deep. Scripts of people take three or four levels.
const MOST_DEPTH: usize = 12;

/// Longer ones are text; each sign that could begin one is looked behind.
const LONGEST_SET: usize = 256;
/// Here-documents of one line; each is looked for to the end of the text.
const MOST_DOCUMENTS: usize = 16;

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
        }
    }
    let Lexer { tokens, inner, .. } = lexer;
    all.extend(tokens);
    all.push(Token::End);
    for text in inner.iter().filter(|text| !text.trim().is_empty()) {
        lex_into(text, depth, all)?;
    }
    for text in in_quotes {
        let first = all.len();
        lex_into(&text, depth, all)?;
        for token in &mut all[first..] {
            if let Token::Word(word) = token {
                word.is_inner = true;
            }
        }
    }
    Ok(())
}

/// Whether a shell would find more in a text than one word.
fn may_be_command(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || ";|&<*?[{$`'\"\\".contains(c))
}

/// A text with marks, as it was written.
fn restored(text: &str) -> String {
    let mut restored = String::new();
    for c in text.chars() {
        match c {
            ANY => restored.push('*'),
            ONE => restored.push('?'),
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
    cases: Vec<Case>,
    in_brackets: bool,
    in_double: bool,
    /// The next word begins a command.
    is_fresh: bool,
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
            cases: Vec::new(),
            in_brackets: false,
            in_double: false,
            is_fresh: true,
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
                ';' | '&' | '|' | '(' | ')' => self.operator(c),
                '<' | '>' => self.redirection(c),
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '~' if self.word.is_none() => self.home(),
                '*' => self.push(ANY),
                '?' => self.push(ONE),
                '[' => self.set(),
                '{' => self.choice(),
                c => self.part(c),
            }
        }
        self.end();
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
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

    /// `[abc]`, if it is closed in this word.
    fn set(&mut self) {
        let rest = self.rest_of_word();
        // A closing sign that comes first is one of the set.
        let first = usize::from(matches!(rest.first(), Some('!' | '^')));
        let end = rest.iter().skip(first + 1).position(|c| *c == ']');
        match end {
            Some(end) => {
                self.at += first + 1 + end + 1;
                self.push(ONE);
            }
            None => self.plain('['),
        }
    }

    /// `{a,b}` and `{1..9}`, if they are closed in this word.
    fn choice(&mut self) {
        let rest = self.rest_of_word();
        let end = rest.iter().position(|c| *c == '}');
        match end {
            Some(end)
                if rest[..end].contains(&',')
                    || rest[..end].windows(2).any(|two| two == ['.', '.']) =>
            {
                self.at += end + 1;
                self.push(ANY);
            }
            Some(_) | None => self.plain('{'),
        }
    }

    fn rest_of_word(&self) -> Vec<char> {
        let rest = self.chars[self.at..].iter();
        let is_end = |c: &char| c.is_whitespace() || ";|&()<>\"'`$\\".contains(*c);
        let rest = rest.take_while(|c| !is_end(c)).take(LONGEST_SET);
        rest.copied().collect()
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
