//! What was found: sentences and definitions for the model, data for programs, a wish
//! for the host, and a line for people.

use serde_json::{Value, json};
use toolbay_sdk::tools::Entry;
use toolbay_sdk::{Content, ContextModifier, Outcome};

use crate::definition;
use crate::find::Found;
use crate::select::Unknown;

/// How many deferred tools are named when nothing was found.
const MOST_NAMED: usize = 10;
/// How much of a query is said back.
const LONGEST_ECHO: usize = 200;

/// The answer to a query.
pub fn outcome(query: &str, entries: &[Entry], found: &Found<'_>) -> Outcome {
    let mut outcome = Outcome::text(sentences(query, entries, found));
    let definitions = definition::lines(&found.tools);
    outcome
        .content
        .extend(definitions.into_iter().map(Content::Text));
    let to_load = names(found, |tool| tool.deferred && !tool.loaded);
    if !to_load.is_empty() {
        let to_load = to_load.into_iter().map(Into::into).collect();
        outcome = outcome.with_modifier(ContextModifier::LoadTools(to_load));
    }
    outcome.with_structured(&json!({
        "matches": names(found, |_| true),
        "total_deferred": entries.iter().filter(|entry| entry.deferred).count(),
    }))
}

fn names<'a>(found: &Found<'a>, which: impl Fn(&Entry) -> bool) -> Vec<&'a str> {
    let tools = found.tools.iter().copied();
    tools
        .filter(|tool| which(tool))
        .map(|tool| tool.name.as_str())
        .collect()
}

fn sentences(query: &str, entries: &[Entry], found: &Found<'_>) -> String {
    let mut all = Vec::new();
    if found.tools.is_empty() {
        if found.unknown.is_empty() {
            all.push(format!("No deferred tool fits `{}`.", echo(query)));
            all.extend(known_anyway(query, entries));
        }
        all.extend(found.unknown.iter().map(no_such_tool));
        all.push(what_there_is(entries));
        return all.join(" ");
    }
    let mut say = |lead: &str, names: Vec<&str>, tail: &str| {
        if !names.is_empty() {
            all.push(format!("{lead} {}{tail}", names.join(", ")));
        }
    };
    let fresh = names(found, |tool| tool.deferred && !tool.loaded);
    say("Loaded:", fresh, "; to be called like any other tool.");
    let loaded = names(found, |tool| tool.deferred && tool.loaded);
    say("Loaded before:", loaded, ".");
    let always = names(found, |tool| !tool.deferred);
    say("Never deferred, so always there:", always, ".");
    all.extend(found.unknown.iter().map(no_such_tool));
    if found.left_out > 0 {
        let tools = counted(found.left_out, "more tool fits", "more tools fit");
        all.push(format!(
            "{tools} less well; for others use other words or a larger max_results."
        ));
    }
    all.join(" ")
}

fn no_such_tool(unknown: &Unknown) -> String {
    let name = echo(&unknown.name);
    match unknown.near.as_slice() {
        [] => format!("There is no tool called `{name}`."),
        near => format!(
            "There is no tool called `{name}`; perhaps {} is meant.",
            near.join(" or ")
        ),
    }
}

/// Tools that the query names and that need no search.
fn known_anyway(query: &str, entries: &[Entry]) -> Option<String> {
    let is_named = |entry: &&Entry| {
        let mut words = query.split_whitespace();
        words.any(|word| {
            let word = word.trim_start_matches('+');
            entry.name.eq_ignore_ascii_case(word)
        })
    };
    let names: Vec<&str> = entries
        .iter()
        .filter(|entry| !entry.deferred)
        .filter(is_named)
        .map(|entry| entry.name.as_str())
        .collect();
    (!names.is_empty()).then(|| format!("Never deferred, so always there: {}.", names.join(", ")))
}

fn what_there_is(entries: &[Entry]) -> String {
    let mut names: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.deferred)
        .map(|entry| entry.name.as_str())
        .collect();
    names.sort_unstable();
    let total = names.len();
    if total == 0 {
        return "No tool of this session is deferred: all are on the list already.".into();
    }
    names.truncate(MOST_NAMED);
    let tools = counted(total, "tool is deferred", "tools are deferred");
    let such_as = if total > MOST_NAMED { ", such as" } else { ":" };
    format!(
        "{tools}{such_as} {}. Try other words, or pick by name with `select:NAME`.",
        names.join(", ")
    )
}

fn counted(count: usize, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{count} {noun}")
}

/// A text of the model's own, on one line and not at length.
fn echo(text: &str) -> String {
    let clean = text.trim().chars();
    let clean = clean.map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = clean.take(LONGEST_ECHO).collect();
    if text.trim().chars().nth(LONGEST_ECHO).is_some() {
        short.push('…');
    }
    short
}

/// The call in one line.
pub fn headline(query: &str) -> String {
    format!("Search tools: {}", echo(query))
}

/// What was found, in one line; the text itself when the outcome has no data.
pub fn summary(outcome: &Outcome) -> String {
    let data = outcome.structured.as_deref();
    let data = data.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let matches = data.as_ref().and_then(|data| data["matches"].as_array());
    let Some(matches) = matches else {
        return outcome.plain_text();
    };
    let names: Vec<&str> = matches.iter().filter_map(Value::as_str).collect();
    match names.len() {
        0 => "Found no tools".into(),
        count => format!(
            "Found {}: {}",
            counted(count, "tool", "tools"),
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests;
