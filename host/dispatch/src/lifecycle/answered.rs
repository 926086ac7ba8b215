//! An answer to a question about permission, held against what the question offered.
//!
//! Approvers are the terminal, other programs and MCP clients. None of them is believed: a rule
//! that is kept lasts longer than the question, so it is checked here, for all of them alike.

use toolbay_policy::{Policy, Request};

use crate::approve::{Answer, Approver, PermissionQuestion, RuleOrigin};
use crate::rulebook::Rulebook;

/// How often a user may type rules that do not cover the call. An approver that is no user must
/// not keep the question alive for ever.
const MOST_TRIES: usize = 8;

/// Asks until there is an answer that can be used. One that goes beyond the offer is a no.
pub(crate) async fn answered(
    (approver, rulebook): (&dyn Approver, &Rulebook),
    policy: &Policy,
    request: &Request,
    question: PermissionQuestion,
) -> Answer {
    let mut trouble = String::new();
    for _ in 0..MOST_TRIES {
        let answer = approver.ask(question.clone()).await;
        if let Err(reason) = question.check(&answer) {
            return Answer::No { reason };
        }
        let typed = match &answer {
            Answer::Always {
                rules,
                origin: RuleOrigin::Typed,
                ..
            } => rules,
            Answer::Always { .. } | Answer::Yes | Answer::No { .. } => return answer,
        };
        match rulebook.covers(policy, request, typed) {
            Ok(()) => return answer,
            Err(why) => {
                approver.tell(&why);
                trouble = why;
            }
        }
    }
    Answer::No { reason: trouble }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;
    use toolbay_contract::{BoxFuture, KillSwitch, ToolUse};
    use toolbay_policy::Rules;

    use super::*;
    use crate::approve::RuleScope;
    use crate::testing::{FakeTool, dispatch_with};

    /// Gives its answers one after the other, then says no; keeps what it is told.
    #[derive(Default)]
    struct Scripted {
        answers: Mutex<Vec<Answer>>,
        told: Mutex<Vec<String>>,
    }

    impl Approver for Scripted {
        fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
            assert_eq!(question.rules, ["Tool"]);
            assert_eq!(question.scopes, [RuleScope::Session]);
            let mut answers = self.answers.lock().unwrap();
            let next = match answers.is_empty() {
                true => Answer::No {
                    reason: "no more".into(),
                },
                false => answers.remove(0),
            };
            Box::pin(async { next })
        }

        fn tell(&self, trouble: &str) {
            self.told.lock().unwrap().push(trouble.into());
        }
    }

    fn always(rule: &str, scope: RuleScope, origin: RuleOrigin) -> Answer {
        Answer::Always {
            rules: vec![rule.into()],
            scope,
            origin,
        }
    }

    /// What comes of the answers: the error if there is one, the rules that were kept, what the
    /// approver was told.
    async fn outcome(answers: Vec<Answer>) -> (Option<String>, Vec<String>, Vec<String>) {
        let approver = Arc::new(Scripted {
            answers: Mutex::new(answers),
            told: Mutex::default(),
        });
        let tools = vec![FakeTool::named("Tool").shared()];
        let dispatch = dispatch_with(tools, Rules::default(), approver.clone());
        let block = ToolUse {
            id: "c1".into(),
            name: "Tool".into(),
            input: json!({}),
        };
        let result = dispatch.run(block, KillSwitch::new()).await;
        let told = approver.told.lock().unwrap().clone();
        let error = result.is_error.then(|| result.text());
        (error, dispatch.rulebook().session_rules(), told)
    }

    #[tokio::test]
    async fn a_rule_that_was_not_offered_is_neither_kept_nor_a_yes() {
        use RuleOrigin::Offered;

        let offered = always("Tool", RuleScope::Session, Offered);
        let (error, kept, _) = outcome(vec![offered]).await;
        assert_eq!((error, kept), (None, vec!["Tool".to_owned()]));
        for (answer, part) in [
            (always("*", RuleScope::Session, Offered), "`*`"),
            (always("Other", RuleScope::Session, Offered), "`Other`"),
            (always("Tool", RuleScope::User, Offered), "`user`"),
        ] {
            // Not even a yes behind it would count.
            let (error, kept, _) = outcome(vec![answer, Answer::Yes]).await;
            let error = error.unwrap_or_default();
            assert!(
                error.contains(part) && error.contains("not offered"),
                "{error}"
            );
            assert_eq!(kept, Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn a_typed_rule_must_cover_the_call_or_the_user_is_asked_again() {
        let typed = |rule| always(rule, RuleScope::Session, RuleOrigin::Typed);
        let (error, kept, told) = outcome(vec![typed("Other"), typed("Tool("), typed("*")]).await;
        assert_eq!((error, kept), (None, vec!["*".to_owned()]));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].contains("`Other` does not allow this call"),
            "{told:?}"
        );
        // One that is never content with it does not ask for ever.
        let (error, kept, told) = outcome(vec![typed("Other"); 100]).await;
        assert!(error.is_some() && kept.is_empty());
        assert_eq!(told.len(), MOST_TRIES);
    }
}
