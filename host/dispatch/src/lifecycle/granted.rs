//! Capabilities that a component requests and has not been granted: the user is asked before its
//! first call.

use toolbay_contract::{AuditEvent, Behavior, CapabilityRequest, Decided, Failure, View};

use super::pre_hooks::Hooked;
use crate::approve::{Answer, GrantSummary, PermissionQuestion};
use crate::dispatch::Dispatch;

impl Hooked {
    /// Asks for the capabilities that the tool's component requests and does not have. Without
    /// them it would fail somewhere in the middle.
    pub(super) async fn ensure_granted(&self, dispatch: &Dispatch) -> Result<(), Failure> {
        let missing = self.tool.ungranted().await?;
        if missing.is_empty() {
            return Ok(());
        }
        let tool = &self.tool.info().name;
        let question = PermissionQuestion {
            tool: tool.clone(),
            caller: None,
            call_id: self.ticket.id.clone(),
            input: self.checked.text.to_string(),
            reason: reason(&missing),
            asked_by: None,
            granted: GrantSummary {
                capabilities: missing.iter().map(|one| one.capability).collect(),
                ..GrantSummary::reading()
            },
            view: View::Rows(missing.iter().map(row).collect()),
            commands: Vec::new(),
            warnings: Vec::new(),
            rules: Vec::new(),
            no_rule: Some("a grant is no rule".into()),
            more_rules: Vec::new(),
            scopes: Vec::new(),
            destructive: None,
        };
        let _turn = match dispatch.approver().queue() {
            Some(queue) => Some(queue.lock().await),
            None => None,
        };
        // While it waited for its turn, another call may have been asked the same.
        if self.tool.ungranted().await?.is_empty() {
            return Ok(());
        }
        match dispatch.approver().ask(question).await {
            Answer::Yes => {
                self.note_grant(dispatch, Behavior::Allow, &missing);
                self.tool.grant_requests();
                Ok(())
            }
            // No rule was offered, so that none can be kept.
            Answer::Always { .. } | Answer::No { .. } => {
                self.note_grant(dispatch, Behavior::Deny, &missing);
                Err(Failure::Denied(refused(tool, self.tool.digest(), &missing)))
            }
        }
    }
}

impl Hooked {
    fn note_grant(&self, dispatch: &Dispatch, ruling: Behavior, missing: &[CapabilityRequest]) {
        let words = words(missing).join("`, `");
        let decided = Decided {
            tool: self.tool.info().name.clone(),
            call_id: self.ticket.id.clone(),
            plugin: self.tool.digest().map(str::to_owned),
            ruling,
            by: dispatch.approver().who().to_owned(),
            reason: format!("the component requests `{words}` as long as the session"),
            rule: None,
            source: None,
            subjects: Vec::new(),
            caller: None,
            input: self.checked.text.to_string(),
        };
        let audit = &self.ticket.environment.audit;
        audit.note(AuditEvent::Decided(decided));
    }
}

fn row(request: &CapabilityRequest) -> (String, String) {
    let meaning = request.capability.meaning();
    let text = format!("{meaning}. Its author says: {}", request.reason);
    (request.capability.to_string(), text)
}

fn words(missing: &[CapabilityRequest]) -> Vec<&'static str> {
    missing.iter().map(|one| one.capability.word()).collect()
}

fn reason(missing: &[CapabilityRequest]) -> String {
    format!(
        "its component requests `{}`, which it has not been granted",
        words(missing).join("`, `")
    )
}

/// Says which command grants it.
fn refused(tool: &str, digest: Option<&str>, missing: &[CapabilityRequest]) -> String {
    let words = words(missing);
    let for_good = match digest {
        Some(digest) => format!(
            ", and `\"grants\": {{\"{digest}\": [\"{}\"]}}` in your settings from now on",
            words.join("\", \"")
        ),
        None => String::new(),
    };
    format!(
        "{}; `--grant {tool}={}` grants it for one run{for_good}",
        reason(missing),
        words.join(",")
    )
}
