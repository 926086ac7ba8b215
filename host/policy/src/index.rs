//! Many rules at once: the first that speaks about a call, without asking each.
//!
//! A machine's policy may have thousands of rules, and every call is held against all of
//! them. Rules wait under their tool's name and then under what their content begins with;
//! a test compares the answers with those of asking one rule after the other.

mod commands;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::claims::Subject;
use crate::host::{HostPattern, plain_host, possible_hosts};
use crate::path_index::PathIndex;
use crate::rule::{PathContent, Rule, may_be_allowed_whole};
use crate::study::Study;
use commands::CommandIndex;
use toolbay_shell::{SimpleCommand, prints_history};

/// An index over a list of rules; answers are places in that list.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleIndex {
    /// By the tool's name as written.
    names: HashMap<String, Bucket>,
    /// `mcp__a__*`, by what stands before the star.
    stems: HashMap<String, Bucket>,
    /// How long those are.
    stem_lengths: Vec<usize>,
}

/// The rules about one name.
#[derive(Debug, Clone, Default)]
struct Bucket {
    /// The first without content.
    whole: Option<usize>,
    /// The first with content.
    narrow: Option<usize>,
    /// The first that means every subject: `*`.
    every: Option<usize>,
    commands: CommandIndex,
    paths: PathIndex,
    /// The first that forbids any path because it cannot be read as one.
    broken_path: Option<usize>,
    hosts: HostIndex,
    texts: HashMap<String, usize>,
}

#[derive(Debug, Clone, Default)]
struct HostIndex {
    /// The first of all: for addresses whose host cannot be told.
    first: Option<usize>,
    every: Option<usize>,
    one: HashMap<String, usize>,
    below: HashMap<String, usize>,
}

/// Keeps the earlier of two places.
fn keep(best: &mut Option<usize>, place: Option<usize>) {
    *best = match (*best, place) {
        (Some(best), Some(place)) => Some(best.min(place)),
        (best, place) => best.or(place),
    };
}

impl RuleIndex {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, rule) in rules.iter().enumerate() {
            by_name.entry(rule.tool()).or_default().push(at);
        }
        for (name, places) in by_name {
            let bucket = Bucket::new(rules, &places);
            match name.strip_suffix('*') {
                Some(stem) => drop(index.stems.insert(stem.to_owned(), bucket)),
                None => drop(index.names.insert(name.to_owned(), bucket)),
            }
        }
        index.stem_lengths = index.stems.keys().map(String::len).collect();
        index.stem_lengths.sort_unstable();
        index.stem_lengths.dedup();
        index
    }

    /// The buckets that speak about a tool: by its name, its server's, and stems.
    fn buckets<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Bucket> + 'a {
        let server_ends = tool.strip_prefix("mcp__").into_iter().flat_map(|rest| {
            let ends = rest.match_indices('_').map(|(at, _)| at);
            ends.filter(|at| {
                *at > 0 && rest[*at..].starts_with("__") && !rest[..*at].contains("__")
            })
            .map(|at| at + "mcp__".len())
        });
        let servers = server_ends.filter_map(|end| self.names.get(&tool[..end]));
        let stems = self
            .stem_lengths
            .iter()
            .filter_map(|length| self.stems.get(tool.get(..*length)?));
        self.names.get(tool).into_iter().chain(servers).chain(stems)
    }

    /// The first rule without content about the tool.
    pub(crate) fn whole(&self, tool: &str) -> Option<usize> {
        self.buckets(tool).filter_map(|bucket| bucket.whole).min()
    }

    /// The first with content.
    pub(crate) fn narrow(&self, tool: &str) -> Option<usize> {
        self.buckets(tool).filter_map(|bucket| bucket.narrow).min()
    }

    /// The first rule that touches some subject, as deny and ask rules do.
    pub(crate) fn touching(
        &self,
        rules: &[Rule],
        tool: &str,
        (subjects, aliases): (&[Subject], &[PathBuf]),
        study: &Study,
    ) -> Option<usize> {
        let mut best = None;
        for bucket in self.buckets(tool) {
            keep(&mut best, bucket.whole);
            for alias in aliases {
                keep(&mut best, bucket.touching_path(rules, alias));
            }
            for subject in subjects {
                keep(&mut best, bucket.touching(rules, subject, study));
            }
        }
        best
    }

    /// The allow rule that covers the call, or the first of several that cover it together:
    /// every subject, and of a script every command that does not only read. A rule with
    /// content never covers a call without subjects.
    pub(crate) fn covering(
        &self,
        rules: &[Rule],
        tool: &str,
        subjects: &[Subject],
        study: &Study,
    ) -> Option<usize> {
        if let Some(whole) = self.whole(tool) {
            return Some(whole);
        }
        let buckets: Vec<&Bucket> = self.buckets(tool).collect();
        let mut used = None;
        for subject in subjects {
            used = used.or(covering(&buckets, rules, subject, study)?);
        }
        used
    }

    /// Whether a rule covers the command as a part of a script.
    pub(crate) fn covers_command(
        &self,
        rules: &[Rule],
        tool: &str,
        command: &SimpleCommand,
    ) -> bool {
        let covering = |bucket: &Bucket| match command.reads_outside() {
            true => bucket.commands.exact(command),
            false => bucket.commands.covering(rules, command),
        };
        self.buckets(tool).any(|bucket| covering(bucket).is_some())
    }

    /// Whether rules that name what they mean cover every command that does not only read: not
    /// those for the whole tool, for everything, or for programs that run anything.
    pub(crate) fn names_all(
        &self,
        rules: &[Rule],
        tool: &str,
        subjects: &[Subject],
        study: &Study,
    ) -> bool {
        let buckets: Vec<&Bucket> = self.buckets(tool).collect();
        let first = |find: &dyn Fn(&Bucket) -> Option<usize>| {
            buckets.iter().filter_map(|bucket| find(bucket)).min()
        };
        let is_narrow = |rule: &Rule| rule.content().is_some_and(|content| !content.is_wide());
        let is_named = |command: &SimpleCommand| {
            if command.reads_outside() {
                return first(&|bucket| bucket.commands.exact(command)).is_some();
            }
            let Some(place) = first(&|bucket| bucket.commands.covering(rules, command)) else {
                return command.is_read_only();
            };
            // Mostly the first is narrow; if not, a later one may be.
            rules[place..].iter().any(|rule| {
                rule.names(tool)
                    && rule
                        .content()
                        .is_some_and(|content| content.command.covers(command))
                    && is_narrow(rule)
            })
        };
        subjects.iter().all(|subject| {
            let Subject::Command(script) = subject else {
                return true;
            };
            study.on(script).is_some_and(|report| {
                let is_exact = may_be_allowed_whole(report)
                    && first(&|bucket| bucket.commands.text(script)).is_some();
                is_exact || report.may_be_allowed_by_parts() && report.commands.iter().all(is_named)
            })
        })
    }
}

impl RuleIndex {
    /// Whether rules that name what they mean cover every command that prints out of a repository.
    pub(crate) fn names_history(
        &self,
        rules: &[Rule],
        tool: &str,
        subjects: &[Subject],
        study: &Study,
    ) -> bool {
        let is_named = |command: &SimpleCommand| {
            rules.iter().any(|rule| {
                let content = rule.content().filter(|_| rule.names(tool));
                content.is_some_and(|content| !content.is_wide() && content.command.covers(command))
            })
        };
        subjects.iter().all(|subject| {
            let Subject::Command(script) = subject else {
                return true;
            };
            study.on(script).is_some_and(|report| {
                let mut printing = report
                    .commands
                    .iter()
                    .filter(|command| prints_history(&command.words));
                report.may_be_allowed_by_parts() && printing.all(is_named)
            })
        })
    }
}

/// Whether the subject is covered, and by which rule first; a script that only reads needs
/// none.
fn covering(
    buckets: &[&Bucket],
    rules: &[Rule],
    subject: &Subject,
    study: &Study,
) -> Option<Option<usize>> {
    let first = |find: &dyn Fn(&Bucket) -> Option<usize>| {
        buckets.iter().filter_map(|bucket| find(bucket)).min()
    };
    let Subject::Command(script) = subject else {
        return first(&|bucket| bucket.covering(rules, subject)).map(Some);
    };
    if let Some(every) = first(&|bucket| bucket.every) {
        return Some(Some(every));
    }
    let report = study.on(script)?;
    if may_be_allowed_whole(report)
        && let Some(exact) = first(&|bucket| bucket.commands.text(script))
    {
        return Some(Some(exact));
    }
    if !report.may_be_allowed_by_parts() {
        return None;
    }
    let mut used = None;
    for command in &report.commands {
        let find = |bucket: &Bucket| match command.reads_outside() {
            true => bucket.commands.exact(command),
            false => bucket.commands.covering(rules, command),
        };
        match first(&find) {
            Some(rule) => used = used.or(Some(rule)),
            None if command.is_read_only() => {}
            None => return None,
        }
    }
    Some(used)
}

impl Bucket {
    fn new(rules: &[Rule], places: &[usize]) -> Self {
        let mut bucket = Self::default();
        let mut patterns = Vec::new();
        for &at in places {
            let Some(content) = rules[at].content() else {
                keep(&mut bucket.whole, Some(at));
                continue;
            };
            keep(&mut bucket.narrow, Some(at));
            if content.command == crate::command::CommandPattern::Every {
                keep(&mut bucket.every, Some(at));
            }
            bucket.commands.add(at, &content.command);
            match &content.path {
                PathContent::Pattern(pattern) => patterns.push((at, &**pattern)),
                PathContent::None => {}
                PathContent::Broken => keep(&mut bucket.broken_path, Some(at)),
            }
            if let Some(host) = &content.domain {
                bucket.hosts.add(at, host);
            }
            bucket.texts.entry(content.text.clone()).or_insert(at);
        }
        bucket.paths = PathIndex::new(patterns);
        bucket
    }

    fn touching(&self, rules: &[Rule], subject: &Subject, study: &Study) -> Option<usize> {
        let mut best = None;
        match subject {
            Subject::Command(script) => match study.on(script) {
                None => keep(&mut best, self.narrow),
                Some(report) => {
                    keep(&mut best, self.every);
                    keep(&mut best, self.commands.mentioned(rules, script, report));
                }
            },
            Subject::Path(path) | Subject::Folder(path) => return self.touching_path(rules, path),
            Subject::Url(url) => {
                keep(&mut best, self.every);
                match possible_hosts(url) {
                    None => keep(&mut best, self.hosts.first),
                    Some(hosts) => {
                        for host in &hosts {
                            keep(&mut best, self.hosts.of(host));
                        }
                    }
                }
            }
            Subject::Text(text) => {
                keep(&mut best, self.every);
                keep(&mut best, self.texts.get(text).copied());
            }
        }
        best
    }

    fn touching_path(&self, rules: &[Rule], path: &Path) -> Option<usize> {
        let mut best = self.broken_path;
        let covers = |at: usize| pattern(rules, at).is_some_and(|p| p.forbids(path));
        keep(&mut best, self.paths.first(path, covers));
        best
    }

    fn covering(&self, rules: &[Rule], subject: &Subject) -> Option<usize> {
        let mut best = None;
        match subject {
            Subject::Command(_) => {}
            Subject::Path(path) | Subject::Folder(path) => {
                let allows = |at: usize| pattern(rules, at).is_some_and(|p| p.allows(path));
                keep(&mut best, self.paths.first(path, allows));
            }
            Subject::Url(url) => {
                keep(&mut best, self.every);
                let host = plain_host(url);
                keep(&mut best, host.and_then(|host| self.hosts.of(&host)));
            }
            Subject::Text(text) => {
                keep(&mut best, self.every);
                keep(&mut best, self.texts.get(text).copied());
            }
        }
        best
    }
}

fn pattern(rules: &[Rule], at: usize) -> Option<&crate::path_pattern::PathPattern> {
    rules[at].content()?.path.pattern()
}

impl HostIndex {
    fn add(&mut self, at: usize, pattern: &HostPattern) {
        keep(&mut self.first, Some(at));
        match pattern {
            HostPattern::Every => keep(&mut self.every, Some(at)),
            HostPattern::One(name) => {
                self.one.entry(name.clone()).or_insert(at);
            }
            HostPattern::Below(parent) => {
                self.below.entry(parent.clone()).or_insert(at);
            }
        }
    }

    fn of(&self, host: &str) -> Option<usize> {
        let mut best = self.every;
        keep(&mut best, self.one.get(host).copied());
        for (dot, _) in host.match_indices('.').filter(|(dot, _)| *dot > 0) {
            keep(&mut best, self.below.get(&host[dot + 1..]).copied());
        }
        best
    }
}
