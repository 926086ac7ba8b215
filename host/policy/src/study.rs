//! What the commands of a call do, looked into before it is decided about.
//!
//! A value of its own, because looking may take longer than deciding and can be
//! done while hooks run.

use std::path::{Path, PathBuf};

use toolbay_shell::{Check, Finding, Place, Report, SimpleCommand, Verdict};

use crate::claims::Subject;
use crate::paths::PathAccess;

/// The shell validator's reports on a call's commands, each with its script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Study {
    reports: Vec<(String, Report)>,
    /// What they read outside the place, which a report does not list.
    outside: Vec<PathBuf>,
    /// What may be a path in those that were not understood.
    heard: Vec<PathBuf>,
}

/// One command of a call, for people who are asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// How many groups it is inside.
    pub depth: usize,
    pub text: String,
    /// Why it is not known to only read.
    pub doubt: Option<String>,
}

/// Of words that may be paths. A longer script is padding or data.
const MOST_HEARD: usize = 5_000;

impl Study {
    /// Looks at every command among the subjects, as if run in this place.
    pub fn of(subjects: &[Subject], place: &Place) -> Self {
        let mut study = Self::default();
        for subject in subjects {
            let Subject::Command(text) = subject else {
                continue;
            };
            let report = toolbay_shell::inspect(text, place);
            if report.has(Check::OutsidePath) || report.has(Check::InputRedirection) {
                // Path rules speak about files anywhere.
                let everywhere = place.clone().with_roots(["/".into()]);
                let wider = toolbay_shell::inspect(text, &everywhere);
                study.outside.extend(wider.reads);
            }
            if report.verdict == Verdict::TooComplex {
                study.heard.extend(heard(text, place).take(MOST_HEARD));
            }
            study.reports.push((text.clone(), report));
        }
        study
    }

    /// The commands of the call, one by one. None of a script that was not understood.
    pub fn parts(&self) -> Vec<Part> {
        let commands = self.reports.iter().flat_map(|(_, report)| &report.commands);
        commands
            .map(|command| Part {
                depth: command.depth,
                text: command.words.join(" "),
                doubt: command
                    .finding
                    .as_ref()
                    .map(|finding| finding.message.clone()),
            })
            .collect()
    }

    /// The same for somebody who is asked: with what the script does beside running its commands,
    /// such as writing to a file by a redirection, and what the list leaves out.
    pub fn shown_parts(&self) -> Vec<Part> {
        let findings = self.reports.iter().filter_map(|(_, report)| {
            let is_listed = !report.commands.is_empty();
            is_listed.then_some(&report.findings)
        });
        let beside = findings
            .flatten()
            .filter(|finding| !finding.check.is_about_a_command());
        let beside = beside.map(|finding| Part {
            depth: 0,
            text: "the script as a whole".into(),
            doubt: Some(finding.message.clone()),
        });
        self.parts().into_iter().chain(beside).collect()
    }

    /// What a person should know before saying yes.
    pub fn warnings(&self) -> Vec<String> {
        let reports = self.reports.iter().map(|(_, report)| report);
        let mut all: Vec<String> = reports
            .flat_map(|report| &report.warnings)
            .map(|warning| (*warning).to_owned())
            .collect();
        all.dedup();
        all
    }

    /// The report on a script that is among the subjects.
    pub(crate) fn on(&self, script: &str) -> Option<&Report> {
        self.reports
            .iter()
            .find(|(text, _)| text == script)
            .map(|(_, report)| report)
    }

    /// Whether all commands of the subjects were looked at.
    pub(crate) fn covers(&self, subjects: &[Subject]) -> bool {
        subjects.iter().all(|subject| match subject {
            Subject::Command(text) => self.on(text).is_some(),
            Subject::Path(_) | Subject::Folder(_) | Subject::Url(_) | Subject::Text(_) => true,
        })
    }

    /// Why a command of the call is not known to only read inside the place, if one is not.
    pub(crate) fn doubt(&self) -> Option<String> {
        let (_, doubtful) = self
            .reports
            .iter()
            .find(|(_, report)| !report.read_only())?;
        Some(doubt(doubtful))
    }

    /// Why no rule for its commands would allow the call, if none would.
    pub(crate) fn obstacle(&self) -> Option<String> {
        self.reports.iter().find_map(|(_, report)| obstacle(report))
    }

    /// Its commands that do not only read.
    pub(crate) fn doubtful(&self) -> impl Iterator<Item = &SimpleCommand> {
        let commands = self.reports.iter().flat_map(|(_, report)| &report.commands);
        commands.filter(|command| !command.is_read_only())
    }

    /// Why a person must be asked whatever the rules say.
    pub(crate) fn always_asks(&self) -> Option<&str> {
        self.reports
            .iter()
            .find_map(|(_, report)| report.always_asks())
            .map(|finding| finding.message.as_str())
    }

    /// Whether something runs that no rule can name.
    pub(crate) fn is_opaque(&self) -> bool {
        self.reports.iter().any(|(_, report)| report.is_opaque)
    }

    /// Whether a command prints what files hold or held and does not name them.
    pub(crate) fn prints_history(&self) -> bool {
        self.reports.iter().any(|(_, report)| report.prints_history)
    }

    /// Whether a command may change something. To read outside the roots is no change.
    pub(crate) fn may_write(&self) -> bool {
        self.reports.iter().any(|(_, report)| {
            report.verdict == Verdict::TooComplex
                || report
                    .findings
                    .iter()
                    .any(|finding| finding.check != Check::OutsidePath)
        })
    }

    /// The files that its commands are known to read and write.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&Path, PathAccess)> {
        let reports = || self.reports.iter().map(|(_, report)| report);
        let reads = reports().flat_map(|report| &report.reads);
        let writes = reports().flat_map(|report| &report.writes);
        let read = |path| (path, PathAccess::Read);
        let written = |path| (path, PathAccess::Write);
        reads
            .chain(&self.outside)
            .map(PathBuf::as_path)
            .map(read)
            .chain(writes.map(PathBuf::as_path).map(written))
    }

    /// What may be a file in a script that was not understood.
    pub(crate) fn heard(&self) -> impl Iterator<Item = &Path> {
        self.heard.iter().map(PathBuf::as_path)
    }

    /// The first words of commands that would make rules.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.reports
            .iter()
            .flat_map(|(_, report)| report.prefixes.iter().map(String::as_str))
    }
}

/// The findings that say why, not that something stands beside it.
fn causes(report: &Report) -> impl Iterator<Item = &Finding> {
    let is_joint = |check| matches!(check, Check::ShellMetacharacters | Check::Newlines);
    let findings = report.findings.iter();
    findings.filter(move |finding| !is_joint(finding.check))
}

fn message_of(report: &Report) -> &str {
    let cause = causes(report).next().or(report.findings.first());
    cause.map_or("it is not known to only read", |finding| &finding.message)
}

fn found(report: &Report, check: Check) -> Option<&Finding> {
    report
        .findings
        .iter()
        .find(|finding| finding.check == check)
}

fn doubt(report: &Report) -> String {
    if report.verdict == Verdict::TooComplex {
        if let Some(finding) = found(report, Check::IncompleteCommands) {
            return format!("it is not a complete script: {}", finding.message);
        }
        let why = found(report, Check::TooComplex).map_or(message_of(report), |why| &why.message);
        return format!("it cannot be told what it does: {why}");
    }
    if causes(report).all(|finding| finding.check == Check::OutsidePath) {
        return format!(
            "it reads outside the project's folders: {}",
            message_of(report)
        );
    }
    format!("it may change things: {}", message_of(report))
}

fn obstacle(report: &Report) -> Option<String> {
    if report.verdict == Verdict::TooComplex {
        return Some(format!(
            "rules for commands cover only plain commands; {}",
            doubt(report)
        ));
    }
    if report.may_be_allowed_by_parts() {
        return None;
    }
    let is_of_the_script = |finding: &&Finding| !finding.check.is_about_a_command();
    let finding = causes(report).find(is_of_the_script)?;
    Some(format!(
        "rules for its commands do not cover that {}",
        finding.message
    ))
}

/// Every word of a script as the path that it may be, whatever stands around it.
fn heard<'a>(script: &'a str, place: &'a Place) -> impl Iterator<Item = PathBuf> + 'a {
    let is_border = |c: char| c.is_whitespace() || ";|&<>(){}$`=,".contains(c);
    let words = script.split(is_border).filter_map(move |word| {
        let word = word.replace(['\'', '"', '\\'], "");
        let below_home = word.strip_prefix("~/").zip(place.home());
        match below_home {
            Some((rest, home)) => Some(home.join(rest).to_string_lossy().into_owned()),
            None => Some(word).filter(|word| !word.is_empty()),
        }
    });
    words.flat_map(|word| place.both(&word))
}

#[cfg(test)]
mod tests;
