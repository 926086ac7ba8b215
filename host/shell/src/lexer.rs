//! Splits a script into plain commands, or says why it is not made of them.
//!
//! Nothing is expanded, because whatever bash would expand is refused. So the words
//! that come out are exactly those that the command would get.

/// The words of each command, in order. An error is a sentence for people.
pub(crate) fn commands(script: &str) -> Result<Vec<Vec<String>>, String> {
    let mut lexer = Lexer::default();
    let mut rest = script.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ' ' => lexer.end_word(),
            '\'' | '"' => lexer.quoted(character, &mut rest)?,
            '&' if rest.next_if_eq(&'&').is_some() => lexer.end_command()?,
            '|' if rest.peek() == Some(&'|') => return Err(too_complex("||")),
            ';' | '|' => lexer.end_command()?,
            special if SPECIAL.contains(special) => return Err(too_complex(special)),
            plain => lexer.word.get_or_insert_default().push(plain),
        }
    }
    lexer.end_command()?;
    Ok(lexer.commands)
}

/// What bash reads as more than itself outside of quotes.
const SPECIAL: &str = "$`(){}<>&*?[]~!#\\\n";
/// The same inside double quotes.
const SPECIAL_IN_DOUBLE_QUOTES: &str = "$`!\\\n";

#[derive(Default)]
struct Lexer {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    /// `None` between words; an empty word (`''`) is a word.
    word: Option<String>,
}

impl Lexer {
    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) -> Result<(), String> {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        match words.first() {
            None => Err("a command is missing".into()),
            // Quoted, it would not be an assignment; not worth telling apart.
            Some(first) if first.contains('=') => Err("it assigns a variable".into()),
            Some(_) => {
                self.commands.push(words);
                Ok(())
            }
        }
    }

    fn quoted(&mut self, quote: char, rest: &mut impl Iterator<Item = char>) -> Result<(), String> {
        let special = if quote == '"' {
            SPECIAL_IN_DOUBLE_QUOTES
        } else {
            "\n"
        };
        let word = self.word.get_or_insert_default();
        for character in rest {
            if character == quote {
                return Ok(());
            }
            if special.contains(character) {
                return Err(too_complex(character));
            }
            word.push(character);
        }
        Err("a quote is not closed".into())
    }
}

fn too_complex(what: impl std::fmt::Display) -> String {
    match what.to_string().as_str() {
        "\n" => "several lines are too complex to judge".into(),
        what => format!("`{what}` is too complex to judge"),
    }
}
