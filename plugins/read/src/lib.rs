//! Read: shows a file to the model, as numbered lines, pictures, pages or cells.
//!
//! `call` is the only place that talks to the host. What a file looks like is
//! decided by pure modules over bytes: `kind` sniffs, then `text`, `picture`,
//! `pdf` or `notebook` draws.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod kind;
mod lines;
mod missing;
mod notebook;
mod pdf;
mod picture;
mod place;
mod reading;
mod request;
mod source;
mod text;
mod view;

use toolbay_sdk::{
    FileSeen, HostError, Info, Outcome, Prompt, Render, Result, ResultLimit, Setting, SubjectKind,
    Tool, ToolError, View, context, files, session,
};

use crate::reading::Reading;
use crate::request::{Input, Request};
use crate::source::Size;

struct Read;

impl Tool for Read {
    type Input = Input;

    const INFO: Info = Info::new(
        "Read",
        "Shows a file: text with line numbers, pictures, PDF pages or notebook cells.",
    )
    .schema(include_str!("../schema.json"))
    .subjects(&[(SubjectKind::Path, "/file_path")])
    .annotations(&[("simple", "true")])
    .limit(ResultLimit::SelfManaged);

    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn is_concurrency_safe(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> Result {
        let request = Request::of(&input).map_err(ToolError::InvalidInput)?;
        let path = context::resolve(&input.file_path);
        let name = path.to_string_lossy().into_owned();

        // Named before the first byte is read: a change in between then looks
        // like a change, not like something that was seen.
        let survey = match files::survey(&name) {
            Ok(survey) => survey,
            Err(HostError::Cancelled) => return Err(ToolError::Cancelled),
            Err(error) => {
                // Whatever is wrong with the place itself is told better there.
                let length = place::check(&path, &context::roots())?;
                if let HostError::Denied(reason) = error {
                    return Err(ToolError::Denied(reason));
                }
                let size = Size::bytes(length);
                return Ok(reading::read(&path, size, &request, &context::check)?.into_outcome());
            }
        };
        let size = Size {
            bytes: survey.bytes,
            lines: Some(survey.lines),
        };
        let digest = survey.digest;

        let shown = request.key();
        let before = session::seen(&name).filter(|seen| seen.digest == digest);
        if before
            .as_ref()
            .is_some_and(|seen| seen.shown.as_deref() == Some(&shown))
        {
            return Ok(Reading::unchanged(&request).into_outcome());
        }

        let reading = reading::read(&path, size, &request, &context::check)?;
        if !reading.showed_content {
            return Ok(reading.into_outcome());
        }
        // Looking again at a part does not unsee the whole.
        let whole = reading.whole || before.is_some_and(|seen| seen.whole);
        Ok(reading.into_outcome().with_file_seen(FileSeen {
            path: name,
            digest,
            whole,
            shown: Some(shown),
        }))
    }
}

impl Prompt for Read {
    fn describe(input: &Input) -> String {
        view::one_line(input)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for Read {
    fn render_use(input: &Input) -> View {
        View::Plain(view::one_line(input))
    }

    fn render_result(_: &Input, outcome: &Outcome) -> View {
        View::Plain(view::summary(outcome))
    }

    fn render_rejected(input: &Input, reason: &str) -> View {
        View::Plain(format!(
            "{}: not permitted: {reason}",
            view::one_line(input)
        ))
    }

    fn render_error(_: &Input, error: &ToolError) -> View {
        View::Plain(error.sentence())
    }

    fn render_grouped(inputs: &[Input]) -> Option<View> {
        Some(View::Plain(view::grouped(inputs)))
    }
}

// No guard: `call` refuses a bad input before it touches a file, and a question
// more would cost every reading an instance more.
toolbay_sdk::export!(Read: prompt, render);
