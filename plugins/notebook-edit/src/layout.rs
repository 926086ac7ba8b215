//! How a notebook's JSON is laid out, and writing more of the same.

use crate::document::{Document, Object};

/// The layout of an object and of what stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub lines: Lines,
    /// What stands between a key and its value: `:` or `: `.
    pub colon: String,
    /// Whether characters beyond ASCII are written as escapes.
    pub ascii: bool,
}

/// Whether every value has its own line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lines {
    One,
    Many {
        line_end: &'static str,
        /// What one level adds.
        unit: String,
        /// The indentation of the object's braces.
        base: String,
    },
}

impl Layout {
    /// The layout that an object has.
    pub fn of(text: &str, object: &Object) -> Self {
        Self {
            lines: lines(text, object),
            colon: colon(text, object).unwrap_or(": ").into(),
            ascii: escapes_all(text),
        }
    }

    /// The layout for a cell of a notebook that has none yet.
    pub fn of_first_cell(document: &Document<'_>) -> Self {
        let mut layout = Self::of(document.text, &document.root);
        if let Lines::Many { unit, base, .. } = &mut layout.lines {
            *base = format!("{base}{unit}{unit}");
        }
        layout
    }

    /// What follows the comma between two elements on one line.
    pub fn gap(&self) -> &'static str {
        if self.colon.ends_with(' ') { " " } else { "" }
    }

    /// An object with values that are JSON already.
    pub fn object(&self, entries: &[(&str, &str)]) -> String {
        let entries: Vec<String> = entries
            .iter()
            .map(|(key, value)| format!("{}{}{value}", self.string(key), self.colon))
            .collect();
        self.enclose('{', &entries, '}', 0)
    }

    /// A list of strings as a value of the object.
    pub fn list(&self, items: &[&str]) -> String {
        let items: Vec<String> = items.iter().map(|item| self.string(item)).collect();
        self.enclose('[', &items, ']', 1)
    }

    /// A string.
    pub fn string(&self, text: &str) -> String {
        // A string always has a JSON form.
        let json = serde_json::Value::from(text).to_string();
        if !self.ascii {
            return json;
        }
        let mut escaped = String::with_capacity(json.len());
        for character in json.chars() {
            if character.is_ascii() {
                escaped.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        escaped
    }

    fn enclose(&self, open: char, items: &[String], close: char, depth: usize) -> String {
        if items.is_empty() {
            return format!("{open}{close}");
        }
        match &self.lines {
            Lines::One => format!("{open}{}{close}", items.join(&format!(",{}", self.gap()))),
            Lines::Many {
                line_end,
                unit,
                base,
            } => {
                let outer = format!("{line_end}{base}{}", unit.repeat(depth));
                let inner = format!("{outer}{unit}");
                format!(
                    "{open}{inner}{}{outer}{close}",
                    items.join(&format!(",{inner}"))
                )
            }
        }
    }
}

fn lines(text: &str, object: &Object) -> Lines {
    let inside = &text[object.at.start + 1..object.at.end - 1];
    let opening = &inside[..inside.len() - inside.trim_start().len()];
    let closing = &inside[inside.trim_end().len()..];
    let Some((_, indent)) = opening.rsplit_once('\n') else {
        return Lines::One;
    };
    let base = closing.rsplit_once('\n').map_or("", |(_, base)| base);
    Lines::Many {
        line_end: if opening.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        },
        unit: indent.strip_prefix(base).unwrap_or(indent).into(),
        base: base.into(),
    }
}

fn colon<'a>(text: &'a str, object: &Object) -> Option<&'a str> {
    let (_, value) = object.values.first()?;
    let before = &text[object.at.start..value.start];
    Some(&before[before.rfind('"')? + 1..])
}

/// Whether the writer of the text escapes everything beyond ASCII: nothing beyond
/// it is there, yet some escape means such a character.
fn escapes_all(text: &str) -> bool {
    text.is_ascii()
        && text.match_indices("\\u").any(|(at, _)| {
            let slashes = text[..at]
                .bytes()
                .rev()
                .take_while(|byte| *byte == b'\\')
                .count();
            let code = text.get(at + 2..at + 6);
            let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            slashes % 2 == 0 && code.is_some_and(|code| code >= 0x80)
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn layout(text: &str) -> Layout {
        let document = Document::parse(text).unwrap();
        Layout::of(text, &document.cells[0].object)
    }

    #[test]
    fn an_object_written_in_a_found_layout_looks_like_the_others() {
        for cell in [
            r#"{"cell_type":"raw","source":["a"]}"#,
            r#"{"cell_type": "raw", "source": ["a"]}"#,
            "{\n  \"cell_type\": \"raw\",\n  \"source\": [\n   \"a\"\n  ]\n }",
            "{\n\t\t\t\"cell_type\": \"raw\",\n\t\t\t\"source\": [\n\t\t\t\t\"a\"\n\t\t\t]\n\t\t}",
            "{\r\n    \"cell_type\" : \"raw\",\r\n    \"source\" : [\r\n      \"a\"\r\n    ]\r\n  }",
        ] {
            let text = format!("{{\"nbformat\":4,\"cells\":[{cell}]}}");
            let layout = layout(&text);
            let list = layout.list(&["a"]);
            let written = layout.object(&[("cell_type", "\"raw\""), ("source", &list)]);
            assert_eq!(written, cell);
        }
    }

    #[test]
    fn escapes_are_used_where_the_file_uses_them() {
        for (source, wanted) in [
            (r#""""#, "\"\u{e9}\u{1F600}\\n\""),
            (r#""\u00e9""#, r#""\u00e9\ud83d\ude00\n""#),
            (r#""\\u00e9""#, "\"\u{e9}\u{1F600}\\n\""),
            (r#""\u001b""#, "\"\u{e9}\u{1F600}\\n\""),
            ("\"\u{fc}\"", "\"\u{e9}\u{1F600}\\n\""),
        ] {
            let text =
                format!(r#"{{"nbformat":4,"cells":[{{"cell_type":"raw","source":{source}}}]}}"#);
            assert_eq!(
                layout(&text).string("\u{e9}\u{1F600}\n"),
                wanted,
                "{source}"
            );
        }
    }
}
