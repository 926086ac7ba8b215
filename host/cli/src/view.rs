//! Draws a tool's view for a terminal.

use toolbay_contract::View;

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
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
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
    }
}
