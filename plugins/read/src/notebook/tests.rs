//! Cases for the drawing of notebooks.

use serde_json::Value;

use super::*;

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn draw_cells(cells: Value, first: u64, limit: u64) -> Reading {
    let notebook = json!({
        "nbformat": 4,
        "metadata": {"language_info": {"name": "python"}},
        "cells": cells,
    });
    read(notebook.to_string().as_bytes(), Window { first, limit })
}

fn code(source: &str, outputs: Value) -> Value {
    json!({"cell_type": "code", "id": "a1", "execution_count": 2, "source": source, "outputs": outputs})
}

#[test]
fn cells_come_with_ids_sources_and_outputs() {
    let head = "[cell 1 of 1, id a1, code (python), run 2]\nx";
    for (outputs, wanted) in [
        (json!([]), ""),
        (
            json!([{"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}]),
            "\n[stdout]\na\nb",
        ),
        (
            json!([{"output_type": "execute_result", "data": {"text/plain": "42"}}]),
            "\n[result]\n42",
        ),
        (
            json!([{"output_type": "error", "ename": "E", "evalue": "bad", "traceback": ["\u{1b}[31mE\u{1b}[0m: bad"]}]),
            "\n[error]\nE: bad",
        ),
        (
            json!([{"output_type": "error", "ename": "E", "evalue": "bad"}]),
            "\n[error]\nE: bad",
        ),
        (
            json!([{"output_type": "display_data", "data": {"image/png": "!"}}]),
            "\n[image/png output that cannot be shown: not base64: Invalid symbol 33, offset 0.]",
        ),
        (json!([{"output_type": "something new"}]), ""),
    ] {
        let reading = draw_cells(json!([code("x", outputs)]), 1, 2_000);
        assert!(reading.whole);
        assert_eq!(
            reading.into_outcome().plain_text(),
            format!("{head}{wanted}")
        );
    }
}

#[test]
fn pictures_stand_where_they_were_drawn() {
    let outputs = json!([{"output_type": "display_data", "data": {"image/png": PIXEL, "text/plain": "<Figure>"}}]);
    let markdown = json!({"cell_type": "markdown", "source": ["# T\n", "t"]});
    let reading = draw_cells(json!([code("x", outputs), markdown]), 1, 2_000);
    let [
        Content::Text(before),
        Content::Image(image),
        Content::Text(after),
    ] = &reading.content[..]
    else {
        panic!("text, picture, text");
    };
    assert!(before.ends_with("x\n[picture]"));
    assert_eq!(image.mime, "image/png");
    // Without an id of its own the cell goes by its position.
    assert_eq!(after, "[cell 2 of 2, id cell-1, markdown]\n# T\nt");
}

#[test]
fn a_window_of_cells_says_how_to_go_on() {
    let cells = json!([
        code("one", json!([])),
        code("two", json!([])),
        code("three", json!([]))
    ]);
    for (first, limit, whole, parts, lacks) in [
        (1, 2_000, true, &["one", "three"][..], "continue"),
        (
            2,
            1,
            false,
            &["two", "(Cells 2-2 of 3 are shown; continue with offset 3.)"],
            "one",
        ),
        (3, 5, false, &["three"], "continue"),
        (
            4,
            1,
            false,
            &["The notebook has 3 cells, so offset 4 is beyond its end"],
            "one",
        ),
    ] {
        let reading = draw_cells(cells.clone(), first, limit);
        assert_eq!(reading.whole, whole, "{first}");
        let text = reading.into_outcome().plain_text();
        assert!(
            parts.iter().all(|part| text.contains(part)) && !text.contains(lacks),
            "{text}"
        );
    }
}

#[test]
fn long_outputs_are_cut_but_long_sources_end_the_page() {
    let outputs = json!([{"output_type": "stream", "name": "stdout", "text": "y".repeat(20_000)}]);
    let reading = draw_cells(json!([code("x", outputs)]), 1, 2_000);
    assert!(reading.whole, "outputs are made anew by running the cell");
    assert!(
        reading
            .into_outcome()
            .plain_text()
            .contains("[output cut: 20000 characters in all]")
    );

    let source = "z".repeat(60_000);
    let reading = draw_cells(
        json!([code(&source, json!([])), code(&source, json!([]))]),
        1,
        2_000,
    );
    assert!(!reading.whole);
    assert!(
        reading
            .into_outcome()
            .plain_text()
            .contains("continue with offset 2")
    );

    let reading = draw_cells(json!([code(&source.repeat(3), json!([]))]), 1, 2_000);
    assert!(!reading.whole);
    let text = reading.into_outcome().plain_text();
    assert!(text.contains("[source cut") && text.chars().count() <= OUTPUT_CHARS);
}

#[test]
fn what_is_no_notebook_is_shown_as_text() {
    for text in ["{", "[]", "{\"worksheets\": []}"] {
        let reading = read(
            text.as_bytes(),
            Window {
                first: 1,
                limit: 10,
            },
        );
        let shown = reading.into_outcome().plain_text();
        assert!(
            shown.starts_with(&format!("     1\t{text}\n(This is not a valid notebook")),
            "{shown}"
        );
    }
}
