//! The three changes of a notebook, each as one cut into its text.

use std::ops::Range;

use crate::document::{Cell, Document};
use crate::layout::{Layout, Lines};
use crate::{CellType, Place};

/// What the change came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Changed {
    pub text: String,
    /// Where the cell stands, or stood.
    pub index: usize,
    pub id: String,
    pub kind: String,
    pub old_source: Option<String>,
    pub cells: usize,
}

/// Gives a cell a new source, and another type if asked. What a code cell put out
/// belongs to its old source and goes with it.
pub fn replace(
    document: &Document<'_>,
    index: usize,
    cell: &Cell,
    source: &str,
    kind: Option<CellType>,
) -> Changed {
    let text = document.text;
    let kind = kind.map_or(cell.kind.as_str(), |kind| kind.word());
    let layout = Layout::of(text, &cell.object);
    let mut values: Vec<(&str, String)> = Vec::new();
    for (key, at) in &cell.object.values {
        let value = match key.as_str() {
            "source" => source_like(&layout, source, &text[at.clone()]),
            "cell_type" if kind != cell.kind => layout.string(kind),
            "outputs" if kind == "code" => "[]".into(),
            "execution_count" if kind == "code" => "null".into(),
            "outputs" | "execution_count" if kind != cell.kind => continue,
            _ => text[at.clone()].into(),
        };
        values.push((key, value));
    }
    if kind == "code" {
        for (key, value) in [("execution_count", "null"), ("outputs", "[]")] {
            if cell.object.value(key).is_none() && kind != cell.kind {
                values.push((key, value.into()));
            }
        }
    }
    let same_keys = values.len() == cell.object.values.len() && kind == cell.kind;
    let new_text = if same_keys {
        // Value by value, so that whatever stands between them stays.
        let mut cell_text = String::new();
        let mut done = cell.object.at.start;
        for ((_, at), (_, value)) in cell.object.values.iter().zip(&values) {
            cell_text.push_str(&text[done..at.start]);
            cell_text.push_str(value);
            done = at.end;
        }
        cell_text.push_str(&text[done..cell.object.at.end]);
        cell_text
    } else {
        let entries: Vec<(&str, &str)> = values
            .iter()
            .map(|(key, value)| (*key, value.as_str()))
            .collect();
        layout.object(&entries)
    };
    Changed {
        text: cut(text, cell.object.at.clone(), &new_text),
        index,
        id: document.name(index),
        kind: kind.into(),
        old_source: Some(cell.source.clone()),
        cells: document.cells.len(),
    }
}

/// Puts a new cell in.
pub fn insert(
    document: &Document<'_>,
    place: Place,
    source: &str,
    kind: CellType,
    random: &[u8],
) -> Changed {
    let text = document.text;
    let index = match place {
        Place::Start => 0,
        Place::After(index) => index + 1,
    };
    // The neighbour shows how cells are written here.
    let neighbour = document.cells.get(index.saturating_sub(1));
    let layout = match neighbour {
        Some(cell) => Layout::of(text, &cell.object),
        None => Layout::of_first_cell(document),
    };
    let id = document.has_ids.then(|| document.fresh_id(random));
    let cell = new_cell(document, &layout, source, kind, id.as_deref());
    let text = match neighbour {
        None => cut(text, document.cells_at.clone(), &alone(&layout, &cell)),
        Some(next) if index == 0 => {
            let at = next.object.at.start;
            cut(
                text,
                at..at,
                &format!("{cell},{}", separator(document, &layout)),
            )
        }
        Some(previous) => {
            let at = previous.object.at.end;
            cut(
                text,
                at..at,
                &format!(",{}{cell}", separator(document, &layout)),
            )
        }
    };
    Changed {
        text,
        index,
        id: id.unwrap_or_else(|| format!("cell-{index}")),
        kind: kind.word().into(),
        old_source: None,
        cells: document.cells.len() + 1,
    }
}

/// Takes a cell out, with the comma that goes with it.
pub fn delete(document: &Document<'_>, index: usize, cell: &Cell) -> Changed {
    let at = &cell.object.at;
    let previous = index
        .checked_sub(1)
        .and_then(|index| document.cells.get(index));
    let (range, instead) = match (previous, document.cells.get(index + 1)) {
        (_, Some(next)) => (at.start..next.object.at.start, ""),
        (Some(previous), None) => (previous.object.at.end..at.end, ""),
        (None, None) => (document.cells_at.clone(), "[]"),
    };
    Changed {
        text: cut(document.text, range, instead),
        index,
        id: document.name(index),
        kind: cell.kind.clone(),
        old_source: Some(cell.source.clone()),
        cells: document.cells.len() - 1,
    }
}

fn new_cell(
    document: &Document<'_>,
    layout: &Layout,
    source: &str,
    kind: CellType,
    id: Option<&str>,
) -> String {
    let model = document
        .cells
        .first()
        .and_then(|cell| cell.object.value("source"));
    let source = match model {
        Some(at) => source_like(layout, source, &document.text[at]),
        None => source_like(layout, source, "[]"),
    };
    let kind_json = layout.string(kind.word());
    let id = id.map(|id| layout.string(id));
    // The order in which Jupyter itself writes the keys.
    let mut entries: Vec<(&str, &str)> = vec![("cell_type", &kind_json)];
    if kind == CellType::Code {
        entries.push(("execution_count", "null"));
    }
    if let Some(id) = &id {
        entries.push(("id", id));
    }
    entries.push(("metadata", "{}"));
    if kind == CellType::Code {
        entries.push(("outputs", "[]"));
    }
    entries.push(("source", &source));
    layout.object(&entries)
}

/// A source in the form that another one has: a string, or a list of lines.
fn source_like(layout: &Layout, source: &str, model: &str) -> String {
    if !model.starts_with('[') {
        return layout.string(source);
    }
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let filled = model[1..model.len() - 1].trim() != "";
    if filled && !model.contains('\n') {
        // A list on one line amid others that are not.
        let inline = Layout {
            lines: Lines::One,
            ..layout.clone()
        };
        return inline.list(&lines);
    }
    layout.list(&lines)
}

/// What stands between the comma after a cell and the next cell.
fn separator<'a>(document: &Document<'a>, layout: &Layout) -> &'a str {
    let before = |cell: &Cell| -> &'a str {
        let before = &document.text[..cell.object.at.start];
        &before[before.trim_end().len()..]
    };
    match document.cells.as_slice() {
        [_, second, ..] => before(second),
        [only] if before(only).contains('\n') => before(only),
        _ => layout.gap(),
    }
}

/// The array of cells around its only one.
fn alone(layout: &Layout, cell: &str) -> String {
    match &layout.lines {
        Lines::One => format!("[{cell}]"),
        Lines::Many {
            line_end,
            unit,
            base,
        } => {
            let outer = base.strip_suffix(unit.as_str()).unwrap_or("");
            format!("[{line_end}{base}{cell}{line_end}{outer}]")
        }
    }
}

fn cut(text: &str, range: Range<usize>, instead: &str) -> String {
    let mut changed = String::with_capacity(text.len() + instead.len());
    changed.push_str(&text[..range.start]);
    changed.push_str(instead);
    changed.push_str(&text[range.end..]);
    changed
}

#[cfg(test)]
mod tests;
