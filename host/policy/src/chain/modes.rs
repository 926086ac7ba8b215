//! What a mode makes of the answer so far.

use super::{Said, Stage, edits, limits, may_be_denied, unseen};
use crate::behavior::Behavior;
use crate::claims::HookWord;
use crate::decide::{Policy, Request};
use crate::mode::Mode;

/// The last word. It never loosens a deny.
pub(super) fn mode(policy: &Policy, request: &Request, so_far: &Said) -> Said {
    let mode = policy.mode();
    let said = |behavior, reason| Said::new(Stage::Mode, behavior, reason);
    let unchanged = Said::nothing(Stage::Mode, "the mode changes nothing");
    let is_asked = so_far.behavior == Some(Behavior::Ask);
    match mode {
        Mode::Default => unchanged,
        Mode::Plan => {
            if so_far.behavior == Some(Behavior::Deny) || !may_change(request) {
                return unchanged;
            }
            let reason = format!("in the mode {mode} nothing may change, and this might");
            said(Behavior::Deny, reason)
        }
        Mode::AcceptEdits => {
            let is_open = is_asked && so_far.stage == Stage::Otherwise;
            if !is_open || !edits::is_edit(policy, request) {
                return unchanged;
            }
            let reason = format!("the mode {mode} allows edits inside the project's folders");
            said(Behavior::Allow, reason)
        }
        Mode::Bypass if is_asked => match firm(policy, request, so_far) {
            Some(said) => Said {
                stage: Stage::Mode,
                ..said
            },
            None => said(Behavior::Allow, format!("the mode {mode} asks nothing")),
        },
        Mode::Bypass => unchanged,
        Mode::DontAsk if is_asked => {
            let reason = format!(
                "{}, and the mode {mode} denies what would be asked",
                so_far.reason
            );
            Said {
                rule: so_far.rule,
                ..said(Behavior::Deny, reason)
            }
        }
        Mode::DontAsk => unchanged,
    }
}

fn may_change(request: &Request) -> bool {
    let only_reads = request.claims.read_only && !request.study.may_write();
    !only_reads && !request.reach.is_harmless()
}

/// A question that stands even where the person wants none: a hard limit, a hook's wish (a hook
/// may be the owner's), an ask rule of the managed policy, a command that may be one that the
/// managed policy denies, or one that names a closed file.
fn firm(policy: &Policy, request: &Request, so_far: &Said) -> Option<Said> {
    let hook_asks = matches!(request.hooks, HookWord::Ask(_));
    if so_far.stage == Stage::Limits || so_far.stage == Stage::Hook && hook_asks {
        return Some(so_far.clone());
    }
    let ask = |reason| Said::new(Stage::Mode, Behavior::Ask, reason);
    let limits = limits(policy, request);
    if limits.behavior == Some(Behavior::Ask) {
        return Some(ask(limits.reason));
    }
    if let Some(place) = policy.managed_ask(request) {
        let rule = policy.rule(Behavior::Ask, place);
        let reason = format!("the ask rule `{}` covers it", rule.text());
        return Some(ask(reason).by(Behavior::Ask, place));
    }
    if request.study.is_opaque()
        && !policy.names_all(request)
        && let Some(place) = policy.managed_narrow_deny(&request.tool)
    {
        return Some(may_be_denied(policy, place));
    }
    unseen(policy, request)
}
