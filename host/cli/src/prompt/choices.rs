//! What a typed line means. Only computes.

use toolbay::contract::visible_line;
use toolbay::dispatch::{Answer, PermissionQuestion, RuleOrigin, RuleScope};

use super::saved::SavedIn;

/// What is being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whether the call may run.
    Whether,
    /// Where its rules are kept.
    Where,
}

/// How much of the question the user has been shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// Something was cut, so a yes would be to something unseen. It does not count yet.
    Part,
    Whole,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Done(Answer),
    Ask(Asked),
    /// Something to tell, then the same question again.
    Tell(String),
    /// The whole card, then the same question again.
    ShowAll,
}

/// The line that ends where the user types.
pub(super) fn prompt(asked: Asked, sight: Sight, question: &PermissionQuestion) -> String {
    match (asked, sight) {
        (Asked::Whether, Sight::Part) => "Parts were cut: type v to see all of it [v/n/?] ".into(),
        (Asked::Whether, Sight::Whole) if may_keep(question).is_ok() => {
            "Allow it? [y/a/n/v/?] ".into()
        }
        (Asked::Whether, Sight::Whole) => "Allow it? [y/n/v/?] ".into(),
        (Asked::Where, _) => format!("Keep the rules where? [{}] ", scopes(question, "/")),
    }
}

/// Makes sense of a line. Only a clear yes is a yes, and only to what was shown.
pub(super) fn read(
    asked: Asked,
    sight: Sight,
    line: &str,
    question: &PermissionQuestion,
    saved: &SavedIn,
) -> Next {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let lower = word.to_lowercase();
    match (asked, lower.as_str(), rest) {
        (Asked::Whether, "", _) => Next::Ask(Asked::Whether),
        (_, "n" | "no", reason) => Next::Done(no(reason)),
        (Asked::Whether, "y" | "yes" | "a" | "always", _) if sight == Sight::Part => {
            Next::Tell(UNSEEN.into())
        }
        (Asked::Whether, "y" | "yes", "") => Next::Done(Answer::Yes),
        (Asked::Whether, "a" | "always", rest) => match (may_keep(question), rest) {
            (Err(reason), _) => Next::Tell(reason),
            (Ok(()), "") => Next::Ask(Asked::Where),
            (Ok(()), rest) => {
                let (scope, rule) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                keep(scope, rule.trim(), question)
            }
        },
        (Asked::Whether, "v" | "view", "") => Next::ShowAll,
        (_, "?" | "h" | "help", "") => Next::Tell(help(asked, sight, question, saved)),
        (Asked::Whether, _, _) => Next::Tell(format!(
            "{:?} is no answer. {}",
            visible_line(line),
            possible(sight, question)
        )),
        // Whoever does not know where may still say no.
        (Asked::Where, "", _) => Next::Ask(Asked::Whether),
        (Asked::Where, scope, "") => keep(scope, "", question),
        (Asked::Where, _, _) => Next::Tell(unknown_scope(line, question)),
    }
}

const UNSEEN: &str = "Parts of this call were cut. Type v to see all of it; a yes counts after \
                      that. n denies it at once.";

fn no(reason: &str) -> Answer {
    let reason = visible_line(reason);
    Answer::No {
        reason: match reason.is_empty() {
            true => "the user said no".into(),
            false => format!("the user said no: {reason}"),
        },
    }
}

/// Whether there is a rule to keep; the error says why not.
fn may_keep(question: &PermissionQuestion) -> Result<(), String> {
    if question.rules.is_empty() {
        return Err("No rule can allow it from now on; y allows it this once.".into());
    }
    if question.scopes.is_empty() {
        return Err(
            "The owner of this machine lets no one keep rules; y allows it this once.".into(),
        );
    }
    Ok(())
}

/// A scope by its name or the first letter of it, with the rule that the user typed for it; the
/// offered ones without.
fn keep(word: &str, typed: &str, question: &PermissionQuestion) -> Next {
    let lower = word.to_lowercase();
    let mut known = question.scopes.iter();
    let found = known.find(|scope| {
        let name = scope.word();
        lower == name
            || name
                .strip_prefix(lower.as_str())
                .is_some_and(|_| lower.len() == 1)
    });
    match found {
        Some(scope) => {
            let (rules, origin) = match typed.is_empty() {
                true => (question.rules.clone(), RuleOrigin::Offered),
                false => (vec![typed.to_owned()], RuleOrigin::Typed),
            };
            Next::Done(Answer::Always {
                rules,
                scope: *scope,
                origin,
            })
        }
        None => Next::Tell(unknown_scope(word, question)),
    }
}

fn unknown_scope(word: &str, question: &PermissionQuestion) -> String {
    format!(
        "{:?} is no place for rules. There are {}; an empty line goes back.",
        visible_line(word),
        scopes(question, ", ")
    )
}

fn scopes(question: &PermissionQuestion, between: &str) -> String {
    let words: Vec<&str> = question.scopes.iter().map(|scope| scope.word()).collect();
    words.join(between)
}

fn possible(sight: Sight, question: &PermissionQuestion) -> &'static str {
    match (sight, may_keep(question)) {
        (Sight::Part, _) => "Type v, n or ?, then Enter.",
        (Sight::Whole, Ok(())) => "Type y, a, n, v or ?, then Enter.",
        (Sight::Whole, Err(_)) => "Type y, n, v or ?, then Enter.",
    }
}

fn help(asked: Asked, sight: Sight, question: &PermissionQuestion, saved: &SavedIn) -> String {
    let mut lines = match sight {
        Sight::Part => vec![UNSEEN.to_owned()],
        Sight::Whole => Vec::new(),
    };
    lines.push("y         allow this one call".to_owned());
    if may_keep(question).is_ok() {
        let rules = question.rules.iter().map(|rule| visible_line(rule));
        let rules = rules.collect::<Vec<_>>().join(", ");
        let place = |scope: &RuleScope| {
            format!(
                "a {:<8}kept in {}",
                scope.word(),
                visible_line(&saved.place(*scope))
            )
        };
        lines.push(format!("a         allow it and from now on {rules}"));
        lines.extend(question.scopes.iter().map(place));
        lines.push("a SCOPE RULE  the same with a rule of your own that covers the call".into());
    }
    lines.push("n         do not allow it".into());
    lines.push("n REASON  do not allow it, and tell the model why".into());
    lines.push("v         show everything that was cut".into());
    if asked == Asked::Where {
        lines.push("An empty line goes back.".into());
    }
    lines.join("\n")
}
