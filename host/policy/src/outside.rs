//! Commands outside the cage: what settings let out, what a call may ask for, and who must say yes.
//!
//! Outside nothing holds a command but the person who let it out. So the word of a project, of a
//! tool, a hook, a mode or a classifier is never enough, and a rule only where it names what runs.

use thiserror::Error;
use toolbay_shell::Report;

use crate::behavior::Behavior;
use crate::command::CommandPattern;
use crate::decide::{Policy, Request, scripts_of};
use crate::source::Source;

/// What a call wants of the cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CageWish {
    #[default]
    Inside,
    /// It asks to run its commands without one.
    Outside,
}

/// What settings let out of the cage. The default lets nothing out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exits {
    /// A call may ask to leave, and then a person is asked.
    pub on_request: bool,
    excluded: Vec<(CommandPattern, String)>,
}

/// A pattern that would let anything out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` would let any command out of the cage; name a program that runs no others, such as \
     `docker:*`"
)]
pub struct TooWide(String);

impl Exits {
    /// Lets commands out that match, in the language of rules: `docker:*`, `make release`.
    pub fn exclude(&mut self, text: &str) -> Result<(), TooWide> {
        let pattern = CommandPattern::parse(text);
        if text.trim().is_empty() || pattern.is_wide() {
            return Err(TooWide(text.to_owned()));
        }
        self.excluded.push((pattern, text.to_owned()));
        Ok(())
    }

    /// The first pattern that lets a script out, if each of its commands has one. A script that
    /// was not understood, or that does more than run its commands, has none.
    fn lets_out(&self, report: &Report) -> Option<&str> {
        if !report.may_be_allowed_by_parts() || report.commands.is_empty() {
            return None;
        }
        let mut first = None;
        for command in &report.commands {
            let (_, text) = self
                .excluded
                .iter()
                .find(|(pattern, _)| pattern.covers(command))?;
            first = first.or(Some(text.as_str()));
        }
        first
    }
}

/// Which scripts a permit lets out of the cage: these and no others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Outside {
    #[default]
    Nothing,
    /// The call asked for it, and somebody said yes.
    Asked(Vec<String>),
    /// Settings exclude them.
    Excluded(Vec<String>),
}

/// What a call has to do with the cage.
pub(crate) enum Leaving {
    No,
    Refused(&'static str),
    /// A person must say yes, whatever else was said.
    Asks(String),
    /// Somebody who may has named what runs.
    Named,
}

impl Policy {
    /// The same with other exits from the cage.
    #[must_use]
    pub fn with_exits(mut self, exits: Exits) -> Self {
        self.exits = exits.into();
        self
    }

    /// What a person must know who is asked about a call that leaves the cage.
    pub fn cage_warning(&self, request: &Request) -> Option<&'static str> {
        match self.outside_of(request) {
            Outside::Nothing => None,
            Outside::Asked(_) | Outside::Excluded(_) => Some(
                "runs WITHOUT A CAGE: it can read, change and delete everything that you can, and \
                 reach the network",
            ),
        }
    }

    /// The scripts that a permit for this call would let out. The study must cover the subjects.
    pub(crate) fn outside_of(&self, request: &Request) -> Outside {
        if self.managed().forced_sandbox {
            return Outside::Nothing;
        }
        let scripts = scripts_of(&request.subjects).map(str::to_owned);
        match request.cage {
            CageWish::Outside if self.exits.on_request => Outside::Asked(scripts.collect()),
            CageWish::Outside => Outside::Nothing,
            CageWish::Inside => {
                let is_let_out = |script: &String| {
                    let report = request.study.on(script);
                    report.is_some_and(|report| self.exits.lets_out(report).is_some())
                };
                let out: Vec<String> = scripts.filter(is_let_out).collect();
                match out.is_empty() {
                    true => Outside::Nothing,
                    false => Outside::Excluded(out),
                }
            }
        }
    }

    /// What is said about a call because of the cage.
    pub(crate) fn leaving(&self, request: &Request) -> Leaving {
        match (request.cage, self.outside_of(request)) {
            (CageWish::Outside, _) if self.managed().forced_sandbox => Leaving::Refused(
                "it asks to run outside the cage, and the managed policy runs commands in a cage \
                 or not at all",
            ),
            (CageWish::Outside, Outside::Nothing) => Leaving::Refused(
                "it asks to run outside the cage, which nobody has allowed: it takes \
                 `\"sandbox\": {\"allowUnsandboxed\": true}` in the person's own or the managed \
                 settings, and then somebody's yes; change what the cage allows (`sandbox`) instead",
            ),
            (_, Outside::Asked(_)) => Leaving::Asks(
                "it asks to run WITHOUT A CAGE, where it can read, change and delete everything \
                 that you can, and reach the network; no rule can allow that"
                    .into(),
            ),
            (_, Outside::Excluded(scripts)) => {
                if scripts
                    .iter()
                    .all(|script| self.names_what_runs(script, request))
                {
                    return Leaving::Named;
                }
                let by = scripts
                    .iter()
                    .find_map(|script| self.exits.lets_out(request.study.on(script)?));
                Leaving::Asks(format!(
                    "`sandbox.excludedCommands` (`{}`) lets it run WITHOUT A CAGE, and no allow \
                     rule of your own names it",
                    by.unwrap_or_default()
                ))
            }
            (CageWish::Inside, Outside::Nothing) => Leaving::No,
        }
    }

    /// Whether allow rules name each command of a script one by one, written by somebody who may
    /// let it out: the person or the owner of the machine, not whoever made the project.
    fn names_what_runs(&self, script: &str, request: &Request) -> bool {
        let Some(report) = request.study.on(script) else {
            return false;
        };
        let rules = self.list(Behavior::Allow).iter().filter(|rule| {
            let may = match rule.provenance().source {
                Source::Managed
                | Source::Flags
                | Source::Session
                | Source::CommandLine
                | Source::User => true,
                Source::Local | Source::Project => false,
            };
            may && rule.names(&request.tool)
        });
        let patterns: Vec<&CommandPattern> = rules
            .filter_map(|rule| rule.content())
            .filter(|content| !content.is_wide())
            .map(|content| &content.command)
            .collect();
        report
            .commands
            .iter()
            .all(|command| patterns.iter().any(|pattern| pattern.covers(command)))
    }
}

#[cfg(test)]
mod tests;
