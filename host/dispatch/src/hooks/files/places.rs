//! The folders that the words of a command may start from.
//!
//! A command can go from one folder to the next, so a folder counts if its name is found from another one
//! that counts.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::bounds::{MOST_FOLDERS, TooMuchNamed};
use super::lexer::{ANY, ONE};
use super::paths::{Links, relative};
use super::wanted::{Reading, Wanted};
use super::{LookBudget, NameGround, globs};

/// What a command names, as it may name folders.
pub(super) struct Names<'a> {
    plain: HashSet<&'a str>,
    /// Where it goes to: by patterns, too, and if it is not there yet.
    goes_to: Vec<&'a Wanted>,
}

impl<'a> Names<'a> {
    pub(super) fn of(words: &'a [String], reading: &'a Reading) -> Self {
        let simples = || reading.simples.iter();
        let wanted = simples().flat_map(|simple| simple.words.iter().flatten());
        let wanted = wanted.filter(|word| !word.text.contains([ANY, ONE]));
        let texts = wanted.map(|word| &*word.text);
        Self {
            plain: words.iter().map(String::as_str).chain(texts).collect(),
            goes_to: simples().flat_map(|simple| &simple.goes_to).collect(),
        }
    }
}

/// The root, the project, the home folder, and every folder in the project that the command names from
/// one of these. A word from the root on is itself.
pub(super) fn start_folders(
    names: &Names<'_>,
    ground: &NameGround,
    links: &mut Links,
    budget: &mut LookBudget,
) -> Result<Vec<PathBuf>, TooMuchNamed> {
    let mut all = vec![PathBuf::from("/"), ground.project.clone()];
    all.extend(ground.home.clone());
    let mut known: BTreeSet<PathBuf> = all.iter().cloned().collect();
    let mut named = 0;
    let mut at = 0;
    while let Some(base) = all.get(at).cloned() {
        at += 1;
        for path in folders_from(&base, names, ground, links, budget)? {
            if known.insert(path.clone()) {
                named += 1;
                all.push(path);
            }
            if named > MOST_FOLDERS {
                return Err(TooMuchNamed::Folders);
            }
        }
    }
    all.sort();
    Ok(all)
}

fn folders_from(
    base: &Path,
    names: &Names<'_>,
    ground: &NameGround,
    links: &mut Links,
    budget: &mut LookBudget,
) -> Result<BTreeSet<PathBuf>, TooMuchNamed> {
    let mut found = BTreeSet::new();
    budget.spend(names.plain.len())?;
    let is_inside = |path: &PathBuf| path.starts_with(&ground.within);
    for name in &names.plain {
        let readings = links.readings(&base.join(relative(name)));
        found.extend(
            readings
                .into_iter()
                .filter(|path| is_inside(path) && path.is_dir()),
        );
    }
    for word in &names.goes_to {
        let name = relative(&word.text);
        if word.text.contains([ANY, ONE]) {
            let is_wanted = |folder: &Path| folder.starts_with(&ground.project);
            for path in globs::matches(base, name, &is_wanted, budget)? {
                let readings = links.readings(&path);
                found.extend(
                    readings
                        .into_iter()
                        .filter(|path| is_inside(path) && path.is_dir()),
                );
            }
            continue;
        }
        budget.spend(1)?;
        let is_absolute = word.text.starts_with('/');
        if !word.is_behind_variable && is_absolute != (base == Path::new("/")) {
            continue;
        }
        // One that is not there yet: only from where the command starts, since names add up for ever.
        let is_start = base == ground.project || base == Path::new("/");
        for path in links.readings(&base.join(name)) {
            let is_free = path.symlink_metadata().is_err() && is_start;
            if is_inside(&path) && (path.is_dir() || is_free) {
                found.insert(path);
            }
        }
    }
    Ok(found)
}
