//! Compares what came out with what was expected, in words that show the difference.

use std::path::Path;

use serde_json::Value;
use toolbay_contract::Content;
use toolbay_dispatch::ToolResult;

use super::format::{Entry, Expect, decode, text, with_root};

/// How much of a text a report shows.
const MOST_SHOWN: usize = 2_000;

/// What a result lacks.
pub fn expected(expect: &Expect, result: &ToolResult, root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let got = result.text();
    if let Some(error) = expect.error
        && error != result.is_error
    {
        let how = if error { "succeeded" } else { "failed" };
        problems.push(format!("it {how}:\n{}", indented(&got)));
    }
    if let Some(wanted) = &expect.text {
        let wanted = text(wanted, root);
        if wanted != got {
            problems.push(format!("the text differs:\n{}", difference(&wanted, &got)));
        }
    }
    for part in expect.contains.iter().map(|part| text(part, root)) {
        if !got.contains(&part) {
            problems.push(format!("{part:?} is not in the text:\n{}", indented(&got)));
        }
    }
    for part in expect.lacks.iter().map(|part| text(part, root)) {
        if got.contains(&part) {
            problems.push(format!("{part:?} is in the text:\n{}", indented(&got)));
        }
    }
    if let Some(wanted) = &expect.structured {
        let got: Value = match result.structured.as_deref().map(serde_json::from_str) {
            None => Value::Null,
            Some(Ok(value)) => value,
            Some(Err(error)) => Value::String(format!("not JSON: {error}")),
        };
        let mut wrong = Vec::new();
        subset(&with_root(wanted, root), &got, "", &mut wrong);
        if !wrong.is_empty() {
            let list = wrong.join("\n");
            problems.push(format!(
                "the structured result differs:\n{}",
                indented(&list)
            ));
        }
    }
    if let Some(wanted) = expect.images {
        let got = result
            .content
            .iter()
            .filter(|content| matches!(content, Content::Image(_)))
            .count();
        if wanted != got {
            problems.push(format!("{got} images instead of {wanted}"));
        }
    }
    problems
}

/// What is wrong with a file at the end.
pub fn after(root: &Path, name: &str, wanted: &Entry) -> Option<String> {
    let path = root.join(name);
    let bytes = match wanted {
        Entry::Nothing(()) if name.ends_with('/') => {
            return (!path.is_dir()).then(|| format!("{name} is not a folder"));
        }
        Entry::Nothing(()) => {
            let there = std::fs::symlink_metadata(&path).is_ok();
            return there.then(|| format!("{name} exists"));
        }
        Entry::Link { link } => {
            let leads = std::fs::read_link(&path).ok();
            let wanted = text(link, root);
            return (leads.as_deref() != Some(Path::new(&wanted)))
                .then(|| format!("{name} leads to {leads:?}, not to {wanted}"));
        }
        Entry::Text(text) => text.clone().into_bytes(),
        Entry::Bytes { base64 } => decode(base64),
    };
    match std::fs::read(&path) {
        Err(error) => Some(format!("{name}: {error}")),
        Ok(got) if got == bytes => None,
        Ok(got) => {
            let [wanted, got] =
                [bytes, got].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Some(format!("{name} differs:\n{}", difference(&wanted, &got)))
        }
    }
}

/// Where a value lacks a part. Arrays must be as long as expected; objects may
/// have more keys.
fn subset(wanted: &Value, got: &Value, pointer: &str, wrong: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (key, value) in wanted {
                let pointer = format!("{pointer}/{key}");
                match got.get(key) {
                    Some(got) => subset(value, got, &pointer, wrong),
                    None => wrong.push(format!("{pointer}: missing; expected {value}")),
                }
            }
        }
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            for (index, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                subset(wanted, got, &format!("{pointer}/{index}"), wrong);
            }
        }
        (wanted, got) if wanted == got => {}
        (wanted, got) => wrong.push(format!("{pointer}: expected {wanted}, got {got}")),
    }
}

/// The lines between the common beginning and the common end, with `-` for what was
/// expected and `+` for what came. Line ends are shown: they are often the difference.
fn difference(wanted: &str, got: &str) -> String {
    let [wanted, got] = [wanted, got].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(wanted, got)| wanted == got).count()
    };
    let start = same(&mut wanted.iter().zip(&got));
    let rest = wanted.len().min(got.len()) - start;
    let end = same(&mut wanted.iter().rev().zip(got.iter().rev())).min(rest);
    let mut lines = Vec::new();
    if start > 0 {
        lines.push(format!("  ({start} lines are the same)"));
    }
    for (sign, side) in [('-', &wanted), ('+', &got)] {
        for line in &side[start..side.len() - end] {
            lines.push(format!("{sign} {}", line.escape_debug()));
        }
    }
    indented(&lines.join("\n"))
}

fn indented(text: &str) -> String {
    let mut short: String = text.chars().take(MOST_SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    let lines: Vec<String> = short.lines().map(|line| format!("      {line}")).collect();
    lines.join("\n")
}

#[test]
fn a_difference_shows_the_lines_that_differ() {
    let shown = difference("a\nb\nc\n", "a\nB\r\nc\n");
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert_eq!(lines, ["(1 lines are the same)", "- b\\n", "+ B\\r\\n"]);
}

#[test]
fn a_part_of_a_structured_result_is_found_or_named() {
    let got = serde_json::json!({"a": 1, "b": [{"c": 2, "d": 3}]});
    for (wanted, count) in [
        (serde_json::json!({"a": 1}), 0),
        (serde_json::json!({"b": [{"c": 2}]}), 0),
        (serde_json::json!({"b": [{"c": 3}], "e": null}), 2),
        (serde_json::json!({"b": []}), 1),
    ] {
        let mut wrong = Vec::new();
        subset(&wanted, &got, "", &mut wrong);
        assert_eq!(wrong.len(), count, "{wanted}: {wrong:?}");
    }
}
