//! What a shell makes of the values of a variable: `${F%.in}`, `${F/a/b}`, `${F:-otherwise}` and the rest.
//!
//! Where the outcome cannot be told exactly there are all values that it may have, or patterns that match
//! them.

use super::globs::is_match;
use super::lexer::{ANY, NAME, NAME_END, ONE, alternatives, part};
use super::variables::MOST_VALUES;

/// A longer value is cut anywhere: each place would be compared with the pattern.
const LONGEST_CUT: usize = 512;

/// What stands between the braces, in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expansion<'a> {
    /// Each as it is written.
    Choice(Vec<String>),
    /// The value of the variable that another one names.
    Indirect,
    /// The output of a command, or a number.
    Unknown,
    Of {
        name: &'a str,
        /// `A[*]`: all values of a list in one.
        is_joined: bool,
        change: Change<'a>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change<'a> {
    None,
    /// If there is no value; whether the variable has it from then on.
    Otherwise(&'a str),
    Assigned(&'a str),
    Instead(&'a str),
    Cut(End, &'a str),
    Replaced(&'a str),
    Slice(&'a str),
    Case,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Front,
    Back,
}

/// Of what stands between `NAME` and `NAME_END`.
pub(super) fn expansion(written: &str) -> Expansion<'_> {
    if let Some(choice) = written.strip_prefix('{') {
        return Expansion::Choice(alternatives(choice));
    }
    if written == "0" {
        return Expansion::Unknown;
    }
    if written.starts_with('!') {
        return Expansion::Indirect;
    }
    // Flags of zsh: `${(U)F}`.
    let (written, has_flags) = match written.strip_prefix('(').and_then(|it| it.split_once(')')) {
        Some((_, rest)) => (rest, true),
        None => (written.trim_start_matches(['~', '=', '^']), false),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = written.find(|c| !is_name(c)).unwrap_or(written.len());
    let (mut name, mut rest) = written.split_at(end);
    if name.is_empty() {
        let Some(behind) = rest.strip_prefix(['@', '*']) else {
            return Expansion::Unknown;
        };
        (name, rest) = ("1", behind);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name = "1";
    }
    let mut is_joined = false;
    if let Some((index, behind)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
        is_joined = index == "*";
        rest = behind;
    }
    let change = match has_flags {
        true => Change::Other,
        false => change(rest),
    };
    Expansion::Of {
        name,
        is_joined,
        change,
    }
}

fn change(rest: &str) -> Change<'_> {
    let conditional = rest.strip_prefix(':').unwrap_or(rest);
    let behind = |count: usize| conditional.get(count..).unwrap_or_default();
    match (conditional.chars().next(), rest.chars().next()) {
        (None, None) => Change::None,
        (Some('-'), _) => Change::Otherwise(behind(1)),
        (Some('='), _) => Change::Assigned(behind(1)),
        (Some('+'), _) => Change::Instead(behind(1)),
        (Some('?'), _) => Change::None,
        (_, Some(':')) => Change::Slice(conditional),
        (_, Some('#')) => Change::Cut(End::Front, rest.trim_start_matches('#')),
        (_, Some('%')) => Change::Cut(End::Back, rest.trim_start_matches('%')),
        (_, Some('/')) => Change::Replaced(&rest[1..]),
        (_, Some('^' | ',' | '~')) => Change::Case,
        (_, _) => Change::Other,
    }
}

/// A known value after a change; `put_in` puts variables into the texts of the change.
pub(super) fn changed(
    value: &str,
    change: Change<'_>,
    put_in: &mut dyn FnMut(&str) -> Vec<String>,
) -> Vec<String> {
    let found = match change {
        Change::None | Change::Otherwise(_) | Change::Assigned(_) => {
            return vec![value.to_owned()];
        }
        Change::Instead(_) => return Vec::new(),
        Change::Case => return vec![any_case(value)],
        Change::Cut(end, pattern) => cut(value, end, &put_in(&part(pattern))),
        Change::Replaced(written) => replaced(value, written, put_in),
        Change::Slice(written) => slice(value, written),
        Change::Other => None,
    };
    let is_open = |c: char| matches!(c, NAME | NAME_END | '/' | '.');
    if value.contains(NAME) && value.chars().all(is_open) {
        return vec![format!("{NAME}{NAME_END}")];
    }
    match found {
        Some(found) if found.len() <= MOST_VALUES => found,
        Some(_) | None => parts_of(value),
    }
}

fn has_marks(text: &str) -> bool {
    text.contains([ANY, ONE, NAME])
}

/// In capitals, in small letters or both.
fn any_case(value: &str) -> String {
    let is_open = |c: char| c.is_alphabetic();
    value
        .chars()
        .map(|c| if is_open(c) { ONE } else { c })
        .collect()
}

/// Without what a pattern matches at one end. Since patterns are known roughly, each cut that may be
/// meant is one; and where a part of the value is not known, each that it may have.
fn cut(value: &str, end: End, patterns: &[String]) -> Option<Vec<String>> {
    if patterns.iter().any(|pattern| pattern.contains(NAME)) || value.len() > LONGEST_CUT {
        return None;
    }
    let mut found = Vec::new();
    for pattern in patterns {
        let mut is_cut = false;
        let places = value.char_indices().map(|(at, _)| at).chain([value.len()]);
        for at in places {
            let (front, back) = value.split_at(at);
            if back.starts_with(NAME_END) {
                continue;
            }
            let (gone, left) = match end {
                End::Front => (front, back),
                End::Back => (back, front),
            };
            if has_marks(gone) || is_match(pattern, gone) {
                is_cut = true;
                found.push(left.to_owned());
            }
        }
        if !is_cut || has_marks(pattern) || has_marks(value) {
            found.push(value.to_owned());
        }
    }
    Some(found)
}

/// `from/to`, with a sign in front that says which.
fn replaced(
    value: &str,
    written: &str,
    put_in: &mut dyn FnMut(&str) -> Vec<String>,
) -> Option<Vec<String>> {
    let sign = written.chars().next().filter(|c| "/#%".contains(*c));
    let written = &written[sign.map_or(0, char::len_utf8)..];
    if has_marks(value) || written.contains(['\\', '\'', '"', '&']) {
        return None;
    }
    let (from, to) = written.split_once('/').unwrap_or((written, ""));
    let (from, to) = (put_in(&part(from)), put_in(&part(to)));
    if from.iter().any(|from| has_marks(from) || from.is_empty()) {
        return None;
    }
    let mut found = Vec::new();
    for from in &from {
        for to in &to {
            found.push(match sign {
                None => value.replacen(&**from, to, 1),
                Some('/') => value.replace(&**from, to),
                Some('#') => match value.strip_prefix(&**from) {
                    Some(rest) => format!("{to}{rest}"),
                    None => value.to_owned(),
                },
                Some(_) => match value.strip_suffix(&**from) {
                    Some(rest) => format!("{rest}{to}"),
                    None => value.to_owned(),
                },
            });
        }
    }
    Some(found)
}

/// `offset` or `offset:length`, as numbers.
fn slice(value: &str, written: &str) -> Option<Vec<String>> {
    if has_marks(value) {
        return None;
    }
    let (offset, length) = match written.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (written, None),
    };
    let chars: Vec<char> = value.chars().collect();
    let place = |written: &str| {
        let number: i64 = written.trim().parse().ok()?;
        let size = usize::try_from(number.unsigned_abs()).ok()?;
        Some(match number < 0 {
            true => chars.len().checked_sub(size)?,
            false => size,
        })
    };
    let first = place(offset)?.min(chars.len());
    let end = match length {
        None => chars.len(),
        Some(length) if length.trim().starts_with('-') => place(length)?,
        Some(length) => first.saturating_add(place(length)?),
    };
    let end = end.clamp(first, chars.len());
    Some(vec![chars[first..end].iter().collect()])
}

/// Patterns for any text that is made from a value: its front, its back, or with anything in place of
/// its parts. One that is not known as a whole says no more than before.
pub(super) fn parts_of(value: &str) -> Vec<String> {
    let any = ANY.to_string();
    let mut all = vec![value.to_owned(), anything(value)];
    let parts: Vec<&str> = value.split('/').collect();
    let slashes = value.char_indices().filter(|(_, c)| *c == '/');
    for (at, _) in slashes.take(MOST_VALUES / 8) {
        all.push(format!("{}{ANY}", &value[..=at]));
        all.push(format!("{ANY}{}", &value[at..]));
    }
    for at in 0..parts.len().min(MOST_VALUES / 8) {
        let mut some = parts.clone();
        some[at] = &any;
        if parts.len() > 1 {
            all.push(some.join("/"));
        }
        if at > 0 {
            all.push(vec![any.as_str(); at + 1].join("/"));
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Any text instead of a value.
pub(super) fn anything(value: &str) -> String {
    match value.contains(NAME) {
        true => format!("{NAME}{NAME_END}"),
        false => ANY.to_string(),
    }
}

/// A variable in a text, with what is in front of it and behind it.
pub(super) fn first_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(NAME)?;
    let (written, behind) = rest.split_once(NAME_END).unwrap_or((rest, ""));
    Some((before, written, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_changed_as_a_shell_changes_them() {
        for (value, written, wanted) in [
            ("a.in", "F%.in", &["a"][..]),
            ("a.in", "F%.x", &["a.in"]),
            ("a.b.c", "F%.*", &["a", "a.b", "a.b.c"]),
            ("x/a/b", "F##*/", &["a/b", "b", "x/a/b"]),
            ("xa", "F#x", &["a"]),
            ("pxain", "F/x/l", &["plain"]),
            ("axxa", "F//x/b", &["abba"]),
            ("aab", "F/#a/c", &["cab"]),
            ("aab", "F/%b/c", &["aac"]),
            ("xplain", "F:1", &["plain"]),
            ("xplainy", "F:1:5", &["plain"]),
            ("xplain", "F: -5", &["plain"]),
            ("xplainy", "F:1:-1", &["plain"]),
            ("plain", "F", &["plain"]),
            ("plain", "F[0]", &["plain"]),
            ("a1", "F^^", &["?1"]),
            ("a/b", "F@Q", &["*", "*/*", "*/b", "a/*", "a/b"]),
            ("a/b", "F/$x/y", &["*", "*/*", "*/b", "a/*", "a/b"]),
        ] {
            let Expansion::Of { name, change, .. } = expansion(written) else {
                panic!("{written}");
            };
            assert_eq!(name, "F");
            let mut found = changed(value, change, &mut |text| vec![text.to_owned()]);
            found.sort();
            found.dedup();
            let found: Vec<String> = found
                .iter()
                .map(|text| text.replace(ANY, "*").replace(ONE, "?"))
                .collect();
            assert_eq!(found, wanted, "{value} {written}");
        }
    }

    #[test]
    fn parts_between_braces_are_told_apart() {
        for (written, wanted) in [
            ("", Expansion::Unknown),
            ("#F", Expansion::Unknown),
            ("!F", Expansion::Indirect),
            (
                "{a,{b,c},'d,e'",
                Expansion::Choice(vec!["a".into(), "{b,c}".into(), "'d,e'".into()]),
            ),
            (
                "@:2",
                Expansion::Of {
                    name: "1",
                    is_joined: false,
                    change: Change::Slice("2"),
                },
            ),
            (
                "F[*]:-x",
                Expansion::Of {
                    name: "F",
                    is_joined: true,
                    change: Change::Otherwise("x"),
                },
            ),
        ] {
            assert_eq!(expansion(written), wanted, "{written}");
        }
    }
}
