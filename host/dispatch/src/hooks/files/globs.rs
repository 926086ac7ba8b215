//! The names in folders that a pattern of a shell matches.

use std::path::{Path, PathBuf};

use super::bounds::{LookBudget, TooMuchNamed};
use super::lexer::{ANY, ONE};

/// `**` is looked through so deep.
const DEEPEST: usize = 8;

/// The folder that a pattern looks into: what is in front of its first star.
pub(super) fn folder(text: &str) -> &str {
    let first = text.find([ANY, ONE]).unwrap_or(text.len());
    text[..first].rfind('/').map_or("", |end| &text[..end])
}

/// What there is below `base`, without what `is_wanted` says no to.
pub(super) fn matches(
    base: &Path,
    text: &str,
    is_wanted: &dyn Fn(&Path) -> bool,
    budget: &mut LookBudget,
) -> Result<Vec<PathBuf>, TooMuchNamed> {
    let mut found = vec![base.to_owned()];
    for part in text.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        if part.len() > 1 && part.chars().all(|c| c == ANY) {
            // All folders below, in shells that have this; or any name, as one star.
            next = folders_below(&found, is_wanted, budget)?;
        }
        if !part.contains([ANY, ONE]) {
            next.extend(found.iter().map(|folder| folder.join(part)));
            found = next;
            continue;
        }
        for folder in found.iter().filter(|folder| is_wanted(folder)) {
            // What cannot be listed by us cannot be by the hook, which has no more rights.
            let Ok(entries) = folder.read_dir() else {
                continue;
            };
            for entry in entries.flatten() {
                budget.spend(1)?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                // Some shells can be told that capitals are the same.
                if is_match(part, &name) || is_match(&part.to_lowercase(), &name.to_lowercase()) {
                    next.push(entry.path());
                }
            }
        }
        found = next;
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    Ok(found)
}

fn folders_below(
    folders: &[PathBuf],
    is_wanted: &dyn Fn(&Path) -> bool,
    budget: &mut LookBudget,
) -> Result<Vec<PathBuf>, TooMuchNamed> {
    let mut found = folders.to_vec();
    let mut open: Vec<(PathBuf, usize)> = folders.iter().map(|it| (it.clone(), 0)).collect();
    while let Some((folder, depth)) = open.pop() {
        if depth == DEEPEST || !is_wanted(&folder) {
            continue;
        }
        let Ok(entries) = folder.read_dir() else {
            continue;
        };
        for entry in entries.flatten() {
            budget.spend(1)?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.push(entry.path());
                open.push((entry.path(), depth + 1));
            }
        }
    }
    Ok(found)
}

/// In time that is the product of both lengths at most.
pub(super) fn is_match(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_name) = (0, 0);
    // Where to go on if the last star has to take one more.
    let mut again: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(&ANY) => {
                again = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == ONE || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            Some(_) | None => match &mut again {
                Some((star, taken)) => {
                    *taken += 1;
                    at = *star + 1;
                    in_name = *taken;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == ANY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, wanted) in [
            ("g*.py", "guard.py", true),
            ("g*.py", "guard.pyc", false),
            ("*a*b", "xxaab", true),
            ("?.py", "ab.py", false),
            ("*", "", true),
            ("a?", "a", false),
        ] {
            let pattern = pattern
                .replace('*', &ANY.to_string())
                .replace('?', &ONE.to_string());
            assert_eq!(is_match(&pattern, name), wanted, "{pattern:?} {name}");
        }
        assert!(!is_match(&format!("{ANY}a").repeat(500), &"a".repeat(499)));
    }

    #[test]
    fn the_folder_of_a_pattern_is_in_front_of_its_star() {
        for (text, wanted) in [
            ("a/b/c*.py", "a/b"),
            ("a*/b", ""),
            ("a/*/b", "a"),
            ("a/b", "a"),
        ] {
            assert_eq!(
                folder(&text.replace('*', &ANY.to_string())),
                wanted,
                "{text}"
            );
        }
    }
}
