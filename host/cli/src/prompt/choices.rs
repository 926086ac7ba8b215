//! What a typed line means. Only computes.

use toolbay_dispatch::{Answer, PermissionQuestion, RuleScope};

use super::card::one_line;
use super::saved::SavedIn;

/// What is being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whether the call may run.
    Whether,
    /// Where its rules are kept.
    Where,
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

/// The line that ends where the person types.
pub(super) fn prompt(asked: Asked, question: &PermissionQuestion) -> String {
    match asked {
        Asked::Whether if may_keep(question).is_ok() => "Allow it? [y/a/n/v/?] ".into(),
        Asked::Whether => "Allow it? [y/n/v/?] ".into(),
        Asked::Where => format!("Keep the rules where? [{}] ", scopes(question, "/")),
    }
}

/// Makes sense of a line. Only a clear yes is a yes.
pub(super) fn read(
    asked: Asked,
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
        (Asked::Whether, "y" | "yes", "") => Next::Done(Answer::Yes),
        (Asked::Whether, "a" | "always", scope) => match (may_keep(question), scope) {
            (Err(reason), _) => Next::Tell(reason),
            (Ok(()), "") => Next::Ask(Asked::Where),
            (Ok(()), scope) => keep(scope, question),
        },
        (Asked::Whether, "v" | "view", "") => Next::ShowAll,
        (_, "?" | "h" | "help", "") => Next::Tell(help(asked, question, saved)),
        (Asked::Whether, _, _) => Next::Tell(format!(
            "{:?} is no answer. {}",
            one_line(line),
            possible(question)
        )),
        // Whoever does not know where may still say no.
        (Asked::Where, "", _) => Next::Ask(Asked::Whether),
        (Asked::Where, scope, "") => keep(scope, question),
        (Asked::Where, _, _) => Next::Tell(unknown_scope(line, question)),
    }
}

fn no(reason: &str) -> Answer {
    let reason = one_line(reason);
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
            "Whoever owns this machine keeps rules to themselves; y allows it this once.".into(),
        );
    }
    Ok(())
}

/// A scope by its name or the first letter of it.
fn keep(word: &str, question: &PermissionQuestion) -> Next {
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
        Some(scope) => Next::Done(Answer::Always {
            rules: question.rules.clone(),
            scope: *scope,
        }),
        None => Next::Tell(unknown_scope(word, question)),
    }
}

fn unknown_scope(word: &str, question: &PermissionQuestion) -> String {
    format!(
        "{:?} is no place for rules. There are {}; an empty line goes back.",
        one_line(word),
        scopes(question, ", ")
    )
}

fn scopes(question: &PermissionQuestion, between: &str) -> String {
    let words: Vec<&str> = question.scopes.iter().map(|scope| scope.word()).collect();
    words.join(between)
}

fn possible(question: &PermissionQuestion) -> &'static str {
    match may_keep(question) {
        Ok(()) => "Type y, a, n, v or ?, then Enter.",
        Err(_) => "Type y, n, v or ?, then Enter.",
    }
}

fn help(asked: Asked, question: &PermissionQuestion, saved: &SavedIn) -> String {
    let mut lines = vec!["y         allow this one call".to_owned()];
    if may_keep(question).is_ok() {
        let rules = question.rules.iter().map(|rule| one_line(rule));
        let rules = rules.collect::<Vec<_>>().join(", ");
        let place = |scope: &RuleScope| {
            format!(
                "a {:<8}kept in {}",
                scope.word(),
                one_line(&saved.place(*scope))
            )
        };
        lines.push(format!("a         allow it and from now on {rules}"));
        lines.extend(question.scopes.iter().map(place));
    }
    lines.push("n         do not allow it".into());
    lines.push("n REASON  do not allow it, and tell the model why".into());
    lines.push("v         show everything that was cut".into());
    if asked == Asked::Where {
        lines.push("An empty line goes back.".into());
    }
    lines.join("\n")
}
