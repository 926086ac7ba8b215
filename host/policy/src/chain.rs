//! The stages of a decision: hook, tool, limits, rules, what holds otherwise, mode.
//!
//! Each stage says allow, ask, deny or nothing, and gives its reason. Deny beats ask beats
//! allow, whoever says it; among equals the earlier stage gives the reason. So no allow of a
//! hook or a tool can beat a rule that denies or asks, and the order never makes anything looser.

mod edits;
mod modes;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::behavior::Behavior;
use crate::claims::{HookWord, Opinion, Subject};
use crate::decide::{Policy, Request, paths_of};
use crate::outside::Leaving;
use crate::paths::{ClosedBy, OUTSIDE, PathAccess};

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Hook,
    /// The tool's own check.
    Tool,
    /// What no rule can allow.
    Limits,
    Rules,
    /// What holds where nobody has said anything.
    Otherwise,
    Mode,
}

impl Stage {
    pub fn word(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Tool => "tool",
            Self::Limits => "limits",
            Self::Rules => "rules",
            Self::Otherwise => "otherwise",
            Self::Mode => "mode",
        }
    }
}

/// What a stage said.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) stage: Stage,
    pub(crate) behavior: Option<Behavior>,
    pub(crate) reason: String,
    /// The rule behind it, by the list that it stands in and its place there.
    pub(crate) rule: Option<(Behavior, usize)>,
}

impl Said {
    fn new(stage: Stage, behavior: Behavior, reason: String) -> Self {
        Self {
            stage,
            behavior: Some(behavior),
            reason,
            rule: None,
        }
    }

    fn nothing(stage: Stage, reason: &str) -> Self {
        Self {
            stage,
            behavior: None,
            reason: reason.into(),
            rule: None,
        }
    }

    fn by(mut self, list: Behavior, place: usize) -> Self {
        self.rule = Some((list, place));
        self
    }
}

/// All that was said, and what came of it.
pub(crate) struct Judged {
    pub(crate) said: Vec<Said>,
    /// The one that counted before the mode.
    pub(crate) before_mode: usize,
    /// The one that counts.
    pub(crate) last: usize,
}

impl Judged {
    pub(crate) fn behavior(&self) -> Behavior {
        self.said[self.last].behavior.unwrap_or(Behavior::Deny)
    }

    pub(crate) fn deciding(&self) -> &Said {
        &self.said[self.last]
    }
}

/// Runs the chain. The study must cover the subjects.
pub(crate) fn judge(policy: &Policy, request: &Request) -> Judged {
    let mut said = vec![
        hook(policy, request),
        tool(policy, request),
        limits(policy, request),
        rules(policy, request),
    ];
    let mut last = match strictest(&said) {
        Some(at) => at,
        None => {
            said.push(otherwise(policy, request));
            said.len() - 1
        }
    };
    let before_mode = last;
    let mode = modes::mode(policy, request, &said[last]);
    if mode.behavior.is_some() {
        last = said.len();
    }
    said.push(mode);
    Judged {
        said,
        before_mode,
        last,
    }
}

/// The first of the strictest.
fn strictest(said: &[Said]) -> Option<usize> {
    [Behavior::Deny, Behavior::Ask, Behavior::Allow]
        .into_iter()
        .find_map(|wanted| said.iter().position(|said| said.behavior == Some(wanted)))
}

const ONLY_MANAGED: &str =
    "its allow does not count: the managed policy lets only its own rules allow";

const PROTECTED: &str =
    "its allow does not count: a protected file takes a rule that names it, or a user";

fn hook(policy: &Policy, request: &Request) -> Said {
    let said = |behavior, text: &str, reason: &str| {
        Said::new(Stage::Hook, behavior, format!("{text}: {reason}"))
    };
    match &request.hooks {
        HookWord::None => Said::nothing(Stage::Hook, "no hook has an opinion"),
        HookWord::Allow(_) if policy.managed().only_managed_rules => {
            Said::nothing(Stage::Hook, ONLY_MANAGED)
        }
        HookWord::Allow(_) if policy.unnamed_protected(request).is_some() => {
            Said::nothing(Stage::Hook, PROTECTED)
        }
        HookWord::Allow(reason) => said(Behavior::Allow, "a hook allows it", reason),
        HookWord::Ask(reason) => said(Behavior::Ask, "a hook wants you to decide", reason),
        HookWord::Deny(reason) => said(Behavior::Deny, "a hook forbids it", reason),
    }
}

fn tool(policy: &Policy, request: &Request) -> Said {
    let said = |behavior, text: &str, reason: &str| {
        Said::new(Stage::Tool, behavior, format!("{text}: {reason}"))
    };
    match &request.opinion {
        Opinion::None => Said::nothing(Stage::Tool, "the tool has no opinion"),
        Opinion::Allow(_) if policy.managed().only_managed_rules => {
            Said::nothing(Stage::Tool, ONLY_MANAGED)
        }
        Opinion::Allow(_) if policy.unnamed_protected(request).is_some() => {
            Said::nothing(Stage::Tool, PROTECTED)
        }
        Opinion::Allow(reason) => said(Behavior::Allow, "the tool allows it", reason),
        Opinion::Ask(reason) => said(Behavior::Ask, "the tool wants you to decide", reason),
        Opinion::Deny(reason) => said(Behavior::Deny, "the tool itself refuses", reason),
    }
}

/// The host's own files, the managed policy's levers, and what is asked about whatever is allowed.
fn limits(policy: &Policy, request: &Request) -> Said {
    let deny = |reason| Said::new(Stage::Limits, Behavior::Deny, reason);
    if let Err(refusal) = policy.managed().permits_tool(&request.tool) {
        return deny(refusal.to_string());
    }
    for subject in &request.subjects {
        if let Subject::Url(url) = subject
            && let Err(refusal) = policy.managed().permits_url(url)
        {
            return deny(refusal.to_string());
        }
    }
    let own = touched(request).find(|(path, access)| {
        policy.path_rules().closed_by(path, *access) == Some(ClosedBy::Host)
    });
    if let Some((path, _)) = own {
        return deny(format!(
            "{} is closed by `toolbay's own files, and scripts that its hooks run`",
            path.display()
        ));
    }
    let access = match request.claims.read_only {
        true => PathAccess::Read,
        false => PathAccess::Write,
    };
    let outside = |path: &&Path| policy.path_rules().is_outside(path, access);
    if let Some(path) = paths_of(&request.subjects).find(outside) {
        return deny(format!("{} lies outside of {OUTSIDE}", path.display()));
    }
    if let Some(path) = policy.above_a_root(request) {
        return deny(format!(
            "{} lies above the project's folders, and no call may write there; it can name a \
             folder inside, or the file that it means",
            path.display()
        ));
    }
    match policy.leaving(request) {
        Leaving::No | Leaving::Named => {}
        Leaving::Refused(why) => return deny(why.into()),
        Leaving::Asks(why) => return Said::new(Stage::Limits, Behavior::Ask, why),
    }
    match request.study.always_asks() {
        Some(why) => {
            let reason = format!("no rule can allow this: {why}");
            Said::new(Stage::Limits, Behavior::Ask, reason)
        }
        None => Said::nothing(Stage::Limits, "no hard limit is touched"),
    }
}

fn rules(policy: &Policy, request: &Request) -> Said {
    let said =
        |behavior, list, place, reason| Said::new(Stage::Rules, behavior, reason).by(list, place);
    let text = |list, place| policy.rule(list, place).text();
    if let Some(place) = policy.touching(Behavior::Deny, request) {
        let reason = format!("the deny rule `{}` forbids it", text(Behavior::Deny, place));
        return said(Behavior::Deny, Behavior::Deny, place, reason);
    }
    for (path, access) in touched(request) {
        if let Some(ClosedBy::Rule(place, rule)) = policy.path_rules().closed_by(path, access) {
            let reason = format!("{} is closed by `{rule}`", path.display());
            return said(Behavior::Deny, Behavior::Deny, place, reason);
        }
    }
    if let Some(place) = policy.touching(Behavior::Ask, request) {
        let reason = format!("the ask rule `{}` covers it", text(Behavior::Ask, place));
        return said(Behavior::Ask, Behavior::Ask, place, reason);
    }
    let doubt = unsure(policy, request)
        .or_else(|| unseen(policy, request))
        .or_else(|| unnamed(policy, request));
    if let Some(said) = doubt {
        return said;
    }
    match policy.covering(request) {
        // Whoever allows a folder does not mean what others run from it.
        Some(_) if policy.unnamed_protected(request).is_some() => Said::nothing(
            Stage::Rules,
            "an allow rule covers it, but does not name the protected file itself",
        ),
        Some(place) => {
            let reason = format!(
                "the allow rule `{}` covers it",
                text(Behavior::Allow, place)
            );
            said(Behavior::Allow, Behavior::Allow, place, reason)
        }
        None => Said::nothing(Stage::Rules, "no rule covers it"),
    }
}

/// A deny rule about commands, when not all that runs can be named: `$X`, but also `npm run x`,
/// which runs whatever the project says. Who allows such a command by its name has answered.
fn unsure(policy: &Policy, request: &Request) -> Option<Said> {
    if !request.study.is_opaque() {
        return None;
    }
    let place = policy.narrow_deny(&request.tool)?;
    (!policy.names_all(request)).then(|| may_be_denied(policy, place))
}

/// What is said then.
fn may_be_denied(policy: &Policy, place: usize) -> Said {
    let reason = format!(
        "it runs something that cannot be named, and `{}` may forbid it",
        policy.rule(Behavior::Deny, place).text()
    );
    Said::new(Stage::Rules, Behavior::Ask, reason).by(Behavior::Deny, place)
}

/// A closed file that a script names, when it cannot be told what the script does. Best effort:
/// what a script opens is the business of the cage that it runs in.
fn unseen(policy: &Policy, request: &Request) -> Option<Said> {
    request.study.heard().find_map(|path| {
        let by = policy.path_rules().closed_by(path, PathAccess::Write)?;
        let said = |rule: &str| {
            let reason = format!(
                "it cannot be told what it does with {}, which `{rule}` closes",
                path.display()
            );
            Said::new(Stage::Rules, Behavior::Ask, reason)
        };
        Some(match by {
            ClosedBy::Host => said("toolbay's own files, and scripts that its hooks run"),
            ClosedBy::Rule(place, rule) => said(rule).by(Behavior::Deny, place),
        })
    })
}

/// A file that a rule closes, when contents are printed out of a repository without saying of which
/// files: there no cage can close it. Who allows such a command by its name has answered.
fn unnamed(policy: &Policy, request: &Request) -> Option<Said> {
    if !request.study.prints_history() || policy.names_history(request) {
        return None;
    }
    let place = policy.closing_inside()?;
    let reason = format!(
        "it prints contents of files that it does not name, and `{}` closes some",
        policy.rule(Behavior::Deny, place).text()
    );
    Some(Said::new(Stage::Rules, Behavior::Ask, reason).by(Behavior::Deny, place))
}

/// A claim of read-only spares the question because such a call cannot write.
fn otherwise(policy: &Policy, request: &Request) -> Said {
    let said = |behavior, reason: String| Said::new(Stage::Otherwise, behavior, reason);
    let outside = paths_of(&request.subjects).find(|path| {
        let for_reading = request.claims.read_only && policy.path_rules().is_for_reading(path);
        !policy.is_inside(path) && !for_reading
    });
    if let Some(path) = outside {
        let reason = format!("{} lies outside the project's folders", path.display());
        return said(Behavior::Ask, reason);
    }
    let url = request.subjects.iter().find_map(|subject| match subject {
        Subject::Url(url) => Some(url),
        Subject::Command(_) | Subject::Path(_) | Subject::Folder(_) | Subject::Text(_) => None,
    });
    if let Some(url) = url {
        // What only reads can still tell others what it has read.
        return said(Behavior::Ask, format!("it speaks to another host: {url}"));
    }
    let doubt = request.study.doubt();
    if request.claims.read_only {
        return match doubt {
            Some(doubt) => said(Behavior::Ask, doubt),
            None => said(
                Behavior::Allow,
                "read-only inside the roots: it cannot write".into(),
            ),
        };
    }
    if let Some((path, name)) = policy.unnamed_protected(request) {
        let reason = format!(
            "it changes {}, and other programs run or obey what `{name}` holds",
            path.display()
        );
        return said(Behavior::Ask, reason);
    }
    if request.reach.is_harmless() {
        return said(
            Behavior::Allow,
            "its component imports nothing that could change anything but its own session state"
                .into(),
        );
    }
    // Commands that a rule allows are not why the others are asked about.
    let has_covered = request.study.doubtful().count() > policy.uncovered(request).count();
    let uncovered = policy.uncovered(request).next().filter(|_| has_covered);
    let reason = match uncovered.and_then(|command| command.finding.as_ref()) {
        Some(finding) => format!("it may change things: {}", finding.message),
        None => doubt.unwrap_or_else(|| "it may change things".into()),
    };
    said(Behavior::Ask, reason)
}

/// The paths of a call and of its commands, with what it wants of them.
pub(crate) fn touched(request: &Request) -> impl Iterator<Item = (&Path, PathAccess)> {
    let access = if request.claims.read_only {
        PathAccess::Read
    } else {
        PathAccess::Write
    };
    let aliases = request.aliases.iter().map(PathBuf::as_path);
    paths_of(&request.subjects)
        .chain(aliases)
        .map(move |path| (path, access))
        .chain(request.study.paths())
}

#[cfg(test)]
mod tests;
