//! How calls look to people: one line each.

use serde_json::Value;
use toolbay_sdk::Outcome;

use crate::request::Input;
use crate::text::plural;

/// Names shown of a group; the rest is dots.
const GROUP_NAMES: usize = 3;

/// The call, before it runs.
pub fn one_line(input: &Input) -> String {
    let part = match (&input.pages, input.offset, input.limit) {
        (Some(pages), _, _) if !pages.trim().is_empty() => {
            if pages.contains('-') {
                format!(", pages {}", pages.trim())
            } else {
                format!(", page {}", pages.trim())
            }
        }
        (_, None, None) => String::new(),
        (_, Some(offset), None) => format!(", from line {offset}"),
        (_, offset, Some(limit)) => {
            let first = offset.unwrap_or(1).max(1);
            format!(", lines {first}-{}", first.saturating_add(limit.max(1)) - 1)
        }
    };
    format!("Read {}{part}", input.file_path)
}

/// What came of it.
pub fn summary(outcome: &Outcome) -> String {
    let structured: Value = outcome
        .structured
        .as_deref()
        .and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_default();
    let number = |key: &str| structured[key].as_u64().unwrap_or(0);
    match structured["kind"].as_str() {
        Some("text") if structured.get("bytes").is_some() => format!(
            "Read {} of a file of {} bytes",
            plural(number("lines"), "line"),
            number("bytes")
        ),
        Some("text") if number("total_lines") == 0 => "Empty file".into(),
        Some("text") if number("lines") < number("total_lines") => format!(
            "Read {} of {}",
            number("lines"),
            plural(number("total_lines"), "line")
        ),
        Some("text") => format!("Read {}", plural(number("lines"), "line")),
        Some("image") => format!("Read picture ({}×{})", number("width"), number("height")),
        Some("pdf") if number("pages") < number("total_pages") => format!(
            "Read {} of {}",
            number("pages"),
            plural(number("total_pages"), "page")
        ),
        Some("pdf") => format!("Read {}", plural(number("pages"), "page")),
        Some("notebook") => format!("Read {}", plural(number("cells"), "cell")),
        Some("unchanged") => "Unchanged since it was last read".into(),
        Some(_) | None => "Read".into(),
    }
}

/// Several calls in a row.
pub fn grouped(inputs: &[Input]) -> String {
    let mut paths: Vec<&str> = Vec::new();
    for input in inputs {
        if !paths.contains(&input.file_path.as_str()) {
            paths.push(&input.file_path);
        }
    }
    let names: Vec<&str> = paths
        .iter()
        .take(GROUP_NAMES)
        .map(|path| path.rsplit('/').next().unwrap_or(path))
        .collect();
    let dots = if paths.len() > GROUP_NAMES {
        ", ..."
    } else {
        ""
    };
    format!(
        "Read {}: {}{dots}",
        plural(paths.len() as u64, "file"),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn input(path: &str, offset: Option<u64>, limit: Option<u64>, pages: Option<&str>) -> Input {
        Input {
            file_path: path.into(),
            offset,
            limit,
            pages: pages.map(Into::into),
        }
    }

    #[test]
    fn a_call_is_one_line_with_its_range() {
        for (offset, limit, pages, wanted) in [
            (None, None, None, "Read /a/b.rs"),
            (Some(7), None, None, "Read /a/b.rs, from line 7"),
            (None, Some(5), None, "Read /a/b.rs, lines 1-5"),
            (Some(10), Some(5), None, "Read /a/b.rs, lines 10-14"),
            (None, None, Some("3"), "Read /a/b.rs, page 3"),
            (None, None, Some("1-5"), "Read /a/b.rs, pages 1-5"),
        ] {
            assert_eq!(one_line(&input("/a/b.rs", offset, limit, pages)), wanted);
        }
    }

    #[test]
    fn a_result_is_summed_up() {
        for (structured, wanted) in [
            (
                json!({"kind": "text", "lines": 42, "total_lines": 42}),
                "Read 42 lines",
            ),
            (
                json!({"kind": "text", "lines": 1, "total_lines": 1}),
                "Read 1 line",
            ),
            (
                json!({"kind": "text", "lines": 5, "total_lines": 9}),
                "Read 5 of 9 lines",
            ),
            (
                json!({"kind": "text", "lines": 5, "bytes": 99}),
                "Read 5 lines of a file of 99 bytes",
            ),
            (
                json!({"kind": "text", "lines": 0, "total_lines": 0}),
                "Empty file",
            ),
            (
                json!({"kind": "image", "width": 8, "height": 9}),
                "Read picture (8×9)",
            ),
            (
                json!({"kind": "pdf", "pages": 2, "total_pages": 2}),
                "Read 2 pages",
            ),
            (json!({"kind": "notebook", "cells": 3}), "Read 3 cells"),
            (
                json!({"kind": "unchanged"}),
                "Unchanged since it was last read",
            ),
            (json!(null), "Read"),
        ] {
            let outcome = Outcome::text("x").with_structured(&structured);
            assert_eq!(summary(&outcome), wanted);
        }
    }

    #[test]
    fn a_group_names_the_first_files_once_each() {
        let group = |paths: &[&str]| {
            let inputs: Vec<Input> = paths
                .iter()
                .map(|path| input(path, None, None, None))
                .collect();
            grouped(&inputs)
        };
        assert_eq!(group(&["/x/a", "/x/b", "/x/a"]), "Read 2 files: a, b");
        assert_eq!(
            group(&["/a", "/b", "/c", "/d", "/e"]),
            "Read 5 files: a, b, c, ..."
        );
    }
}
