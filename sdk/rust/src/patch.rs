//! What changed between two texts, as hunks of lines.
//!
//! Programs get the hunks, people get the unified diff made of them; the texts
//! are compared once. Line ends stay in the lines apart from the `\n` itself, so
//! that a patch of a file with CRLF is still exact.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// Unchanged lines around a change, as diff tools have it.
const CONTEXT: usize = 3;
/// Beyond this many lines a patch explains nothing any more; it would only make
/// the result heavy.
const MAX_LINES: usize = 2_000;
/// The same bound for files that consist of few, endless lines.
const MAX_BYTES: usize = 100_000;
/// Two texts with nothing in common take quadratic time; after this long the
/// comparison settles for a coarser patch.
const PATIENCE: Duration = Duration::from_millis(300);

/// One place that changed, with the lines around it. Lines count from 1.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
    /// Each line with ` `, `-`, `+` or `\` in front.
    pub lines: Vec<String>,
}

/// What changed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Patch {
    pub hunks: Vec<Hunk>,
    /// Whether hunks were left out because there are too many.
    pub truncated: bool,
}

impl Patch {
    /// Compares two texts.
    pub fn between(old: &str, new: &str) -> Self {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let deadline = Instant::now().checked_add(PATIENCE);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
        let mut patch = Self::default();
        let mut room = Room {
            lines: MAX_LINES,
            bytes: MAX_BYTES,
        };
        for group in group_diff_ops(ops, CONTEXT) {
            let hunk = hunk(&old, &new, &group);
            if !room.takes(&hunk) {
                patch.truncated = true;
                break;
            }
            patch.hunks.push(hunk);
        }
        patch
    }
}

struct Room {
    lines: usize,
    bytes: usize,
}

impl Room {
    fn takes(&mut self, hunk: &Hunk) -> bool {
        let bytes: usize = hunk.lines.iter().map(String::len).sum();
        let fits = hunk.lines.len() <= self.lines && bytes <= self.bytes;
        self.lines = self.lines.saturating_sub(hunk.lines.len());
        self.bytes = self.bytes.saturating_sub(bytes);
        fits
    }
}

fn hunk(old: &[&str], new: &[&str], ops: &[DiffOp]) -> Hunk {
    let mut hunk = Hunk::default();
    if let (Some(first), Some(last)) = (ops.first(), ops.last()) {
        let (old_range, new_range) = (first.old_range(), first.new_range());
        hunk.old_lines = last.old_range().end - old_range.start;
        hunk.new_lines = last.new_range().end - new_range.start;
        // A side without lines names the line before it, as diff tools do.
        hunk.old_start = old_range.start + usize::from(hunk.old_lines > 0);
        hunk.new_start = new_range.start + usize::from(hunk.new_lines > 0);
    }
    for op in ops {
        if let DiffOp::Equal { .. } = op {
            push(&mut hunk.lines, ' ', &old[op.old_range()]);
        } else {
            push(&mut hunk.lines, '-', &old[op.old_range()]);
            push(&mut hunk.lines, '+', &new[op.new_range()]);
        }
    }
    hunk
}

fn push(lines: &mut Vec<String>, sign: char, texts: &[&str]) {
    for text in texts {
        match text.strip_suffix('\n') {
            Some(text) => lines.push(format!("{sign}{text}")),
            None => {
                lines.push(format!("{sign}{text}"));
                lines.push("\\ No newline at end of file".into());
            }
        }
    }
}

/// The hunks as a unified diff.
pub fn unified(path: &str, hunks: &[Hunk]) -> String {
    let mut text = format!("--- {path}\n+++ {path}\n");
    for hunk in hunks {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "@@ -{},{} +{},{} @@",
            hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines
        );
        for line in &hunk.lines {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_name_the_lines_that_changed() {
        for (case, old, new, wanted) in [
            ("nothing", "a\n", "a\n", vec![]),
            (
                "one line",
                "a\nb\nc\n",
                "a\nB\nc\n",
                vec!["@1,3 1,3", " a", "-b", "+B", " c"],
            ),
            ("new file", "", "a\n", vec!["@0,0 1,1", "+a"]),
            ("all gone", "a\n", "", vec!["@1,1 0,0", "-a"]),
            (
                "the last line end",
                "a",
                "a\n",
                vec!["@1,1 1,1", "-a", "\\ No newline at end of file", "+a"],
            ),
            (
                "line ends",
                "a\r\nb\r\n",
                "a\r\nB\r\n",
                vec!["@1,2 1,2", " a\r", "-b\r", "+B\r"],
            ),
            (
                "two places far apart",
                "a\n1\n2\n3\n4\n5\n6\n7\nb\n",
                "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
                vec![
                    "@1,4 1,4", "-a", "+A", " 1", " 2", " 3", "@6,4 6,4", " 5", " 6", " 7", "-b",
                    "+B",
                ],
            ),
        ] {
            let mut flat = Vec::new();
            for hunk in Patch::between(old, new).hunks {
                flat.push(format!(
                    "@{},{} {},{}",
                    hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines
                ));
                flat.extend(hunk.lines);
            }
            assert_eq!(flat, wanted, "{case}");
        }
    }

    #[test]
    fn a_patch_that_would_be_too_long_is_cut_at_a_hunk() {
        let old: String = (0..5_000).map(|line| format!("{line}\n")).collect();
        let new = old.replace("9\n", "nine\n");
        let patch = Patch::between(&old, &new);
        assert!(patch.truncated);
        let lines: usize = patch.hunks.iter().map(|hunk| hunk.lines.len()).sum();
        assert!(lines <= MAX_LINES, "{lines}");
    }

    #[test]
    fn a_unified_diff_has_its_headers() {
        let patch = Patch::between("a\nb\n", "a\nc\n");
        assert_eq!(
            unified("/x", &patch.hunks),
            "--- /x\n+++ /x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        );
    }
}
