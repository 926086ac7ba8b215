//! Words as they are heard: quotes taken away, expansions left out, nothing refused.

use tree_sitter::Node;

use super::misread::has_brace_list;
use crate::reading::Word;
use crate::syntax;

/// A word, and whether it is all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) text: String,
    /// Nothing in it is expanded.
    pub(super) is_sure: bool,
    /// It begins with something that is expanded.
    pub(super) begins_unsure: bool,
    /// It begins with a `~` that is expanded.
    pub(super) tilde: bool,
    /// Something in it is expanded outside of quotes, so that several words may come of it.
    pub(super) splits: bool,
    /// The word as the readings have it, if it is a plain one.
    pub(super) word: Option<Word>,
}

impl AsRef<str> for Heard {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Heard {
    pub(super) fn sure(text: String) -> Self {
        Self {
            tilde: text.starts_with('~'),
            text,
            is_sure: true,
            begins_unsure: false,
            splits: false,
            word: None,
        }
    }

    /// What a wrapper puts in this place is only known when it runs.
    pub(super) fn unknown() -> Self {
        Self {
            is_sure: false,
            splits: true,
            ..Self::sure("{}".to_owned())
        }
    }
}

/// The words of a command node.
pub(super) fn words(script: &str, node: Node<'_>) -> Vec<Heard> {
    let mut words = Vec::new();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "variable_assignment" if node.kind() == "command" => {}
            "file_redirect" | "heredoc_redirect" | "herestring_redirect" | "comment" => {}
            "command_name" => {
                let mut parts = child.walk();
                words.extend(child.children(&mut parts).map(|part| word(script, part)));
            }
            _ => words.push(word(script, child)),
        }
    }
    words
}

pub(super) fn word(script: &str, node: Node<'_>) -> Heard {
    let mut heard = Heard::sure(String::new());
    heard.word = syntax::word(script, node);
    let raw = text(script, node);
    heard.tilde = raw.starts_with('~');
    add(script, node, &mut heard, 0);
    if has_brace_list(raw) {
        heard.is_sure = false;
        heard.splits = true;
        heard.word = None;
    }
    heard
}

fn text<'a>(script: &'a str, node: Node<'_>) -> &'a str {
    script.get(node.byte_range()).unwrap_or_default()
}

fn add(script: &str, node: Node<'_>, heard: &mut Heard, depth: usize) {
    let raw = text(script, node);
    match node.kind() {
        "word" | "number" | "variable_name" | "extglob_pattern" | "regex" | "test_operator"
            if node.child_count() == 0 =>
        {
            unescape(raw, &mut heard.text);
        }
        "raw_string" => heard.text.push_str(raw.trim_matches('\'')),
        "ansi_c_string" => {
            let inner = raw.strip_prefix("$'").unwrap_or(raw);
            decode(inner.strip_suffix('\'').unwrap_or(inner), &mut heard.text);
        }
        "string" | "translated_string" | "concatenation" | "variable_assignment" if depth < 16 => {
            compound(script, node, heard, depth);
        }
        "string_content" => unquote(raw, &mut heard.text),
        "$" | "\"" | "$\"" | "''" => {}
        _ if node.is_named() => {
            let is_quoted = node.parent().is_some_and(|above| above.kind() == "string");
            heard.splits |= !is_quoted || raw.contains('@');
            heard.begins_unsure |= heard.text.is_empty();
            heard.is_sure = false;
        }
        _ => heard.text.push_str(raw),
    }
}

/// Blanks between the parts of a quoted text are in no node.
fn compound(script: &str, node: Node<'_>, heard: &mut Heard, depth: usize) {
    let mut at = node.start_byte();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        if node.kind() == "string" {
            heard
                .text
                .push_str(script.get(at..child.start_byte()).unwrap_or_default());
        }
        add(script, child, heard, depth + 1);
        at = child.end_byte();
    }
}

fn unescape(raw: &str, into: &mut String) {
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('\n') | None => {}
                Some(escaped) => into.push(escaped),
            },
            other => into.push(other),
        }
    }
}

/// Inside double quotes a backslash counts only before a few characters.
fn unquote(raw: &str, into: &mut String) {
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(kept @ ('$' | '`' | '"' | '\\')) => into.push(kept),
                Some('\n') | None => {}
                Some(other) => into.extend(['\\', other]),
            },
            other => into.push(other),
        }
    }
}

/// `$'…'`: the escapes of C.
fn decode(raw: &str, into: &mut String) {
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            into.push(character);
            continue;
        }
        let Some(kind) = characters.next() else { break };
        let (radix, longest, first) = match kind {
            'x' => (16, 2, None),
            'u' => (16, 4, None),
            'U' => (16, 8, None),
            '0'..='7' => (8, 2, Some(kind)),
            'n' => {
                into.push('\n');
                continue;
            }
            't' => {
                into.push('\t');
                continue;
            }
            other => {
                into.push(other);
                continue;
            }
        };
        let mut digits: String = first.into_iter().collect();
        let most = digits.len() + longest;
        while digits.len() < most
            && let Some(digit) = characters.next_if(|next| next.is_digit(radix))
        {
            digits.push(digit);
        }
        into.extend(
            u32::from_str_radix(&digits, radix)
                .ok()
                .and_then(char::from_u32),
        );
    }
}

/// The text of a document or string that a command is fed.
pub(super) fn document(script: &str, node: Node<'_>) -> String {
    if node.kind() == "heredoc_body" {
        return text(script, node).to_owned();
    }
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .filter(|child| child.is_named())
        .map(|child| word(script, child).text)
        .collect::<Vec<_>>()
        .join(" ")
}
