//! The decision about one call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::claims::{Claims, HookWord, Opinion, Reach, Subject};
use crate::paths::{Closed, PathAccess, PathRules};
use crate::permit::{Access, Permit, zones};
use crate::rule::{Rule, Rules};
use crate::study::Study;

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
    /// What the commands among the subjects do. One that lacks is looked at anew.
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
    pub fn decide(&self, request: Request) -> Decision {
        let tool = &*request.tool;
        let subjects = &request.subjects;
        let find = |rules: &[Rule]| {
            rules
                .iter()
                .find(|rule| rule.touches(tool, subjects))
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
        if let Some(rule) = self
            .rules
            .allow
            .iter()
            .find(|rule| rule.covers_all(tool, subjects))
        {
            let reason = format!("the allow rule `{}` covers it", rule.text());
            return Decision::Allow(self.permit(request, reason));
        }
        if let Some(outside) = self.outside(&request) {
            let reason = format!("{} lies outside the project's folders", outside.display());
            return self.ask(request, reason);
        }
        if request.claims.read_only {
            if let Some(doubt) = doubt(&request) {
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

/// Why a command among the subjects is not plainly one that only reads. A tool's
/// claim about a command is not enough: the host reads it too.
fn doubt(request: &Request) -> Option<String> {
    let is_command = |subject: &&Subject| matches!(subject, Subject::Command(_));
    let commands = request.subjects.iter().filter(is_command).count();
    if request.study.len() == commands {
        return request.study.doubt().map(str::to_owned);
    }
    Study::of(&request.subjects).doubt().map(str::to_owned)
}

fn paths_of(subjects: &[Subject]) -> impl Iterator<Item = &Path> {
    subjects.iter().filter_map(|subject| match subject {
        Subject::Path(path) => Some(path.as_path()),
        Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => None,
    })
}

#[cfg(test)]
mod tests;
