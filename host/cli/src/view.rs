//! Draws a tool's view for a terminal.

mod faces;

use serde_json::Value;
use toolbay::contract::View;

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

/// Text of a tool for a terminal: what the terminal would act on, or not draw, is a sign.
pub fn harmless(text: &str) -> String {
    toolbay::contract::visible(text)
}

/// The same on one line, for a name, an address or a reason in a list: a line of its own could
/// pass for one of ours.
pub fn harmless_line(text: &str) -> String {
    toolbay::contract::visible_line(text)
}

/// The same for a text of several lines, set in so that none of them passes for one of ours.
pub fn harmless_block(text: &str) -> String {
    let text = harmless(text);
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
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
}
