//! Everything that is decided before a byte is written; the guard and the call
//! both come through here.

use std::path::Path;

use toolbay_sdk::files;
use toolbay_sdk::names::shown;
use toolbay_sdk::seen::{self, Extent, Refusal};
use toolbay_sdk::session::SeenFile;

use crate::change::{self, Changed};
use crate::document::{Cell, Document};
use crate::{Input, Mode, Place};

/// Ids that a refusal lists.
const MAX_LISTED: usize = 20;
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A change that can be written.
pub struct Ready {
    pub bytes: Vec<u8>,
    pub changed: Changed,
    pub known: SeenFile,
}

/// Checks the rule about reading first, then the change itself.
pub fn prepare(path: &Path, input: &Input, random: &[u8]) -> Result<Ready, Refusal> {
    if !seen::exists(path)? {
        return Err(Refusal::new(
            20,
            "not-found",
            format!("{} does not exist.", shown(path)),
        ));
    }
    let known = seen::current(path, Extent::Part)?;
    let unreadable = |error| Refusal::unreadable(path, &error);
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > files::MOST_BYTES as u64 {
        return Err(seen::too_large(path, length));
    }
    let old = std::fs::read(path).map_err(unreadable)?;
    let (mark, body) = match old.strip_prefix(MARK) {
        Some(body) => (MARK, body),
        None => (&[][..], old.as_slice()),
    };
    let changed = change(path, body, input, random)?;
    let bytes = [mark, changed.text.as_bytes()].concat();
    Ok(Ready {
        bytes,
        changed,
        known,
    })
}

/// The change of a notebook with these bytes.
fn change(path: &Path, bytes: &[u8], input: &Input, random: &[u8]) -> Result<Changed, Refusal> {
    let no_notebook = |why: String| {
        Refusal::new(
            21,
            "not-notebook",
            format!("{} is not a notebook: {why}.", shown(path)),
        )
    };
    let text = std::str::from_utf8(bytes).map_err(|_| no_notebook("it is not UTF-8".into()))?;
    let document = Document::parse(text).map_err(no_notebook)?;
    match input.edit_mode {
        Mode::Replace => {
            let (index, cell) = wanted_cell(&document, input)?;
            let source = source(input)?;
            Ok(change::replace(
                &document,
                index,
                cell,
                source,
                input.cell_type,
            ))
        }
        Mode::Insert => {
            let place = match input.cell_id.as_deref() {
                None => Place::Start,
                Some(_) => Place::After(wanted_cell(&document, input)?.0),
            };
            let kind = input.cell_type.ok_or_else(|| {
                Refusal::new(
                    24,
                    "no-cell-type",
                    "A new cell needs a cell_type: code or markdown.",
                )
            })?;
            Ok(change::insert(
                &document,
                place,
                source(input)?,
                kind,
                random,
            ))
        }
        Mode::Delete => {
            let (index, cell) = wanted_cell(&document, input)?;
            Ok(change::delete(&document, index, cell))
        }
    }
}

fn source(input: &Input) -> Result<&str, Refusal> {
    input.new_source.as_deref().ok_or_else(|| {
        Refusal::new(
            25,
            "no-source",
            format!("To {} a cell, give its new_source.", input.edit_mode.word()),
        )
    })
}

fn wanted_cell<'a>(
    document: &'a Document<'_>,
    input: &Input,
) -> Result<(usize, &'a Cell), Refusal> {
    let Some(id) = input.cell_id.as_deref() else {
        return Err(Refusal::new(
            22,
            "no-cell-id",
            format!("To {} a cell, name it by cell_id.", input.edit_mode.word()),
        ));
    };
    let found = document.find(id);
    let found = found.and_then(|index| Some((index, document.cells.get(index)?)));
    found.ok_or_else(|| {
        Refusal::new(
            23,
            "no-such-cell",
            format!("There is no cell {id}; {}.", known_cells(document)),
        )
    })
}

fn known_cells(document: &Document<'_>) -> String {
    let count = document.cells.len();
    if count == 0 {
        return "the notebook has no cells".into();
    }
    let names: Vec<String> = (0..count.min(MAX_LISTED))
        .map(|index| document.name(index))
        .collect();
    let more = match count.checked_sub(MAX_LISTED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    format!("the notebook has {}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const NOTEBOOK: &str = r#"{"cells":[{"cell_type":"code","id":"a","source":"x"},
        {"cell_type":"markdown","source":"y"}],"nbformat":4,"nbformat_minor":5}"#;

    #[test]
    fn a_change_that_makes_no_sense_is_refused_in_a_sentence() {
        for (bytes, json, code, sentence) in [
            (
                NOTEBOOK,
                r#"{"new_source":"z"}"#,
                22,
                "To replace a cell, name it by cell_id.",
            ),
            (
                NOTEBOOK,
                r#"{"edit_mode":"delete"}"#,
                22,
                "To delete a cell",
            ),
            (
                NOTEBOOK,
                r#"{"cell_id":"q","new_source":"z"}"#,
                23,
                "no cell q; the notebook has a, cell-1.",
            ),
            (NOTEBOOK, r#"{"cell_id":"a"}"#, 25, "new_source"),
            (
                NOTEBOOK,
                r#"{"edit_mode":"insert","new_source":"z"}"#,
                24,
                "cell_type",
            ),
            (
                "plain text",
                r#"{"cell_id":"a","new_source":"z"}"#,
                21,
                "is not a notebook",
            ),
        ] {
            let mut input: serde_json::Value = serde_json::from_str(json).unwrap();
            input["notebook_path"] = "/n.ipynb".into();
            let input: Input = serde_json::from_value(input).unwrap();
            let refusal =
                change(Path::new("/n.ipynb"), bytes.as_bytes(), &input, &[1]).unwrap_err();
            let said = refusal.error.sentence();
            assert_eq!(refusal.code, code, "{said}");
            assert!(said.contains(sentence), "{said}");
        }
    }
}
