//! `toolbay trust`: look at what a project's own settings would allow, and let them.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::{CALL_FAILED, print_json, print_line};
use crate::args::Common;
use crate::compose::{origins, working_directory};
use crate::places::Places;
use crate::prompt::somebody_is_there;
use crate::style::Style;
use crate::trust::Trust;
use crate::view::{harmless_block, harmless_line};

pub(super) fn run(common: &Common, yes: bool, revoke: bool) -> anyhow::Result<ExitCode> {
    let places = Places::from_environment()?;
    let cwd = working_directory(common)?;
    let files = origins(common, &cwd, &places).project_files()?;
    let trust = Trust::load(&places.state)?;
    let tell = |verb: &str, count: usize| match common.json {
        true => print_json(&json!({ verb: count })),
        false => print_line(&format!("{verb}: {count} settings files")),
    };
    if revoke {
        let known = Trust::change(&places.state, |trust| {
            files.iter().filter(|(file, _)| trust.remove(file)).count()
        })?;
        tell("forgotten", known)?;
        return Ok(ExitCode::SUCCESS);
    }
    let new: Vec<_> = files
        .iter()
        .filter(|(file, text)| !trust.covers(file, text))
        .collect();
    if new.is_empty() {
        tell("trusted", files.len())?;
        return Ok(ExitCode::SUCCESS);
    }
    if !common.json {
        let style = Style::for_output();
        for (file, text) in &new {
            print_line(&style.bold(&harmless_line(&file.display().to_string())))?;
            print_line(&harmless_block(text))?;
        }
    }
    if !yes && !agrees("Let these settings count, until they change?")? {
        return Ok(ExitCode::from(CALL_FAILED));
    }
    Trust::change(&places.state, |trust| {
        for (file, text) in &new {
            trust.add(file, text);
        }
    })?;
    tell("trusted", files.len())?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the person at the terminal.
pub(super) fn agrees(question: &str) -> anyhow::Result<bool> {
    use std::io::{BufRead, Write};

    if !somebody_is_there() {
        bail!("nobody is there to ask; look at the files, then pass --yes");
    }
    eprint!("{question} [y/n] ");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "yes"))
}
