//! `toolbay shell check` and `toolbay shell checks`: the validator on its own.

mod explain;

use std::io::{BufRead, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};
use toolbay::dispatch::links_on_disk;
use toolbay::shell::{CATALOGUE, Place, Report, inspect};

use super::{CALL_FAILED, COMMAND_FAILED, print_json, print_line};
use crate::args::{Common, ShellCommand};
use crate::places;
use crate::style::Style;

/// One question of many.
#[derive(Debug, Deserialize)]
struct Question {
    #[serde(default)]
    id: Value,
    command: String,
}

pub(super) fn run(common: &Common, command: ShellCommand) -> anyhow::Result<ExitCode> {
    match command {
        ShellCommand::Checks => checks(common.json),
        ShellCommand::Check { jsonl: true, .. } => lines(&place(common)?),
        ShellCommand::Check { script, .. } => {
            let script = match script.as_deref() {
                None | Some("-") => {
                    std::io::read_to_string(std::io::stdin().lock()).context("standard input")?
                }
                Some(script) => script.to_owned(),
            };
            one(common.json, &script, &place(common)?)
        }
    }
}

/// Where the script would run. The folder need not exist: nothing is run.
fn place(common: &Common) -> anyhow::Result<Place> {
    let absolute =
        |path: &PathBuf| std::path::absolute(path).with_context(|| format!("{}", path.display()));
    let cwd = absolute(common.cwd.as_ref().unwrap_or(&PathBuf::from(".")))?;
    let mut roots = vec![cwd.clone()];
    for folder in &common.add_dirs {
        roots.push(absolute(folder)?);
    }
    let place = Place::new(cwd)
        .with_roots(roots)
        .with_links(links_on_disk());
    Ok(match places::from_environment()?.home {
        Some(home) => place.with_home(home),
        None => place,
    })
}

fn one(json: bool, script: &str, place: &Place) -> anyhow::Result<ExitCode> {
    let report = inspect(script, place);
    if json {
        print_json(&as_json(&report))?;
    } else {
        for line in explain::lines(&report, Style::for_output()) {
            print_line(&line)?;
        }
    }
    Ok(if report.read_only() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(CALL_FAILED)
    })
}

/// Answers line by line, so that a program can ask one by one.
fn lines(place: &Place) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut input = std::io::stdin().lock();
    let mut out = std::io::stdout().lock();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        // A line without an end must not take all memory.
        let mut bounded = input.by_ref().take(LONGEST_LINE);
        if bounded
            .read_until(b'\n', &mut line)
            .context("standard input")?
            == 0
        {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match serde_json::from_slice::<Question>(&line) {
            Ok(question) => {
                let mut answer = as_json(&inspect(&question.command, place));
                answer["id"] = question.id;
                answer
            }
            Err(error) => {
                code = ExitCode::from(COMMAND_FAILED);
                json!({ "line": number, "error": format!("not {{\"id\",\"command\"}}: {error}") })
            }
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(code)
}

const LONGEST_LINE: u64 = 16 * 1024 * 1024;

fn as_json(report: &Report) -> Value {
    let numbers: Vec<u16> = report.findings.iter().map(|f| f.check.number()).collect();
    let commands: Vec<&[String]> = report.commands.iter().map(|c| c.words.as_slice()).collect();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "check": finding.check.number(),
                "name": finding.check.entry().map(|entry| entry.name),
                "message": finding.message,
            })
        })
        .collect();
    json!({
        "read_only": report.read_only(),
        "verdict": report.verdict.word(),
        "checks": numbers,
        "commands": commands,
        "reads": report.reads,
        "writes": report.writes,
        "warnings": report.warnings,
        "prefix": report.prefix(),
        "suggestions": report.prefixes,
        "class": report.class.map(|class| format!("{class:?}").to_lowercase()),
        "findings": findings,
    })
}

fn checks(json: bool) -> anyhow::Result<ExitCode> {
    let style = Style::for_output();
    for entry in CATALOGUE {
        if json {
            print_json(&json!({
                "check": entry.check.number(),
                "name": entry.name,
                "sentence": entry.sentence,
                "hits": entry.hits,
                "misses": entry.misses,
            }))?;
        } else {
            let number = style.bold(&format!("{:>3}", entry.check.number()));
            print_line(&format!("{number}  {}", entry.name))?;
            print_line(&format!("     {}", style.dim(entry.sentence)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
