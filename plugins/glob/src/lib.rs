//! The `Glob` tool: finds files by name.
//!
//! The host walks and matches; this plugin gives the pattern the meaning that a
//! shell gives it (a pattern without `**` looks into no subfolder) and makes text
//! of the list. It touches no file itself.

mod pattern;
mod report;

use serde::Deserialize;
use toolbay_sdk::search::{Listing, Order, Scope, files, left_out};
use toolbay_sdk::{
    Guard, HostError, Info, OnInterrupt, Outcome, Prompt, Rejection, Render, ResultLimit, Setting,
    SubjectKind, Tool, ToolError, View, context,
};

/// Most files to list. Whoever needs more needs a narrower pattern.
const MOST_FILES: u32 = 100;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    path: Option<String>,
}

struct Glob;

impl Tool for Glob {
    type Input = Input;

    const INFO: Info = Info::new("Glob", "Finds files by name pattern, newest first.")
        .schema(include_str!("../schema.json"))
        .subjects(&[(SubjectKind::Path, "/path")])
        .limit(ResultLimit::Chars(30_000))
        .on_interrupt(OnInterrupt::Cancel);

    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn is_concurrency_safe(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> toolbay_sdk::Result {
        let (base, pattern) = pattern::split(&input.pattern);
        let root = match (base, input.path.as_deref()) {
            (Some(base), Some(path)) => context::resolve(path).join(base),
            (Some(base), None) => base.into(),
            (None, path) => context::resolve(path.unwrap_or(".")),
        };
        let root = context::resolve(&root.to_string_lossy());
        let root = root.to_string_lossy().into_owned();
        let globs = pattern::globs(&pattern).map_err(ToolError::InvalidInput)?;
        let listing = list(&root, globs)?;
        let working_directory = context::working_directory();
        let left_out = left_out();
        let mut text = report::text(&input.pattern, &root, &working_directory, &listing);
        for (number, sentence) in left_out.iter().enumerate() {
            text.push_str(if number == 0 { "\n\n" } else { "\n" });
            text.push_str(sentence);
        }
        let structured = report::structured(&working_directory, &listing, &left_out);
        Ok(Outcome::text(text).with_structured(&structured))
    }
}

fn list(root: &str, globs: Vec<String>) -> Result<Listing, ToolError> {
    let scope = Scope {
        root: root.to_owned(),
        globs,
        types: Vec::new(),
        hidden: true,
        ignored: false,
    };
    files(&scope, Order::Newest, MOST_FILES).map_err(|error| match error {
        HostError::Failed(message) if message.starts_with("invalid") => {
            ToolError::invalid(format!("{message}. {}", pattern::HELP))
        }
        other => other.into(),
    })
}

impl Guard for Glob {
    fn validate_input(input: &Input) -> Result<(), Rejection> {
        let (_, pattern) = pattern::split(&input.pattern);
        match pattern::globs(&pattern) {
            Ok(_) => Ok(()),
            Err(message) => Err(Rejection::new(1, message)),
        }
    }
}

impl Prompt for Glob {
    fn describe(input: &Input) -> String {
        report::headline(&input.pattern, input.path.as_deref())
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for Glob {
    fn render_use(input: &Input) -> View {
        View::Plain(report::headline(&input.pattern, input.path.as_deref()))
    }

    fn render_result(_: &Input, outcome: &Outcome) -> View {
        View::Plain(report::summary(outcome))
    }

    fn render_error(_: &Input, error: &ToolError) -> View {
        View::Plain(format!("Glob: {}", error.sentence()))
    }
}

toolbay_sdk::export!(Glob: guard, prompt, render);
