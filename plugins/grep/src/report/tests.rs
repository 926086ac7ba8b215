#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

const PLACE: Place<'static> = Place {
    working_directory: "/work",
    root: "/work",
};

fn input(json: &str) -> Input {
    serde_json::from_str(json).unwrap()
}

fn hit(path: &str, modified_ms: u64, lines: &[(u64, &str, bool)]) -> Hit {
    Hit {
        path: path.into(),
        modified_ms,
        count: lines.len().max(1) as u64,
        lines: lines
            .iter()
            .map(|(number, text, is_match)| Line {
                number: *number,
                text: (*text).into(),
                is_match: *is_match,
            })
            .collect(),
    }
}

fn page(hits: Vec<Hit>, truncated: bool) -> Page {
    Page { hits, truncated }
}

#[test]
fn a_name_with_line_ends_is_one_row_in_every_mode() {
    let hits = vec![hit("/work/a\nFAKE", 0, &[(1, "x", true)])];
    let found = page(hits, false);
    let content = input(r#"{"pattern":"x","output_mode":"content"}"#);
    let counts = input(r#"{"pattern":"x","output_mode":"count"}"#);
    let files = input(r#"{"pattern":"x"}"#);
    for report in [
        Report::content(&content, &found, PLACE),
        Report::counts(&counts, &found, PLACE),
        Report::files(&files, found.clone(), PLACE),
    ] {
        assert_eq!(report.files, ["a\nFAKE"]);
        let text = report.text();
        assert!(text.contains("a\\nFAKE"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("FAKE")), "{text}");
    }
}

#[test]
fn content_looks_like_ripgrep() {
    let plain = vec![
        hit("/work/a.rs", 0, &[(3, "let x;", true), (9, "x", true)]),
        hit("/elsewhere/b.rs", 0, &[(1, "x", true)]),
    ];
    let around = vec![
        hit(
            "/work/a.rs",
            0,
            &[
                (1, "one", false),
                (2, "x", true),
                (7, "six", false),
                (8, "x", true),
            ],
        ),
        hit("/work/b.rs", 0, &[(1, "x", true)]),
    ];
    for (json, hits, wanted) in [
        (
            r#"{"pattern":"x","output_mode":"content"}"#,
            &plain,
            "a.rs:3:let x;\na.rs:9:x\n/elsewhere/b.rs:1:x",
        ),
        (
            r#"{"pattern":"x","output_mode":"content","-n":false}"#,
            &plain,
            "a.rs:let x;\na.rs:x\n/elsewhere/b.rs:x",
        ),
        (
            r#"{"pattern":"x","output_mode":"content","-B":1}"#,
            &around,
            "a.rs-1-one\na.rs:2:x\n--\na.rs-7-six\na.rs:8:x\n--\nb.rs:1:x",
        ),
    ] {
        let report = Report::content(&input(json), &page(hits.clone(), false), PLACE);
        assert_eq!(report.text(), wanted, "{json}");
    }
}

#[test]
fn a_cut_answer_says_how_to_go_on() {
    let lines: Vec<(u64, &str, bool)> = (11..=20).map(|number| (number, "x", true)).collect();
    let report = Report::content(
        &input(r#"{"pattern":"x","output_mode":"content","offset":10,"head_limit":10}"#),
        &page(vec![hit("/work/a", 0, &lines)], true),
        PLACE,
    );
    let note = "[showing lines 11-20 of more; use offset 20 for the next part]";
    assert!(report.text().ends_with(note), "{}", report.text());
    assert_eq!(report.structured()["truncated"], true);
}

#[test]
fn files_come_newest_first_in_parts() {
    let hits = vec![
        hit("/work/a", 1, &[]),
        hit("/work/b", 3, &[]),
        hit("/work/c", 3, &[]),
        hit("/work/d", 2, &[]),
    ];
    for (json, wanted) in [
        (r#"{"pattern":"x"}"#, "b\nc\nd\na"),
        (
            r#"{"pattern":"x","head_limit":2}"#,
            "b\nc\n\n[showing files 1-2 of 4; use offset 2 for the next part]",
        ),
        (r#"{"pattern":"x","head_limit":2,"offset":2}"#, "d\na"),
        (
            r#"{"pattern":"x","offset":9}"#,
            "No entries past offset 9: only 4 files matched.",
        ),
        (r#"{"pattern":"x","head_limit":0}"#, "b\nc\nd\na"),
    ] {
        let report = Report::files(&input(json), page(hits.clone(), false), PLACE);
        assert_eq!(report.text(), wanted, "{json}");
    }
}

#[test]
fn counts_end_with_their_sum_over_all_files() {
    let mut hits = vec![hit("/work/a", 1, &[]), hit("/work/b", 1, &[])];
    hits[1].count = 4;
    for (json, wanted) in [
        (
            r#"{"pattern":"x","output_mode":"count"}"#,
            "a:1\nb:4\n\nTotal: 5 matching lines in 2 files",
        ),
        (
            r#"{"pattern":"x","output_mode":"count","head_limit":1}"#,
            "a:1\n\nTotal: 5 matching lines in 2 files\n\
             [showing files 1-1 of 2; use offset 1 for the next part]",
        ),
        (
            r#"{"pattern":"x","output_mode":"count","multiline":true}"#,
            "a:1\nb:4\n\nTotal: 5 matches in 2 files",
        ),
    ] {
        let report = Report::counts(&input(json), &page(hits.clone(), false), PLACE);
        assert_eq!(report.text(), wanted, "{json}");
    }
}

#[test]
fn nothing_found_says_what_and_where() {
    let empty = || page(Vec::new(), false);
    let report = Report::files(&input(r#"{"pattern":"x"}"#), empty(), PLACE);
    assert_eq!(
        report.text(),
        "No matches found for `x` in the working directory."
    );
    let place = Place {
        root: "/work/src",
        ..PLACE
    };
    let report = Report::counts(
        &input(r#"{"pattern":"x","output_mode":"count","glob":"*.zig"}"#),
        &empty(),
        place,
    );
    assert_eq!(report.text(), "No matches found for `x` in src.");
    assert_eq!(
        report.because_no_file_was_searched().text(),
        "No file in src fits glob `*.zig`, so nothing was searched."
    );
}

#[test]
fn text_stays_below_the_result_limit() {
    let long = "ä".repeat(30_000);
    let lines: Vec<(u64, &str, bool)> = (1..=100)
        .map(|number| (number, long.as_str(), true))
        .collect();
    let json = r#"{"pattern":"x","output_mode":"content","head_limit":0}"#;
    let report = Report::content(
        &input(json),
        &page(vec![hit("/work/a", 0, &lines)], false),
        PLACE,
    );
    let text = report.text();
    assert!(text.chars().count() < 20_000);
    assert!(text.contains("[+29000 characters]"));
    assert!(text.contains("[showing lines 1-"));

    let hits: Vec<Hit> = (0..5_000)
        .map(|number| hit(&format!("/work/some/folder/{number:05}.rs"), 0, &[]))
        .collect();
    let json = r#"{"pattern":"x","head_limit":0}"#;
    let text = Report::files(&input(json), page(hits, false), PLACE).text();
    assert!(text.chars().count() < 20_000);
    assert!(text.contains(" of 5000; use offset "));
}

#[test]
fn names_count_from_the_working_directory() {
    for (working_directory, path, wanted) in [
        ("/work", "/work/a/b", "a/b"),
        ("/work", "/workshop/a", "/workshop/a"),
        ("/", "/a", "a"),
        ("/work", "/work", "/work"),
    ] {
        let place = Place {
            working_directory,
            root: "/",
        };
        assert_eq!(place.name(path), wanted, "{path}");
    }
}
