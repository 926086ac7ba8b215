//! Rules that no call can match.

use toolbay_shell::{Place, inspect};

use crate::behavior::Behavior;
use crate::claims::SubjectKind;
use crate::command::CommandPattern;
use crate::rule::{Content, PathContent, Rule};

/// Why nothing can match the rule.
pub(super) fn why(rule: &Rule, effect: Behavior, kind: Option<SubjectKind>) -> Option<String> {
    let content = rule.content()?;
    match kind? {
        SubjectKind::Command => command(content, effect),
        SubjectKind::Path => path(content, effect),
        SubjectKind::Url => {
            let is_about_hosts = content.domain.is_some() || content.text == "*";
            (!is_about_hosts).then(|| {
                "matches nothing: hosts are written `domain:example.com` or `domain:*.example.com`"
                    .into()
            })
        }
        SubjectKind::Text => None,
    }
}

fn path(content: &Content, effect: Behavior) -> Option<String> {
    if content.domain.is_some() {
        return Some("is about hosts, and its tool is about files".into());
    }
    if content.text.starts_with('~') && content.text != "~" && !content.text.starts_with("~/") {
        return Some(
            "names somebody else's home, which is not known; write it as `//home/…`".into(),
        );
    }
    match &content.path {
        PathContent::None => {
            Some("ends in `:*`, which means commands, and its tool is about files".into())
        }
        PathContent::Pattern(pattern) => (effect == Behavior::Allow && pattern.allows_nothing())
            .then(|| "counts from a home folder, and there is none".into()),
        PathContent::Broken => None,
    }
}

fn command(content: &Content, effect: Behavior) -> Option<String> {
    if content.domain.is_some() {
        return Some("is about hosts, and its tool is about commands".into());
    }
    match &content.command {
        CommandPattern::Every => None,
        CommandPattern::Prefix(words) => prefix(words),
        CommandPattern::Exact { text, .. } => {
            let is_joined = text.contains(['&', '|', ';', '\n'])
                && inspect(text, &Place::anywhere()).commands.len() != 1;
            (is_joined && effect == Behavior::Allow).then(|| {
                "is several commands; they are allowed one by one: write a rule for each".into()
            })
        }
        CommandPattern::Wild(wild) => {
            let words: Vec<String> = wild
                .leading_words()
                .into_iter()
                .map(str::to_owned)
                .collect();
            prefix(&words)
        }
    }
}

/// Rules are held against the words of single commands, after the shell has read them.
fn prefix(words: &[String]) -> Option<String> {
    let is_operator = |word: &&String| {
        matches!(
            word.as_str(),
            "&&" | "||" | "|" | ";" | "&" | ">" | ">>" | "<" | "2>&1"
        )
    };
    if let Some(operator) = words.iter().find(is_operator) {
        return Some(format!(
            "holds `{operator}`, and rules are held against single commands"
        ));
    }
    if let Some(word) = words.iter().find(|word| word.starts_with(['\'', '"'])) {
        return Some(format!(
            "holds the quote of `{word}`, and commands are compared without quotes"
        ));
    }
    let first = words.first()?;
    let is_assignment = first
        .split_once('=')
        .is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    is_assignment.then(|| {
        format!("begins with the variable `{first}`, and commands are compared without variables")
    })
}
