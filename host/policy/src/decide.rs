//! The decision about one call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::claims::{Claims, HookWord, Opinion, Reach, Subject};
use crate::paths::{Closed, PathAccess, PathRules};
use crate::permit::{Access, Permit, zones};
use crate::rule::{Rule, Rules};
use crate::study::Study;
use toolbay_shell::Place;

/// The rules and roots of a session, ready to decide.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Rules,
    paths: Arc<PathRules>,
    roots: Vec<PathBuf>,
}

/// A call about which is decided.
#[derive(Debug, Clone)]
pub struct Request {
    pub call_id: Arc<str>,
    pub tool: Arc<str>,
    pub input: Arc<str>,
    pub subjects: Vec<Subject>,
    pub claims: Claims,
    pub reach: Reach,
    pub opinion: Opinion,
    pub hooks: HookWord,
    /// What the commands among the subjects do; see [`Policy::study`]. If one lacks, all are
    /// looked at anew.
    pub study: Study,
}

/// What is decided.
#[derive(Debug)]
pub enum Decision {
    Allow(Permit),
    Ask(Question),
    Deny { reason: String },
}

/// A permit that a person may still give.
#[derive(Debug)]
pub struct Question {
    reason: String,
    permit: Permit,
}

impl Question {
    /// Why somebody must be asked.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The permit in question, to show what it would grant.
    pub fn would_grant(&self) -> &Access {
        self.permit.access()
    }

    /// The person said yes.
    pub fn grant(self) -> Permit {
        self.permit
    }
}

impl Policy {
    /// `roots` are real paths: absolute, with every link resolved. What is `closed`
    /// stays so whatever the rules say.
    pub fn new(rules: Rules, roots: Vec<PathBuf>, closed: &Closed) -> Self {
        let paths = Arc::new(PathRules::of(&rules).and_closed(closed));
        Self {
            rules,
            paths,
            roots,
        }
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The path rules that hold inside every sandbox.
    pub fn path_rules(&self) -> &Arc<PathRules> {
        &self.paths
    }

    /// Decides. Deny beats ask beats allow; a claim of read-only spares the
    /// question because such a call cannot write.
    pub fn decide(&self, mut request: Request) -> Decision {
        if !request.study.covers(&request.subjects) {
            let root = self.roots.first().cloned().unwrap_or_default();
            request.study = self.study(&request.subjects, &root);
        }
        let tool = &*request.tool;
        let subjects = &request.subjects;
        let study = &request.study;
        let find = |rules: &[Rule]| {
            rules
                .iter()
                .find(|rule| rule.touches(tool, subjects, study))
                .map(|rule| rule.text().to_owned())
        };

        if let Some(rule) = find(&self.rules.deny) {
            return Decision::Deny {
                reason: format!("the deny rule `{rule}` forbids it"),
            };
        }
        if let Some((path, rule)) = self.forbidden_path(&request) {
            return Decision::Deny {
                reason: format!("{} is closed by `{rule}`", path.display()),
            };
        }
        if let Opinion::Deny(reason) = &request.opinion {
            return Decision::Deny {
                reason: format!("the tool itself refuses: {reason}"),
            };
        }
        if let HookWord::Deny(reason) = &request.hooks {
            return Decision::Deny {
                reason: format!("a hook forbids it: {reason}"),
            };
        }
        let must_ask = find(&self.rules.ask)
            .map(|rule| format!("the ask rule `{rule}` covers it"))
            .or_else(|| {
                let always = study.always_asks()?;
                Some(format!("no rule can allow this: {always}"))
            })
            .or_else(|| {
                let rule = self.unsure_rule(&request)?;
                Some(format!(
                    "it runs something that cannot be named, and `{rule}` may forbid it"
                ))
            })
            .or_else(|| match &request.hooks {
                HookWord::Ask(reason) => Some(format!("a hook wants you to decide: {reason}")),
                HookWord::None | HookWord::Allow(_) | HookWord::Deny(_) => None,
            })
            .or_else(|| match &request.opinion {
                Opinion::Ask(reason) => Some(format!("the tool wants you to decide: {reason}")),
                Opinion::None | Opinion::Deny(_) => None,
            });
        if let Some(reason) = must_ask {
            return self.ask(request, reason);
        }
        if let HookWord::Allow(reason) = &request.hooks {
            let reason = format!("a hook allows it: {reason}");
            return Decision::Allow(self.permit(request, reason));
        }
        if let Some(rule) = self.rules.allow(tool, subjects, study) {
            let reason = format!("the allow rule `{}` covers it", rule.text());
            return Decision::Allow(self.permit(request, reason));
        }
        if let Some(outside) = self.outside(&request) {
            let reason = format!("{} lies outside the project's folders", outside.display());
            return self.ask(request, reason);
        }
        if request.claims.read_only {
            if let Some(doubt) = study.doubt() {
                let reason = format!("its command may change things: {doubt}");
                return self.ask(request, reason);
            }
            return Decision::Allow(self.permit(
                request,
                "read-only inside the roots: it cannot write".into(),
            ));
        }
        if request.reach.is_harmless() {
            return Decision::Allow(self.permit(
                request,
                "its component imports nothing that could change anything but its own session state"
                    .into(),
            ));
        }
        self.ask(request, "it may change things".into())
    }

    /// Whether a deny rule without content covers the tool, so that nobody needs to
    /// see it. `mcp__server` covers all that a server has.
    pub fn removes(&self, tool: &str) -> bool {
        self.removed_by(tool).is_some()
    }

    /// The rule that does so.
    pub fn removed_by(&self, tool: &str) -> Option<&str> {
        let mut rules = self.rules.deny.iter();
        rules.find(|rule| rule.removes(tool)).map(Rule::text)
    }

    /// Looks at the commands among the subjects, as if run in this folder.
    pub fn study(&self, subjects: &[Subject], working_directory: &Path) -> Study {
        let place = Place::new(working_directory).with_roots(self.roots.iter().cloned());
        Study::of(subjects, &place)
    }

    /// A deny rule about commands, when not all that runs can be named.
    fn unsure_rule(&self, request: &Request) -> Option<&str> {
        if !request.study.is_opaque() {
            return None;
        }
        let mut rules = self.rules.deny.iter();
        rules
            .find(|rule| rule.may_name_a_command_of(&request.tool))
            .map(Rule::text)
    }

    fn forbidden_path<'a>(&'a self, request: &'a Request) -> Option<(&'a Path, &'a str)> {
        let access = if request.claims.read_only {
            PathAccess::Read
        } else {
            PathAccess::Write
        };
        request.subjects.iter().find_map(|subject| match subject {
            Subject::Path(path) => self
                .paths
                .forbids(path, access)
                .map(|rule| (path.as_path(), rule)),
            Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => None,
        })
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    fn outside<'a>(&self, request: &'a Request) -> Option<&'a Path> {
        paths_of(&request.subjects).find(|path| {
            let for_reading = request.claims.read_only && self.paths.is_for_reading(path);
            !self.is_inside(path) && !for_reading
        })
    }

    fn ask(&self, request: Request, reason: String) -> Decision {
        let permit = self.permit(
            request,
            format!("a person allowed it; asked because {reason}"),
        );
        Decision::Ask(Question { reason, permit })
    }

    fn permit(&self, request: Request, reason: String) -> Permit {
        let paths: Vec<&Path> = paths_of(&request.subjects).collect();
        let access = if request.claims.read_only {
            Access::ReadOnly
        } else {
            Access::ReadWrite {
                zones: zones(&paths, &self.roots),
            }
        };
        let extra_reads = paths
            .iter()
            .filter(|path| !self.is_inside(path))
            .map(|path| path.to_path_buf())
            .collect();
        Permit::mint(
            request.call_id,
            request.tool,
            request.input,
            access,
            extra_reads,
            reason,
        )
    }
}

fn paths_of(subjects: &[Subject]) -> impl Iterator<Item = &Path> {
    subjects.iter().filter_map(|subject| match subject {
        Subject::Path(path) => Some(path.as_path()),
        Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => None,
    })
}

#[cfg(test)]
mod commands;
#[cfg(test)]
mod tests;
