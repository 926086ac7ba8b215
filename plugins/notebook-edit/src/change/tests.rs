#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

/// As Jupyter writes it: one space, sorted keys, lists of lines.
const JUPYTER: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {
    "custom": {"kept": 1.50}
   },
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "sum",
   "metadata": {},
   "outputs": [
    {
     "data": {},
     "output_type": "display_data"
    }
   ],
   "source": [
    "1 + 1"
   ],
   "unknown": 1e400
  }
 ],
 "metadata": {
  "big": 12345678901234567890123
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

const COMPACT: &str = r#"{"metadata":{},"nbformat":4,"nbformat_minor":2,"cells":[{"source":"a","cell_type":"code","outputs":[],"execution_count":null,"metadata":{}}]}"#;

fn on(text: &str, make: impl FnOnce(&Document<'_>) -> Changed) -> Changed {
    let document = Document::parse(text).unwrap();
    let changed = make(&document);
    // Whatever the change, the result is a notebook with as many cells as told.
    assert_eq!(
        Document::parse(&changed.text).unwrap().cells.len(),
        changed.cells
    );
    changed
}

fn replaced(text: &str, index: usize, source: &str, kind: Option<CellType>) -> Changed {
    on(text, |document| {
        replace(document, index, &document.cells[index], source, kind)
    })
}

fn inserted(text: &str, place: Place, source: &str, kind: CellType) -> Changed {
    on(text, |document| {
        insert(document, place, source, kind, &[0xab, 0xcd])
    })
}

fn deleted(text: &str, index: usize) -> Changed {
    on(text, |document| {
        delete(document, index, &document.cells[index])
    })
}

#[test]
fn replacing_touches_only_the_source() {
    let changed = replaced(JUPYTER, 0, "# New\nmore\nlines\n", None);
    let wanted = JUPYTER.replace(
        "\"# Title\\n\",\n    \"text\"",
        "\"# New\\n\",\n    \"more\\n\",\n    \"lines\\n\"",
    );
    assert_eq!(changed.text, wanted);
    assert_eq!(changed.old_source.as_deref(), Some("# Title\ntext"));
}

#[test]
fn replacing_code_clears_what_it_put_out() {
    let changed = replaced(JUPYTER, 1, "2 + 2", None);
    let start = JUPYTER.find("[\n    {\n     \"data\"").unwrap();
    let end = JUPYTER.find(",\n   \"source\": [\n    \"1 + 1\"").unwrap();
    let wanted = format!("{}[]{}", &JUPYTER[..start], &JUPYTER[end..])
        .replace("\"execution_count\": 7", "\"execution_count\": null")
        .replace("1 + 1", "2 + 2");
    assert_eq!(changed.text, wanted);
}

#[test]
fn an_empty_source_keeps_its_form() {
    assert!(
        replaced(JUPYTER, 1, "", None)
            .text
            .contains("\"source\": [],\n   \"unknown\"")
    );
    assert!(
        replaced(COMPACT, 0, "", None)
            .text
            .contains(r#""source":"","cell_type""#)
    );
    let emptied = replaced(JUPYTER, 1, "", None).text;
    assert_eq!(
        replaced(&emptied, 1, "2 + 2", None).text,
        replaced(JUPYTER, 1, "2 + 2", None).text
    );
}

#[test]
fn a_list_on_one_line_stays_on_one_line() {
    let text = JUPYTER.replace("[\n    \"1 + 1\"\n   ]", "[\"1 + 1\"]");
    assert!(
        replaced(&text, 1, "a\nb", None)
            .text
            .contains(r#""source": ["a\n", "b"]"#)
    );
}

#[test]
fn a_new_type_brings_and_takes_the_keys_of_code() {
    let code = replaced(JUPYTER, 0, "x", Some(CellType::Code)).text;
    assert!(code.contains("  {\n   \"cell_type\": \"code\",\n   \"id\": \"intro\",\n   \"metadata\": {\n    \"custom\": {\"kept\": 1.50}\n   },\n   \"source\": [\n    \"x\"\n   ],\n   \"execution_count\": null,\n   \"outputs\": []\n  },\n"), "{code}");
    let markdown = replaced(JUPYTER, 1, "x", Some(CellType::Markdown)).text;
    assert!(markdown.contains("  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"sum\",\n   \"metadata\": {},\n   \"source\": [\n    \"x\"\n   ],\n   \"unknown\": 1e400\n  }\n ],"), "{markdown}");
    let same = replaced(JUPYTER, 0, "x", Some(CellType::Markdown)).text;
    assert_eq!(same, replaced(JUPYTER, 0, "x", None).text);
}

#[test]
fn inserted_cells_look_like_their_neighbours() {
    let cell = "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"abcd\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  }";
    let first = inserted(JUPYTER, Place::Start, "a\nb", CellType::Code);
    assert_eq!(
        first.text,
        JUPYTER.replacen("\"cells\": [\n", &format!("\"cells\": [\n{cell},\n"), 1)
    );
    assert_eq!((first.index, first.id.as_str()), (0, "abcd"));
    let last = inserted(JUPYTER, Place::After(1), "a\nb", CellType::Code);
    assert_eq!(
        last.text,
        JUPYTER.replacen("1e400\n  }\n", &format!("1e400\n  }},\n{cell}\n"), 1)
    );
    assert_eq!(last.index, 2);
    let middle = inserted(JUPYTER, Place::After(0), "a\nb", CellType::Code);
    assert_eq!(
        middle.text,
        JUPYTER.replacen("  },\n  {\n", &format!("  }},\n{cell},\n  {{\n"), 1)
    );
}

#[test]
fn cells_of_older_formats_get_no_id() {
    let changed = inserted(COMPACT, Place::After(0), "t", CellType::Markdown);
    let wanted = COMPACT.replace(
        "}]}",
        r#"},{"cell_type":"markdown","metadata":{},"source":"t"}]}"#,
    );
    assert_eq!(changed.text, wanted);
    assert_eq!(changed.id, "cell-1");
}

#[test]
fn the_first_cell_of_an_empty_notebook_follows_the_document() {
    for (empty, wanted) in [
        (
            "{\n    \"cells\": [],\n    \"nbformat\": 4\n}",
            "{\n    \"cells\": [\n        {\n            \"cell_type\": \"markdown\",\n            \"metadata\": {},\n            \"source\": [\n                \"t\"\n            ]\n        }\n    ],\n    \"nbformat\": 4\n}",
        ),
        (
            r#"{"cells": [], "nbformat": 4}"#,
            r#"{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["t"]}], "nbformat": 4}"#,
        ),
    ] {
        assert_eq!(
            inserted(empty, Place::Start, "t", CellType::Markdown).text,
            wanted
        );
    }
}

#[test]
fn inserting_and_deleting_again_restores_every_byte() {
    let tabs = JUPYTER
        .replace("\n    ", "\n\t\t\t\t")
        .replace("\n   ", "\n\t\t\t")
        .replace("\n  ", "\n\t\t")
        .replace("\n ", "\n\t");
    let crlf = JUPYTER.replace('\n', "\r\n");
    let spaced = COMPACT.replace(':', ": ").replace(',', ", ");
    for text in [JUPYTER, COMPACT, &tabs, &crlf, &spaced] {
        for place in [Place::Start, Place::After(0)] {
            let changed = inserted(text, place, "a\nb", CellType::Code);
            assert_eq!(
                deleted(&changed.text, changed.index).text,
                text,
                "{place:?}"
            );
        }
    }
}

#[test]
fn the_only_cell_leaves_an_empty_list() {
    let changed = deleted(COMPACT, 0);
    assert!(changed.text.ends_with(r#""cells":[]}"#), "{}", changed.text);
    assert_eq!(deleted(JUPYTER, 1).cells, 1);
}
