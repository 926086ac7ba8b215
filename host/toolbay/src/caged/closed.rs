//! Deny rules about paths, as a cage can hold them: by the files that there are.
//!
//! A cage closes paths, not patterns. So what patterns match is looked for before each command,
//! in the folders that they speak of. Patterns without a folder of their own (`*.pem`) are
//! looked for in the roots alone: a command can read what everybody can read elsewhere.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use toolbay_policy::{PathAccess, PathRules};
use toolbay_sandbox::cage::{Closed, ClosedPattern, ClosedTo};

/// More is not looked through, and then no command runs: a rule that is not held is worse.
const MOST_ENTRIES: usize = 500_000;
/// Each is a mount of its own.
const MOST_CLOSED: usize = 4096;

/// What rules close, as the disk is now. The error says what to do.
pub fn by(rules: &PathRules, roots: &[PathBuf]) -> Result<Closed, String> {
    let mut closed = Closed::default();
    for (path, access) in rules.named() {
        match access {
            PathAccess::Read => closed.unreadable.push(path),
            PathAccess::Write => closed.unwritable.push(path),
        }
    }
    let own = rules.never_written().iter();
    let inside = own.filter(|path| roots.iter().any(|root| path.starts_with(root)));
    closed.unwritable.extend(inside.cloned());
    let mut entries = 0;
    for folder in to_search(rules, roots) {
        search(&folder, rules, roots, &mut closed, &mut entries)?;
    }
    closed.patterns = patterns(rules, roots);
    let count = closed.unreadable.len() + closed.unwritable.len();
    if count > MOST_CLOSED {
        return Err(format!(
            "deny rules close {count} paths here, and a cage can hold {MOST_CLOSED}: name whole \
             folders in the rules instead"
        ));
    }
    Ok(closed)
}

/// What the doorman holds by itself, for what is made while a command runs. Richer patterns than it
/// understands close what they match when the command starts.
fn patterns(rules: &PathRules, roots: &[PathBuf]) -> Vec<ClosedPattern> {
    let mut found = Vec::new();
    for (folder, glob, access) in rules.patterns() {
        let closes = match access {
            PathAccess::Read => ClosedTo::Reading,
            PathAccess::Write => ClosedTo::Writing,
        };
        // A pattern for everything is one for the roots, of which it counts the same if it is about
        // any folder.
        let below = match folder.parent() {
            Some(_) => std::slice::from_ref(&folder),
            None if glob.starts_with("**/") => roots,
            None => continue,
        };
        let below = below.iter();
        found.extend(below.filter_map(|below| ClosedPattern::new(below, &glob, closes)));
    }
    found
}

/// Without those that lie in others.
fn to_search(rules: &PathRules, roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for base in rules.searched() {
        // A pattern for everything is one for the roots.
        let around = roots.iter().filter(|root| root.starts_with(&base));
        folders.extend(around.cloned());
        if base.parent().is_some() {
            folders.push(base);
        }
    }
    folders.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if !outer.iter().any(|above| folder.starts_with(above)) {
            outer.push(folder);
        }
    }
    outer
}

fn search(
    folder: &Path,
    rules: &PathRules,
    roots: &[PathBuf],
    closed: &mut Closed,
    entries: &mut usize,
) -> Result<(), String> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let found = match std::fs::read_dir(&folder) {
            Ok(found) => found,
            Err(error) => {
                miss(folder, roots, closed, &error)?;
                continue;
            }
        };
        for entry in found {
            *entries += 1;
            if *entries > MOST_ENTRIES {
                return Err(format!(
                    "more than {MOST_ENTRIES} files would have to be looked through to hold the \
                     deny rules in a cage (now in {}): give their patterns a folder",
                    folder.display()
                ));
            }
            let known = entry.and_then(|entry| Ok((entry.file_type()?, entry.path())));
            let (kind, path) = match known {
                Ok(known) => known,
                Err(error) => {
                    miss(folder.clone(), roots, closed, &error)?;
                    continue;
                }
            };
            // A link of such a name closes where it leads: a cage sees no names on the way.
            if kind.is_symlink() && leads_around(&path, roots) {
                continue;
            }
            if rules.is_shut(&path, PathAccess::Read) {
                closed.unreadable.push(path);
                continue;
            }
            let is_below_one = || {
                let mut above = path.ancestors().skip(1);
                above.any(|part| rules.is_shut(part, PathAccess::Write))
            };
            if rules.is_shut(&path, PathAccess::Write) && !is_below_one() {
                closed.unwritable.push(path.clone());
            }
            if kind.is_dir() {
                open.push(path);
            }
        }
    }
    Ok(())
}

/// Whether a link leads to a root or a folder around one: nothing would be left to work with.
fn leads_around(link: &Path, roots: &[PathBuf]) -> bool {
    let target = link.canonicalize();
    target.is_ok_and(|target| roots.iter().any(|root| root.starts_with(&target)))
}

/// What cannot be listed now can be by the time that the command looks: who owns a folder can give
/// and take its mode. So all of it is closed; where that would be the project, no command runs.
fn miss(
    folder: PathBuf,
    roots: &[PathBuf],
    closed: &mut Closed,
    error: &io::Error,
) -> Result<(), String> {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(()),
        _ if roots.iter().any(|root| root.starts_with(&folder)) => Err(format!(
            "{} cannot be listed ({error}), so what deny rules close in it is not known: make it \
             readable (`chmod u+rx`)",
            folder.display()
        )),
        _ => {
            closed.unreadable.push(folder);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbay_policy::{Anchors, Rule, Rules};

    fn rules(cwd: &Path, deny: &[&str]) -> PathRules {
        let anchors = Anchors {
            home: None,
            cwd: cwd.to_owned(),
            settings: cwd.to_owned(),
        };
        PathRules::of(&Rules {
            deny: deny
                .iter()
                .map(|text| Rule::parse(text, &anchors).unwrap())
                .collect(),
            ..Rules::default()
        })
    }

    #[test]
    fn patterns_become_the_paths_that_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in [
            "p/.env",
            "p/a/.env",
            "p/a/gen/x.rs",
            "p/a/gen/deep/y.rs",
            "p/ok",
            "out/.env",
            "out/k.pem",
        ] {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("p/ok"), root.join("p/a/.env2")).unwrap();
        std::os::unix::fs::symlink("..", root.join("p/.env3")).unwrap();
        let project = root.join("p");
        let outside = format!("Read(/{}/*.pem)", root.join("out").display());
        let rules = rules(
            &project,
            &["Read(.env*)", "Edit(**/gen)", "Read(./later/**)", &outside],
        );
        let mut closed = by(&rules, std::slice::from_ref(&project)).unwrap();
        closed.unreadable.sort();
        let wanted = [
            "out/.env",
            "out/k.pem",
            "p/.env",
            "p/a/.env",
            "p/a/.env2",
            "p/later",
        ];
        let wanted = wanted.map(|path| root.join(path));
        assert_eq!(closed.unreadable, wanted);
        assert_eq!(closed.unwritable, [project.join("a/gen")]);
        let like = |below: &Path, glob, closes| ClosedPattern::new(below, glob, closes).unwrap();
        let wanted = [
            like(&project, "**/.env*", ClosedTo::Reading),
            like(&root.join("out"), "*.pem", ClosedTo::Reading),
            like(&project, "**/gen", ClosedTo::Writing),
        ];
        assert_eq!(closed.patterns, wanted);
    }

    #[test]
    fn what_cannot_be_listed_is_closed_or_no_command_runs() {
        use ErrorKind::{Interrupted, NotADirectory, NotFound, PermissionDenied};
        let roots = [PathBuf::from("/p/q")];
        for (folder, error, wanted) in [
            ("/p/q/r", PermissionDenied, Ok(1)),
            ("/p/q/r", Interrupted, Ok(1)),
            ("/p/q/r", NotFound, Ok(0)),
            ("/p/q/r", NotADirectory, Ok(0)),
            ("/root", PermissionDenied, Ok(1)),
            ("/p/q", PermissionDenied, Err(())),
            ("/p", PermissionDenied, Err(())),
        ] {
            let mut closed = Closed::default();
            let missed = miss(folder.into(), &roots, &mut closed, &error.into());
            let found = missed.map(|()| closed.unreadable.len()).map_err(|_| ());
            assert_eq!(found, wanted, "{folder} {error}");
        }
    }

    #[test]
    fn rules_without_patterns_look_at_nothing() {
        let rules = rules(Path::new("/p"), &["Read(./a/b)", "Edit(//etc)"]);
        assert_eq!(to_search(&rules, &["/p".into()]), Vec::<PathBuf>::new());
        let closed = by(&rules, &["/p".into()]).unwrap();
        assert_eq!(closed.unreadable, [Path::new("/p/a/b")]);
        assert_eq!(closed.unwritable, [Path::new("/etc")]);
    }
}
