//! A notebook as text with marks: where each cell and each of its values stands.
//!
//! The text is never parsed into a tree and written anew. A change is cut into
//! it, so formatting, key order, numbers and keys that nobody here knows survive
//! by themselves.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A notebook of format 4.
pub struct Document<'a> {
    pub text: &'a str,
    /// The whole document as an object.
    pub root: Object,
    /// Where the array of cells stands.
    pub cells_at: Range<usize>,
    pub cells: Vec<Cell>,
    /// Whether the format gives every cell an id.
    pub has_ids: bool,
}

/// A JSON object by its places in the text.
#[derive(Debug)]
pub struct Object {
    pub at: Range<usize>,
    pub values: Vec<(String, Range<usize>)>,
}

/// One cell.
#[derive(Debug)]
pub struct Cell {
    pub object: Object,
    pub id: Option<String>,
    pub kind: String,
    pub source: String,
}

impl<'a> Document<'a> {
    /// Marks a notebook, or says why the text is none.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let root = object(text, 0..text.len())?;
        let format = number(text, &root, "nbformat").ok_or("it has no nbformat")?;
        if format < 4 {
            return Err(format!("its format {format} is older than 4"));
        }
        let minor = number(text, &root, "nbformat_minor").unwrap_or(0);
        let cells_at = root.value("cells").ok_or("it has no cells")?;
        let raw: Vec<&RawValue> = parse(&text[cells_at.clone()])?;
        let cells = raw
            .into_iter()
            .map(|raw| cell(text, place(text, raw)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            text,
            root,
            cells_at,
            cells,
            has_ids: (format, minor) >= (4, 5),
        })
    }

    /// The index of the cell that an id means: its own id, or `cell-N` with its
    /// index for cells without one.
    pub fn find(&self, id: &str) -> Option<usize> {
        let own = self
            .cells
            .iter()
            .position(|cell| cell.id.as_deref() == Some(id));
        own.or_else(|| {
            let index: usize = id.strip_prefix("cell-")?.parse().ok()?;
            (index < self.cells.len()).then_some(index)
        })
    }

    /// The name by which the cell at an index can be found.
    pub fn name(&self, index: usize) -> String {
        self.cells
            .get(index)
            .and_then(|cell| cell.id.clone())
            .unwrap_or_else(|| format!("cell-{index}"))
    }

    /// An id that no cell has yet, made of random bytes.
    pub fn fresh_id(&self, random: &[u8]) -> String {
        let taken: HashSet<&str> = self
            .cells
            .iter()
            .filter_map(|cell| cell.id.as_deref())
            .collect();
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut candidate = id.clone();
        let mut count = 1;
        while taken.contains(candidate.as_str()) {
            count += 1;
            candidate = format!("{id}-{count}");
        }
        candidate
    }
}

impl Object {
    /// Where the value of a key stands. The last one counts if a key recurs, as it
    /// does for the programs that run notebooks.
    pub fn value(&self, key: &str) -> Option<Range<usize>> {
        self.values
            .iter()
            .rfind(|(name, _)| name == key)
            .map(|(_, at)| at.clone())
    }
}

fn cell(text: &str, at: Range<usize>) -> Result<Cell, String> {
    let object = object(text, at)?;
    let string =
        |key: &str| -> Option<String> { serde_json::from_str(&text[object.value(key)?]).ok() };
    Ok(Cell {
        id: string("id"),
        kind: string("cell_type").ok_or("a cell has no cell_type")?,
        source: match object.value("source") {
            Some(at) => source(&text[at])?,
            None => return Err("a cell has no source".into()),
        },
        object,
    })
}

/// A source is one string or a list of lines.
fn source(json: &str) -> Result<String, String> {
    if json.starts_with('[') {
        parse::<Vec<String>>(json).map(|lines| lines.concat())
    } else {
        parse(json)
    }
}

fn number(text: &str, object: &Object, key: &str) -> Option<u64> {
    serde_json::from_str(&text[object.value(key)?]).ok()
}

fn object(text: &str, at: Range<usize>) -> Result<Object, String> {
    let raw: &RawValue = parse(&text[at])?;
    let entries: Entries<'_> = parse(raw.get())?;
    Ok(Object {
        at: place(text, raw),
        values: entries
            .0
            .into_iter()
            .map(|(key, value)| (key, place(text, value)))
            .collect(),
    })
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// Where a borrowed value stands in the text that it was borrowed from.
fn place(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + value.get().len()
}

/// The entries of an object in their order.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(InOrder).map(Entries)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn cells_are_marked_in_the_text() {
        let text = r#" {"cells": [ {"cell_type":"code","source":["a\n","b"],"id":"x"},
            {"id":"y","source":"t","cell_type":"markdown"} ], "nbformat": 4, "nbformat_minor": 5} "#;
        let document = Document::parse(text).unwrap();
        assert!(document.has_ids);
        assert!(text[document.cells_at.clone()].starts_with("[ {"));
        let cells: Vec<_> = document
            .cells
            .iter()
            .map(|cell| (cell.id.as_deref(), cell.kind.as_str(), cell.source.as_str()))
            .collect();
        assert_eq!(
            cells,
            [(Some("x"), "code", "a\nb"), (Some("y"), "markdown", "t")]
        );
        let source = document.cells[1].object.value("source").unwrap();
        assert_eq!(&text[source], "\"t\"");
        for (id, wanted) in [
            ("x", Some(0)),
            ("y", Some(1)),
            ("cell-1", Some(1)),
            ("cell-2", None),
            ("1", None),
        ] {
            assert_eq!(document.find(id), wanted, "{id}");
        }
    }

    #[test]
    fn what_is_no_notebook_says_why() {
        for (text, wanted) in [
            ("", "EOF"),
            ("[]", "expected an object"),
            ("{}", "no nbformat"),
            (r#"{"nbformat":3,"worksheets":[]}"#, "older than 4"),
            (r#"{"nbformat":4}"#, "no cells"),
            (
                r#"{"nbformat":4,"cells":[{"cell_type":"code"}]}"#,
                "no source",
            ),
            (r#"{"nbformat":4,"cells":[{"source":[]}]}"#, "no cell_type"),
            (r#"{"nbformat":4,"cells":[]} x"#, "trailing"),
        ] {
            let error = Document::parse(text).err().unwrap();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn a_fresh_id_is_not_taken() {
        let text = r#"{"cells":[{"cell_type":"raw","source":"","id":"0102"}],"nbformat":4}"#;
        let document = Document::parse(text).unwrap();
        assert_eq!(document.fresh_id(&[1, 3]), "0103");
        assert_eq!(document.fresh_id(&[1, 2]), "0102-2");
    }
}
