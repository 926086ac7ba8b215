//! `toolbay call NAME JSON`.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use toolbay::contract::{Content, KillReason, KillSwitch, ToolUse};
use toolbay::dispatch::ToolResult;
use toolbay::dispatch::hooks::HookMessage;

use super::{
    CALL_FAILED, open_with, print_json, print_line, tell_problems, whoever_is_there, wishes,
};
use crate::args::Common;
use crate::interrupt;
use crate::places;
use crate::spinner::Spinner;
use crate::style::Style;
use crate::view::{draw, harmless};
use toolbay::compose::{Bay, Wishes};
use toolbay::session_file::{SessionFile, fresh, new_name};

pub(super) struct Call {
    pub(super) name: String,
    pub(super) input: String,
    pub(super) session: Option<String>,
    pub(super) timeout: Option<u64>,
}

pub(super) async fn run(common: Common, call: Call) -> anyhow::Result<ExitCode> {
    let json = common.json;
    let input = read_input(&call.input)?;
    let name = match &call.session {
        Some(name) => name.clone(),
        None => new_name()?,
    };
    let file = call
        .session
        .map(|name| SessionFile::new(&places::from_environment()?.state, &name))
        .transpose()?;
    let session = match &file {
        Some(file) => file.load()?,
        None => fresh()?,
    };
    let kill = KillSwitch::new();
    let wishes = Wishes {
        approver: whoever_is_there(&common)?,
        session_id: name,
        is_logged: true,
        session_folder: file.as_ref().map(|file| file.folder().to_path_buf()),
        ..wishes()
    };
    let bay = open_with(common, session, kill.clone(), wishes).await?;
    tell_problems(&bay);
    if let Some(limit) = call.timeout.map(Duration::from_millis) {
        let kill = kill.clone();
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            kill.throw(KillReason::Deadline(limit));
        });
    }
    let block = ToolUse {
        id: "call_1".into(),
        name: call.name,
        input: input.clone(),
    };
    // Not before: nothing earlier would notice.
    interrupt::heed(kill.clone());
    let spinner = Spinner::start(block.name.clone());
    let result = bay.dispatch.run(block, kill.below()).await;
    drop(spinner);
    if let Some(file) = &file {
        file.save(&bay.session)?;
    }
    tell_hook_errors(&result);
    if json {
        print_result_json(&bay, &result)?;
    } else {
        print_result(&bay, &result, &input).await?;
    }
    Ok(if result.is_error {
        ExitCode::from(CALL_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// A hook that failed is the user's to mend, whatever became of the call.
fn tell_hook_errors(result: &ToolResult) {
    for message in &result.hook_messages {
        if let HookMessage::HookErrorDuringExecution { source, error } = message {
            let text = harmless(&format!("the hook `{}`: {error}", source.hook));
            eprintln!("{} {text}", Style::for_errors().bad("hook failed:"));
        }
    }
}

pub(super) fn read_input(given: &str) -> anyhow::Result<Value> {
    let text = if given == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("the input on standard input")?;
        text
    } else {
        given.to_owned()
    };
    let value: Value = serde_json::from_str(&text)
        .with_context(|| format!("the input is not JSON: {}", shorten(&text)))?;
    anyhow::ensure!(
        value.is_object(),
        "the input must be a JSON object such as {{\"key\": \"value\"}}; got {}",
        shorten(&text)
    );
    Ok(value)
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn print_result_json(bay: &Bay, result: &ToolResult) -> anyhow::Result<()> {
    let structured: Value = result
        .structured
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or(Value::Null);
    let mut value = result.to_block();
    value["structured"] = structured;
    value["error_class"] = json!(result.failure.as_ref().map(|failure| failure.class()));
    value["audit"] = json!(bay.events.take());
    print_json(&value)
}

async fn print_result(bay: &Bay, result: &ToolResult, input: &Value) -> anyhow::Result<()> {
    let style = Style::for_output();
    if result.is_error {
        let text = harmless(&result.sentence());
        eprintln!("{} {text}", Style::for_errors().bad("failed:"));
        return Ok(());
    }
    // A diff says more to a person than the confirmation for the model.
    if let (Some(outcome), Some(found)) = (&result.outcome, bay.dispatch.pool().find(&result.tool))
    {
        let input: Arc<str> = input.to_string().into();
        if let view @ toolbay::contract::View::Diff(_) =
            found.tool.render_result(&input, outcome).await
        {
            print_line(&draw(&view, style))?;
        }
    }
    for content in &result.content {
        match content {
            Content::Text(text) => print_line(&harmless(text))?,
            Content::Image(blob) | Content::Document(blob) => print_line(&style.dim(&format!(
                "[{}, {} bytes; --json prints it]",
                blob.mime,
                blob.data.len()
            )))?,
            Content::Link(link) => {
                print_line(&format!("{} {}", harmless(&link.name), harmless(&link.uri)))?;
            }
        }
    }
    Ok(())
}
