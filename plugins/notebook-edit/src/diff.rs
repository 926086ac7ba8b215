//! The change of one cell as a unified diff for people.
//!
//! A cell is short, so lines that are alike at both ends are all that is left
//! out; whatever lies between counts as changed.

/// Unchanged lines around the change.
const CONTEXT: usize = 3;

pub fn unified(name: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let head = alike(old.iter().zip(&new));
    let tail = alike(old[head..].iter().rev().zip(new[head..].iter().rev()));
    let from = head.saturating_sub(CONTEXT);
    let after = tail.min(CONTEXT);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let start = |end: usize| from + usize::from(end + after > from);
    let mut text = format!(
        "--- {name}\n+++ {name}\n@@ -{},{} +{},{} @@\n",
        start(old_end),
        old_end + after - from,
        start(new_end),
        new_end + after - from
    );
    for (sign, lines) in [
        (' ', &old[from..head]),
        ('-', &old[head..old_end]),
        ('+', &new[head..new_end]),
        (' ', &old[old_end..old_end + after]),
    ] {
        for line in lines {
            text.push_str(&format!("{sign}{line}\n"));
        }
    }
    text
}

fn alike<'a>(pairs: impl Iterator<Item = (&'a &'a str, &'a &'a str)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown_with_its_surroundings() {
        for (old, new, wanted) in [
            ("a\nb\nc", "a\nB\nc", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
            ("", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n"),
            ("a", "", "@@ -1,1 +0,0 @@\n-a\n"),
            (
                "1\n2\n3\n4\nx",
                "1\n2\n3\n4\ny",
                "@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-x\n+y\n",
            ),
            ("a\na", "a\na\na", "@@ -1,2 +1,3 @@\n a\n a\n+a\n"),
        ] {
            assert_eq!(unified("c", old, new), format!("--- c\n+++ c\n{wanted}"));
        }
    }
}
