//! Asking a person for a permit.

use toolbay_contract::{BoxFuture, View};
use toolbay_policy::Access;

/// What is asked.
#[derive(Debug, Clone)]
pub struct PermissionQuestion {
    pub tool: String,
    pub call_id: String,
    pub input: String,
    /// Why somebody must be asked.
    pub reason: String,
    /// What a yes would grant.
    pub access: Access,
    /// The call as its tool draws it.
    pub view: View,
    /// The rule that would make the question needless.
    pub suggested_rule: String,
    /// Rules that the tool itself suggests.
    pub more_rules: Vec<String>,
    pub destructive: Option<bool>,
}

impl PermissionQuestion {
    /// The flag that answers the question beforehand, quoted for a shell.
    pub fn flag(&self) -> String {
        format!("--allow '{}'", self.suggested_rule.replace('\'', "'\\''"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No { reason: String },
}

/// Somebody who can say yes.
pub trait Approver: Send + Sync {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer>;
}

/// Nobody is there, so the answer is no, with what would have helped.
pub struct Nobody;

impl Approver for Nobody {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            Answer::No {
                reason: format!(
                    "{} needs permission because {}, and there is nobody to ask; \
                     `{}` would allow it",
                    question.tool,
                    question.reason,
                    question.flag()
                ),
            }
        })
    }
}
