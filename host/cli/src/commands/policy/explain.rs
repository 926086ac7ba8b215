//! A decision as people read it.

use serde_json::{Value, json};
use toolbay::policy::{Behavior, Explanation, Policy};

use crate::commands::print_line;
use crate::style::Style;
use crate::view::harmless_line;

/// Allow rules that do not count, and why.
pub(super) fn ignored(policy: &Policy) -> Value {
    let ignored = policy.ignored().iter();
    ignored
        .map(|ignored| {
            json!({
                "rule": ignored.rule,
                "provenance": ignored.provenance,
                "why": ignored.why.to_string(),
            })
        })
        .collect()
}

pub(super) fn print(explanation: &Explanation, policy: &Policy, tool: &str) -> anyhow::Result<()> {
    let style = Style::for_output();
    let coloured = |behavior: Behavior, text: &str| match behavior {
        Behavior::Allow => style.good(text),
        Behavior::Ask => style.warn(text),
        Behavior::Deny => style.bad(text),
    };
    print_line(&format!(
        "{} {}: {}",
        coloured(explanation.behavior, explanation.behavior.word()),
        style.bold(&harmless_line(tool)),
        harmless_line(&explanation.reason)
    ))?;
    match &explanation.winner {
        Some(winner) => print_line(&format!(
            "  by the {} rule `{}` of {}",
            winner.effect,
            harmless_line(&winner.rule),
            place(
                winner.provenance.source.phrase(),
                &winner.provenance.to_string()
            )
        ))?,
        None => print_line(&style.dim("  by no rule"))?,
    }
    for zone in &explanation.writes {
        print_line(&format!("  may write {}", harmless_line(&zone.to_string())))?;
    }
    print_line(&format!("\n{}", style.bold("Stages")))?;
    for step in &explanation.steps {
        let word = step.behavior.map_or("–", Behavior::word);
        let word = format!("{word:<6}");
        let word = match step.behavior {
            Some(behavior) => coloured(behavior, &word),
            None => style.dim(&word),
        };
        print_line(&format!(
            "  {:<10} {word} {}",
            step.stage.word(),
            harmless_line(&step.outcome)
        ))?;
    }
    print_line(&format!("\n{}", style.bold("Rules looked at")))?;
    if explanation.looked_at.is_empty() {
        print_line(&style.dim("  none is about this call"))?;
    }
    for looked in &explanation.looked_at {
        let mark = if looked.matched { "●" } else { "○" };
        print_line(&format!(
            "  {mark} {:<6} {}  {}",
            looked.effect.word(),
            harmless_line(&looked.rule),
            style.dim(&looked.provenance.to_string())
        ))?;
    }
    for ignored in policy.ignored() {
        print_line(&format!(
            "  {} {}",
            style.warn("!"),
            harmless_line(&ignored.to_string())
        ))?;
    }
    if explanation.behavior == Behavior::Ask && !explanation.suggestions.is_empty() {
        let rules = explanation.suggestions.join("`, `");
        print_line(&format!("\nAllowed by `{}`", harmless_line(&rules)))?;
    }
    print_line(&style.dim(&format!("\nmode {}", policy.mode())))
}

fn place(whose: &str, place: &str) -> String {
    match whose == place {
        true => whose.to_owned(),
        false => format!("{whose}, {place}"),
    }
}
