//! What a change looks like, to the model and to people.

use serde::Deserialize;
use serde_json::{Value, json};
use toolbay_sdk::names::one_line;
use toolbay_sdk::patch::{Hunk, Patch, unified};

use crate::matching::Manner;
use crate::prepare::{Change, listed};

/// Lines of the snippet: enough to check the change, not to re-read the file.
const MAX_SNIPPET: usize = 40;
/// How much of a long line the snippet shows.
const MAX_WIDTH: usize = 500;

/// The confirmation for the model, with the changed lines and their numbers.
pub fn text(path: &str, change: &Change, patch: &Patch) -> String {
    let path = one_line(path);
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

/// The call before it runs. A passage ends where the file goes on, so that it has no line end
/// says nothing about the end of the file.
pub fn preview(path: &str, old: &str, new: &str) -> String {
    let whole_lines = |text: &str| text.ends_with('\n');
    let patch = match (whole_lines(old), whole_lines(new)) {
        // An empty old text means a new file, whose end is really the end.
        _ if old.is_empty() => Patch::between(old, new),
        (false, false) => Patch::between(&format!("{old}\n"), &format!("{new}\n")),
        (true, true) => Patch::between(old, new),
        // The line end itself is part of the change.
        (true, false) | (false, true) => without_file_ends(Patch::between(old, new)),
    };
    let mut text = unified(path, &patch.hunks);
    if patch.truncated {
        text.push_str("... there are more changes, too many to show here\n");
    }
    text
}

/// The same patch, but what was the end of a file is only the end of a passage.
fn without_file_ends(mut patch: Patch) -> Patch {
    let lines = patch.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines);
    for mark in lines.filter(|line| line.starts_with('\\')) {
        *mark = "\\ The passage ends here, without a line end".into();
    }
    patch
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
    fn a_preview_says_nothing_about_the_end_of_the_file() {
        for (old, new, lines) in [
            ("a", "b", &["-a", "+b"][..]),
            ("a\nb", "a\nc\nb", &[" a", "+c", " b"]),
            ("a\n", "b\n", &["-a", "+b"]),
            // Nothing is left of the passage, or only of its line.
            ("a", "", &["-a", "+"]),
            (
                "a\n",
                "a",
                &["-a", "+a", "\\ The passage ends here, without a line end"],
            ),
            // A new file has an end.
            ("", "a", &["+a", "\\ No newline at end of file"]),
            ("", "a\n", &["+a"]),
        ] {
            let shown = preview("/f", old, new);
            let shown: Vec<&str> = shown.lines().skip(3).collect();
            assert_eq!(shown, lines, "{old:?} {new:?}");
        }
        let many: String = (0..3_000).map(|line| format!("{line}\n")).collect();
        let shown = preview("/f", &many, "x\n");
        assert!(shown.contains("there are more changes"), "{shown}");
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
