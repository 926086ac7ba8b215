//! What a change looks like, to the model and to people.

use serde::Deserialize;
use serde_json::{Value, json};
use toolbay_sdk::patch::{Hunk, Patch};

use crate::matching::Manner;
use crate::prepare::{Change, listed};

/// Lines of the snippet: enough to check the change, not to re-read the file.
const MAX_SNIPPET: usize = 40;
/// How much of a long line the snippet shows.
const MAX_WIDTH: usize = 500;

/// The confirmation for the model, with the changed lines and their numbers.
pub fn text(path: &str, change: &Change, patch: &Patch) -> String {
    let mut text = match change.lines.as_slice() {
        [] => format!("Created {path}."),
        [_] => format!("Edited {path}."),
        lines => format!(
            "Edited {path}: replaced {} places (on {}).",
            lines.len(),
            listed(lines)
        ),
    };
    if change.manner == Manner::Quotes {
        text.push_str(
            " old_string matched with curly and straight quotes treated as equal; the file's \
             kind of quotes was kept.",
        );
    }
    // A new file is what was just sent; showing it back teaches nothing.
    if !change.lines.is_empty() {
        snippet(&mut text, &patch.hunks);
    }
    text
}

fn snippet(text: &mut String, hunks: &[Hunk]) {
    let mut left = MAX_SNIPPET;
    for (index, hunk) in hunks.iter().enumerate() {
        if left == 0 {
            text.push_str("\n   ...");
            return;
        }
        text.push_str(match index {
            0 => " The lines now read:",
            _ => "\n   ...",
        });
        let lines = hunk
            .lines
            .iter()
            .filter(|line| line.starts_with([' ', '+']));
        let total = hunk.new_lines;
        for (number, line) in (hunk.new_start..).zip(lines).take(left) {
            let line: String = line.chars().skip(1).take(MAX_WIDTH).collect();
            text.push_str(&format!("\n{number:>6}\t{}", line.trim_end_matches('\r')));
        }
        if total > left {
            text.push_str(&format!("\n   ... {} more lines", total - left));
        }
        left = left.saturating_sub(total.max(1));
    }
}

/// The same for programs.
pub fn structured(path: &str, change: &Change, patch: &Patch) -> Value {
    json!({
        "filePath": path,
        "replacements": change.lines.len(),
        "matched": change.manner.word(),
        "hunks": patch.hunks,
        "hunksTruncated": patch.truncated,
    })
}

/// The hunks of a structured result; none when it is not one of ours.
pub fn hunks(structured: Option<&str>) -> Vec<Hunk> {
    #[derive(Deserialize)]
    struct Structured {
        hunks: Vec<Hunk>,
    }
    structured
        .and_then(|json| serde_json::from_str::<Structured>(json).ok())
        .map(|structured| structured.hunks)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Encoding;

    fn change(old: &str, new: &str, lines: Vec<usize>, manner: Manner) -> (Change, Patch) {
        let change = Change {
            old: old.into(),
            new: new.into(),
            encoding: Encoding::Utf8,
            manner,
            lines,
        };
        (change, Patch::between(old, new))
    }

    #[test]
    fn the_text_shows_the_lines_as_they_are_now() {
        let (one, patch) = change("a\nb\nc\n", "a\nB\nc\n", vec![2], Manner::Exact);
        assert_eq!(
            text("/f", &one, &patch),
            "Edited /f. The lines now read:\n     1\ta\n     2\tB\n     3\tc"
        );
        let (two, patch) = change("a\r\na\r\n", "b\r\nb\r\n", vec![1, 2], Manner::LineEnds);
        assert_eq!(
            text("/f", &two, &patch),
            "Edited /f: replaced 2 places (on lines 1 and 2). The lines now read:\n     1\tb\n     2\tb"
        );
        let (new, patch) = change("", "a\n", vec![], Manner::Exact);
        assert_eq!(text("/f", &new, &patch), "Created /f.");
    }

    #[test]
    fn a_long_snippet_is_cut() {
        let new: String = (0..100).map(|line| format!("{line}\n")).collect();
        let (long, patch) = change("x\n", &new, vec![1], Manner::Exact);
        let text = text("/f", &long, &patch);
        assert_eq!(text.lines().count(), MAX_SNIPPET + 2, "{text}");
        assert!(text.ends_with("... 60 more lines"), "{text}");
    }

    #[test]
    fn the_structured_result_gives_its_hunks_back() {
        let (one, patch) = change("a\n", "b\n", vec![1], Manner::Exact);
        let json = structured("/f", &one, &patch).to_string();
        assert_eq!(hunks(Some(&json)), patch.hunks);
        assert_eq!(hunks(Some("{}")), Vec::new());
        assert_eq!(hunks(None), Vec::new());
    }
}
