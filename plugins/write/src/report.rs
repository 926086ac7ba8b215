//! What a write looks like, to the model and to people.

use serde::Deserialize;
use serde_json::{Value, json};
use toolbay_sdk::names::one_line;
use toolbay_sdk::patch::{Hunk, Patch};

/// Lines shown before the call runs: enough to see what kind of file it is.
const MAX_PREVIEW: usize = 40;

/// What was written over what.
pub struct Report<'a> {
    path: &'a str,
    lines: usize,
    /// `None` when the file is new.
    old_lines: Option<usize>,
    patch: Patch,
}

impl<'a> Report<'a> {
    pub fn new(path: &'a str, old: Option<&[u8]>, new: &str) -> Self {
        Self {
            path,
            lines: new.lines().count(),
            old_lines: old.map(count),
            patch: match old.map(std::str::from_utf8) {
                // A new file is its own patch; the caller has its text already.
                None => Patch::default(),
                Some(Ok(old)) => Patch::between(old, new),
                // Bytes have no lines to compare.
                Some(Err(_)) => Patch {
                    truncated: true,
                    ..Patch::default()
                },
            },
        }
    }

    pub fn text(&self) -> String {
        let (path, lines) = (one_line(self.path), plural(self.lines));
        match self.old_lines {
            None => format!("Created {path} ({lines})."),
            Some(old) => format!("Updated {path} ({lines}, {old} before)."),
        }
    }

    pub fn structured(&self) -> Value {
        json!({
            "type": if self.old_lines.is_some() { "update" } else { "create" },
            "filePath": self.path,
            "lines": self.lines,
            "originalLines": self.old_lines,
            "structuredPatch": self.patch.hunks,
            "patchTruncated": self.patch.truncated,
        })
    }
}

/// The call before it runs.
pub fn preview(path: &str, content: &str) -> String {
    let lines = content.lines().count();
    let mut text = format!("Write {path} ({})", plural(lines));
    for line in content.lines().take(MAX_PREVIEW) {
        text.push('\n');
        text.push_str(line);
    }
    if lines > MAX_PREVIEW {
        text.push_str(&format!("\n... {} more lines", lines - MAX_PREVIEW));
    }
    text
}

/// The hunks of a structured result; none when it is not one of ours.
pub fn hunks(structured: Option<&str>) -> Vec<Hunk> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Structured {
        structured_patch: Vec<Hunk>,
    }
    structured
        .and_then(|json| serde_json::from_str::<Structured>(json).ok())
        .map(|structured| structured.structured_patch)
        .unwrap_or_default()
}

/// Lines as `str::lines` counts them, of bytes that may be no text.
fn count(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    let unfinished = bytes.last().is_some_and(|byte| *byte != b'\n');
    ends + usize::from(unfinished)
}

fn plural(lines: usize) -> String {
    match lines {
        1 => "1 line".into(),
        lines => format!("{lines} lines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_counts_lines() {
        for (old, new, wanted) in [
            (None, "", "Created /f (0 lines)."),
            (None, "a\n", "Created /f (1 line)."),
            (None, "a\nb", "Created /f (2 lines)."),
            (
                Some(&b"a\nb\n"[..]),
                "a\n",
                "Updated /f (1 line, 2 before).",
            ),
            (Some(b"\xFF\n\xFE"), "a\n", "Updated /f (1 line, 2 before)."),
            (Some(b""), "a\n", "Updated /f (1 line, 0 before)."),
        ] {
            assert_eq!(Report::new("/f", old, new).text(), wanted, "{new:?}");
        }
    }

    #[test]
    fn the_structured_result_tells_a_new_file_from_an_old_one() {
        let created = Report::new("/f", None, "a\n").structured();
        assert_eq!(created["type"], "create");
        assert_eq!(created["originalLines"], Value::Null);
        assert_eq!(created["structuredPatch"], json!([]));

        let updated = Report::new("/f", Some(b"a\nb\n"), "a\nc\n").structured();
        assert_eq!(updated["type"], "update");
        assert_eq!(updated["originalLines"], 2);
        assert_eq!(
            updated["structuredPatch"][0]["lines"],
            json!([" a", "-b", "+c"])
        );
        assert_eq!(hunks(Some(&updated.to_string())).len(), 1);

        let binary = Report::new("/f", Some(b"\xFF"), "a\n").structured();
        assert_eq!(binary["patchTruncated"], true);
    }

    #[test]
    fn a_long_preview_is_cut() {
        assert_eq!(preview("/f", "a\nb\n"), "Write /f (2 lines)\na\nb");
        let long = preview("/f", &"x\n".repeat(100));
        assert_eq!(long.lines().count(), MAX_PREVIEW + 2);
        assert!(long.ends_with("... 60 more lines"), "{long}");
    }
}
