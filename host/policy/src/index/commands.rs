//! The command patterns among the rules of one tool.

use std::collections::{BTreeSet, HashMap};

use globset::Glob;
use toolbay_shell::{Report, SimpleCommand};

use super::keep;
use crate::command::{CommandPattern, is_pattern, joined};
use crate::path_pattern::check_glob;
use crate::rule::Rule;

/// More commands than this whose names are patterns of file names nobody writes who means
/// well. Each costs a look at every program that rules name, so that past it any is meant.
const MOST_PATTERNS: usize = 16;

#[derive(Debug, Clone, Default)]
pub(super) struct CommandIndex {
    /// The first that names a program.
    first: Option<usize>,
    /// By all words.
    exact: HashMap<String, usize>,
    /// By the whole script.
    texts: HashMap<String, usize>,
    prefixes: HashMap<String, usize>,
    /// Words of the longest prefix.
    longest: usize,
    /// With a star, by program.
    wild: HashMap<String, Vec<usize>>,
    /// With a star in the program.
    wildest: Vec<usize>,
    /// By program, for commands whose name is a pattern.
    programs: HashMap<String, Vec<usize>>,
}

impl CommandIndex {
    pub(super) fn add(&mut self, at: usize, pattern: &CommandPattern) {
        match pattern {
            CommandPattern::Every => {}
            CommandPattern::Prefix(words) => {
                self.longest = self.longest.max(words.len());
                self.prefixes.entry(joined(words)).or_insert(at);
            }
            CommandPattern::Exact { text, words } => {
                self.exact.entry(joined(words)).or_insert(at);
                self.texts.entry(text.clone()).or_insert(at);
            }
            CommandPattern::Wild(wild) => match wild.program() {
                Some(program) => self.wild.entry(program.to_owned()).or_default().push(at),
                None => self.wildest.push(at),
            },
        }
        if let Some(program) = pattern.program() {
            keep(&mut self.first, Some(at));
            self.programs
                .entry(program.to_owned())
                .or_default()
                .push(at);
        }
    }

    /// The first for this very script.
    pub(super) fn text(&self, script: &str) -> Option<usize> {
        self.texts.get(script.trim()).copied()
    }

    /// The first that a rule which forbids finds in a script.
    pub(super) fn mentioned(&self, rules: &[Rule], script: &str, report: &Report) -> Option<usize> {
        let mut best = self.text(script);
        let is_mentioned = |at: usize| command(rules, at).is_mentioned(script, report);
        // A blank inside of a word counts as a border there, which only they can see.
        keep(
            &mut best,
            self.wildest.iter().copied().find(|at| is_mentioned(*at)),
        );
        let mut patterns = BTreeSet::new();
        for mention in &report.mentions {
            keep(&mut best, self.words(&mention.words));
            let Some(name) = mention.words.first() else {
                continue;
            };
            // `'git push' x` is heard as `git` too.
            for program in [name.as_str(), name.split(' ').next().unwrap_or(name)] {
                let wild = self.wild.get(program).into_iter().flatten();
                keep(&mut best, wild.copied().find(|at| is_mentioned(*at)));
            }
            if is_pattern(name) {
                patterns.insert(name.as_str());
            }
        }
        let is_complex = patterns.iter().any(|name| check_glob(name).is_err());
        if is_complex || patterns.len() > MOST_PATTERNS {
            keep(&mut best, self.first);
            return best;
        }
        for glob in patterns.iter().filter_map(|name| Glob::new(name).ok()) {
            let matcher = glob.compile_matcher();
            let meant = self
                .programs
                .iter()
                .filter(|(name, _)| matcher.is_match(name));
            for (_, places) in meant {
                keep(
                    &mut best,
                    places.iter().copied().find(|at| is_mentioned(*at)),
                );
            }
        }
        best
    }

    /// The first for this very command.
    pub(super) fn exact(&self, command: &SimpleCommand) -> Option<usize> {
        command.for_rules.as_ref()?;
        self.exact.get(&joined(&command.words)).copied()
    }

    /// The first that allows a command.
    pub(super) fn covering(&self, rules: &[Rule], command_: &SimpleCommand) -> Option<usize> {
        command_.for_rules.as_ref()?;
        let words = &command_.words;
        let mut best = self.words(words);
        let wild = words.first().and_then(|name| self.wild.get(name));
        for places in [wild, Some(&self.wildest)].into_iter().flatten() {
            let covers = |at: &usize| command(rules, *at).covers_words(words);
            keep(&mut best, places.iter().copied().find(covers));
        }
        best
    }

    /// The first prefix or exact command that is these words.
    fn words(&self, words: &[String]) -> Option<usize> {
        let all = joined(words);
        let mut best = self.exact.get(&all).copied();
        let mut end = 0;
        for word in words.iter().take(self.longest) {
            end += word.len();
            keep(&mut best, self.prefixes.get(&all[..end]).copied());
            // The border behind the word is one byte.
            end += 1;
        }
        best
    }
}

fn command(rules: &[Rule], at: usize) -> &CommandPattern {
    match rules[at].content() {
        Some(content) => &content.command,
        None => &CommandPattern::Every,
    }
}
