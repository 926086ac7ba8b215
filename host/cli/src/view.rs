//! Draws a tool's view for a terminal.

mod faces;

use serde_json::Value;
use toolbay_contract::View;

pub use self::faces::Faces;
use crate::style::Style;

/// The view as text, each line coloured by what it is.
pub fn draw(view: &View, style: Style) -> String {
    match view {
        View::Plain(text) | View::Markdown(text) => text.clone(),
        View::Diff(text) => text
            .lines()
            .map(|line| {
                if line.starts_with("+++") || line.starts_with("---") {
                    style.bold(line)
                } else if line.starts_with('+') {
                    style.good(line)
                } else if line.starts_with('-') {
                    style.bad(line)
                } else if line.starts_with("@@") {
                    style.note(line)
                } else {
                    line.to_owned()
                }
            })
            .collect::<Vec<_>>()
            .join("\n"),
        View::Rows(rows) => {
            let width = rows
                .iter()
                .map(|(key, _)| key.chars().count())
                .max()
                .unwrap_or(0);
            rows.iter()
                .map(|(key, value)| {
                    let pad = " ".repeat(width.saturating_sub(key.chars().count()));
                    format!("{}{pad}  {value}", style.bold(key))
                })
                .collect::<Vec<_>>()
                .join("\n")
        }
    }
}

/// Text with control characters made harmless, for what comes from a tool and goes
/// to a terminal.
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            c if c.is_control() || is_unseen(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Characters that nobody sees but that change what is seen: they turn the direction of text
/// around, break lines or hide letters.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// A line of the protocol as a person reads it; nothing for what concerns programs.
pub fn event(event: &Value) -> Option<String> {
    let style = Style::for_output();
    let text = |key: &str| event[key].as_str().map(harmless).unwrap_or_default();
    Some(match event["type"].as_str()? {
        "progress" => match event["progress"]["text"].as_str() {
            Some(text) => style.dim(&harmless(text.trim_end())),
            None => return None,
        },
        "permission_request" => format!(
            "{} {} wants to run, and {} (answer {})",
            style.warn("?"),
            text("tool_name"),
            text("reason"),
            text("request_id"),
        ),
        "hook_message" => style.dim(&harmless(&event["message"].to_string())),
        "error" => format!("{} {}", style.bad("error:"), text("message")),
        "turn_end" => match event["stop"].as_str() {
            Some(reason) => style.warn(&format!("stopped by a hook: {}", harmless(reason))),
            None => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned() {
        let view = View::Rows(vec![("a".into(), "1".into()), ("long".into(), "2".into())]);
        assert_eq!(draw(&view, Style::PLAIN), "a     1\nlong  2");
    }

    #[test]
    fn terminal_sequences_are_made_harmless() {
        assert_eq!(harmless("a\u{1b}[2J\tb"), "a\u{fffd}[2J\tb");
        assert_eq!(
            harmless("\u{9b}31m\r\u{7f}\n"),
            "\u{fffd}31m\u{fffd}\u{fffd}\n"
        );
        // Text that would run backwards, hidden letters; but not the parts of letters.
        assert_eq!(
            harmless("\u{202e}txt\u{2066}\u{200b}\u{e0061}"),
            "\u{fffd}txt\u{fffd}\u{fffd}\u{fffd}"
        );
        let letters = "a\u{308} \u{1f469}\u{200d}\u{1f4bb} \u{627}\u{5d0}";
        assert_eq!(harmless(letters), letters);
    }
}
