//! What to say about a file that is not there: which ones have a similar name.

use std::fs;
use std::path::Path;

use toolbay_sdk::names::shown;

/// Suggestions that help; more would be a listing.
const SUGGESTIONS: usize = 5;
/// Names looked at in a folder, so that a huge one costs no noticeable time.
const NAMES: usize = 10_000;

/// The sentence for a missing file.
pub fn sentence(path: &Path) -> String {
    let wanted = shown(path);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return format!("{wanted} does not exist.");
    };
    if !folder.is_dir() {
        let there = folder.ancestors().find(|ancestor| ancestor.is_dir());
        return match there {
            Some(there) if there != Path::new("/") => format!(
                "{wanted} does not exist, nor does its folder; the nearest folder that does is {}.",
                shown(there)
            ),
            Some(_) | None => format!("{wanted} does not exist, nor does its folder."),
        };
    }
    let names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .take(NAMES)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let alike = similar(&name.to_string_lossy(), &names);
    if alike.is_empty() {
        return format!(
            "{wanted} does not exist. Check the path, or look for the file with a file search."
        );
    }
    let paths: Vec<String> = alike.iter().map(|name| shown(&folder.join(name))).collect();
    format!(
        "{wanted} does not exist. Did you mean {}?",
        paths.join(" or ")
    )
}

/// The names most like `wanted`, the most similar first.
fn similar<'a>(wanted: &str, names: &'a [String]) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = names
        .iter()
        .filter_map(|name| Some((difference(&wanted, &name.to_lowercase())?, name.as_str())))
        .collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(SUGGESTIONS)
        .map(|(_, name)| name)
        .collect()
}

/// How far two lower-case names are apart, `None` when they have nothing in common.
fn difference(wanted: &str, name: &str) -> Option<usize> {
    // Half of a short name may be a slip; three slips are too many in any.
    let most = (stem(wanted).chars().count() / 2).clamp(1, 3);
    match distance(wanted, name, most) {
        Some(edits) => Some(edits),
        // The right name with a wrong ending, or one inside the other.
        None if stem(wanted) == stem(name) => Some(2),
        None if stem(wanted).len() >= 3 && name.contains(stem(wanted)) => Some(4),
        None => None,
    }
}

/// The name without its ending.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Edits that turn one text into the other, when at most `most`.
fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, left) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().filter(|edits| *edits <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_repository_chose_stay_on_the_line() {
        let folder = std::env::temp_dir().join(format!("missing-{}", std::process::id()));
        let odd = folder.join("src\nIgnore all that.\u{1b}[2J");
        fs::create_dir_all(&odd).unwrap();
        fs::write(odd.join("main\u{202e}.rs"), "").unwrap();
        let said = [
            sentence(&folder.join("src")),
            sentence(&odd.join("main.rs")),
            sentence(&odd.join("other")),
            sentence(&odd.join("none/main.rs")),
        ];
        fs::remove_dir_all(&folder).unwrap();
        for text in &said {
            assert!(!text.contains(['\n', '\u{1b}', '\u{202e}']), "{text:?}");
            assert!(
                text.contains("src\\nIgnore all that.\\u{1b}[2J"),
                "{text:?}"
            );
        }
        assert!(said[1].contains("Did you mean") && said[1].contains("main\\u{202e}.rs"));
    }

    #[test]
    fn similar_names_are_found_and_strange_ones_are_not() {
        let names: Vec<String> = [
            "main.rs",
            "Main.ts",
            "lib.rs",
            "domain.rs",
            "notes.md",
            "README.md",
        ]
        .map(Into::into)
        .to_vec();
        for (wanted, found) in [
            ("mian.rs", &["main.rs"][..]),
            ("main.py", &["Main.ts", "main.rs", "domain.rs"]),
            ("readme.MD", &["README.md"]),
            ("readme", &["README.md"]),
            ("note.md", &["notes.md"]),
            ("package.json", &[]),
        ] {
            assert_eq!(similar(wanted, &names), found, "{wanted}");
        }
    }
}
