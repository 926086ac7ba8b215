//! The values that the variables of a command may have, as far as its text says so.
//!
//! A variable that the text does not set comes from elsewhere, and may be anything. One that it sets in a
//! way that is not understood, or perhaps never, may be anything beside what is known.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::bounds::MOST_VALUE_PIECES;
use super::expansions::{Change, Expansion, anything, changed, expansion, first_variable};
use super::lexer::{ANY, BEFORE_COMMANDS, NAME, NAME_END, ONE, Token, Word, part};

/// Values that a word may have; of one with more, each variable may hold anything.
pub(super) const MOST_VALUES: usize = 64;
/// Longer values are no paths.
const LONGEST_VALUE: usize = 4096;
/// Variables of one word.
const MOST_VARIABLES: usize = 128;
/// Expansions in expansions.
const MOST_DEPTH: usize = 8;

/// Set what they name in ways of their own.
const SETTERS: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "select",
    "getopts",
    "printf",
    "let",
    "vared",
    "wait",
    "coproc",
    "unset",
    "zparseopts",
    "zstat",
    "sysread",
    "set",
    "typeset",
    "declare",
    "local",
];
/// Set what stands with a sign of equality behind them.
const DECLARE: &[&str] = &["export", "local", "readonly", "declare", "typeset"];

/// One word and what is in front of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'t> {
    pub(super) word: &'t Word,
    pub(super) before: &'t Token,
}

impl Entry<'_> {
    pub(super) fn is_redirected(&self) -> bool {
        matches!(self.before, Token::Into | Token::From)
    }
}

/// The words of each command.
pub(super) fn commands(tokens: &[Token]) -> Vec<Vec<Entry<'_>>> {
    let commands = tokens.split(|token| *token == Token::End);
    let commands = commands.map(|command| {
        let mut before = &Token::End;
        let entries = command.iter().filter_map(|token| {
            let entry = match token {
                Token::Word(word) => Some(Entry { word, before }),
                Token::End | Token::Into | Token::From => None,
            };
            before = token;
            entry
        });
        entries.collect::<Vec<_>>()
    });
    commands.filter(|command| !command.is_empty()).collect()
}

/// Where a word stands: its text, and the number of its command.
pub(super) type Place = (usize, usize);

#[derive(Debug, Default)]
struct Variable {
    values: Vec<String>,
    /// The one of the last assignment.
    last: String,
    /// It may have other values.
    is_open: bool,
    /// In which texts it is set for certain, and behind which command.
    set_behind: BTreeMap<usize, usize>,
}

#[derive(Debug, Default)]
pub(super) struct Variables {
    known: BTreeMap<String, Variable>,
    /// Something sets variables that are not named.
    is_open: bool,
    /// What has been written down of values.
    pieces: Cell<usize>,
}

impl Variables {
    pub(super) fn of(commands: &[Vec<Entry<'_>>], is_open: bool) -> Self {
        let mut variables = Self {
            is_open,
            ..Self::default()
        };
        // In the order of the text, and once more for what a loop or a function brings back.
        for _ in 0..2 {
            for (number, command) in commands.iter().enumerate() {
                variables.command(command, number);
            }
        }
        variables.arguments(commands);
        variables
    }

    fn command(&mut self, command: &[Entry<'_>], number: usize) {
        let texts: Vec<&str> = command.iter().map(|entry| &*entry.word.text).collect();
        let is_assignment = |text: &&str| assigned(text).is_some();
        let sets = texts.iter().all(is_assignment)
            || texts.first().is_some_and(|first| DECLARE.contains(first));
        let mut of_setter = false;
        let first = texts
            .iter()
            .position(|text| !BEFORE_COMMANDS.contains(text))
            .unwrap_or(0);
        for (at, entry) in command.iter().enumerate() {
            let text = &*entry.word.text;
            let place = (entry.word.text_number, number);
            self.defaults(text, place);
            if let Some((name, value, is_added)) = assigned(text) {
                self.assign(name, value, is_added, place);
                if sets && entry.word.is_certain {
                    self.set_behind(name, place);
                }
            } else if of_setter && !entry.is_redirected() {
                let name = text.trim_start_matches(['-', '+']);
                for name in [name, name.get(1..).unwrap_or_default()] {
                    let is_plain = is_name(name);
                    if is_plain {
                        self.known.entry(name.to_owned()).or_default().is_open = true;
                    }
                }
            }
            of_setter |= SETTERS.contains(&text);
            // A name for another one.
            let is_reference = text.starts_with('-') && text.contains('n');
            self.is_open |= is_reference
                && texts
                    .iter()
                    .any(|text| DECLARE.contains(text) || *text == "local");
            if at == first && matches!(text, "for" | "select" | "foreach") {
                self.list(&command[first + 1..], place);
            }
            if at == first && text == "set" {
                let values = command[first + 1..].iter();
                values.for_each(|entry| self.assign("1", &entry.word.text, false, place));
            }
        }
    }

    /// The values behind `for`.
    fn list(&mut self, entries: &[Entry<'_>], place: Place) {
        let Some((name, values)) = entries.split_first() else {
            return;
        };
        let name = &*name.word.text;
        if !is_name(name) {
            return;
        }
        let values = values.iter().filter(|entry| entry.word.text != "in");
        let mut has_values = false;
        for entry in values {
            has_values = true;
            self.assign(name, &entry.word.text, false, place);
        }
        match has_values && entries[0].word.is_certain {
            true => self.set_behind(name, place),
            false => self.known.entry(name.to_owned()).or_default().is_open = true,
        }
    }

    /// `${A:=b}` is an assignment wherever it stands.
    fn defaults(&mut self, text: &str, place: Place) {
        let mut rest = text;
        while let Some((_, written, behind)) = first_variable(rest) {
            if let Expansion::Of {
                name,
                change: Change::Assigned(value),
                ..
            } = expansion(written)
            {
                self.assign(name, &part(value), false, place);
                self.known.entry(name.to_owned()).or_default().is_open = true;
            }
            rest = behind;
        }
    }

    /// What a script or a function is given, where it is a part of names.
    fn arguments(&mut self, commands: &[Vec<Entry<'_>>]) {
        let entries = || commands.iter().flatten();
        let is_part = |entry: &Entry<'_>| {
            let mut rest = &*entry.word.text;
            while let Some((before, written, behind)) = first_variable(rest) {
                let is_alone = before.is_empty() && behind.is_empty();
                if let Expansion::Of {
                    name: "1", change, ..
                } = expansion(written)
                    && (!is_alone || change != Change::None)
                {
                    return true;
                }
                rest = behind;
            }
            false
        };
        if !entries().any(is_part) {
            return;
        }
        for entry in entries().filter(|entry| !entry.is_redirected()) {
            if !entry.word.text.contains([NAME, ANY, ONE]) && !entry.word.text.starts_with('-') {
                self.add("1", entry.word.text.clone());
            }
        }
        self.known.entry("1".to_owned()).or_default().is_open = true;
    }

    fn set_behind(&mut self, name: &str, (text, number): Place) {
        let variable = self.known.entry(name.to_owned()).or_default();
        variable.set_behind.entry(text).or_insert(number);
    }

    fn assign(&mut self, name: &str, value: &str, is_added: bool, place: Place) {
        self.pieces.set(self.pieces.get() + 1);
        if self.is_too_much() {
            return;
        }
        let last = self.put_in_last(value, MOST_DEPTH);
        let values = self.put_in(value, place);
        let old = self.known.get(name);
        let (old_last, mut old_values) = match old.filter(|_| is_added) {
            Some(old) => (old.last.clone(), old.values.clone()),
            None => (String::new(), Vec::new()),
        };
        let last = format!("{old_last}{last}");
        if is_added {
            old_values.push(String::new());
        } else {
            old_values = vec![String::new()];
        }
        self.add_last(name, last);
        for old in &old_values {
            for value in &values {
                self.add(name, format!("{old}{value}"));
            }
        }
    }

    fn add_last(&mut self, name: &str, value: String) {
        if value.len() > LONGEST_VALUE {
            self.known.entry(name.to_owned()).or_default().is_open = true;
            return;
        }
        let variable = self.known.entry(name.to_owned()).or_default();
        variable.last.clone_from(&value);
        if variable.values.len() < 4 * MOST_VALUES && !variable.values.contains(&value) {
            variable.values.push(value);
        }
    }

    fn add(&mut self, name: &str, value: String) {
        let variable = self.known.entry(name.to_owned()).or_default();
        if variable.values.contains(&value) {
            return;
        }
        if variable.values.len() >= MOST_VALUES || value.len() > LONGEST_VALUE {
            variable.is_open = true;
            return;
        }
        variable.values.push(value);
    }

    /// A text with its variables put in, in all values that it may have. What is not known is left as the
    /// output of a command would be.
    pub(super) fn put_in(&self, text: &str, place: Place) -> Vec<String> {
        self.filled(text, place, MOST_DEPTH)
    }

    fn filled(&self, text: &str, place: Place, depth: usize) -> Vec<String> {
        let unknown = format!("{NAME}{NAME_END}");
        if text.matches(NAME).count() > MOST_VARIABLES || self.is_too_much() {
            return vec![unknown, ANY.to_string()];
        }
        let mut all = vec![String::new()];
        let mut rest = text;
        while let Some((before, written, behind)) = first_variable(rest) {
            let values = match depth.checked_sub(1) {
                Some(depth) => self.values(written, place, depth),
                None => vec![unknown.clone()],
            };
            let many = all.len() * values.len() > MOST_VALUES;
            let values = match many {
                // Too many: where the known ones lie, anything.
                true => folders_of(&values),
                false => values,
            };
            let mut next = Vec::new();
            for text in &all {
                for value in &values {
                    let whole = format!("{text}{before}{value}");
                    self.pieces.set(self.pieces.get() + 1 + whole.len() / 16);
                    if whole.len() <= LONGEST_VALUE && next.len() < 2 * MOST_VALUES {
                        next.push(whole);
                    }
                }
            }
            // Too long for paths.
            all = match next.is_empty() {
                true => vec![anything(before)],
                false => next,
            };
            rest = behind;
        }
        all.iter_mut().for_each(|text| text.push_str(rest));
        let mut found = Vec::new();
        for text in all {
            if !found.contains(&text) {
                found.push(text);
            }
        }
        found
    }

    fn values(&self, written: &str, place: Place, depth: usize) -> Vec<String> {
        let unknown = format!("{NAME}{NAME_END}");
        let (name, is_joined, change) = match expansion(written) {
            Expansion::Choice(all) => {
                let parts = all.iter().map(|text| part(text));
                let values = parts.flat_map(|text| self.filled(&text, place, depth));
                return values.chain([ANY.to_string()]).collect();
            }
            Expansion::Indirect => {
                let all = self.known.values().flat_map(|variable| &variable.values);
                let all = all.take(MOST_VALUES).cloned();
                return all.chain([unknown]).collect();
            }
            Expansion::Unknown => return vec![unknown],
            Expansion::Of {
                name,
                is_joined,
                change,
            } => (name, is_joined, change),
        };
        let mut found = Vec::new();
        if let Change::Otherwise(text) | Change::Assigned(text) | Change::Instead(text) = change {
            found.extend(self.filled(&part(text), place, depth));
        }
        let Some(variable) = self.known.get(name) else {
            found.push(match matches!(change, Change::Instead(_)) {
                true => String::new(),
                false => unknown,
            });
            return found;
        };
        for value in &variable.values {
            self.pieces.set(self.pieces.get() + 1 + value.len() / 16);
            let mut put_in = |text: &str| self.filled(text, place, depth);
            found.extend(changed(value, change, &mut put_in));
        }
        if is_joined && variable.values.len() > 1 {
            found.push(variable.values.concat());
            found.push(variable.values.join("/"));
        }
        if matches!(change, Change::Instead(_)) {
            found.push(String::new());
        } else if !self.is_known(variable, place) {
            found.push(unknown);
        }
        found
    }

    /// Whether the values are too many to be known.
    pub(super) fn is_too_much(&self) -> bool {
        self.pieces.get() > MOST_VALUE_PIECES
    }

    /// What separates words if the text says so.
    pub(super) fn separators(&self) -> Vec<char> {
        let values = self.known.get("IFS").map(|variable| &variable.values);
        let chars = values.into_iter().flatten().flat_map(|value| value.chars());
        chars.filter(|c| !c.is_control() && *c != '/').collect()
    }

    fn is_known(&self, variable: &Variable, (text, number): Place) -> bool {
        let behind = variable.set_behind.get(&text);
        let is_set = behind.is_some_and(|behind| *behind < number);
        is_set && !variable.is_open && !self.is_open
    }

    /// With the value of the last assignment in place of each variable.
    fn put_in_last(&self, text: &str, depth: usize) -> String {
        let mut all = String::new();
        let mut rest = text;
        while let Some((before, written, behind)) = first_variable(rest) {
            all.push_str(before);
            if all.len() > LONGEST_VALUE {
                break;
            }
            let value = match expansion(written) {
                Expansion::Of { name, change, .. } => self.known.get(name).map(|variable| {
                    let mut put_in = |text: &str| match depth.checked_sub(1) {
                        Some(depth) => vec![self.put_in_last(text, depth)],
                        None => vec![format!("{NAME}{NAME_END}")],
                    };
                    let values = changed(&variable.last, change, &mut put_in);
                    values.into_iter().next().unwrap_or_default()
                }),
                Expansion::Choice(_) | Expansion::Indirect | Expansion::Unknown => None,
            };
            match value {
                Some(value) => all.push_str(&value),
                None => all.extend([NAME, NAME_END]),
            }
            rest = behind;
        }
        all.push_str(rest);
        all
    }
}

fn folders_of(values: &[String]) -> Vec<String> {
    let mut all: Vec<String> = values
        .iter()
        .filter_map(|value| value.rsplit_once('/'))
        .map(|(folder, _)| format!("{folder}/{ANY}"))
        .collect();
    all.push(anything(&values.concat()));
    all.sort();
    all.dedup();
    all
}

/// The name, the value, and whether it is added to what was there.
pub(super) fn assigned(text: &str) -> Option<(&str, &str, bool)> {
    let (name, value) = text.split_once('=')?;
    let (name, is_added) = match name.strip_suffix('+') {
        Some(name) => (name, true),
        None => (name, false),
    };
    // `A[0]=b`, of which the index is not told apart.
    let name = name.trim_end_matches([ANY, ONE]);
    is_name(name).then_some((name, value, is_added))
}

fn is_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
