//! Rules that do not do what their writer thinks: shadowed, unreachable, doubled, too wide, or
//! such that no call can match.
//!
//! It would rather miss one than cry wolf: a rule is called covered only where that is certain.

mod cover;
mod never;

use std::fmt;

use serde::Serialize;

use crate::behavior::Behavior;
use crate::claims::SubjectKind;
use crate::command::CommandPattern;
use crate::decide::Winner;
use crate::host::HostPattern;
use crate::rule::{Rule, Rules};
use crate::source::Provenance;
use crate::verb::Verb;

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lint {
    pub kind: LintKind,
    pub rule: String,
    /// The list that it stands in.
    pub effect: Behavior,
    pub provenance: Provenance,
    pub message: String,
    /// The other rule in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Winner>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LintKind {
    /// A stricter rule covers all that it covers.
    Shadowed,
    /// It says what another of its list has said.
    Duplicate,
    /// Its tool is removed.
    Unreachable,
    /// It allows nearly everything.
    TooWide,
    /// No call can match it.
    NeverMatches,
    /// What it names exists from the root, and not where it counts from. Only a caller who sees
    /// the files knows.
    Misplaced,
}

impl LintKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Shadowed => "shadowed",
            Self::Duplicate => "duplicate",
            Self::Unreachable => "unreachable",
            Self::TooWide => "too-wide",
            Self::NeverMatches => "never-matches",
            Self::Misplaced => "misplaced",
        }
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}: {}: the {} rule `{}` {}",
            self.provenance,
            self.kind.word(),
            self.effect,
            self.rule,
            self.message
        )
    }
}

impl Lint {
    /// A rule that names nothing where it counts from.
    pub fn misplaced(effect: Behavior, rule: &Rule, message: String) -> Self {
        Self {
            kind: LintKind::Misplaced,
            rule: rule.text().to_owned(),
            effect,
            provenance: rule.provenance().clone(),
            message,
            other: None,
        }
    }
}

/// Looks at all rules. `kind_of` says what a tool's calls are about, where that is known.
pub fn lint(rules: &Rules, kind_of: &dyn Fn(&str) -> Option<SubjectKind>) -> Vec<Lint> {
    let mut all = Vec::new();
    for (effect, list) in [
        (Behavior::Deny, &rules.deny),
        (Behavior::Ask, &rules.ask),
        (Behavior::Allow, &rules.allow),
    ] {
        for (at, rule) in list.iter().enumerate() {
            let kind = kind(rule, kind_of);
            let found = |kind, message: String, other: Option<(Behavior, &Rule)>| Lint {
                kind,
                rule: rule.text().to_owned(),
                effect,
                provenance: rule.provenance().clone(),
                message,
                other: other.map(|(effect, other)| Winner {
                    rule: other.text().to_owned(),
                    effect,
                    provenance: other.provenance().clone(),
                }),
            };
            if let Some(first) = list[..at].iter().find(|other| is_same(rule, other)) {
                let message = format!("is written twice: see {}", first.provenance());
                all.push(found(LintKind::Duplicate, message, Some((effect, first))));
            } else if let Some(bare) = remover(rule, effect, at, rules) {
                let message = format!("is about a tool that `{}` removes", bare.text());
                let other = Some((Behavior::Deny, bare));
                all.push(found(LintKind::Unreachable, message, other));
            } else if let Some((by, other)) = shadow(rule, effect, kind, rules) {
                let message = format!("never counts: the {by} rule `{}` covers it", other.text());
                all.push(found(LintKind::Shadowed, message, Some((by, other))));
            }
            if effect == Behavior::Allow
                && let Some(why) = too_wide(rule, kind)
            {
                all.push(found(LintKind::TooWide, why.into(), None));
            }
            if let Some(why) = never::why(rule, effect, kind) {
                all.push(found(LintKind::NeverMatches, why, None));
            }
        }
    }
    all
}

/// What the rule's content is about: as the caller says, or as it looks.
fn kind(rule: &Rule, kind_of: &dyn Fn(&str) -> Option<SubjectKind>) -> Option<SubjectKind> {
    if let Some(kind) = kind_of(rule.tool()) {
        return Some(kind);
    }
    if Verb::of(rule.tool()).is_some() {
        return Some(SubjectKind::Path);
    }
    let content = rule.content()?;
    let text = content.text.as_str();
    if content.domain.is_some() {
        Some(SubjectKind::Url)
    } else if text.ends_with(":*") {
        Some(SubjectKind::Command)
    } else if ["/", "~/", "./", "../", "**/"]
        .iter()
        .any(|start| text.starts_with(start))
    {
        Some(SubjectKind::Path)
    } else if text.contains(' ') {
        Some(SubjectKind::Command)
    } else {
        None
    }
}

fn is_same(rule: &Rule, other: &Rule) -> bool {
    let text = |rule: &Rule| {
        rule.content().map(|content| {
            content
                .text
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        })
    };
    // A path counts from the folder of its settings, so that the same text may mean two.
    let literal = |rule: &Rule| {
        let content = rule.content()?;
        content.path.pattern().map(|pattern| format!("{pattern:?}"))
    };
    rule.tool() == other.tool() && text(rule) == text(other) && literal(rule) == literal(other)
}

/// The deny rule without content that takes the rule's tool away.
fn remover<'a>(rule: &Rule, effect: Behavior, at: usize, rules: &'a Rules) -> Option<&'a Rule> {
    rules.deny.iter().enumerate().find_map(|(place, bare)| {
        let is_itself = effect == Behavior::Deny && place == at;
        let removes = bare.content().is_none() && cover::tool(bare.tool(), rule.tool());
        (removes && !is_itself && !is_same(rule, bare)).then_some(bare)
    })
}

/// A rule of a stricter list that covers it.
fn shadow<'a>(
    rule: &Rule,
    effect: Behavior,
    kind: Option<SubjectKind>,
    rules: &'a Rules,
) -> Option<(Behavior, &'a Rule)> {
    let in_list = |list: &'a [Rule], by| {
        list.iter()
            .find(|other| cover::rule(other, by, rule, kind))
            .map(|other| (by, other))
    };
    let denied = || in_list(&rules.deny, Behavior::Deny);
    match effect {
        Behavior::Deny => None,
        Behavior::Ask => denied(),
        Behavior::Allow => denied().or_else(|| in_list(&rules.ask, Behavior::Ask)),
    }
}

fn too_wide(rule: &Rule, kind: Option<SubjectKind>) -> Option<&'static str> {
    if matches!(rule.tool(), "*" | "mcp__*") {
        return Some("allows tools that nobody knows yet");
    }
    let Some(content) = rule.content() else {
        let runs = kind == Some(SubjectKind::Command);
        return runs.then_some("allows every command");
    };
    let is_every = content.command == CommandPattern::Every;
    match kind {
        Some(SubjectKind::Command) if is_every => Some("allows every command"),
        Some(SubjectKind::Command) if content.is_wide() => {
            Some("allows every command: it names a program that runs others")
        }
        Some(SubjectKind::Path) => {
            let folder = content.path.pattern()?.whole_folder()?;
            (folder.parent().is_none()).then_some("allows every file of the machine")
        }
        Some(SubjectKind::Url) => {
            (is_every || content.domain == Some(HostPattern::Every)).then_some("allows every host")
        }
        Some(SubjectKind::Command | SubjectKind::Text) => None,
        None => is_every.then_some("allows every call of the tool"),
    }
}

#[cfg(test)]
mod tests;
