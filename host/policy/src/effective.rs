//! Which rules count at all.
//!
//! Rules that forbid or ask always do. Rules that allow are a person's word, and not everybody
//! who can write one has a say: a project's settings are written by whoever made the project,
//! and a managed policy may keep the word for itself.

use thiserror::Error;

use crate::managed::Managed;
use crate::rule::{Rule, Rules};
use crate::source::{Provenance, Source};

/// Whose allow rules the person takes for their own. The default is nobody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trusting {
    /// The person has looked at the project's settings and trusts whoever writes them.
    pub project: bool,
    /// The same of their own settings for the project: they lie in it, and a project can bring
    /// such a file along.
    pub local: bool,
}

/// An allow rule that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{provenance}: the allow rule `{rule}` does not count: {why}")]
pub struct Ignored {
    pub rule: String,
    pub provenance: Provenance,
    pub why: Why,
}

/// Why it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Why {
    #[error(
        "settings in a project are written by whoever made the project, and you have not said that you trust them (`toolbay trust`)"
    )]
    ProjectNotTrusted,
    #[error("the managed policy lets only its own rules allow")]
    OnlyManagedRules,
}

impl Rules {
    /// The rules that count, and those that do not.
    pub fn effective(self, trusting: Trusting, managed: &Managed) -> (Self, Vec<Ignored>) {
        let mut ignored = Vec::new();
        let mut counts = |rule: &Rule| {
            let Some(why) = why_not(rule, trusting, managed) else {
                return true;
            };
            ignored.push(Ignored {
                rule: rule.text().to_owned(),
                provenance: rule.provenance().clone(),
                why,
            });
            false
        };
        let mut rules = self;
        rules.allow.retain(&mut counts);
        (rules, ignored)
    }
}

fn why_not(rule: &Rule, trusting: Trusting, managed: &Managed) -> Option<Why> {
    if !managed.permits_allow_rule(rule) {
        return Some(Why::OnlyManagedRules);
    }
    match rule.provenance().source {
        Source::Project if !trusting.project => Some(Why::ProjectNotTrusted),
        Source::Local if !trusting.local => Some(Why::ProjectNotTrusted),
        Source::Managed
        | Source::Flags
        | Source::Session
        | Source::CommandLine
        | Source::Local
        | Source::Project
        | Source::User => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_pattern::Anchors;

    fn rule(source: Source) -> Rule {
        let anchors = Anchors {
            home: None,
            cwd: "/p".into(),
            settings: "/p".into(),
        };
        let provenance = Provenance::of(source).in_file("/p/s.json").at_line(3);
        Rule::parse("T", &anchors).unwrap().from(provenance)
    }

    #[test]
    fn only_those_who_have_a_say_can_allow() {
        let all: Vec<Rule> = Source::ALL.into_iter().map(rule).collect();
        for (project, local, only_managed_rules, allowing) in [
            (false, false, false, 5),
            (false, true, false, 6),
            (true, false, false, 6),
            (true, true, false, 7),
            (true, true, true, 1),
            (false, false, true, 1),
        ] {
            let rules = Rules {
                deny: all.clone(),
                ask: all.clone(),
                allow: all.clone(),
            };
            let managed = Managed {
                only_managed_rules,
                ..Managed::default()
            };
            let (rules, ignored) = rules.effective(Trusting { project, local }, &managed);
            assert_eq!((rules.deny.len(), rules.ask.len()), (7, 7));
            assert_eq!(rules.allow.len(), allowing);
            assert_eq!(ignored.len(), 7 - allowing);
        }
    }

    #[test]
    fn what_does_not_count_is_named_with_its_line() {
        let rules = Rules {
            allow: vec![rule(Source::Project)],
            ..Rules::default()
        };
        let (_, ignored) = rules.effective(Trusting::default(), &Managed::default());
        let message = ignored[0].to_string();
        assert!(
            message.starts_with("/p/s.json:3: the allow rule `T`"),
            "{message}"
        );
    }
}
