//! `sed -i 's/old/new/' file`, read so well that somebody else can do it: what becomes of the file
//! can be shown before it happens, and exactly that is written.
//!
//! Only what every version of `sed` does alike is understood. Anything else is `None` and stays a
//! command like any other.

mod pattern;
#[cfg(test)]
mod tests;

use regex::Regex;

use crate::gate;
use crate::inspect::agreed;
use crate::program::sed_script_is_harmless;
use crate::reading::Word;
use crate::syntax;

/// A script that does nothing but replace text in one file.
#[derive(Debug, Clone)]
pub struct InPlace {
    /// As it was written: relative to where the script would run.
    pub file: String,
    substitutions: Vec<Substitution>,
}

/// One `s/…/…/`.
#[derive(Debug, Clone)]
struct Substitution {
    pattern: Regex,
    /// It means the same in every encoding: letters and nothing else.
    is_plain: bool,
    with: Vec<Piece>,
    which: Which,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A group; the whole is number 0.
    Group(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Every,
    /// Counted from one.
    Only(usize),
}

/// How patterns are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Basic,
    Extended,
}

/// What a script does, if it is one plain `sed -i` with substitutions for one file.
pub fn in_place(script: &str) -> Option<InPlace> {
    if script.len() > gate::MOST_BYTES || !gate::check(script).is_empty() {
        return None;
    }
    let tree = syntax::parse(script)?;
    let reading = agreed(script, Some(&tree)).ok()?;
    let [command] = reading.commands.as_slice() else {
        return None;
    };
    let is_bare = command.assignments.is_empty()
        && command.redirections.is_empty()
        && command.depth == 0
        && !command.negated;
    let (name, words) = command.words.split_first()?;
    let is_sed = name.text == "sed" && name.plain == name.text.len();
    if !is_bare || !is_sed || words.iter().any(|word| word.glob || word.tilde) {
        return None;
    }
    read(words)
}

/// The words behind the name.
fn read(words: &[Word]) -> Option<InPlace> {
    let mut dialect = Dialect::Basic;
    let mut is_in_place = false;
    let mut scripts: Vec<&str> = Vec::new();
    let mut operands: Vec<&str> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !text.starts_with('-') {
            operands.push(text);
            continue;
        }
        // A flag in disguise is not for us, and `-i.bak` makes a second file.
        if word.plain < text.len() {
            return None;
        }
        match text {
            "-i" | "--in-place" => is_in_place = true,
            "-E" | "-r" | "--regexp-extended" => dialect = Dialect::Extended,
            "-e" | "--expression" => scripts.push(&words.next()?.text),
            _ => return None,
        }
    }
    if scripts.is_empty() {
        scripts.push(operands.first()?);
        operands.remove(0);
    }
    let [file] = operands.as_slice() else {
        return None;
    };
    if !is_in_place || file.is_empty() {
        return None;
    }
    let substitutions: Option<Vec<Substitution>> = scripts
        .iter()
        .map(|script| Substitution::read(script, dialect))
        .collect();
    let substitutions = substitutions?;
    // What comes after a line end that was put in would see two lines at once.
    let makes_lines = |one: &Substitution| {
        let has_end = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('\n'));
        one.with.iter().any(has_end)
    };
    if substitutions.len() > 1 && substitutions.iter().any(makes_lines) {
        return None;
    }
    Some(InPlace {
        file: (*file).to_owned(),
        substitutions,
    })
}

impl InPlace {
    /// What becomes of a text; none if it stays as it is, or if versions of `sed` might differ
    /// about it.
    pub fn apply(&self, text: &str) -> Option<String> {
        let is_certain = text.is_ascii() || self.substitutions.iter().all(|one| one.is_plain);
        if !is_certain {
            return None;
        }
        let mut new = String::with_capacity(text.len());
        for whole in text.split_inclusive('\n') {
            let (line, end) = match whole.strip_suffix('\n') {
                Some(line) => (line, "\n"),
                None => (whole, ""),
            };
            let mut line = std::borrow::Cow::Borrowed(line);
            for substitution in &self.substitutions {
                if let Some(changed) = substitution.apply(&line) {
                    line = changed.into();
                }
            }
            new.push_str(&line);
            new.push_str(end);
        }
        (new != text).then_some(new)
    }
}

impl Substitution {
    fn read(script: &str, dialect: Dialect) -> Option<Self> {
        if !sed_script_is_harmless(script) || !script.is_ascii() {
            return None;
        }
        let rest = script.trim_matches([' ', ';']).strip_prefix('s')?;
        let delimiter = rest.chars().next()?;
        let rest = &rest[1..];
        let (pattern, rest) = until(rest, delimiter)?;
        let (with, flags) = until(rest, delimiter)?;
        let mut which = Which::Only(1);
        let mut any_case = false;
        for flag in flags.chars() {
            match flag {
                'g' if which == Which::Only(1) => which = Which::Every,
                'i' | 'I' => any_case = true,
                '1'..='9' if flags.len() == 1 => which = Which::Only(flag as usize - '0' as usize),
                _ => return None,
            }
        }
        let pattern = pattern::read(pattern, delimiter, dialect)?;
        let with = pieces(with, delimiter, pattern.groups)?;
        let case = if any_case { "(?i)" } else { "" };
        let regex = Regex::new(&format!("{case}{}", pattern.text)).ok()?;
        Some(Self {
            pattern: regex,
            is_plain: pattern.is_plain && !any_case,
            with,
            which,
        })
    }

    /// The line with its replacements; none if there are none.
    fn apply(&self, line: &str) -> Option<String> {
        let mut new = String::new();
        let mut done = 0;
        for (at, found) in self.pattern.captures_iter(line).enumerate() {
            let is_meant = match self.which {
                Which::Every => true,
                Which::Only(number) => at + 1 == number,
            };
            let Some(whole) = found.get(0).filter(|_| is_meant) else {
                continue;
            };
            new.push_str(&line[done..whole.start()]);
            for piece in &self.with {
                match piece {
                    Piece::Text(text) => new.push_str(text),
                    Piece::Group(number) => {
                        new.push_str(found.get(*number).map_or("", |group| group.as_str()));
                    }
                }
            }
            done = whole.end();
            if self.which != Which::Every {
                break;
            }
        }
        if done == 0 && new.is_empty() && !self.pattern.is_match(line) {
            return None;
        }
        new.push_str(&line[done..]);
        Some(new)
    }
}

/// What stands before the next delimiter without a backslash, and what comes after it.
fn until(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next()?;
        } else if c == delimiter {
            return Some((&text[..at], &text[at + c.len_utf8()..]));
        }
    }
    None
}

/// The right side.
fn pieces(text: &str, delimiter: char, groups: usize) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let group = match c {
            '&' => Some(0),
            '\n' => return None,
            '\\' => match chars.next()? {
                digit @ '1'..='9' => Some(digit as usize - '0' as usize),
                'n' => {
                    plain.push('\n');
                    None
                }
                't' => {
                    plain.push('\t');
                    None
                }
                c @ ('&' | '\\' | '/') => {
                    plain.push(c);
                    None
                }
                c if c == delimiter && !c.is_ascii_alphanumeric() => {
                    plain.push(c);
                    None
                }
                _ => return None,
            },
            c => {
                plain.push(c);
                None
            }
        };
        if let Some(number) = group {
            if number > groups {
                return None;
            }
            if !plain.is_empty() {
                all.push(Piece::Text(std::mem::take(&mut plain)));
            }
            all.push(Piece::Group(number));
        }
    }
    if !plain.is_empty() {
        all.push(Piece::Text(plain));
    }
    Some(all)
}
