//! Requests for what a call sets in motion.

use std::path::Path;
use std::sync::Arc;

use crate::claims::{Claims, HookWord, Opinion, Reach, Subject};
use crate::decide::{Decision, Policy, Question, Request, Ruling};
use crate::outside::{CageWish, Outside};
use crate::permit::{Access, Permit};
use crate::verb::COMMANDS;

impl Policy {
    /// A script that a component runs, as a call of its own: rules about commands decide, and
    /// whether it only reads is for the validator to say, not for the component.
    pub fn script_request(&self, call_id: Arc<str>, script: &str, folder: &Path) -> Request {
        let subjects = vec![Subject::Command(script.to_owned())];
        let study = self.study(&subjects, folder);
        let input = serde_json::json!({ "command": script });
        Request {
            call_id,
            tool: COMMANDS.into(),
            input: input.to_string().into(),
            subjects,
            aliases: Vec::new(),
            claims: Claims {
                read_only: !study.may_write(),
                ..Claims::STRICT
            },
            reach: Reach::ALL,
            opinion: Opinion::None,
            hooks: HookWord::None,
            cage: CageWish::Inside,
            study,
        }
    }

    /// Decides about something that a call sets in motion. It gets no more than the call has, and
    /// never leaves the cage.
    pub fn decide_nested(&self, request: Request, caller: &Access) -> (Decision, Ruling) {
        let (decision, ruling) = self.decide_and_say(request);
        let decision = match decision {
            Decision::Allow(permit) => match permit.within(caller, self) {
                Some(permit) => Decision::Allow(permit),
                None => beyond_the_caller(),
            },
            Decision::Ask(question) => {
                let reason = question.reason().to_owned();
                match question.grant().within(caller, self) {
                    Some(permit) => Decision::Ask(Question::new(reason, permit)),
                    None => beyond_the_caller(),
                }
            }
            Decision::Deny { reason } => Decision::Deny { reason },
        };
        (decision, ruling)
    }
}

fn beyond_the_caller() -> Decision {
    Decision::Deny {
        reason: "the call that runs it claimed to be read-only, and this may change things".into(),
    }
}

impl Permit {
    /// The same, held to what the caller has. None if the caller may only read and this would
    /// write.
    fn within(self, caller: &Access, policy: &Policy) -> Option<Self> {
        let access = match (self.access(), caller) {
            (Access::ReadOnly, _) => Access::ReadOnly,
            (Access::ReadWrite { .. }, Access::ReadOnly) => return None,
            (Access::ReadWrite { .. }, Access::ReadWrite { zones }) => {
                // A cage opens nothing outside the roots.
                let inside = zones.iter().filter(|zone| policy.is_inside(zone.path()));
                Access::ReadWrite {
                    zones: inside.cloned().collect(),
                }
            }
        };
        Some(self.with_access(access).letting_out(Outside::Nothing))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::paths::Closed;
    use crate::rule::{Anchors, Rule, Rules};
    use crate::zones::{Zone, Zones};

    fn policy(deny: &[&str], allow: &[&str]) -> Policy {
        let anchors = Anchors {
            home: None,
            cwd: "/p".into(),
            settings: "/p".into(),
        };
        let parse = |texts: &[&str]| {
            let parse = |text: &&str| Rule::parse(text, &anchors).unwrap();
            texts.iter().map(parse).collect()
        };
        let rules = Rules {
            deny: parse(deny),
            allow: parse(allow),
            ..Rules::default()
        };
        Policy::new(rules, vec![PathBuf::from("/p")], &Closed::default())
    }

    fn file_zone() -> Access {
        Access::ReadWrite {
            zones: Zones::new(vec![Zone::File("/p/a".into())]),
        }
    }

    /// The decision about a script, and what it may write.
    fn decided(policy: &Policy, script: &str, caller: &Access) -> (&'static str, Option<Access>) {
        let request = policy.script_request("1".into(), script, Path::new("/p"));
        match policy.decide_nested(request, caller).0 {
            Decision::Allow(permit) => ("allow", Some(permit.access().clone())),
            Decision::Ask(question) => ("ask", Some(question.would_grant().clone())),
            Decision::Deny { .. } => ("deny", None),
        }
    }

    #[test]
    fn rules_about_commands_decide_whoever_runs_the_script() {
        let deny = ["Bash(curl:*)"];
        for (allow, script, wanted) in [
            (&["Door"][..], "curl x", "deny"),
            (&["Door"], "ls; timeout 5 curl x", "deny"),
            (&["Door"], "touch a", "ask"),
            (&["Bash(touch:*)"], "touch a", "allow"),
            (&["Bash"], "curl x", "deny"),
            (&[], "cat a", "allow"),
            (&[], "cat /etc/passwd", "ask"),
        ] {
            let (decision, _) = decided(&policy(&deny, allow), script, &file_zone());
            assert_eq!(decision, wanted, "{allow:?} {script}");
        }
    }

    #[test]
    fn a_script_gets_what_its_caller_has_and_no_more() {
        let policy = policy(&[], &["Bash"]);
        let caller = file_zone();
        let written = decided(&policy, "touch a", &caller);
        assert_eq!(written, ("allow", Some(caller.clone())));
        let read = decided(&policy, "cat a", &caller);
        assert_eq!(read, ("allow", Some(Access::ReadOnly)));
        let refused = decided(&policy, "touch a", &Access::ReadOnly);
        assert_eq!(refused, ("deny", None));
    }
}
