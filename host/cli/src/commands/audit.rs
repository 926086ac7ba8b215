//! `toolbay audit verify`, `anchor` and `show`: what was decided and done, and whether
//! the log of it is as it was written.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};
use toolbay::audit::{
    Against, Anchor, Entry, Filter, Key, Kind, LogError, Report, Tail, Verdict, harmless,
    parse_time, render, show, verify_against,
};
use toolbay::contract::{Behavior, regular_file};

use super::{CALL_FAILED, print_json, print_line};
use crate::args::{AuditCommand, AuditShow, Common};
use crate::places;
use crate::style::Style;
use toolbay::Places;

pub(super) fn run(common: &Common, command: AuditCommand) -> anyhow::Result<ExitCode> {
    let places = places::from_environment()?;
    match command {
        AuditCommand::Verify { anchor } => check(common.json, &places, anchor.as_deref()),
        AuditCommand::Anchor => anchor(&places),
        AuditCommand::Show(wanted) => records(common.json, &places, wanted),
    }
}

/// An anchor has one short line.
const LONGEST_ANCHOR: u64 = 4096;

/// What was given on the command line: the text itself, or a file with it.
fn given(text: &str) -> anyhow::Result<Anchor> {
    if text.trim_start().starts_with('{') {
        return Anchor::parse(text).map_err(|why| anyhow!("--anchor: {why}"));
    }
    let read = regular_file::read_text(Path::new(text), LONGEST_ANCHOR);
    let read = read.with_context(|| format!("--anchor {text}"))?;
    Anchor::parse(&read).map_err(|why| anyhow!("--anchor {text}: {why}"))
}

/// Prints the end of the log. One that is not as it was written has no end to hold on to.
fn anchor(places: &Places) -> anyhow::Result<ExitCode> {
    let folder = places.audit_log();
    let key = Key::read(&places.audit_key())?;
    let file = places.audit_anchor();
    let against = Against {
        file: Some(&file),
        kept: None,
    };
    let report = verify_against(&folder, key.as_ref(), against)?;
    if report.verdict == Verdict::Tampered {
        bail!("the log is not as it was written; `toolbay audit verify` says more");
    }
    let Some(anchor) = report.anchor() else {
        bail!("there is no record in {} yet", folder.display());
    };
    print_line(&serde_json::to_string(&anchor)?)?;
    Ok(ExitCode::SUCCESS)
}

fn check(json: bool, places: &Places, kept: Option<&str>) -> anyhow::Result<ExitCode> {
    let folder = places.audit_log();
    let key = Key::read(&places.audit_key())?;
    let kept = kept.map(given).transpose()?;
    let file = places.audit_anchor();
    let against = Against {
        file: Some(&file),
        kept: kept.as_ref(),
    };
    let report = match verify_against(&folder, key.as_ref(), against) {
        // Nothing was ever written: nothing can have been changed.
        Err(LogError::NoLog(_)) if key.is_none() => return no_log(json, &folder),
        // There is a key, so there was a log; only somebody else removes one whole.
        Err(LogError::NoLog(_)) => {
            bail!(
                "there is a key but no log in {}: either nothing was written yet, or it was removed",
                folder.display()
            )
        }
        other => other?,
    };
    if let Some(kept) = kept.filter(|kept| kept.seq < report.first) {
        bail!(
            "--anchor: record {} is older than the oldest that the log has ({}): it removes its \
             oldest files itself; take a newer anchor",
            kept.seq,
            report.first
        );
    }
    if json {
        let mut answer = serde_json::to_value(&report)?;
        answer["folder"] = folder.display().to_string().into();
        answer["keyed"] = key.is_some().into();
        let words = report.findings.iter();
        answer["messages"] = words
            .map(|finding| Value::from(finding.to_string()))
            .collect();
        print_json(&answer)?;
    } else {
        explain(&report, key.is_some())?;
    }
    Ok(match report.verdict {
        Verdict::Intact | Verdict::Torn => ExitCode::SUCCESS,
        Verdict::Tampered => ExitCode::from(CALL_FAILED),
    })
}

fn no_log(json: bool, folder: &std::path::Path) -> anyhow::Result<ExitCode> {
    if json {
        print_json(&json!({ "verdict": "none", "folder": folder.display().to_string() }))?;
    } else {
        print_line(&format!(
            "there is no audit log in {} yet",
            folder.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn explain(report: &Report, keyed: bool) -> anyhow::Result<()> {
    let style = Style::for_output();
    for finding in &report.findings {
        // Names of files are whatever lies in the folder.
        print_line(&format!(
            "{} {}",
            style.bad("✗"),
            harmless(&finding.to_string())
        ))?;
    }
    if report.more > 0 {
        print_line(&format!("{} and {} more", style.bad("✗"), report.more))?;
    }
    let (mark, verdict) = match report.verdict {
        Verdict::Intact => (style.good("✓"), "the log is as it was written"),
        Verdict::Torn => (
            style.warn("!"),
            "the log is as it was written; a crash left the start of one more line",
        ),
        Verdict::Tampered => (style.bad("✗"), "the log is not as it was written"),
    };
    print_line(&format!("{mark} {verdict}"))?;
    let mut facts = vec![format!(
        "{} records ({} to {}) in {} files, {}",
        report.records,
        report.first,
        report.last,
        report.files,
        if keyed { "keyed" } else { "without a key" }
    )];
    if let Tail::Torn { file, line, bytes } = &report.tail {
        facts.push(format!(
            "{bytes} bytes of an unfinished line in {file}:{line}"
        ));
    }
    if report.torn > 0 {
        facts.push(format!(
            "{} lines that crashes left unfinished",
            report.torn
        ));
    }
    if let Some(file) = &report.pruned {
        facts.push(format!("the log itself removed its files up to {file}"));
    }
    if report.lost > 0 {
        facts.push(format!("{} events could not be written", report.lost));
    }
    facts.push(format!("last hash {}", report.last_hash));
    for fact in facts {
        print_line(&style.dim(&format!("  {fact}")))?;
    }
    Ok(())
}

fn records(json: bool, places: &Places, wanted: AuditShow) -> anyhow::Result<ExitCode> {
    let filter = filter(wanted, SystemTime::now())?;
    let shown = match show(&places.audit_log(), filter) {
        Err(LogError::NoLog(folder)) => return no_log(json, &folder),
        other => other?,
    };
    let style = Style::for_output();
    for entry in shown {
        let line = match (entry?, json) {
            (Entry::Record(record), true) => serde_json::to_string(&record)?,
            (Entry::Record(record), false) => {
                let line = render(&record);
                match (record.what.decision, record.kind) {
                    (Some(Behavior::Deny), _) | (_, Kind::Refusal) => style.bad(&line),
                    (_, Kind::Lost | Kind::Recovered) => style.warn(&line),
                    _ if record.what.chain.is_some() => style.dim(&line),
                    _ => line,
                }
            }
            (Entry::Unreadable { file, line }, true) => {
                json!({ "unreadable": { "file": file, "line": line } }).to_string()
            }
            (Entry::Unreadable { file, line }, false) => {
                let text = format!("{file}:{line} cannot be read; see `toolbay audit verify`");
                style.warn(&harmless(&text))
            }
        };
        print_line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn filter(wanted: AuditShow, now: SystemTime) -> anyhow::Result<Filter> {
    let kind = |word: String| {
        Kind::parse(&word).with_context(|| {
            let known = Kind::ALL.map(Kind::word).join(", ");
            format!("--kind {word:?}: one of {known}")
        })
    };
    let decision = |word: String| match word.as_str() {
        "allow" => Ok(Behavior::Allow),
        "ask" => Ok(Behavior::Ask),
        "deny" => Ok(Behavior::Deny),
        _ => bail!("--decision {word:?}: one of allow, ask, deny"),
    };
    let time = |option: &str, text: Option<String>| {
        text.map(|text| {
            parse_time(&text, now).with_context(|| {
                format!(
                    "{option} {text:?}: such as 2026-01-31, 2026-01-31T12:30:00Z, 15m, 2h or 3d"
                )
            })
        })
        .transpose()
    };
    Ok(Filter {
        session: wanted.session,
        tool: wanted.tool,
        kind: wanted.kind.map(kind).transpose()?,
        decision: wanted.decision.map(decision).transpose()?,
        call: wanted.call,
        since: time("--since", wanted.since)?,
        until: time("--until", wanted.until)?,
        last: wanted.last,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> AuditShow {
        AuditShow {
            session: None,
            tool: None,
            call: None,
            kind: None,
            decision: None,
            since: None,
            until: None,
            last: None,
        }
    }

    #[test]
    fn words_that_nobody_knows_are_named() {
        let kind = AuditShow {
            kind: Some("calls".into()),
            ..wanted()
        };
        let decision = AuditShow {
            decision: Some("maybe".into()),
            ..wanted()
        };
        let since = AuditShow {
            since: Some("yesterday".into()),
            ..wanted()
        };
        for (wanted, word) in [(kind, "calls"), (decision, "maybe"), (since, "yesterday")] {
            let error = filter(wanted, SystemTime::UNIX_EPOCH).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
