//! Why a call is decided as it is: every stage, every rule that was looked at, and what rule
//! would spare the question.

use serde::Serialize;

use crate::behavior::Behavior;
use crate::chain::{self, Judged, Stage, touched};
use crate::claims::Subject;
use crate::decide::{Policy, Request, Ruling, Winner};
use crate::host::plain_host;
use crate::path_pattern::Anchors;
use crate::paths::PathAccess;
use crate::permit::Access;
use crate::rule::Rule;
use crate::source::{Provenance, Source};
use crate::verb::Verb;
use crate::zones::Zone;

/// A decision with all that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub behavior: Behavior,
    pub reason: String,
    pub winner: Option<Winner>,
    /// Every rule about the tool or a path of the call, by list.
    pub looked_at: Vec<LookedAt>,
    pub steps: Vec<Step>,
    /// Where it may write if it runs.
    pub writes: Vec<Zone>,
    /// Rules that would together allow it. None where no rule could.
    pub suggestions: Vec<String>,
}

/// A rule that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LookedAt {
    pub rule: String,
    pub provenance: Provenance,
    pub effect: Behavior,
    /// It is about this call. Of allow rules: about a part of it.
    pub matched: bool,
}

/// What a stage said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub stage: Stage,
    pub behavior: Option<Behavior>,
    pub outcome: String,
}

/// What a person can do so that a call is not asked about again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleAdvice {
    /// These allow rules together would allow it.
    Rules(Vec<String>),
    /// No rule that could be offered would, and this is why.
    NoRule(String),
}

/// A prompt with more rules than this is not read.
const MOST_SUGGESTIONS: usize = 5;

impl Policy {
    /// Decides as [`Policy::decide`] does, and tells why.
    pub fn explain(&self, request: &Request) -> Explanation {
        let request = self.studied(request.clone());
        let judged = chain::judge(self, &request);
        let Ruling {
            behavior,
            reason,
            winner,
            ..
        } = self.ruling(&judged);
        Explanation {
            behavior,
            reason,
            winner,
            looked_at: self.looked_at(&request),
            writes: match self.access(&request) {
                Access::ReadWrite { zones } if behavior != Behavior::Deny => {
                    zones.iter().cloned().collect()
                }
                Access::ReadWrite { .. } | Access::ReadOnly => Vec::new(),
            },
            suggestions: self.suggested(&request, &judged),
            steps: judged
                .said
                .into_iter()
                .map(|said| Step {
                    stage: said.stage,
                    behavior: said.behavior,
                    outcome: said.reason,
                })
                .collect(),
        }
    }

    /// Rules that a person could be offered: together they would really allow the call, as far
    /// as the person has a say. None if no rule would.
    pub fn offers(&self, request: &Request) -> Vec<String> {
        match self.advice(request) {
            RuleAdvice::Rules(rules) => rules,
            RuleAdvice::NoRule(_) => Vec::new(),
        }
    }

    /// The same, or why there is no such rule.
    pub fn advice(&self, request: &Request) -> RuleAdvice {
        let request = self.studied(request.clone());
        let judged = chain::judge(self, &request);
        if let Some(why) = firm(&judged) {
            return RuleAdvice::NoRule(why);
        }
        let mut choices = vec![suggestions(&request, &judged)];
        if let [Subject::Command(script)] = request.subjects.as_slice() {
            choices.push(self.rules_for_parts(&request));
            choices.push(vec![Rule::text_for_command(&request.tool, script)]);
        }
        let would_do = |texts: &Vec<String>| {
            let wider = self.with_session_rules(texts);
            !texts.is_empty() && wider.is_some_and(|wider| allows(&wider, &request))
        };
        match choices.into_iter().find(would_do) {
            Some(rules) => RuleAdvice::Rules(rules),
            None => {
                let why = why_no_rule(self, &request);
                let whole = vec![request.tool.to_string()];
                // Offered by nobody, but to say that nothing helps would be wrong.
                RuleAdvice::NoRule(match would_do(&whole) {
                    true => format!(
                        "{why}; only the rule `{}` would, and it allows every call of that tool",
                        request.tool
                    ),
                    false => why,
                })
            }
        }
    }

    /// Rules to be shown. Of a script of several commands each may be named by itself.
    fn suggested(&self, request: &Request, judged: &Judged) -> Vec<String> {
        let mut wide = suggestions(request, judged);
        if self.with_session_rules(&wide).is_none() {
            // Part of it can be named by no rule, such as a path that is too odd for a pattern.
            wide.clear();
        }
        if !wide.is_empty() || !is_open(judged) || request.study.parts().len() < 2 {
            return wide;
        }
        let parts = self.rules_for_parts(request);
        match self.with_session_rules(&parts) {
            Some(wider) if !parts.is_empty() && allows(&wider, request) => parts,
            _ => Vec::new(),
        }
    }

    /// A rule for each command that no rule covers yet: for its first words, or else for itself.
    /// None if there are too many to read.
    fn rules_for_parts(&self, request: &Request) -> Vec<String> {
        let tool = &*request.tool;
        let mut texts = Vec::new();
        for command in self.uncovered(request) {
            let text = match (command.prefix(), command.quoted()) {
                (Some(prefix), _) => format!("{tool}({prefix}:*)"),
                (None, Some(quoted)) => Rule::text_for_command(tool, &quoted),
                (None, None) => return Vec::new(),
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.len() > MOST_SUGGESTIONS {
            texts.clear();
        }
        texts
    }

    /// As if somebody had allowed this for the session; none if one of them is no rule.
    fn with_session_rules(&self, texts: &[String]) -> Option<Self> {
        // What is offered names its files from the root on.
        let anchors = Anchors {
            home: None,
            cwd: "/".into(),
            settings: "/".into(),
        };
        let mut rules = self.rules().clone();
        for text in texts {
            let rule = Rule::parse(text, &anchors).ok()?;
            rules.allow.push(rule.from(Provenance::of(Source::Session)));
        }
        Some(self.with_rules(rules))
    }

    fn looked_at(&self, request: &Request) -> Vec<LookedAt> {
        let mut all = Vec::new();
        for effect in [Behavior::Deny, Behavior::Ask, Behavior::Allow] {
            for rule in self.list(effect) {
                let Some(matched) = is_about(rule, effect, request) else {
                    continue;
                };
                all.push(LookedAt {
                    rule: rule.text().to_owned(),
                    provenance: rule.provenance().clone(),
                    effect,
                    matched,
                });
            }
        }
        all
    }
}

/// Whether the rule matches; none if it is about other tools.
fn is_about(rule: &Rule, effect: Behavior, request: &Request) -> Option<bool> {
    let (tool, subjects, study) = (&request.tool, &request.subjects, &request.study);
    let closes = || closes_a_path(rule, request);
    let is_named = rule.names(tool);
    match effect {
        Behavior::Deny => match closes() {
            Some(closes) => Some(closes || rule.touches(tool, subjects, study)),
            None => is_named.then(|| rule.touches(tool, subjects, study)),
        },
        Behavior::Ask => is_named.then(|| rule.touches(tool, subjects, study)),
        Behavior::Allow => is_named.then(|| rule.helps(tool, subjects, study)),
    }
}

/// Whether a deny rule with a verb closes a path of the call; none if it has no verb, or the
/// call no path.
fn closes_a_path(rule: &Rule, request: &Request) -> Option<bool> {
    let verb = Verb::of(rule.tool())?;
    let pattern = rule.content()?.path.pattern()?;
    let heard = request.study.heard().map(|path| (path, PathAccess::Write));
    let mut paths = touched(request).chain(heard).peekable();
    paths.peek()?;
    let closes = paths.any(|(path, access)| {
        let is_meant = match verb {
            Verb::Read => true,
            Verb::Write => access == PathAccess::Write,
        };
        is_meant && pattern.forbids(path)
    });
    Some(closes)
}

/// Why no allow rule can change the answer, if it is given before those are asked.
fn firm(judged: &Judged) -> Option<String> {
    let before = &judged.said[judged.before_mode];
    let is_ask = before.behavior == Some(Behavior::Ask);
    let why = match before.stage {
        Stage::Hook if is_ask => "a hook wants it decided each time".to_owned(),
        Stage::Tool if is_ask => "the tool wants it decided each time".to_owned(),
        // They never allow.
        Stage::Limits => before.reason.clone(),
        Stage::Rules if matches!(before.rule, Some((Behavior::Ask, _))) => {
            format!("{}, and it comes before every allow rule", before.reason)
        }
        Stage::Hook | Stage::Tool | Stage::Rules | Stage::Otherwise
            if before.behavior == Some(Behavior::Deny) =>
        {
            before.reason.clone()
        }
        Stage::Hook | Stage::Tool | Stage::Rules | Stage::Otherwise | Stage::Mode => return None,
    };
    Some(why)
}

/// Why no rule that was tried would allow the call.
fn why_no_rule(policy: &Policy, request: &Request) -> String {
    if let Some(obstacle) = request.study.obstacle() {
        return obstacle;
    }
    let parts = request.study.doubtful().count();
    if parts > MOST_SUGGESTIONS || request.subjects.len() > MOST_SUGGESTIONS {
        return format!("it would need more than {MOST_SUGGESTIONS} rules");
    }
    if policy.managed().only_managed_rules {
        return "the managed policy lets only its own rules allow".into();
    }
    "no rule names exactly this and nothing else".into()
}

fn allows(policy: &Policy, request: &Request) -> bool {
    chain::judge(policy, request).behavior() == Behavior::Allow
}

/// Whether an allow rule can do anything about the answer.
fn is_open(judged: &Judged) -> bool {
    let before = &judged.said[judged.before_mode];
    match before.behavior {
        Some(Behavior::Allow) => true,
        // A command that may be a denied one can be allowed by its name.
        Some(Behavior::Ask) => {
            let may_be_denied = matches!(before.rule, Some((Behavior::Deny, _)));
            before.stage == Stage::Otherwise || may_be_denied
        }
        Some(Behavior::Deny) | None => false,
    }
}

/// Rules that would together cover the call, where an allow rule can do anything about it.
fn suggestions(request: &Request, judged: &Judged) -> Vec<String> {
    if !is_open(judged) {
        return Vec::new();
    }
    let tool = &*request.tool;
    let mut all: Vec<String> = Vec::new();
    for subject in &request.subjects {
        match subject {
            Subject::Command(_) => {}
            Subject::Path(path) | Subject::Folder(path) => {
                all.push(Rule::text_for_path(tool, path))
            }
            Subject::Url(url) => {
                let Some(host) = plain_host(url) else {
                    return Vec::new();
                };
                all.push(format!("{tool}(domain:{host})"));
            }
            // A rule's content begins and ends with something that is seen.
            Subject::Text(text) if text.trim() == text && !text.is_empty() => {
                all.push(format!("{tool}({text})"));
            }
            Subject::Text(_) => return Vec::new(),
        }
    }
    let has_command = |subject: &Subject| matches!(subject, Subject::Command(_));
    if request.subjects.iter().any(has_command) {
        let prefixes: Vec<String> = request
            .study
            .prefixes()
            .map(|prefix| format!("{tool}({prefix}:*)"))
            .collect();
        if prefixes.is_empty() {
            return Vec::new();
        }
        all.extend(prefixes);
    }
    if request.subjects.is_empty() {
        all.push(tool.to_owned());
    }
    all.sort();
    all.dedup();
    if all.len() > MOST_SUGGESTIONS {
        all.clear();
    }
    all
}

#[cfg(test)]
mod tests;
