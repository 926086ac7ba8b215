//! From a word to the path that it names, as far as text can say.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::check::{Check, Finding};
use crate::place::Place;
use crate::reading::Word;

/// Where a word leads from a place.
pub(crate) fn resolve(word: &Word, place: &Place) -> Result<PathBuf, Finding> {
    let path = place.resolve(&expanded(word, place)?);
    if word.glob && path_has_hidden_glob(&word.text) {
        return Err(Check::OutsidePath.found(format!(
            "the pattern `{}` may match the folder above",
            word.text
        )));
    }
    Ok(path)
}

/// The same for a list that only informs, as written and where links lead: what cannot be told is
/// left out.
pub(crate) fn resolve_any(word: &Word, place: &Place) -> Vec<PathBuf> {
    let Ok(written) = resolve(word, place) else {
        return Vec::new();
    };
    let real = expanded(word, place).and_then(|text| real_paths(word, &text, place));
    with_others(written, real.unwrap_or_default())
}

/// A path and others behind it, each once.
fn with_others(first: PathBuf, others: Vec<PathBuf>) -> Vec<PathBuf> {
    each_once(std::iter::once(first).chain(others))
}

/// Paths in their order, each once. A pattern may lead to thousands of them.
pub(crate) fn each_once(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut once: Vec<PathBuf> = paths.into_iter().collect();
    once.retain(|path| seen.insert(path.clone()));
    once
}

/// What a word reads, as written and where links lead, if all of it may be read without asking:
/// it lies inside, or it is the empty device.
pub(crate) fn read(word: &Word, place: &Place) -> Result<Vec<PathBuf>, Finding> {
    let written = resolve(word, place)?;
    check_read(word, &written, place)?;
    let paths = with_others(written, real_paths(word, &expanded(word, place)?, place)?);
    for real in &paths[1..] {
        check_read(word, real, place).map_err(|finding| match finding.check {
            Check::OutsidePath => Check::OutsidePath.found(format!(
                "`{}` is a link to `{}`, which lies outside the project's folders",
                word.text,
                real.display()
            )),
            _ => finding,
        })?;
    }
    Ok(paths)
}

/// Whether a path may be read without asking.
fn check_read(word: &Word, path: &Path, place: &Place) -> Result<(), Finding> {
    if is_process_environment(&word.text) || is_process_environment(&path.to_string_lossy()) {
        return Err(Check::ProcEnvironAccess
            .found(format!("`{}` shows the variables of a process", word.text)));
    }
    if path == Path::new("/dev/null") || place.holds(path) {
        return Ok(());
    }
    Err(Check::OutsidePath.found(format!(
        "`{}` lies outside the project's folders",
        word.text
    )))
}

/// More names than this are not looked at one by one: a pattern for more may lead anywhere.
const MOST_NAMES: usize = 20_000;

/// Where links lead: of a word, or of every name that its pattern may match.
fn real_paths(word: &Word, text: &str, place: &Place) -> Result<Vec<PathBuf>, Finding> {
    let Some(links) = place.links() else {
        return Ok(Vec::new());
    };
    if !word.glob {
        return Ok(vec![place.real(text)]);
    }
    // The folders in front of the pattern are fixed.
    let is_pattern = |part: &str| part.contains(['*', '?', '[']);
    let parts: Vec<&str> = text.split('/').collect();
    let fixed = parts
        .iter()
        .position(|part| is_pattern(part))
        .unwrap_or(parts.len());
    let start = match parts[..fixed].join("/") {
        empty if empty.is_empty() && text.starts_with('/') => "/".to_owned(),
        folder => folder,
    };
    let mut reached = vec![place.real(&start)];
    for part in &parts[fixed..] {
        let mut next = Vec::new();
        for folder in &reached {
            if !is_pattern(part) {
                next.push(links.real(&folder.join(part)));
                continue;
            }
            let names = links.names_in(folder).unwrap_or_default();
            let matching = names.iter().filter(|name| may_match(part, name));
            next.extend(matching.map(|name| links.real(&folder.join(name))));
        }
        if next.len() > MOST_NAMES {
            return Err(Check::OutsidePath.found(format!(
                "`{}` matches more than {MOST_NAMES} names, any of which may be a link out of the \
                 project's folders",
                word.text
            )));
        }
        if next.is_empty() {
            break;
        }
        reached = next;
    }
    Ok(reached)
}

/// Whether a name begins and ends as a pattern does. What stands in between is not compared: a
/// name too many is only looked at.
fn may_match(pattern: &str, name: &str) -> bool {
    let is_sign = |c: char| matches!(c, '*' | '?' | '[' | ']');
    let begin = pattern.split(is_sign).next().unwrap_or_default();
    let end = pattern.rsplit(is_sign).next().unwrap_or_default();
    name.starts_with(begin) && name.ends_with(end)
}

fn expanded(word: &Word, place: &Place) -> Result<String, Finding> {
    if !word.tilde {
        return Ok(word.text.clone());
    }
    let unknown = || Check::OutsidePath.found(format!("`{}` names a home folder", word.text));
    let rest = word.text.strip_prefix('~').ok_or_else(unknown)?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(unknown());
    }
    let home = place.home().ok_or_else(unknown)?;
    Ok(format!("{}{rest}", home.display()))
}

/// A component such as `.*` matches `..` in many shells.
fn path_has_hidden_glob(text: &str) -> bool {
    Path::new(text)
        .components()
        .any(|component| match component {
            Component::Normal(name) => {
                let name = name.to_string_lossy();
                name.starts_with('.') && name.contains(['*', '?', '['])
            }
            _ => false,
        })
}

/// `/proc/self/environ` and whatever a pattern makes of it; `/dev/fd` is a way there.
pub(crate) fn is_process_environment(text: &str) -> bool {
    let in_proc = text.contains("/proc/") || text.starts_with("/dev/fd/");
    in_proc
        && (text.contains("environ") || text.contains(['*', '?', '[', '{']) || text.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_where_bash_would_go() {
        let place = Place::new("/p").with_home("/home/me");
        let word = |text: &str| Word {
            glob: text.contains('*'),
            tilde: text.starts_with('~'),
            ..Word::plain(text)
        };
        for (text, inside) in [
            ("a", true),
            ("./a/../b", true),
            ("../x", false),
            ("/p/x", true),
            ("/px", false),
            ("/dev/null", true),
            ("/dev/zero", false),
            ("~", false),
            ("~/x", false),
            ("~root/x", false),
            ("~+", false),
            ("*", true),
            ("src/*/x", true),
            ("*/../../x", false),
            (".*", false),
            ("src/.*/x", false),
        ] {
            let word = word(text);
            let read = read(&word, &place);
            assert_eq!(read.is_ok(), inside, "{text}");
        }
    }
}
