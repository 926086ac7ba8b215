//! The list of files, as text for the model and as data for programs.

use serde_json::{Value, json};
use toolbay_sdk::Outcome;
use toolbay_sdk::names::one_line;
use toolbay_sdk::search::Listing;

/// One path a line, and a note when there are more.
pub fn text(pattern: &str, root: &str, working_directory: &str, listing: &Listing) -> String {
    if listing.entries.is_empty() {
        let place = match root == working_directory {
            true => "the working directory".to_owned(),
            false => one_line(name(root, working_directory)),
        };
        let hint = if pattern.contains('/') {
            ""
        } else {
            " A pattern without `**/` looks into no subfolder."
        };
        return format!("No files match `{pattern}` in {place}.{hint}");
    }
    let rows: Vec<String> = names(working_directory, listing)
        .into_iter()
        .map(one_line)
        .collect();
    let mut text = rows.join("\n");
    if listing.truncated {
        text.push_str(&format!(
            "\n\n[showing the {} newest of {} files; use a narrower pattern or path for the others]",
            listing.entries.len(),
            listing.total
        ));
    }
    text
}

/// The same for programs.
pub fn structured(working_directory: &str, listing: &Listing, left_out: &[String]) -> Value {
    let mut data = json!({
        "filenames": names(working_directory, listing),
        "numFiles": listing.entries.len(),
        "totalFiles": listing.total,
        "truncated": listing.truncated,
    });
    if let Some(fields) = data.as_object_mut().filter(|_| !left_out.is_empty()) {
        fields.insert("leftOut".into(), json!(left_out));
    }
    data
}

/// The call in one line.
pub fn headline(pattern: &str, path: Option<&str>) -> String {
    match path {
        Some(path) => format!("Find files `{pattern}` in {path}"),
        None => format!("Find files `{pattern}`"),
    }
}

/// How much was found; the text itself when the outcome has no data.
pub fn summary(outcome: &Outcome) -> String {
    let total = outcome
        .structured
        .as_deref()
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .and_then(|data| data.get("totalFiles").and_then(Value::as_u64));
    match total {
        Some(1) => "Found 1 file".to_owned(),
        Some(total) => format!("Found {total} files"),
        None => outcome.plain_text(),
    }
}

fn names<'a>(working_directory: &str, listing: &'a Listing) -> Vec<&'a str> {
    listing
        .entries
        .iter()
        .map(|entry| name(&entry.path, working_directory))
        .collect()
}

/// The path from the working directory, or the whole one when outside.
fn name<'a>(path: &'a str, working_directory: &str) -> &'a str {
    path.strip_prefix(working_directory)
        .and_then(|rest| {
            let is_top = working_directory.ends_with('/');
            if is_top {
                Some(rest)
            } else {
                rest.strip_prefix('/')
            }
        })
        .filter(|rest| !rest.is_empty())
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbay_sdk::search::Entry;

    #[test]
    fn a_name_with_line_ends_is_one_row() {
        let found = listing(&["/w/a\nFAKE\u{1b}[31m", "/w/é b"], 2);
        assert_eq!(text("*", "/w", "/w", &found), "a\\nFAKE\\u{1b}[31m\né b");
        let nothing = text("**/*", "/w/a\nFAKE", "/w", &listing(&[], 0));
        assert_eq!(nothing, "No files match `**/*` in a\\nFAKE.");
        assert_eq!(
            structured("/w", &found, &[])["filenames"][0],
            "a\nFAKE\u{1b}[31m"
        );
    }

    fn listing(paths: &[&str], total: u64) -> Listing {
        Listing {
            entries: paths
                .iter()
                .map(|path| Entry {
                    path: (*path).into(),
                    modified_ms: 0,
                    size: 0,
                })
                .collect(),
            total,
            truncated: total > paths.len() as u64,
        }
    }

    #[test]
    fn lists_tell_what_is_there_and_what_is_not_shown() {
        for (pattern, root, listing, wanted) in [
            (
                "*",
                "/w",
                listing(&["/w/a", "/x/b", "/wide/c"], 3),
                "a\n/x/b\n/wide/c",
            ),
            (
                "*",
                "/w",
                listing(&["/w/a"], 7),
                "a\n\n[showing the 1 newest of 7 files; use a narrower pattern or path for the others]",
            ),
            (
                "*.rs",
                "/w",
                listing(&[], 0),
                "No files match `*.rs` in the working directory. \
                 A pattern without `**/` looks into no subfolder.",
            ),
            (
                "**/*.rs",
                "/w/src",
                listing(&[], 0),
                "No files match `**/*.rs` in src.",
            ),
        ] {
            assert_eq!(text(pattern, root, "/w", &listing), wanted, "{pattern}");
        }
    }

    #[test]
    fn data_counts_all_files() {
        let data = structured("/w", &listing(&["/w/a"], 7), &[]);
        assert_eq!(
            data,
            json!({"filenames": ["a"], "numFiles": 1, "totalFiles": 7, "truncated": true})
        );
    }
}
