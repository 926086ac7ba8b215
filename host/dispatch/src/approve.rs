//! Asking a person for a permit.

use toolbay_contract::{BoxFuture, View};
use toolbay_policy::{Access, Part, Source};

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
    pub access: Access,
    /// The call as its tool draws it.
    pub view: View,
    /// Its commands, one by one.
    pub commands: Vec<Part>,
    /// What a person should know before saying yes.
    pub warnings: Vec<String>,
    /// Rules that together would make the question needless; none if no rule can.
    pub rules: Vec<String>,
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

    /// What a yes would grant, in words.
    pub fn grants(&self) -> String {
        match &self.access {
            Access::ReadOnly => "reading only".to_owned(),
            Access::ReadWrite { zones } => {
                let zones: Vec<String> = zones.iter().map(ToString::to_string).collect();
                format!("writing in {}", zones.join(", "))
            }
        }
    }

    /// The end of a sentence that says how to answer it beforehand.
    pub fn hint(&self) -> String {
        match self.flags() {
            Some(flags) => format!("; `{flags}` would allow it"),
            None => "; no rule can allow it".into(),
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
    },
    No {
        reason: String,
    },
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
