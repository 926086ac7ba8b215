//! How a policy finds the rules about a call.

use toolbay_shell::SimpleCommand;

use super::{Policy, Request};
use crate::behavior::Behavior;
use crate::effective::Ignored;
use crate::index::RuleIndex;
use crate::path_pattern::Key;
use crate::rule::{Rule, Rules};
use crate::source::Source;
use crate::verb::Verb;

/// All rules of a policy, and how to find them.
#[derive(Debug)]
pub(super) struct Indexed {
    pub(super) rules: Rules,
    pub(super) deny: RuleIndex,
    ask: RuleIndex,
    allow: RuleIndex,
    managed_deny: Part,
    managed_ask: Part,
    pub(super) ignored: Vec<Ignored>,
}

impl Indexed {
    pub(super) fn new(rules: Rules, ignored: Vec<Ignored>) -> Self {
        Self {
            deny: RuleIndex::new(&rules.deny),
            ask: RuleIndex::new(&rules.ask),
            allow: RuleIndex::new(&rules.allow),
            managed_deny: Part::of(&rules.deny),
            managed_ask: Part::of(&rules.ask),
            rules,
            ignored,
        }
    }
}

/// The rules of the managed policy in a list.
#[derive(Debug)]
struct Part {
    rules: Vec<Rule>,
    /// Where they stand in the list.
    places: Vec<usize>,
    index: RuleIndex,
}

impl Part {
    fn of(list: &[Rule]) -> Self {
        let is_managed = |rule: &Rule| rule.provenance().source == Source::Managed;
        let managed = list.iter().enumerate().filter(|(_, rule)| is_managed(rule));
        let (places, rules): (Vec<usize>, Vec<Rule>) =
            managed.map(|(place, rule)| (place, rule.clone())).unzip();
        let index = RuleIndex::new(&rules);
        Self {
            rules,
            places,
            index,
        }
    }
}

impl Policy {
    pub(crate) fn list(&self, list: Behavior) -> &[Rule] {
        match list {
            Behavior::Deny => &self.rules.rules.deny,
            Behavior::Ask => &self.rules.rules.ask,
            Behavior::Allow => &self.rules.rules.allow,
        }
    }

    pub(crate) fn rule(&self, list: Behavior, place: usize) -> &Rule {
        &self.list(list)[place]
    }

    /// The first rule of a list that touches the call.
    pub(crate) fn touching(&self, list: Behavior, request: &Request) -> Option<usize> {
        let index = match list {
            Behavior::Deny => &self.rules.deny,
            Behavior::Ask => &self.rules.ask,
            Behavior::Allow => &self.rules.allow,
        };
        let (tool, study) = (&request.tool, &request.study);
        index.touching(
            self.list(list),
            tool,
            (&request.subjects, &request.aliases),
            study,
        )
    }

    /// The first allow rule that covers it, alone or with others.
    pub(crate) fn covering(&self, request: &Request) -> Option<usize> {
        let (tool, study) = (&request.tool, &request.study);
        let allow = self.list(Behavior::Allow);
        let index = &self.rules.allow;
        index.covering(allow, tool, &request.subjects, study)
    }

    /// The commands that do more than read inside the project, and that no rule allows.
    pub(crate) fn uncovered<'a>(
        &'a self,
        request: &'a Request,
    ) -> impl Iterator<Item = &'a SimpleCommand> {
        let allow = self.list(Behavior::Allow);
        let is_covered = |command: &SimpleCommand| {
            let index = &self.rules.allow;
            index.covers_command(allow, &request.tool, command)
        };
        let doubtful = request.study.doubtful();
        doubtful.filter(move |command| !is_covered(command))
    }

    /// The first ask rule of the managed policy that touches the call.
    pub(crate) fn managed_ask(&self, request: &Request) -> Option<usize> {
        let part = &self.rules.managed_ask;
        let (tool, study) = (&request.tool, &request.study);
        let found = part.index.touching(
            &part.rules,
            tool,
            (&request.subjects, &request.aliases),
            study,
        )?;
        part.places.get(found).copied()
    }

    /// The first deny rule with content about a tool.
    pub(crate) fn narrow_deny(&self, tool: &str) -> Option<usize> {
        self.rules.deny.narrow(tool)
    }

    /// The same of the managed policy.
    pub(crate) fn managed_narrow_deny(&self, tool: &str) -> Option<usize> {
        let part = &self.rules.managed_deny;
        part.places.get(part.index.narrow(tool)?).copied()
    }

    /// The first deny rule that closes files to readers and may mean some in the roots.
    pub(crate) fn closing_inside(&self) -> Option<usize> {
        let may_lie_inside = |key: &Key| match key {
            Key::Base(base) => {
                let mut roots = self.roots().iter();
                roots.any(|root| base.starts_with(root) || root.starts_with(base))
            }
            Key::Name(_) | Key::Ending(_) => true,
        };
        self.list(Behavior::Deny).iter().position(|rule| {
            let pattern = rule.content().and_then(|content| content.path.pattern());
            Verb::of(rule.tool()) == Some(Verb::Read)
                && pattern.is_some_and(|pattern| pattern.keys().iter().any(may_lie_inside))
        })
    }

    /// Whether allow rules name all commands of the call that print out of a repository.
    pub(crate) fn names_history(&self, request: &Request) -> bool {
        let (tool, study) = (&request.tool, &request.study);
        let allow = self.list(Behavior::Allow);
        let index = &self.rules.allow;
        index.names_history(allow, tool, &request.subjects, study)
    }

    /// Whether allow rules name all commands of the call one by one.
    pub(crate) fn names_all(&self, request: &Request) -> bool {
        let (tool, study) = (&request.tool, &request.study);
        let allow = self.list(Behavior::Allow);
        let index = &self.rules.allow;
        index.names_all(allow, tool, &request.subjects, study)
    }
}
