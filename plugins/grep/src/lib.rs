//! The `Grep` tool: searches file contents.
//!
//! The host does the searching; this plugin turns the input into a search and
//! the hits into text that looks as ripgrep prints it. It touches no file
//! itself, so it does not even import a file system.

mod globs;
mod input;
mod report;
mod view;

use toolbay_sdk::search::{Order, Page, Scope, Want, Window, files, left_out, matches};
use toolbay_sdk::{
    Guard, HostError, Info, OnInterrupt, Outcome, Prompt, Rejection, Render, ResultLimit, Setting,
    SubjectKind, Tool, ToolError, View, context,
};

use input::{Input, Mode};
use report::{Place, Report};

/// Most text that is fetched for `content`. The result limit is 20,000
/// characters; more lines than these could never be shown.
const CONTENT_BYTES: u32 = 256 * 1024;

/// Most text that is fetched for lists of files, which are sorted and counted as
/// a whole: some hundred thousand paths.
const LIST_BYTES: u32 = 16 * 1024 * 1024;

struct Grep;

impl Tool for Grep {
    type Input = Input;

    const INFO: Info = Info::new("Grep", "Searches file contents for a regular expression.")
        .schema(include_str!("../schema.json"))
        .subjects(&[(SubjectKind::Path, "/path")])
        .limit(ResultLimit::Chars(20_000))
        .on_interrupt(OnInterrupt::Cancel);

    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn is_concurrency_safe(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> toolbay_sdk::Result {
        let root = context::resolve(input.path.as_deref().unwrap_or("."));
        let root = root.to_string_lossy().into_owned();
        let scope = input.scope(&root);
        let page = run(&input, &scope)?;
        let working_directory = context::working_directory();
        let place = Place {
            working_directory: &working_directory,
            root: &root,
        };
        let report = match input.mode() {
            Mode::Content => Report::content(&input, &page, place),
            Mode::FilesWithMatches => Report::files(&input, page, place),
            Mode::Count => Report::counts(&input, &page, place),
        };
        let report = if report.is_empty() && !input.narrows() {
            report
        } else if report.is_empty() && nothing_in(&scope)? {
            report.because_no_file_was_searched()
        } else {
            report
        };
        let report = report.with_left_out(left_out());
        Ok(Outcome::text(report.text()).with_structured(&report.structured()))
    }
}

fn run(input: &Input, scope: &Scope) -> Result<Page, ToolError> {
    let want = match input.mode() {
        Mode::Content => Want::Lines(input.context_lines()),
        Mode::FilesWithMatches => Want::Paths,
        Mode::Count => Want::Counts,
    };
    let window = match input.mode() {
        Mode::Content => Window {
            skip: input.offset(),
            limit: input.limit(),
            max_bytes: CONTENT_BYTES,
        },
        // Newest first and a total both need every file.
        Mode::FilesWithMatches | Mode::Count => Window {
            skip: 0,
            limit: 0,
            max_bytes: LIST_BYTES,
        },
    };
    matches(scope, &input.search_pattern(), want, window).map_err(explain)
}

/// Whether the filters leave no file at all, which deserves another answer than
/// that nothing matches.
fn nothing_in(scope: &Scope) -> Result<bool, ToolError> {
    Ok(files(scope, Order::Path, 1).map_err(explain)?.total == 0)
}

/// The host's message names the culprit; a wrong pattern is the caller's to fix.
fn explain(error: HostError) -> ToolError {
    match error {
        HostError::Failed(message)
            if message.starts_with("invalid") || message.starts_with("unknown") =>
        {
            ToolError::invalid(message)
        }
        other => other.into(),
    }
}

impl Guard for Grep {
    fn validate_input(input: &Input) -> Result<(), Rejection> {
        if input.pattern.is_empty() {
            return Err(Rejection::new(1, "pattern is empty; say what to look for"));
        }
        Ok(())
    }
}

impl Prompt for Grep {
    fn describe(input: &Input) -> String {
        view::headline(input)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for Grep {
    fn render_use(input: &Input) -> View {
        View::Plain(view::headline(input))
    }

    fn render_result(_: &Input, outcome: &Outcome) -> View {
        View::Plain(view::summary(outcome))
    }

    fn render_error(_: &Input, error: &ToolError) -> View {
        View::Plain(format!("Grep: {}", error.sentence()))
    }

    fn render_grouped(inputs: &[Input]) -> Option<View> {
        view::grouped(inputs).map(View::Rows)
    }
}

toolbay_sdk::export!(Grep: guard, prompt, render);
