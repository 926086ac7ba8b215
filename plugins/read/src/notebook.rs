//! Draws a Jupyter notebook cell by cell, with the outputs as text and pictures.
//!
//! A file that is no notebook of format 4 is shown as the text it is, so that a
//! broken one can be repaired.

use serde_json::json;
use toolbay_sdk::{Blob, Content};

use crate::reading::{OUTPUT_CHARS, Reading};
use crate::request::Window;
use crate::text;

mod format;

use format::{Cell, Notebook, Output};

/// Characters of one output; a cell that logs a lot must not hide the others.
const CELL_OUTPUT_CHARS: usize = 10_000;
/// Kept free of the output limit for the notes.
const NOTE_CHARS: usize = 1_000;
/// Pictures a call hands out.
const PICTURES: usize = 20;

pub fn read(bytes: &[u8], window: Window) -> Reading {
    let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice::<Notebook>(json) {
        Ok(notebook) => draw(&notebook, window),
        Err(error) => {
            let mut reading = text::draw_bytes(json, window);
            reading.content.push(Content::Text(format!(
                "(This is not a valid notebook ({error}), so it is shown as text.)"
            )));
            reading
        }
    }
}

fn draw(notebook: &Notebook, window: Window) -> Reading {
    let total = notebook.cells.len();
    let structured = |cells: usize| {
        json!({
            "kind": "notebook",
            "first_cell": window.first,
            "cells": cells,
            "total_cells": total,
        })
    };
    if total == 0 {
        return Reading::text("(The notebook has no cells.)", structured(0)).with_whole(true);
    }
    let first = usize::try_from(window.first - 1).unwrap_or(usize::MAX);
    if first >= total {
        let text = format!(
            "(The notebook has {}, so offset {} is beyond its end.)",
            text::plural(total as u64, "cell"),
            window.first
        );
        return Reading::notice(text, structured(0));
    }

    let mut page = Page::new();
    let limit = usize::try_from(window.limit).unwrap_or(usize::MAX);
    let mut shown = 0;
    for (index, cell) in notebook.cells.iter().enumerate().skip(first).take(limit) {
        if !page.cell(index, total, cell, notebook.language(), shown == 0) {
            break;
        }
        shown += 1;
    }
    let last = first + shown;
    if last < total {
        page.push(&format!(
            "\n\n(Cells {}-{last} of {total} are shown; continue with offset {}.)",
            first + 1,
            last + 1
        ));
    }
    let whole = shown == total && !page.source_cut;
    Reading::new(page.content, structured(shown)).with_whole(whole)
}

/// The result as it grows.
struct Page {
    content: Vec<Content>,
    room: usize,
    pictures: usize,
    source_cut: bool,
}

impl Page {
    fn new() -> Self {
        Self {
            content: Vec::new(),
            room: OUTPUT_CHARS - NOTE_CHARS,
            pictures: 0,
            source_cut: false,
        }
    }

    /// Appends text without counting it.
    fn push(&mut self, text: &str) {
        match self.content.last_mut() {
            Some(Content::Text(last)) => last.push_str(text),
            Some(Content::Image(_) | Content::Document(_) | Content::Link(_)) | None => {
                let text = text.trim_start_matches('\n');
                if !text.is_empty() {
                    self.content.push(Content::Text(text.into()));
                }
            }
        }
    }

    /// Appends at most `most` characters and what is left of the room.
    fn push_some(&mut self, text: &str, most: usize) -> Fit {
        let most = most.min(self.room);
        // Bytes are never fewer than characters, so most texts need no counting.
        let cut = if text.len() <= most {
            None
        } else {
            text.char_indices().nth(most).map(|(at, _)| at)
        };
        let shown = &text[..cut.unwrap_or(text.len())];
        self.room -= shown.chars().count();
        self.push(shown);
        match cut {
            None => Fit::All,
            Some(_) => Fit::Cut,
        }
    }

    /// Draws a cell; false, and nothing drawn, when the room does not hold its
    /// source. The first one is then cut, or there would be no way on.
    fn cell(
        &mut self,
        index: usize,
        total: usize,
        cell: &Cell,
        language: &str,
        first: bool,
    ) -> bool {
        let source = cell.source.text();
        let heading = heading(index, total, cell, language);
        let wanted = source.chars().count() + heading.chars().count() + 2;
        if wanted > self.room && !first {
            return false;
        }
        if !self.content.is_empty() {
            self.push("\n\n");
        }
        self.push_some(&heading, usize::MAX);
        self.push("\n");
        if let Fit::Cut = self.push_some(source.trim_end_matches('\n'), usize::MAX) {
            self.source_cut = true;
            self.push("\n… [source cut: the limit of the output is reached]");
        }
        for output in &cell.outputs {
            self.output(output);
        }
        true
    }

    fn output(&mut self, output: &Output) {
        let (label, text) = match output {
            Output::Stream { name, text } => (name.as_str(), text.text()),
            Output::Error {
                ename,
                evalue,
                traceback,
            } => {
                let text = if traceback.is_empty() {
                    format!("{ename}: {evalue}")
                } else {
                    without_escapes(&traceback.join("\n"))
                };
                ("error", text)
            }
            Output::Data { data } => {
                if let Some((mime, encoded)) = data.picture() {
                    return self.picture(mime, encoded);
                }
                match data.text() {
                    Some(text) => ("result", text),
                    None => return,
                }
            }
            Output::Unknown => return,
        };
        let text = without_escapes(text.trim_end());
        self.push(&format!("\n[{label}]\n"));
        if let Fit::Cut = self.push_some(&text, CELL_OUTPUT_CHARS) {
            self.push(&format!(
                "\n… [output cut: {} characters in all]",
                text.chars().count()
            ));
        }
    }

    fn picture(&mut self, mime: &str, encoded: &str) {
        if self.pictures == PICTURES {
            return self.push(&format!(
                "\n[picture left out: {PICTURES} are shown already]"
            ));
        }
        match format::decode_picture(encoded) {
            Ok(picture) => {
                self.pictures += 1;
                self.push("\n[picture]");
                self.content.push(Content::Image(Blob {
                    mime: picture.mime.into(),
                    data: picture.data,
                }));
            }
            Err(reason) => self.push(&format!("\n[{mime} output that cannot be shown: {reason}]")),
        }
    }
}

enum Fit {
    All,
    Cut,
}

fn heading(index: usize, total: usize, cell: &Cell, language: &str) -> String {
    // Cells have ids since format 4.5; in older files the position serves.
    let id = cell.id.clone().unwrap_or_else(|| format!("cell-{index}"));
    let kind = match cell.cell_type.as_str() {
        "code" => format!("code ({language})"),
        other => other.to_owned(),
    };
    let run = match cell.execution_count {
        Some(count) => format!(", run {count}"),
        None => String::new(),
    };
    format!("[cell {} of {total}, id {id}, {kind}{run}]", index + 1)
}

/// Text without the colour codes of a terminal.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            out.push(char);
        } else if chars.next_if_eq(&'[').is_some() {
            // The sequence ends with its first letter.
            for code in chars.by_ref() {
                if code.is_ascii_alphabetic() {
                    break;
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
