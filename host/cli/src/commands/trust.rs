//! `toolbay trust`: look at what a project's own settings would allow, and let them.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolbay::dispatch::fingerprint::Fingerprint;

use super::{CALL_FAILED, print_json, print_line};
use crate::args::Common;
use crate::options::{origins, working_directory};
use crate::places;
use crate::prompt::somebody_is_there;
use crate::style::Style;
use crate::view::{harmless_block, harmless_line};
use toolbay::settings::ProjectFile;
use toolbay::trust::Trust;

pub(super) fn run(common: &Common, yes: bool, revoke: bool) -> anyhow::Result<ExitCode> {
    let places = places::from_environment()?;
    let cwd = working_directory(common)?;
    let files = origins(common, &cwd, &places).project_files()?;
    let trust = Trust::load(&places.state)?;
    let tell = |verb: &str, count: usize| match common.json {
        true => {
            let files: Vec<_> = files.iter().map(|one| described(one, &trust)).collect();
            print_json(&json!({ verb: count, "files": files }))
        }
        false => print_line(&format!("{verb}: {count} settings files")),
    };
    if revoke {
        let known = Trust::change(&places.state, |trust| {
            files.iter().filter(|one| trust.remove(&one.file)).count()
        })?;
        tell("forgotten", known)?;
        return Ok(ExitCode::SUCCESS);
    }
    let new: Vec<_> = files
        .iter()
        .filter(|one| !trust.covers(&one.file, &one.text, &one.leads.files))
        .collect();
    if new.is_empty() {
        tell("trusted", files.len())?;
        return Ok(ExitCode::SUCCESS);
    }
    if !common.json {
        let style = Style::for_output();
        for one in &new {
            print_line(&style.bold(&harmless_line(&one.file.display().to_string())))?;
            print_line(&harmless_block(&one.text))?;
            show_leads(&one.leads.files)?;
            let verdict = trust.judge(&one.file, &one.text, &one.leads.files);
            if let Some(why) = verdict.why() {
                print_line(&style.warn(&harmless_line(&format!("Approval needed again: {why}"))))?;
            }
        }
    }
    if !yes && !agrees("Let these settings count, until they or what they lead to change?")? {
        return Ok(ExitCode::from(CALL_FAILED));
    }
    Trust::change(&places.state, |trust| {
        for one in &new {
            // As it was shown: a change since then needs approval again.
            trust.add(&one.file, &one.text, one.leads.files.clone());
        }
    })?;
    tell("trusted", files.len())?;
    Ok(ExitCode::SUCCESS)
}

/// A file for programs. `why` says what had changed, if it was trusted before.
fn described(one: &ProjectFile, trust: &Trust) -> Value {
    let verdict = trust.judge(&one.file, &one.text, &one.leads.files);
    json!({
        "file": one.file,
        "wasTrusted": verdict.is_trusted(),
        "why": verdict.why(),
        "leadsTo": one.leads.files,
    })
}

/// What a text leads to, a line each.
pub(super) fn show_leads(leads: &Fingerprint) -> anyhow::Result<()> {
    if leads.is_empty() {
        return Ok(());
    }
    print_line("It leads to these files; they are trusted as they are now:")?;
    for (path, state) in leads.files() {
        let link = state.link.as_ref();
        let link = link.map_or(String::new(), |to| format!(" -> {}", to.display()));
        let content = match &state.digest {
            Some(digest) => format!("{} bytes, {digest}", state.bytes),
            None => "no file behind it".to_owned(),
        };
        let line = format!("  {}{link} ({content})", path.display());
        print_line(&harmless_line(&line))?;
    }
    Ok(())
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
