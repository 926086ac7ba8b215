//! The `NotebookEdit` tool: replaces, inserts or deletes one cell of a Jupyter
//! notebook and leaves every other byte of the file alone.

mod change;
mod diff;
mod document;
mod layout;
mod prepare;

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::files::Expectation;
use toolbay_sdk::names::one_line;
use toolbay_sdk::{
    FileSeen, Guard, Info, Outcome, Prompt, Rejection, Render, Result, Setting, SubjectKind, Tool,
    View, context, seen,
};

use change::Changed;
use prepare::prepare;

/// The old source goes into the structured result up to this many bytes; it is
/// there for a diff, and a longer one helps nobody.
const MAX_OLD_SOURCE: usize = 50_000;
/// Random bytes of an id: eight letters, as Jupyter makes them.
const ID_BYTES: u32 = 4;

#[derive(Debug, Deserialize)]
struct Input {
    notebook_path: String,
    cell_id: Option<String>,
    new_source: Option<String>,
    cell_type: Option<CellType>,
    #[serde(default)]
    edit_mode: Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CellType {
    Code,
    Markdown,
}

impl CellType {
    const fn word(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl Mode {
    const fn word(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Insert => "insert",
            Self::Delete => "delete",
        }
    }
}

/// Where a new cell goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    After(usize),
}

struct NotebookEdit;

impl Tool for NotebookEdit {
    type Input = Input;
    const INFO: Info = Info::new(
        "NotebookEdit",
        "Replaces, inserts or deletes one cell of a Jupyter notebook.",
    )
    .schema(include_str!("../schema.json"))
    .output_schema(include_str!("../output.json"))
    .subjects(&[(SubjectKind::Path, "/notebook_path")])
    .deferred("jupyter ipynb notebook cells");

    fn call(input: Input) -> Result {
        let path = context::resolve(&input.notebook_path);
        let random = context::random_bytes(ID_BYTES);
        let ready = prepare(&path, &input, &random)?;
        let expect = Expectation::Digest(ready.known.digest);
        let digest = seen::replace(&path, &ready.bytes, &expect)?;
        let name = path.to_string_lossy().into_owned();
        let changed = ready.changed;
        let old_source = changed.old_source.as_ref();
        Ok(Outcome::text(text(&name, input.edit_mode, &changed))
            .with_structured(&json!({
                "notebookPath": name,
                "editMode": input.edit_mode.word(),
                "cellId": changed.id,
                "cellType": changed.kind,
                "cellIndex": changed.index,
                "cells": changed.cells,
                "oldSource": old_source.filter(|source| source.len() <= MAX_OLD_SOURCE),
            }))
            .with_file_seen(FileSeen {
                path: name,
                digest,
                whole: ready.known.whole,
                shown: None,
            }))
    }
}

fn text(path: &str, mode: Mode, changed: &Changed) -> String {
    let path = one_line(path);
    let Changed {
        id, kind, cells, ..
    } = changed;
    let number = changed.index + 1;
    match mode {
        Mode::Replace if kind == "code" => format!(
            "Replaced the source of code cell {id} ({number} of {cells}) in {path}; its outputs \
             were cleared."
        ),
        Mode::Replace => {
            format!("Replaced the source of {kind} cell {id} ({number} of {cells}) in {path}.")
        }
        Mode::Insert => format!("Inserted {kind} cell {id} ({number} of {cells}) in {path}."),
        Mode::Delete => format!("Deleted {kind} cell {id} from {path}; cells left: {cells}."),
    }
}

impl Guard for NotebookEdit {
    /// As with any edit, the file was read before and can be put back.
    fn is_destructive(_: &Input) -> bool {
        false
    }

    fn validate_input(input: &Input) -> Result<(), Rejection> {
        let random = context::random_bytes(ID_BYTES);
        prepare(&context::resolve(&input.notebook_path), input, &random)?;
        Ok(())
    }
}

impl Prompt for NotebookEdit {
    fn describe(input: &Input) -> String {
        let path = &input.notebook_path;
        match (input.edit_mode, input.cell_id.as_deref()) {
            (Mode::Replace, Some(id)) => format!("Replace cell {id} of {path}"),
            (Mode::Delete, Some(id)) => format!("Delete cell {id} of {path}"),
            (Mode::Insert, Some(id)) => format!("Insert a cell after {id} in {path}"),
            (Mode::Insert, None) => format!("Insert a cell at the start of {path}"),
            (Mode::Replace | Mode::Delete, None) => format!("Edit {path}"),
        }
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for NotebookEdit {
    fn render_use(input: &Input) -> View {
        let described = Self::describe(input);
        match input.new_source.as_deref() {
            Some(source) if input.edit_mode != Mode::Delete => {
                View::Plain(format!("{described}\n{source}"))
            }
            _ => View::Plain(described),
        }
    }

    fn render_result(input: &Input, outcome: &Outcome) -> View {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Structured {
            cell_id: String,
            old_source: Option<String>,
        }
        let structured = outcome.structured.as_deref();
        let Some(structured) =
            structured.and_then(|json| serde_json::from_str::<Structured>(json).ok())
        else {
            return View::Plain(outcome.plain_text());
        };
        let name = format!("{} ({})", input.notebook_path, structured.cell_id);
        let new = match input.edit_mode {
            Mode::Delete => "",
            Mode::Replace | Mode::Insert => input.new_source.as_deref().unwrap_or(""),
        };
        let old = structured.old_source.unwrap_or_default();
        View::Diff(diff::unified(&name, &old, new))
    }
}

toolbay_sdk::export!(NotebookEdit: guard, prompt, render);
