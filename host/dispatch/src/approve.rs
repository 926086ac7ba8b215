//! Asking a person for a permit.

mod grants;
#[cfg(test)]
mod tests;

use toolbay_contract::{BoxFuture, View};
use toolbay_policy::{Part, Source};

pub use grants::GrantSummary;

/// What is asked.
#[derive(Debug, Clone)]
pub struct PermissionQuestion {
    pub tool: String,
    /// The tool whose call set this in motion, if one did.
    pub caller: Option<String>,
    pub call_id: String,
    pub input: String,
    /// Why somebody must be asked.
    pub reason: String,
    /// The rule that wants it asked, and where it stands.
    pub asked_by: Option<String>,
    /// What a yes would grant.
    pub granted: GrantSummary,
    /// The call as its tool draws it.
    pub view: View,
    /// Its commands, one by one.
    pub commands: Vec<Part>,
    /// What a person should know before saying yes.
    pub warnings: Vec<String>,
    /// Rules that together would make the question needless; none if no rule can.
    pub rules: Vec<String>,
    /// Why no rule can, if that is known.
    pub no_rule: Option<String>,
    /// Rules that the tool itself suggests. Not ours to vouch for.
    pub more_rules: Vec<String>,
    /// Where rules may be kept; none if the owner of the machine keeps that for itself.
    pub scopes: Vec<RuleScope>,
    pub destructive: Option<bool>,
}

impl PermissionQuestion {
    /// The flags that answer the question beforehand, quoted for a shell.
    pub fn flags(&self) -> Option<String> {
        let quote = |rule: &String| format!("--allow '{}'", rule.replace('\'', "'\\''"));
        let flags: Vec<String> = self.rules.iter().map(quote).collect();
        (!flags.is_empty()).then(|| flags.join(" "))
    }

    /// What a yes would grant, one sentence each. Whoever is asked, and however, is shown these.
    pub fn grants(&self) -> Vec<String> {
        self.granted.sentences()
    }

    /// Whether an answer stays within what was offered; the error says why it does not. An
    /// answer that does not is no yes. Rules that the user typed are for the policy to check.
    pub fn check(&self, answer: &Answer) -> Result<(), String> {
        let (rules, scope, origin) = match answer {
            Answer::Yes | Answer::No { .. } => return Ok(()),
            Answer::Always {
                rules,
                scope,
                origin,
            } => (rules, scope, origin),
        };
        if !self.scopes.contains(scope) {
            let offered: Vec<&str> = self.scopes.iter().map(|scope| scope.word()).collect();
            let offered = match offered.is_empty() {
                true => "no scope".to_owned(),
                false => offered.join(", "),
            };
            return Err(format!(
                "the answer keeps rules in the scope `{}`, which was not offered; offered: \
                 {offered}",
                scope.word()
            ));
        }
        if rules.is_empty() {
            return Err("the answer keeps rules but names none".into());
        }
        let foreign = match origin {
            RuleOrigin::Offered => rules.iter().find(|rule| !self.rules.contains(rule)),
            RuleOrigin::Typed => None,
        };
        match foreign {
            Some(rule) => Err(format!(
                "the answer allows `{rule}` from now on, which was not offered; offered: {}",
                self.offered_rules()
            )),
            None => Ok(()),
        }
    }

    fn offered_rules(&self) -> String {
        match self.rules.is_empty() {
            true => "no rule".into(),
            false => format!("`{}`", self.rules.join("`, `")),
        }
    }

    /// The end of a sentence that says how to answer it beforehand.
    pub fn hint(&self) -> String {
        match self.flags() {
            Some(flags) => format!("; `{flags}` would allow it"),
            None => match &self.no_rule {
                Some(why) => format!("; there is no rule for just this: {why}"),
                None => "; no rule can allow it".into(),
            },
        }
    }
}

/// Where the rules of an answer are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleScope {
    /// As long as the session.
    Session,
    /// In the person's own settings for this project.
    Local,
    /// In the project's settings, for everybody who works on it.
    Project,
    /// In the person's settings, for every project.
    User,
}

impl RuleScope {
    pub const ALL: [Self; 4] = [Self::Session, Self::Local, Self::Project, Self::User];

    pub fn source(self) -> Source {
        match self {
            Self::Session => Source::Session,
            Self::Local => Source::Local,
            Self::Project => Source::Project,
            Self::User => Source::User,
        }
    }

    pub fn word(self) -> &'static str {
        self.source().word()
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Yes,
    /// And whatever else these rules cover from now on.
    Always {
        rules: Vec<String>,
        scope: RuleScope,
        origin: RuleOrigin,
    },
    No {
        reason: String,
    },
}

/// Who chose the rules of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleOrigin {
    /// They are among those that the question offered. Anything else is refused.
    Offered,
    /// The user typed them at the terminal of this program. They may be wider than what was
    /// offered, but must cover the call. Nothing that comes from another program is typed.
    Typed,
}

/// Somebody who can say yes. To drop the future is to withdraw the question.
pub trait Approver: Send + Sync {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer>;

    /// Who can be asked one question at a time has a queue; a question at the end of it may have
    /// become needless by an answer before.
    fn queue(&self) -> Option<&tokio::sync::Mutex<()>> {
        None
    }

    /// Whose answers these are, for the audit log.
    fn who(&self) -> &'static str {
        "person"
    }

    /// That something could not be done with an answer.
    fn tell(&self, _trouble: &str) {}
}

/// Nobody is there, so the answer is no, with what would have helped.
pub struct Nobody;

impl Approver for Nobody {
    fn who(&self) -> &'static str {
        "nobody"
    }

    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            Answer::No {
                reason: format!(
                    "{} needs permission because {}, and there is nobody to ask{}",
                    question.tool,
                    question.reason,
                    question.hint()
                ),
            }
        })
    }
}
