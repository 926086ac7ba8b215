//! The decision about one call.

mod lookup;
mod named;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::behavior::Behavior;
use crate::chain::{self, Judged, Stage};
use crate::claims::{Claims, HookWord, Opinion, Reach, Subject};
use crate::effective::{Ignored, Trusting};
use crate::managed::Managed;
use crate::mode::Mode;
use crate::outside::{CageWish, Exits, Outside};
use crate::paths::{Closed, PathRules};
use crate::permit::{Access, Permit, named_zones, zones};
use crate::rule::Rules;
use crate::source::Provenance;
use crate::study::Study;
use serde::Serialize;
use toolbay_shell::{LinkResolver, Place};

use lookup::Indexed;

/// The rules and roots of a session, ready to decide. Clones share the rules.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Arc<Indexed>,
    paths: Arc<PathRules>,
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    links: Option<LinkResolver>,
    managed: Arc<Managed>,
    trusting: Trusting,
    mode: Mode,
    pub(crate) exits: Arc<Exits>,
}

/// A call about which is decided.
#[derive(Debug, Clone)]
pub struct Request {
    pub call_id: Arc<str>,
    pub tool: Arc<str>,
    pub input: Arc<str>,
    pub subjects: Vec<Subject>,
    /// Other names of its paths; see [`CallSubjects`](crate::CallSubjects).
    pub aliases: Vec<PathBuf>,
    pub claims: Claims,
    pub reach: Reach,
    pub opinion: Opinion,
    pub hooks: HookWord,
    pub cage: CageWish,
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
    pub(crate) fn new(reason: String, permit: Permit) -> Self {
        Self { reason, permit }
    }

    /// Why somebody must be asked.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The permit in question, to show what it would grant.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// What it would grant about files.
    pub fn would_grant(&self) -> &Access {
        self.permit.access()
    }

    /// The person said yes.
    pub fn grant(self) -> Permit {
        self.permit
    }

    /// The same by somebody else than a person.
    pub fn grant_because(self, reason: String) -> Permit {
        self.permit.because(reason)
    }
}

/// What is decided, in words: for people, logs and other programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ruling {
    pub behavior: Behavior,
    pub reason: String,
    /// The stage that had the last word.
    pub stage: Stage,
    pub winner: Option<Winner>,
}

/// The rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Winner {
    pub rule: String,
    /// The list that it stands in.
    pub effect: Behavior,
    pub provenance: Provenance,
}

impl Policy {
    /// `roots` are real paths: absolute, with every link resolved. What is `closed`
    /// stays so whatever the rules say. Allow rules of a project do not count.
    pub fn new(rules: Rules, roots: Vec<PathBuf>, closed: &Closed) -> Self {
        Self::governed(
            rules,
            roots,
            closed,
            Trusting::default(),
            Managed::default(),
        )
    }

    /// The same under a managed policy, by somebody who may trust the project.
    pub fn governed(
        rules: Rules,
        roots: Vec<PathBuf>,
        closed: &Closed,
        trusting: Trusting,
        managed: Managed,
    ) -> Self {
        let (rules, ignored) = rules.effective(trusting, &managed);
        let paths = Arc::new(PathRules::of(&rules).and_closed(closed));
        Self {
            rules: Arc::new(Indexed::new(rules, ignored)),
            paths,
            roots,
            home: None,
            links: None,
            managed: Arc::new(managed),
            trusting,
            mode: Mode::Default,
            exits: Arc::default(),
        }
    }

    /// The same in a mode. One that the managed policy forbids is the default one.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = self.managed.effective_mode(mode);
        self
    }

    /// The same with other rules.
    #[must_use]
    pub fn with_rules(&self, rules: Rules) -> Self {
        let closed = self.paths.closed();
        let managed = (*self.managed).clone();
        let other = Self::governed(rules, self.roots.clone(), closed, self.trusting, managed);
        Self {
            home: self.home.clone(),
            links: self.links.clone(),
            mode: self.mode,
            exits: self.exits.clone(),
            ..other
        }
    }

    /// What `~` means in commands, so that path rules see where they lead.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// How links are followed that commands name. Without it they are taken for what they are called.
    #[must_use]
    pub fn with_links(mut self, links: LinkResolver) -> Self {
        self.links = Some(links);
        self
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn managed(&self) -> &Managed {
        &self.managed
    }

    /// The rules that count.
    pub fn rules(&self) -> &Rules {
        &self.rules.rules
    }

    /// The allow rules that do not, to be shown.
    pub fn ignored(&self) -> &[Ignored] {
        &self.rules.ignored
    }

    /// The path rules that hold inside every sandbox.
    pub fn path_rules(&self) -> &Arc<PathRules> {
        &self.paths
    }

    /// Decides. Deny beats ask beats allow; see `chain.rs`.
    pub fn decide(&self, request: Request) -> Decision {
        self.decide_and_say(request).0
    }

    /// The same, and says what decided.
    pub fn decide_and_say(&self, request: Request) -> (Decision, Ruling) {
        let request = self.studied(request);
        let ruling = self.ruling(&chain::judge(self, &request));
        let reason = ruling.reason.clone();
        let decision = match ruling.behavior {
            Behavior::Allow => Decision::Allow(self.permit(request, reason)),
            Behavior::Ask => {
                let granted = format!("a person allowed it; asked because {reason}");
                let permit = self.permit(request, granted);
                Decision::Ask(Question { reason, permit })
            }
            Behavior::Deny => Decision::Deny { reason },
        };
        (decision, ruling)
    }

    /// Whether a deny rule without content covers the tool, so that nobody needs to
    /// see it. `mcp__server` covers all that a server has.
    pub fn removes(&self, tool: &str) -> bool {
        self.removed_by(tool).is_some()
    }

    /// The rule that does so.
    pub fn removed_by(&self, tool: &str) -> Option<&str> {
        if self.managed.permits_tool(tool).is_err() {
            return Some("the managed policy");
        }
        let place = self.rules.deny.whole(tool)?;
        Some(self.rule(Behavior::Deny, place).text())
    }

    /// Looks at the commands among the subjects, as if run in this folder.
    pub fn study(&self, subjects: &[Subject], working_directory: &Path) -> Study {
        let place = Place::new(working_directory).with_roots(self.roots.iter().cloned());
        let place = match &self.home {
            Some(home) => place.with_home(home),
            None => place,
        };
        let place = match &self.links {
            Some(links) => place.with_links(links.clone()),
            None => place,
        };
        Study::of(subjects, &place)
    }

    /// The request with a study that covers its commands.
    pub(crate) fn studied(&self, mut request: Request) -> Request {
        if !request.study.covers(&request.subjects) {
            let root = self.roots.first().cloned().unwrap_or_default();
            request.study = self.study(&request.subjects, &root);
        }
        if self.outside_of(&request) != Outside::Nothing {
            // Nothing keeps it from writing there, whatever was claimed.
            request.claims.read_only = false;
        }
        request
    }

    pub(crate) fn ruling(&self, judged: &Judged) -> Ruling {
        let deciding = judged.deciding();
        let winner = deciding.rule.map(|(effect, place)| {
            let rule = self.rule(effect, place);
            Winner {
                rule: rule.text().to_owned(),
                effect,
                provenance: rule.provenance().clone(),
            }
        });
        Ruling {
            behavior: judged.behavior(),
            reason: deciding.reason.clone(),
            stage: deciding.stage,
            winner,
        }
    }

    pub(crate) fn is_inside(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// What a permit for the call grants about files.
    pub(crate) fn access(&self, request: &Request) -> Access {
        match request.claims.read_only {
            true => Access::ReadOnly,
            false => Access::ReadWrite {
                zones: zones(&request.subjects, &self.roots),
            },
        }
    }

    fn permit(&self, request: Request, reason: String) -> Permit {
        let outside = self.outside_of(&request);
        let access = self.access(&request);
        let extra_reads = named_zones(&request.subjects)
            .filter(|zone| !self.is_inside(zone.path()))
            .collect();
        let scripts = scripts_of(&request.subjects).map(str::to_owned).collect();
        Permit::mint(
            request.call_id,
            request.tool,
            request.input,
            access,
            extra_reads,
            scripts,
            reason,
        )
        .letting_out(outside)
    }
}

pub(crate) fn paths_of(subjects: &[Subject]) -> impl Iterator<Item = &Path> {
    subjects.iter().filter_map(|subject| match subject {
        Subject::Path(path) | Subject::Folder(path) => Some(path.as_path()),
        Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => None,
    })
}

pub(crate) fn scripts_of(subjects: &[Subject]) -> impl Iterator<Item = &str> {
    subjects.iter().filter_map(|subject| match subject {
        Subject::Command(script) => Some(script.as_str()),
        Subject::Path(_) | Subject::Folder(_) | Subject::Url(_) | Subject::Text(_) => None,
    })
}

#[cfg(test)]
mod commands;
#[cfg(test)]
mod evasions;
#[cfg(test)]
mod tests;
