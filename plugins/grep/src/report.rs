//! What was found, as text for the model and as data for programs.
//!
//! Rows look as ripgrep prints them. The text is kept below the tool's result
//! limit here, where whole rows can be left for the next part, rather than by the
//! host, which could only cut.

use serde_json::{Value, json};
use toolbay_sdk::names::one_line;
use toolbay_sdk::search::{ContextLines, Hit, Line, Page};

use crate::input::{Input, Mode};

/// Most characters of rows; what remains to the result limit is for notes.
const MOST_CHARACTERS: usize = 19_400;

/// Most characters of one line. Longer ones are generated code as a rule, and a
/// few of them would take all the room.
const MOST_IN_LINE: usize = 1_000;

/// From where paths are told.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub working_directory: &'a str,
    pub root: &'a str,
}

impl Place<'_> {
    /// The path from the working directory, or the whole one when outside.
    fn name<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.working_directory)
            .and_then(|rest| {
                let is_top = self.working_directory.ends_with('/');
                if is_top {
                    Some(rest)
                } else {
                    rest.strip_prefix('/')
                }
            })
            .filter(|rest| !rest.is_empty())
            .unwrap_or(path)
    }

    fn where_searched(&self) -> String {
        match self.root == self.working_directory {
            true => "the working directory".to_owned(),
            false => one_line(self.name(self.root)),
        }
    }
}

/// What was found.
pub struct Report {
    mode: Mode,
    rows: String,
    /// What to say below the rows.
    notes: Vec<String>,
    /// What to say when there are no rows.
    nothing: String,
    searched: String,
    filters: String,
    shown: u64,
    offset: u64,
    total: Option<u64>,
    truncated: bool,
    matches: u64,
    files: Vec<String>,
    /// What the host left out of the search.
    left_out: Vec<String>,
}

impl Report {
    /// Lines with the lines around them.
    pub fn content(input: &Input, page: &Page, place: Place<'_>) -> Self {
        let mut report = Self::new(input, place);
        let mut rows = Rows::default();
        let grouped = input.context_lines()
            != ContextLines {
                before: 0,
                after: 0,
            };
        let mut cut = false;
        'hits: for hit in &page.hits {
            let name = place.name(&hit.path);
            let mut previous = None;
            for line in &hit.lines {
                let gap = previous.is_none_or(|number| number + 1 != line.number);
                previous = Some(line.number);
                let mut row = if grouped && gap && !rows.text.is_empty() {
                    String::from("--\n")
                } else {
                    String::new()
                };
                row.push_str(&content_row(&one_line(name), line, input.shows_numbers()));
                if !rows.push(&row) {
                    cut = true;
                    break 'hits;
                }
                report.shown += 1;
                report.matches += u64::from(line.is_match);
                if report.files.last().is_none_or(|last| last != name) {
                    report.files.push(name.to_owned());
                }
            }
        }
        report.finish(rows, cut || page.truncated, "lines");
        report
    }

    /// Paths, newest first.
    pub fn files(input: &Input, page: Page, place: Place<'_>) -> Self {
        let Page {
            mut hits,
            truncated,
        } = page;
        hits.sort_by(|left, right| {
            (right.modified_ms.cmp(&left.modified_ms)).then_with(|| left.path.cmp(&right.path))
        });
        Self::list(input, &hits, truncated, place, |hit| {
            one_line(place.name(&hit.path))
        })
    }

    /// Paths with counts, and their sum.
    pub fn counts(input: &Input, page: &Page, place: Place<'_>) -> Self {
        let mut report = Self::list(input, &page.hits, page.truncated, place, |hit| {
            format!("{}:{}", one_line(place.name(&hit.path)), hit.count)
        });
        report.matches = page.hits.iter().map(|hit| hit.count).sum();
        let what = if input.multiline.unwrap_or(false) {
            plural(report.matches, "match", "matches")
        } else {
            plural(report.matches, "matching line", "matching lines")
        };
        let files = plural(page.hits.len() as u64, "file", "files");
        report.notes.insert(0, format!("Total: {what} in {files}"));
        report
    }

    fn list(
        input: &Input,
        hits: &[Hit],
        truncated: bool,
        place: Place<'_>,
        row: impl Fn(&Hit) -> String,
    ) -> Self {
        let mut report = Self::new(input, place);
        let mut rows = Rows::default();
        let skip = usize::try_from(report.offset).unwrap_or(usize::MAX);
        let limit = match input.limit() {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        for hit in hits.iter().skip(skip).take(limit) {
            if !rows.push(&row(hit)) {
                break;
            }
            report.shown += 1;
            report.files.push(place.name(&hit.path).to_owned());
        }
        let total = hits.len() as u64;
        report.total = (!truncated).then_some(total);
        let more = truncated || report.offset.saturating_add(report.shown) < total;
        if report.shown == 0 && total > 0 {
            report.nothing = format!(
                "No entries past offset {}: only {} matched.",
                report.offset,
                plural(total, "file", "files")
            );
        }
        report.finish(rows, more, "files");
        report
    }

    fn new(input: &Input, place: Place<'_>) -> Self {
        let searched = place.where_searched();
        let offset = input.offset();
        let nothing = if offset > 0 && input.mode() == Mode::Content {
            format!("No lines past offset {offset}.")
        } else {
            format!("No matches found for `{}` in {searched}.", input.pattern)
        };
        let filters = [("glob", &input.glob), ("type", &input.file_type)]
            .iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} `{value}`")))
            .collect::<Vec<_>>()
            .join(" and ");
        Self {
            mode: input.mode(),
            rows: String::new(),
            notes: Vec::new(),
            nothing,
            searched,
            filters,
            shown: 0,
            offset,
            total: None,
            truncated: false,
            matches: 0,
            files: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn finish(&mut self, rows: Rows, truncated: bool, what: &str) {
        self.rows = rows.text;
        self.truncated = truncated && self.shown > 0;
        if self.truncated {
            let end = self.offset + self.shown;
            let total = self
                .total
                .map_or("more".to_owned(), |total| total.to_string());
            self.notes.push(format!(
                "[showing {what} {}-{end} of {total}; use offset {end} for the next part]",
                self.offset + 1
            ));
        }
    }

    /// Whether nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.shown == 0
    }

    /// Says that the filters, not the pattern, are why nothing was found.
    pub fn because_no_file_was_searched(mut self) -> Self {
        self.nothing = format!(
            "No file in {} fits {}, so nothing was searched.",
            self.searched, self.filters
        );
        self
    }

    /// Adds what the host says that it left out.
    pub fn with_left_out(mut self, sentences: Vec<String>) -> Self {
        self.left_out = sentences;
        self
    }

    /// The report for the model.
    pub fn text(&self) -> String {
        let (mut text, notes) = if self.is_empty() {
            (self.nothing.clone(), [].as_slice())
        } else {
            (self.rows.clone(), self.notes.as_slice())
        };
        for (number, note) in notes.iter().chain(&self.left_out).enumerate() {
            text.push_str(if number == 0 { "\n\n" } else { "\n" });
            text.push_str(note);
        }
        text
    }

    /// The report for programs.
    pub fn structured(&self) -> Value {
        let mode = match self.mode {
            Mode::Content => "content",
            Mode::FilesWithMatches => "files_with_matches",
            Mode::Count => "count",
        };
        let mut value = json!({
            "mode": mode,
            "numFiles": self.files.len(),
            "filenames": self.files,
            "offset": self.offset,
            "truncated": self.truncated,
        });
        if let Some(fields) = value.as_object_mut() {
            match self.mode {
                Mode::Content => {
                    fields.insert("numLines".into(), json!(self.shown));
                    fields.insert("numMatches".into(), json!(self.matches));
                }
                Mode::Count => {
                    fields.insert("numMatches".into(), json!(self.matches));
                }
                Mode::FilesWithMatches => {}
            }
            if let Some(total) = self.total {
                fields.insert("totalFiles".into(), json!(total));
            }
            if !self.left_out.is_empty() {
                fields.insert("leftOut".into(), json!(self.left_out));
            }
        }
        value
    }
}

fn content_row(name: &str, line: &Line, numbers: bool) -> String {
    let mark = if line.is_match { ':' } else { '-' };
    let text = shortened(&line.text);
    if numbers {
        format!("{name}{mark}{}{mark}{text}", line.number)
    } else {
        format!("{name}{mark}{text}")
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_IN_LINE) {
        None => text.to_owned(),
        Some((end, _)) => {
            let (start, rest) = text.split_at(end);
            format!("{start} [+{} characters]", rest.chars().count())
        }
    }
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Rows below a limit.
#[derive(Default)]
struct Rows {
    text: String,
    characters: usize,
}

impl Rows {
    /// Adds a row; `false` when there is no room. The first one always has.
    fn push(&mut self, row: &str) -> bool {
        let characters = row.chars().count() + 1;
        if !self.text.is_empty() {
            if self.characters + characters > MOST_CHARACTERS {
                return false;
            }
            self.text.push('\n');
        }
        self.text.push_str(row);
        self.characters += characters;
        true
    }
}

#[cfg(test)]
mod tests;
