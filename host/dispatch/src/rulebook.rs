//! The policy of a session, which may change while the session runs: files are edited, a person
//! says "always", a tool that the host vouches for changes the mode.
//!
//! A call takes the policy once, as it begins, so that one half of a decision never sees other
//! rules than the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use toolbay_policy::{Anchors, Decision, Mode, Policy, Provenance, Request, Rule, Source};

use crate::approve::RuleScope;
use crate::links::links_on_disk;

/// Whoever has the settings that policies are made of.
pub trait Keeper: Send + Sync {
    /// The policy made anew, if what it is made of has changed since it was made last. Asked
    /// before each call: it must only look. Settings that cannot be used change nothing.
    fn refresh(&self) -> Option<Policy> {
        None
    }

    /// Writes allow rules down. The error is for the person who wanted it.
    fn keep(&self, _rules: &[String], _scope: RuleScope) -> Result<(), String> {
        Err("this session has no settings to keep rules in".into())
    }

    /// Where rules can be written down.
    fn places(&self) -> Vec<RuleScope> {
        Vec::new()
    }

    /// Whether a session may change to this mode; the error says why not.
    fn permits_mode(&self, mode: Mode) -> Result<(), String> {
        match mode {
            // Who wants that says so at the start, to a host that can judge it.
            Mode::Bypass => Err(format!("the mode {mode} cannot be entered from within")),
            Mode::Default | Mode::Plan | Mode::AcceptEdits | Mode::DontAsk => Ok(()),
        }
    }
}

/// Nothing ever changes, and nothing is written down.
pub struct Unchanging;

impl Keeper for Unchanging {}

/// The policy of a session.
pub struct Rulebook {
    keeper: Arc<dyn Keeper>,
    state: RwLock<State>,
    /// When settings were last looked at because a file was opened.
    looked: Mutex<Option<Instant>>,
}

/// How old the rules may be that hold at an opened file. A tool opens thousands of files a
/// second, and to look at the settings costs a look at each of their files.
const FRESH: Duration = Duration::from_millis(25);

struct State {
    /// As settings have it.
    base: Policy,
    /// What was allowed since the session began.
    session: Vec<Rule>,
    /// The mode since the session changed it.
    mode: Option<Mode>,
    current: Arc<Policy>,
}

impl State {
    fn renew(&mut self) {
        let mut policy = self.base.clone().with_links(links_on_disk());
        if !self.session.is_empty() {
            let mut rules = policy.rules().clone();
            rules.allow.extend(self.session.iter().cloned());
            policy = policy.with_rules(rules);
        }
        if let Some(mode) = self.mode {
            policy = policy.with_mode(mode);
        }
        self.current = Arc::new(policy);
    }
}

impl Rulebook {
    pub fn new(policy: Policy, keeper: Arc<dyn Keeper>) -> Self {
        let policy = policy.with_links(links_on_disk());
        Self {
            keeper,
            looked: Mutex::default(),
            state: RwLock::new(State {
                current: Arc::new(policy.clone()),
                base: policy,
                session: Vec::new(),
                mode: None,
            }),
        }
    }

    /// A policy that stays as it is.
    pub fn unchanging(policy: Policy) -> Self {
        Self::new(policy, Arc::new(Unchanging))
    }

    /// The policy as it is now.
    pub fn current(&self) -> Arc<Policy> {
        if let Some(base) = self.keeper.refresh() {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            state.base = base;
            state.renew();
        }
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.current.clone()
    }

    /// The same for every file that a call opens: seldom more than a look at memory.
    pub(crate) fn in_force(&self) -> Arc<Policy> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = looked.is_some_and(|at| at.elapsed() < FRESH);
        if is_fresh {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            return state.current.clone();
        }
        *looked = Some(Instant::now());
        drop(looked);
        self.current()
    }

    /// Where a person may keep rules: nowhere, if they would not count.
    pub(crate) fn places(&self, policy: &Policy) -> Vec<RuleScope> {
        if policy.managed().only_managed_rules {
            return Vec::new();
        }
        let mut places = vec![RuleScope::Session];
        places.extend(self.keeper.places());
        places
    }

    /// Allows what the rules cover from now on. The error says what could not be done; the rules
    /// then hold for the session.
    pub fn allow(&self, texts: &[String], scope: RuleScope) -> Result<(), String> {
        // A file that cannot be written is no reason to ask the same again in a minute.
        self.allow_in_session(texts)?;
        match scope {
            RuleScope::Session => Ok(()),
            RuleScope::Local | RuleScope::Project | RuleScope::User => {
                self.keeper.keep(texts, scope)
            }
        }
    }

    /// Whether these rules would allow a call that the policy asks about; the error says why not.
    pub(crate) fn covers(
        &self,
        policy: &Policy,
        request: &Request,
        texts: &[String],
    ) -> Result<(), String> {
        let mut rules = policy.rules().clone();
        rules.allow.extend(self.parse(texts)?);
        match policy.with_rules(rules).decide(request.clone()) {
            Decision::Allow(_) => Ok(()),
            Decision::Ask(_) | Decision::Deny { .. } => Err(format!(
                "`{}` does not allow this call, so it was not kept",
                texts.join("`, `")
            )),
        }
    }

    fn parse(&self, texts: &[String]) -> Result<Vec<Rule>, String> {
        let anchors = self.anchors();
        let parse = |text: &String| {
            let rule = Rule::parse(text, &anchors).map_err(|error| error.to_string())?;
            Ok(rule.from(Provenance::of(Source::Session)))
        };
        texts.iter().map(parse).collect()
    }

    fn allow_in_session(&self, texts: &[String]) -> Result<(), String> {
        let rules = self.parse(texts)?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        for rule in rules {
            let is_new = !state
                .session
                .iter()
                .any(|known| known.text() == rule.text());
            if is_new {
                state.session.push(rule);
            }
        }
        state.renew();
        Ok(())
    }

    /// Changes the mode, if the session may.
    pub fn enter(&self, mode: Mode) -> Result<(), String> {
        self.keeper.permits_mode(mode)?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.mode = Some(mode);
        state.renew();
        Ok(())
    }

    /// Rules that were allowed since the session began.
    pub fn session_rules(&self) -> Vec<String> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state
            .session
            .iter()
            .map(|rule| rule.text().to_owned())
            .collect()
    }

    fn anchors(&self) -> Anchors {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let root = state
            .base
            .roots()
            .first()
            .cloned()
            .unwrap_or_else(|| PathBuf::from("/"));
        Anchors {
            home: state.base.home().map(Path::to_path_buf),
            cwd: root.clone(),
            settings: root,
        }
    }
}

#[cfg(test)]
mod tests;
