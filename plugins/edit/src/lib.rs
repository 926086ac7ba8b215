//! The `Edit` tool: replaces a passage of a file by another, exactly.
//!
//! What is not part of the passage stays byte for byte: line ends, encoding,
//! byte order mark, mode and the end of the file. It never guesses: a passage
//! that is not there, or is there twice, is an error that shows the file's lines.

mod difference;
mod encoding;
mod fold;
mod matching;
mod near;
mod prepare;
mod quotes;
mod report;

use serde::Deserialize;
use toolbay_sdk::patch::{Patch, unified};
use toolbay_sdk::{
    FileSeen, Guard, Info, Outcome, Prompt, Rejection, Render, Result, Setting, SubjectKind, Tool,
    View, context, seen,
};

use prepare::{Ready, prepare};

#[derive(Debug, Deserialize)]
struct Input {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

struct Edit;

impl Tool for Edit {
    type Input = Input;
    const INFO: Info = Info::new("Edit", "Replaces a passage of a file by another, exactly.")
        .schema(include_str!("../schema.json"))
        .output_schema(include_str!("../output.json"))
        .annotations(&[("simple", "true")])
        .subjects(&[(SubjectKind::Path, "/file_path")]);

    fn call(input: Input) -> Result {
        let path = context::resolve(&input.file_path);
        let Ready {
            change,
            expect,
            whole,
        } = prepare(&path, &input)?;
        let bytes = encoding::encode(change.encoding, &change.new);
        let digest = seen::replace(&path, &bytes, &expect)?;
        let patch = Patch::between(&change.old, &change.new);
        let name = path.to_string_lossy().into_owned();
        Ok(Outcome::text(report::text(&name, &change, &patch))
            .with_structured(&report::structured(&name, &change, &patch))
            .with_file_seen(FileSeen {
                path: name,
                digest,
                whole,
                shown: None,
            }))
    }
}

impl Guard for Edit {
    /// The old passage is in the call itself, so it can be put back.
    fn is_destructive(_: &Input) -> bool {
        false
    }

    fn validate_input(input: &Input) -> Result<(), Rejection> {
        prepare(&context::resolve(&input.file_path), input)?;
        Ok(())
    }
}

impl Prompt for Edit {
    fn describe(input: &Input) -> String {
        if input.old_string.is_empty() {
            format!("Create {}", input.file_path)
        } else {
            format!("Edit {}", input.file_path)
        }
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for Edit {
    fn render_use(input: &Input) -> View {
        // The file is out of reach here, so the line numbers are those of the passage.
        View::Diff(report::preview(
            &input.file_path,
            &input.old_string,
            &input.new_string,
        ))
    }

    fn render_result(input: &Input, outcome: &Outcome) -> View {
        match report::hunks(outcome.structured.as_deref()) {
            hunks if hunks.is_empty() => View::Plain(outcome.plain_text()),
            hunks => View::Diff(unified(&input.file_path, &hunks)),
        }
    }

    fn render_grouped(inputs: &[Input]) -> Option<View> {
        let rows = inputs.iter();
        let rows = rows.map(|input| ("Edit".to_owned(), input.file_path.clone()));
        Some(View::Rows(rows.collect()))
    }
}

toolbay_sdk::export!(Edit: guard, prompt, render);
