//! `policy check --jsonl`: a line with a call and rules in, a line with the decision out.
//!
//! Nothing is asked of tools, files or people: the caller says what it knows about a tool, and
//! the rest is text.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use toolbay_shell::{Place, inspect};

use crate::behavior::Behavior;
use crate::claims::{Claims, HookWord, Opinion, Reach, Subject, SubjectKind};
use crate::decide::{Policy, Request};
use crate::mode::Mode;
use crate::path_pattern::Anchors;
use crate::rule::{Rule, RuleError, Rules};
use crate::source::Provenance;
use crate::study::Study;
use crate::subjects::{CallSubjects, ReachedPath, subjects_in};

/// A question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckLine {
    /// Given back as it came.
    #[serde(default)]
    pub id: Value,
    pub tool: String,
    pub input: Value,
    /// Instead of the policy's own.
    #[serde(default)]
    pub rules: Option<RuleTexts>,
    /// Instead of the policy's own.
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// Rules as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleTexts {
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub ask: Vec<String>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckAnswer {
    pub id: Value,
    pub behavior: Behavior,
    pub reason: String,
    /// The rule that decided.
    pub rule: Option<String>,
    /// Whose it is.
    pub source: Option<&'static str>,
    pub suggestions: Vec<String>,
}

/// Why a line has no answer.
#[derive(Debug, Error)]
pub enum CheckError {
    #[error("not a line to check: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Rule(#[from] RuleError),
}

/// What the caller knows about a tool and an input.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownTool {
    /// What rules speak about, by JSON pointer.
    pub subjects: Vec<(SubjectKind, String)>,
    pub claims: Claims,
    pub reach: Reach,
}

/// Answers lines.
pub struct Checker<'a> {
    policy: Policy,
    anchors: Anchors,
    tools: &'a dyn Fn(&str, &Value) -> Option<KnownTool>,
    paths: &'a dyn Fn(&Path) -> ReachedPath,
}

/// A path as it is called: this crate looks at no files.
fn by_name(path: &Path) -> ReachedPath {
    Subject::Path(Place::new("/").resolve(&path.to_string_lossy())).into()
}

impl<'a> Checker<'a> {
    /// `anchors.cwd` is where paths and commands count from. For a tool that `tools` does not
    /// know, the names of its input's fields must do.
    pub fn new(
        policy: Policy,
        anchors: Anchors,
        tools: &'a dyn Fn(&str, &Value) -> Option<KnownTool>,
    ) -> Self {
        Self {
            policy,
            anchors,
            tools,
            paths: &by_name,
        }
    }

    /// The same with somebody who knows where a path leads and whether it is a folder.
    #[must_use]
    pub fn with_paths(mut self, paths: &'a dyn Fn(&Path) -> ReachedPath) -> Self {
        self.paths = paths;
        self
    }

    /// Answers one line of JSON.
    pub fn check(&self, line: &str) -> Result<CheckAnswer, CheckError> {
        Ok(self.answer(serde_json::from_str(line)?)?)
    }

    /// Answers a line that is parsed.
    pub fn answer(&self, line: CheckLine) -> Result<CheckAnswer, RuleError> {
        let rules = line.rules.as_ref().map(|texts| self.rules(texts));
        let policy = match rules.transpose()? {
            Some(rules) => self.policy.with_rules(rules),
            None => self.policy.clone(),
        };
        let policy = match line.mode {
            Some(mode) => policy.with_mode(mode),
            None => policy,
        };
        let request = self.request(&policy, &line.tool, &line.input);
        let explanation = policy.explain(&request);
        let (rule, source) = match explanation.winner {
            Some(winner) => (Some(winner.rule), Some(winner.provenance.source.word())),
            None => (None, None),
        };
        Ok(CheckAnswer {
            id: line.id,
            behavior: explanation.behavior,
            reason: explanation.reason,
            rule,
            source,
            suggestions: explanation.suggestions,
        })
    }

    fn rules(&self, texts: &RuleTexts) -> Result<Rules, RuleError> {
        texts.parse(&self.anchors, &Provenance::default())
    }

    /// The call as the host would see it.
    pub fn request(&self, policy: &Policy, tool: &str, input: &Value) -> Request {
        let cwd = &self.anchors.cwd;
        let known = (self.tools)(tool, input);
        let (found, mut claims, reach) = match known {
            Some(known) => {
                let at = known.subjects.iter().map(|(kind, at)| (*kind, at.as_str()));
                (
                    subjects_in(at, input, cwd, known.claims, self.paths),
                    known.claims,
                    known.reach,
                )
            }
            None => {
                let given = FIELDS.iter().copied();
                let given = given.filter(|(_, at)| input.pointer(at).is_some());
                let found = subjects_in(given, input, cwd, Claims::STRICT, self.paths);
                let reach = guessed_reach(&found.subjects);
                (found, Claims::STRICT, reach)
            }
        };
        let CallSubjects { subjects, aliases } = found;
        let mut commands = subjects.iter().filter_map(|subject| match subject {
            Subject::Command(script) => Some(script),
            Subject::Path(_) | Subject::Folder(_) | Subject::Url(_) | Subject::Text(_) => None,
        });
        if let Some(first) = commands.next() {
            let only_reads = |script: &String| inspect(script, &Place::anywhere()).read_only();
            claims.read_only = only_reads(first) && commands.all(only_reads);
        }
        let study: Study = policy.study(&subjects, cwd);
        Request {
            call_id: "check".into(),
            tool: tool.into(),
            input: input.to_string().into(),
            subjects,
            aliases,
            claims,
            reach,
            opinion: Opinion::None,
            hooks: HookWord::None,
            cage: crate::outside::CageWish::Inside,
            study,
        }
    }
}

impl RuleTexts {
    /// All of them, written there.
    pub fn parse(&self, anchors: &Anchors, from: &Provenance) -> Result<Rules, RuleError> {
        let parse = |texts: &[String]| -> Result<Vec<Rule>, RuleError> {
            texts
                .iter()
                .map(|text| Ok(Rule::parse(text, anchors)?.from(from.clone())))
                .collect()
        };
        Ok(Rules {
            deny: parse(&self.deny)?,
            ask: parse(&self.ask)?,
            allow: parse(&self.allow)?,
        })
    }
}

/// What fields of these names hold in nearly every tool.
const FIELDS: &[(SubjectKind, &str)] = &[
    (SubjectKind::Command, "/command"),
    (SubjectKind::Path, "/file_path"),
    (SubjectKind::Path, "/path"),
    (SubjectKind::Path, "/notebook_path"),
    (SubjectKind::Url, "/url"),
];

/// A tool that names files and nothing else is taken for one that edits them.
fn guessed_reach(subjects: &[Subject]) -> Reach {
    let is_path = |subject: &Subject| matches!(subject, Subject::Path(_) | Subject::Folder(_));
    if subjects.is_empty() || !subjects.iter().all(is_path) {
        return Reach::ALL;
    }
    Reach {
        files: true,
        search: true,
        ..Reach::default()
    }
}

#[cfg(test)]
mod tests;
