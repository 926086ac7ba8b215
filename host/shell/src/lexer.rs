//! Our own reading of a script: one pass over its characters, with the state of the quotes.
//!
//! It reads plain commands, joined by `;`, `&&`, `||`, `|` and line ends, in groups or not, with
//! quotes and redirections, and nothing that bash would expand, except file name patterns, `~` at
//! the beginning of a word, and what both only mark. Everything else is refused with the check
//! that it belongs to. It shares no code with the other reader, on purpose.

mod text;
mod word;

use crate::check::{Check, Finding};
use crate::reading::{Assignment, Command, Join, Operator, Reading, Redirection, Word};
use text::Text;
use word::{Builder, Spelled};

/// Words that begin something else than a simple command.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "in", "]]",
    // The word behind it is read as a command's first again.
    "time",
];

/// Reads a script, or says what is in the way.
pub(crate) fn read(script: &str) -> Result<Reading, Finding> {
    let mut lexer = Lexer::new(script);
    lexer.run()?;
    Ok(Reading {
        commands: lexer.commands,
    })
}

struct Lexer<'a> {
    text: Text<'a>,
    commands: Vec<Command>,
    command: Command,
    /// What came before the command that is being read.
    join: Join,
    /// An operator stands there that needs a command behind it.
    owed: bool,
    /// A `!` came before the command that is being read.
    negated: bool,
    /// Open groups, by their closing character.
    groups: Vec<char>,
    /// A group was closed and nothing but an operator or redirection may follow.
    closed: bool,
}

impl<'a> Lexer<'a> {
    fn new(script: &'a str) -> Self {
        Self {
            text: Text::new(script),
            commands: Vec::new(),
            command: Command::default(),
            join: Join::Then,
            owed: false,
            negated: false,
            groups: Vec::new(),
            closed: false,
        }
    }

    fn run(&mut self) -> Result<(), Finding> {
        loop {
            self.text.skip_blanks()?;
            let Some(next) = self.text.peek() else { break };
            match next {
                '\n' => {
                    self.text.take();
                    // Behind `&&`, `||` and `|` a command may stand on the next line.
                    if self.closed || !is_empty(&self.command) {
                        self.end_command()?;
                        self.join = Join::Line;
                    }
                }
                '#' => self.comment()?,
                ';' => self.semicolon()?,
                '&' => self.ampersand()?,
                '|' => self.pipe()?,
                '<' | '>' => self.redirection(None)?,
                '(' => self.open_group('(', ')')?,
                ')' => self.close_group(')')?,
                '{' if self.at_start() && self.text.is_alone() => self.open_group('{', '}')?,
                '}' if self.at_start() && self.text.is_alone() => self.close_group('}')?,
                _ => self.word()?,
            }
        }
        self.end_command()?;
        if self.owed {
            return Err(incomplete("it ends where a command is missing"));
        }
        if let Some(missing) = self.groups.last() {
            return Err(incomplete(format!("`{missing}` is missing")));
        }
        if self.commands.is_empty() {
            return Err(incomplete("there is no command"));
        }
        Ok(())
    }

    /// Whether the next word would be a command's name or an assignment.
    fn at_start(&self) -> bool {
        !self.closed && self.command.words.is_empty()
    }

    /// A comment runs to the end of its line. Quotes and forms in it mean nothing, but whoever
    /// reads carelessly may think so.
    fn comment(&mut self) -> Result<(), Finding> {
        let comment = self.text.take_line();
        if comment.contains(['\'', '"', '`', '\\', '$', '<', '>']) {
            return Err(Check::CommentQuoteDesync.found("a comment holds quotes or operators"));
        }
        Ok(())
    }

    fn semicolon(&mut self) -> Result<(), Finding> {
        self.text.take();
        if matches!(self.text.peek(), Some(';' | '&')) {
            return Err(too_complex("`;;`"));
        }
        self.need_command(";")?;
        self.end_command()
    }

    fn ampersand(&mut self) -> Result<(), Finding> {
        if self.text.skip("&&") {
            self.need_command("&&")?;
            self.end_command()?;
            self.owe(Join::And);
            return Ok(());
        }
        if self.text.starts_with("&>") {
            return self.redirection(None);
        }
        Err(Check::ShellMetacharacters.found("`&` leaves a command running in the background"))
    }

    fn pipe(&mut self) -> Result<(), Finding> {
        if self.text.skip("||") {
            self.need_command("||")?;
            self.end_command()?;
            self.owe(Join::Or);
            return Ok(());
        }
        if self.text.starts_with("|&") {
            return Err(Check::ShellMetacharacters.found("`|&` joins commands in a rare way"));
        }
        self.text.take();
        self.need_command("|")?;
        self.end_command()?;
        self.owe(Join::Pipe);
        Ok(())
    }

    fn owe(&mut self, join: Join) {
        self.join = join;
        self.owed = true;
    }

    /// An operator needs a command before it.
    fn need_command(&self, operator: &str) -> Result<(), Finding> {
        if self.closed || !is_empty(&self.command) {
            Ok(())
        } else {
            Err(incomplete(format!(
                "a command is missing before `{operator}`"
            )))
        }
    }

    fn open_group(&mut self, open: char, close: char) -> Result<(), Finding> {
        if self.closed || !is_empty(&self.command) {
            return Err(too_complex("`(`"));
        }
        self.text.take();
        if open == '(' && self.text.peek() == Some('(') {
            return Err(too_complex("`((`"));
        }
        self.groups.push(close);
        self.owed = true;
        Ok(())
    }

    fn close_group(&mut self, close: char) -> Result<(), Finding> {
        self.text.take();
        self.end_command()?;
        if self.owed || self.groups.pop() != Some(close) {
            return Err(incomplete(format!("`{close}` closes nothing")));
        }
        self.closed = true;
        Ok(())
    }

    /// Puts the command that was read to the others.
    fn end_command(&mut self) -> Result<(), Finding> {
        if self.closed {
            self.closed = false;
            self.join = Join::Then;
            return Ok(());
        }
        if is_empty(&self.command) {
            return Ok(());
        }
        let mut command = std::mem::take(&mut self.command);
        if command.words.is_empty() && command.assignments.is_empty() {
            return Err(incomplete("a redirection stands alone"));
        }
        let is_open = !command.words.last().is_some_and(closes_condition);
        if is_condition(&command) && (is_open || command.words.len() < 3) {
            return Err(too_complex("`[[` that is not closed by `]]`"));
        }
        command.join = std::mem::take(&mut self.join);
        command.depth = self.groups.len();
        command.negated = std::mem::take(&mut self.negated);
        self.owed = false;
        self.commands.push(command);
        Ok(())
    }

    fn word(&mut self) -> Result<(), Finding> {
        if self.closed {
            return Err(too_complex("a word behind a group"));
        }
        let at_start = self.at_start();
        let spelled = Builder::new(&mut self.text, at_start).build()?;
        if matches!(self.text.peek(), Some('<' | '>')) {
            if spelled.is_descriptor() {
                return self.redirection(spelled.word.text.parse().ok());
            }
            if spelled.word.text.starts_with('{') {
                return Err(too_complex("a variable for a descriptor"));
            }
        }
        if at_start {
            return self.first_word(spelled);
        }
        if spelled.inner_tilde {
            return Err(too_complex("`~` behind `=` or `:`"));
        }
        if is_condition(&self.command) && self.command.words.last().is_some_and(closes_condition) {
            return Err(too_complex("a word behind `]]`"));
        }
        self.command.words.push(spelled.word);
        Ok(())
    }

    /// An assignment, a name, or a word of the language.
    fn first_word(&mut self, spelled: Spelled) -> Result<(), Finding> {
        if let Some((name, value)) = spelled.assignment()? {
            self.command.assignments.push(Assignment { name, value });
            return Ok(());
        }
        let Spelled { word, .. } = spelled;
        let is_plain = word.plain == word.text.len();
        if is_plain && word.text == "!" {
            // What it turns around is only the status. Inside a pipe it is an error.
            return if is_empty(&self.command) && self.join != Join::Pipe {
                self.owed = true;
                self.negated = true;
                Ok(())
            } else {
                Err(too_complex("`!`"))
            };
        }
        if word.text == "[[" {
            return self.open_condition(word, is_plain);
        }
        if is_plain && RESERVED.contains(&word.text.as_str()) {
            return Err(too_complex(format!("`{}`", word.text)));
        }
        if is_plain && matches!(word.text.as_str(), "{" | "}") {
            return Err(too_complex("a brace"));
        }
        if is_element(&word) {
            return Err(too_complex("`[` behind a name"));
        }
        if word.text.starts_with('%') {
            return Err(too_complex("`%`, which names a job,"));
        }
        self.command.words.push(word);
        Ok(())
    }

    /// `[[ … ]]` is read as a command of plain words. It is one only where it stands first; what
    /// else may stand in it (`&&`, `<`, brackets) would be read as something else, and is refused
    /// because no `]]` ends the command then.
    fn open_condition(&mut self, word: Word, is_plain: bool) -> Result<(), Finding> {
        if !is_plain || !is_empty(&self.command) {
            return Err(too_complex("`[[`"));
        }
        self.command.words.push(Word {
            glob: false,
            ..word
        });
        Ok(())
    }

    fn redirection(&mut self, descriptor: Option<u32>) -> Result<(), Finding> {
        if is_condition(&self.command) {
            return Err(too_complex("a comparison in `[[`"));
        }
        let operator = self.operator()?;
        self.text.skip_blanks()?;
        let is_word = self
            .text
            .peek()
            .is_some_and(|next| !"\n;&|<>()#".contains(next));
        if !is_word {
            return Err(incomplete("a redirection has no target"));
        }
        let target = Builder::new(&mut self.text, false).build()?.word;
        let is_number = target.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && matches!(self.text.peek(), Some('<' | '>')) {
            return Err(too_complex("a target that is the next one's descriptor"));
        }
        let operator = match duplicating(operator, &target)? {
            Operator::WriteBoth if descriptor.is_some() => {
                return Err(too_complex(
                    "`>&` with a number before and a file behind it",
                ));
            }
            operator => operator,
        };
        let redirection = Redirection {
            descriptor,
            operator,
            target,
        };
        if self.closed {
            // What is done to a group is done to what it holds; one of them says so.
            if let Some(last) = self.commands.last_mut() {
                last.redirections.push(redirection);
            }
        } else {
            self.command.redirections.push(redirection);
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<Operator, Finding> {
        for (written, refused) in [
            (
                "<<<",
                Check::InputRedirection.found("`<<<` feeds a text to a command"),
            ),
            (
                "<<",
                Check::InputRedirection.found("`<<` feeds a text to a command"),
            ),
            (
                "<(",
                Check::CommandSubstitution.found("`<(` runs a command"),
            ),
            (
                ">(",
                Check::CommandSubstitution.found("`>(` runs a command"),
            ),
            (
                "<#",
                Check::CommandSubstitution.found("`<#` is a comment to another shell"),
            ),
        ] {
            if self.text.starts_with(written) {
                return Err(refused);
            }
        }
        for (written, operator) in [
            ("&>>", Operator::AppendBoth),
            ("&>", Operator::WriteBoth),
            (">>", Operator::Append),
            (">|", Operator::Clobber),
            (">&", Operator::DuplicateOutput),
            ("<&", Operator::DuplicateInput),
            ("<>", Operator::ReadWrite),
            (">", Operator::Write),
            ("<", Operator::Read),
        ] {
            if self.text.skip(written) {
                return Ok(operator);
            }
        }
        Err(too_complex("a redirection"))
    }
}

fn is_condition(command: &Command) -> bool {
    command
        .words
        .first()
        .is_some_and(|word| word.text == "[[" && word.plain == 2)
}

fn closes_condition(word: &Word) -> bool {
    word.text == "]]" && word.plain == 2
}

/// Where a command begins, bash reads `name[` up to the bracket's end, blanks and all: it may be
/// an assignment.
fn is_element(word: &Word) -> bool {
    let Some((name, _)) = word.text.split_once('[') else {
        return false;
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() < word.plain && !name.is_empty() && name.bytes().all(is_name)
}

/// `>&` duplicates a descriptor only if a number or `-` follows; otherwise it writes. Bash
/// expands the name of such a file twice: what is quoted is not safe from the second time.
fn duplicating(operator: Operator, target: &Word) -> Result<Operator, Finding> {
    let is_plain = target.plain == target.text.len();
    let target = target.text.as_str();
    let is_descriptor = target == "-" || target.bytes().all(|byte| byte.is_ascii_digit());
    let moves = target.strip_suffix('-').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    // Behind these two a `-` is an operator of its own, whatever follows: `>& -b` closes, and `b`
    // is a word of the command.
    let closes_and_goes_on = target.len() > 1 && target.starts_with('-');
    match operator {
        Operator::DuplicateOutput | Operator::DuplicateInput if closes_and_goes_on => {
            Err(too_complex("`>&-` with more behind it"))
        }
        Operator::DuplicateOutput | Operator::DuplicateInput if moves => {
            Err(too_complex("a descriptor that is moved"))
        }
        Operator::DuplicateOutput if !is_descriptor && !is_plain => {
            Err(too_complex("`>&` with quotes"))
        }
        Operator::DuplicateOutput if !is_descriptor => Ok(Operator::WriteBoth),
        Operator::DuplicateInput if !is_descriptor => Err(too_complex("`<&`")),
        operator => Ok(operator),
    }
}

fn is_empty(command: &Command) -> bool {
    command.words.is_empty() && command.assignments.is_empty() && command.redirections.is_empty()
}

fn too_complex(what: impl std::fmt::Display) -> Finding {
    Check::TooComplex.found(format!("{what} is more than a plain command"))
}

fn incomplete(message: impl Into<String>) -> Finding {
    Check::IncompleteCommands.found(message)
}

#[cfg(test)]
mod tests;
