//! Hooks whose files have changed since the session began: the user is asked before they run again.

use toolbay_contract::{Audit, AuditEvent, Behavior, Decided, View};

use crate::approve::{Answer, Approver, GrantSummary, PermissionQuestion};
use crate::hooks::{ChangedHook, Hooks};

/// A call before which hooks would run.
pub(crate) struct ChangedHooks<'a> {
    pub(crate) hooks: &'a Hooks,
    pub(crate) approver: &'a dyn Approver,
    pub(crate) audit: &'a dyn Audit,
    pub(crate) tool: &'a str,
    pub(crate) aliases: &'a [String],
    pub(crate) caller: Option<&'a str>,
    pub(crate) call_id: &'a str,
    pub(crate) input: &'a str,
}

impl ChangedHooks<'_> {
    /// Comes back when every hook of the call is what somebody vouches for. The error says which one
    /// is not, and why nobody vouched for it.
    pub(crate) async fn settle(self) -> Result<(), String> {
        if self.hooks.changed(self.tool, self.aliases).await.is_empty() {
            return Ok(());
        }
        let _turn = match self.approver.queue() {
            Some(queue) => Some(queue.lock().await),
            None => None,
        };
        // While it waited for its turn, another call may have been asked the same.
        let changed = self.hooks.changed(self.tool, self.aliases).await;
        if changed.is_empty() {
            return Ok(());
        }
        if let Some(lost) = changed.iter().find(|hook| hook.unreadable.is_some()) {
            return Err(format!("{lost}; put it right, or take the hook out"));
        }
        let sentences: Vec<String> = changed.iter().map(ToString::to_string).collect();
        let reason = sentences.join("; ");
        let answer = self.approver.ask(self.question(&reason, &changed)).await;
        let (ruling, refusal) = match answer {
            Answer::Yes => (Behavior::Allow, None),
            // No rule was offered, so that none can be kept.
            Answer::Always { .. } => (Behavior::Deny, Some("no rule can allow it".to_owned())),
            Answer::No { reason } => (Behavior::Deny, Some(reason)),
        };
        self.note(ruling, &reason);
        match refusal {
            None => {
                changed.into_iter().for_each(ChangedHook::accept);
                Ok(())
            }
            Some(refusal) => Err(format!(
                "{reason}. Look at it, then start a new session, or put back what was there \
                 ({refusal})"
            )),
        }
    }

    fn question(&self, reason: &str, changed: &[ChangedHook]) -> PermissionQuestion {
        let rows = changed.iter().flat_map(|hook| {
            let files = hook.changes.iter();
            files.map(|change| {
                let file = change.path.display().to_string();
                (
                    file,
                    format!("{} (run by `{}`)", change.kind.word(), hook.command),
                )
            })
        });
        PermissionQuestion {
            tool: self.tool.to_owned(),
            caller: self.caller.map(str::to_owned),
            call_id: self.call_id.to_owned(),
            input: self.input.to_owned(),
            reason: reason.to_owned(),
            asked_by: None,
            granted: GrantSummary::reading(),
            view: View::Rows(rows.collect()),
            commands: Vec::new(),
            warnings: vec![match changed.iter().all(|hook| hook.is_caged) {
                true => {
                    "A yes runs the changed hook in a cage, now and for the rest of the session"
                }
                false => {
                    "A yes runs the changed hook with your rights, now and for the rest of the session"
                }
            }
            .into()],
            rules: Vec::new(),
            no_rule: Some("a rule cannot approve a change whose author is unknown".into()),
            more_rules: Vec::new(),
            scopes: Vec::new(),
            destructive: None,
        }
    }

    fn note(&self, ruling: Behavior, reason: &str) {
        self.audit.note(AuditEvent::Decided(Decided {
            tool: self.tool.to_owned(),
            call_id: self.call_id.to_owned(),
            plugin: None,
            ruling,
            by: self.approver.who().to_owned(),
            reason: reason.to_owned(),
            rule: None,
            source: None,
            subjects: Vec::new(),
            caller: self.caller.map(str::to_owned),
            input: self.input.to_owned(),
        }));
    }
}
