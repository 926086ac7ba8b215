//! What a trace is told of a decision: a word of the host's own and the rule. Reasons also
//! quote hooks, tools, people and paths, and traces may leave the machine.

use tracing::Span;

/// How reasons to permit begin. One that is not here is told as `allowed`.
const KINDS: [&str; 4] = [
    "read-only inside the roots",
    "its component imports nothing that could change anything",
    "a hook allows it",
    ASKED,
];

const ASKED: &str = "a person allowed it";

/// What stands around a rule in a reason.
const AROUND_RULES: [(&str, &str); 3] = [
    ("the deny rule `", "` forbids it"),
    ("the ask rule `", "` covers it"),
    ("the allow rule `", "` covers it"),
];

/// Writes a permit's reason into the span of this stage.
pub(super) fn permitted(reason: &str) {
    let kind = KINDS.into_iter().find(|kind| reason.starts_with(kind));
    record(kind.unwrap_or("allowed"), reason);
}

/// The same for a refusal.
pub(super) fn denied(reason: &str) {
    record("denied", reason);
}

fn record(decision: &str, reason: &str) {
    let span = Span::current();
    span.record("decision", decision);
    if let Some(rule) = rule_of(reason) {
        span.record("rule", rule);
    }
}

/// The rule that a decision names as its reason, if it does.
fn rule_of(reason: &str) -> Option<&str> {
    let asked = reason.strip_prefix(ASKED);
    let asked = asked.and_then(|rest| rest.strip_prefix("; asked because "));
    let reason = asked.unwrap_or(reason);
    AROUND_RULES
        .into_iter()
        .find_map(|(before, after)| reason.strip_prefix(before)?.strip_suffix(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasons_that_are_a_rule_name_one() {
        for (reason, rule) in [
            ("the deny rule `Read(.env)` forbids it", Some("Read(.env)")),
            ("the allow rule `A(`x`)` covers it", Some("A(`x`)")),
            (
                "a person allowed it; asked because the ask rule `Edit` covers it",
                Some("Edit"),
            ),
            (
                "a person allowed it; asked because it may change things",
                None,
            ),
            ("a hook forbids it: the deny rule `x` forbids it", None),
            ("/home/x is closed by `Read(.env)`", None),
            ("read-only inside the roots: it cannot write", None),
        ] {
            assert_eq!(rule_of(reason), rule, "{reason}");
        }
    }
}
