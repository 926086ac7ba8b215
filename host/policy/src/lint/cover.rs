//! Whether one rule covers all that another covers.

use crate::behavior::Behavior;
use crate::claims::SubjectKind;
use crate::command::CommandPattern;
use crate::host::HostPattern;
use crate::path_pattern::{Key, PathPattern};
use crate::rule::{Content, Rule, server_of_rule};
use crate::verb::Verb;

/// Whether every tool that `narrow` names is one that `wide` names.
pub(super) fn tool(wide: &str, narrow: &str) -> bool {
    if let Some(stem) = wide.strip_suffix('*') {
        return narrow.trim_end_matches('*').starts_with(stem);
    }
    let is_server = server_of_rule(wide).is_some();
    let below = narrow.strip_prefix(wide);
    wide == narrow || is_server && below.is_some_and(|rest| rest.starts_with("__"))
}

/// Whether a rule of the list `effect` covers another, whose content is of this kind.
pub(super) fn rule(
    wide: &Rule,
    effect: Behavior,
    narrow: &Rule,
    kind: Option<SubjectKind>,
) -> bool {
    // A deny rule with this verb closes files to every tool.
    let closes_all = effect == Behavior::Deny
        && Verb::of(wide.tool()) == Some(Verb::Read)
        && kind == Some(SubjectKind::Path)
        && wide.content().is_some();
    if !closes_all && !tool(wide.tool(), narrow.tool()) {
        return false;
    }
    match (wide.content(), narrow.content()) {
        (None, _) => true,
        // A call without subjects is covered by no content.
        (Some(_), None) => false,
        (Some(wide), Some(narrow)) => content(wide, narrow, kind),
    }
}

fn content(wide: &Content, narrow: &Content, kind: Option<SubjectKind>) -> bool {
    match kind {
        Some(SubjectKind::Command) => command(&wide.command, &narrow.command),
        Some(SubjectKind::Path) => match (wide.path.pattern(), narrow.path.pattern()) {
            (Some(wide), Some(narrow)) => path(wide, narrow),
            _ => false,
        },
        Some(SubjectKind::Url) => match (&wide.domain, &narrow.domain) {
            (Some(wide), Some(narrow)) => host(wide, narrow),
            _ => false,
        },
        Some(SubjectKind::Text) => wide.text == "*" || wide.text == narrow.text,
        None => wide.command == CommandPattern::Every,
    }
}

fn command(wide: &CommandPattern, narrow: &CommandPattern) -> bool {
    if wide == narrow {
        return true;
    }
    match (wide, narrow) {
        (CommandPattern::Every, _) => true,
        (
            CommandPattern::Prefix(prefix),
            CommandPattern::Prefix(words) | CommandPattern::Exact { words, .. },
        ) => words.starts_with(prefix),
        (CommandPattern::Prefix(prefix), CommandPattern::Wild(wild)) => {
            let words = wild.leading_words();
            prefix.len() <= words.len() && prefix.iter().zip(words).all(|(a, b)| a == b)
        }
        (CommandPattern::Wild(_), CommandPattern::Exact { words, .. }) => wide.covers_words(words),
        (
            CommandPattern::Prefix(_) | CommandPattern::Exact { .. } | CommandPattern::Wild(_),
            CommandPattern::Every
            | CommandPattern::Prefix(_)
            | CommandPattern::Exact { .. }
            | CommandPattern::Wild(_),
        ) => false,
    }
}

fn path(wide: &PathPattern, narrow: &PathPattern) -> bool {
    if let Some(path) = narrow.literal() {
        return wide.covers(path);
    }
    let Some(folder) = wide.whole_folder() else {
        return false;
    };
    // Below a folder of which everything is covered.
    let is_literal = wide.literal().is_some();
    narrow.keys().iter().any(|key| match key {
        Key::Base(base) => base.starts_with(&folder) && (is_literal || *base != folder),
        Key::Name(_) | Key::Ending(_) => false,
    })
}

fn host(wide: &HostPattern, narrow: &HostPattern) -> bool {
    match (wide, narrow) {
        (HostPattern::Every, _) => true,
        (wide, HostPattern::One(name)) => wide.covers(name),
        (HostPattern::Below(wide), HostPattern::Below(narrow)) => {
            wide == narrow || HostPattern::Below(wide.clone()).covers(narrow)
        }
        (HostPattern::One(_) | HostPattern::Below(_), HostPattern::Every)
        | (HostPattern::One(_), HostPattern::Below(_)) => false,
    }
}
