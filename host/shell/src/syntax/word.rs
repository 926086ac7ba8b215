//! A word of the tree, without its quotes.

use tree_sitter::Node;

use super::unknown;
use crate::check::Finding;
use crate::reading::Word;

/// Reads a word from its node.
pub(super) fn read(script: &str, node: Node<'_>) -> Result<Word, Finding> {
    let mut parts = Parts {
        script,
        word: Word::default(),
        quoted: false,
    };
    parts.add(node)?;
    let Parts { mut word, .. } = parts;
    if word.text == "[" {
        word.glob = false;
    }
    Ok(word)
}

struct Parts<'a> {
    script: &'a str,
    word: Word,
    /// Some part before was quoted.
    quoted: bool,
}

impl Parts<'_> {
    fn add(&mut self, node: Node<'_>) -> Result<(), Finding> {
        if node.is_missing() || node.is_error() {
            return Err(unknown(node));
        }
        let text = self.script.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "word" | "number" if node.child_count() == 0 => self.bare(text, node),
            "$" => {
                self.push("$");
                Ok(())
            }
            "raw_string" => {
                let inner = text
                    .strip_prefix('\'')
                    .and_then(|text| text.strip_suffix('\''))
                    .ok_or_else(|| unknown(node))?;
                self.quoted = true;
                self.push(inner);
                Ok(())
            }
            "string" => self.string(text, node),
            "concatenation" => {
                let mut at = node.start_byte();
                let mut cursor = node.walk();
                for child in node.children(&mut cursor) {
                    if child.start_byte() != at {
                        return Err(unknown(node));
                    }
                    self.add(child)?;
                    at = child.end_byte();
                }
                if at == node.end_byte() {
                    Ok(())
                } else {
                    Err(unknown(node))
                }
            }
            _ => Err(unknown(node)),
        }
    }

    /// Text between double quotes. The tree only vouches for what kinds of thing are in it; the
    /// bytes are taken from the script, because the tree leaves blanks out.
    fn string(&mut self, text: &str, node: Node<'_>) -> Result<(), Finding> {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if !matches!(child.kind(), "\"" | "string_content" | "$") {
                return Err(unknown(child));
            }
        }
        let inner = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .ok_or_else(|| unknown(node))?;
        self.quoted = true;
        let mut characters = inner.chars();
        let mut unquoted = String::with_capacity(inner.len());
        while let Some(character) = characters.next() {
            if character != '\\' {
                unquoted.push(character);
                continue;
            }
            match characters.next() {
                Some(kept @ ('$' | '`' | '"' | '\\')) => unquoted.push(kept),
                Some('\n') | None => return Err(unknown(node)),
                Some(other) => unquoted.extend(['\\', other]),
            }
        }
        self.push(&unquoted);
        Ok(())
    }

    fn bare(&mut self, text: &str, node: Node<'_>) -> Result<(), Finding> {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => {
                    self.quoted = true;
                    match characters.next() {
                        None | Some('\n') => return Err(unknown(node)),
                        Some(escaped) => self.push(escaped.encode_utf8(&mut [0; 4])),
                    }
                    continue;
                }
                '~' if self.word.text.is_empty() && !self.quoted => self.word.tilde = true,
                '*' | '?' | '[' => self.word.glob = true,
                // Nothing of this is part of a bare word.
                ' ' | '\t' | '\n' | '\'' | '"' | '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => {
                    return Err(unknown(node));
                }
                _ => {}
            }
            self.push(character.encode_utf8(&mut [0; 4]));
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        self.word.text.push_str(text);
        if !self.quoted {
            self.word.plain += text.len();
        }
    }
}
