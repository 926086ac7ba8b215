//! The `Write` tool: gives a file a new content, all of it.
//!
//! The content is written as given, in UTF-8, in one step: a reader sees the old
//! file or the new one. What is replaced must have been read to its end, because
//! none of it remains.

mod report;

use std::path::Path;

use serde::Deserialize;
use toolbay_sdk::files::{self, Expectation};
use toolbay_sdk::patch::unified;
use toolbay_sdk::seen::{self, Extent, Refusal};
use toolbay_sdk::{
    FileSeen, Guard, Info, Outcome, Prompt, Rejection, Render, Result, Setting, SubjectKind, Tool,
    View, context,
};

use report::Report;

#[derive(Debug, Deserialize)]
struct Input {
    file_path: String,
    content: String,
}

struct Write;

impl Tool for Write {
    type Input = Input;
    const INFO: Info = Info::new("Write", "Creates a file, or replaces all of its content.")
        .schema(include_str!("../schema.json"))
        .output_schema(include_str!("../output.json"))
        .subjects(&[(SubjectKind::Path, "/file_path")]);

    fn call(input: Input) -> Result {
        let path = context::resolve(&input.file_path);
        let expect = prepare(&path)?;
        // Read before it is gone, for the patch alone; whether it is still the
        // content that the session knows is for the write itself to find out.
        let old = match expect {
            Expectation::Absent => None,
            Expectation::Digest(_) | Expectation::Anything => Some(std::fs::read(&path)?),
        };
        let digest = seen::replace(&path, input.content.as_bytes(), &expect)?;
        let name = path.to_string_lossy().into_owned();
        let report = Report::new(&name, old.as_deref(), &input.content);
        Ok(Outcome::text(report.text())
            .with_structured(&report.structured())
            .with_file_seen(FileSeen {
                path: name,
                digest,
                whole: true,
                shown: None,
            }))
    }
}

/// The state that the file must have for the write to go ahead.
fn prepare(path: &Path) -> Result<Expectation, Refusal> {
    if seen::exists(path)? {
        Ok(Expectation::Digest(
            seen::current(path, Extent::Whole)?.digest,
        ))
    } else {
        Ok(Expectation::Absent)
    }
}

impl Guard for Write {
    /// No file can be seen here, so a new file cannot be told from one whose content would be
    /// gone. The host looks, and warns only where the file exists.
    fn is_destructive(_: &Input) -> bool {
        true
    }

    fn validate_input(input: &Input) -> Result<(), Rejection> {
        let path = context::resolve(&input.file_path);
        if input.content.len() > files::MOST_BYTES {
            return Err(seen::too_large(&path, input.content.len() as u64).into());
        }
        prepare(&path)?;
        Ok(())
    }
}

impl Prompt for Write {
    fn describe(input: &Input) -> String {
        format!("Write {}", input.file_path)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for Write {
    fn render_use(input: &Input) -> View {
        View::Plain(report::preview(&input.file_path, &input.content))
    }

    fn render_result(input: &Input, outcome: &Outcome) -> View {
        match report::hunks(outcome.structured.as_deref()) {
            hunks if hunks.is_empty() => View::Plain(outcome.plain_text()),
            hunks => View::Diff(unified(&input.file_path, &hunks)),
        }
    }

    fn render_grouped(inputs: &[Input]) -> Option<View> {
        let rows = inputs.iter();
        let rows = rows.map(|input| ("Write".to_owned(), input.file_path.clone()));
        Some(View::Rows(rows.collect()))
    }
}

toolbay_sdk::export!(Write: guard, prompt, render);
