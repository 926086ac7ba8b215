//! What a trace is told of a decision: a word of the host's own and the rule. Reasons also
//! quote hooks, tools, people and paths, and traces may leave the machine.

use toolbay_policy::{Behavior, Ruling, Stage, Winner};
use tracing::Span;

/// Who had the last word.
pub(super) enum By {
    Policy,
    Classifier,
    Person,
}

/// How the host's own reasons to allow begin. One that is not here is told as `allowed`.
const KINDS: [&str; 2] = [
    "read-only inside the roots",
    "its component imports nothing that could change anything",
];

/// Writes a permit into the span of this stage.
pub(super) fn permitted(by: By, ruling: &Ruling) {
    let word = match (by, ruling.stage) {
        (By::Person, _) => "a person allowed it",
        (By::Classifier, _) => "the classifier allowed it",
        (By::Policy, Stage::Hook) => "a hook allows it",
        (By::Policy, Stage::Otherwise) => {
            let kind = KINDS
                .into_iter()
                .find(|kind| ruling.reason.starts_with(kind));
            kind.unwrap_or("allowed")
        }
        (By::Policy, Stage::Tool | Stage::Limits | Stage::Rules | Stage::Mode) => "allowed",
    };
    record(word, ruling);
}

/// The same for a refusal.
pub(super) fn denied(ruling: &Ruling) {
    record("denied", ruling);
}

fn record(decision: &str, ruling: &Ruling) {
    let span = Span::current();
    span.record("decision", decision);
    if let Some(rule) = rule_of(ruling) {
        span.record("rule", rule);
    }
}

/// The rule that a decision names as its reason. One that merely could not be ruled out names
/// none.
fn rule_of(ruling: &Ruling) -> Option<&str> {
    let Winner { rule, effect, .. } = ruling.winner.as_ref()?;
    let decided = *effect == ruling.behavior || ruling.stage == Stage::Mode;
    (decided || *effect == Behavior::Ask).then_some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbay_policy::{Provenance, Source};

    #[test]
    fn only_a_rule_that_decided_is_named() {
        let ruling = |behavior, effect: Option<Behavior>| Ruling {
            behavior,
            reason: "a secret".into(),
            stage: Stage::Rules,
            winner: effect.map(|effect| Winner {
                rule: "Read(.env)".into(),
                effect,
                provenance: Provenance::of(Source::User),
            }),
        };
        for (behavior, effect, named) in [
            (Behavior::Deny, Some(Behavior::Deny), true),
            (Behavior::Ask, Some(Behavior::Ask), true),
            (Behavior::Allow, Some(Behavior::Allow), true),
            (Behavior::Ask, Some(Behavior::Deny), false),
            (Behavior::Ask, None, false),
        ] {
            let ruling = ruling(behavior, effect);
            assert_eq!(rule_of(&ruling).is_some(), named, "{ruling:?}");
        }
    }
}
