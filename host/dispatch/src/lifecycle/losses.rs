//! What a yes may destroy, said only where it tells this call from others.
//!
//! A tool claims to be destructive by the input alone, without a look at any file, so some claim
//! it for every call. A warning on every question is read by no user. Where the host knows more
//! than the tool it says that instead: what a script does, and which files are there to be lost.

use std::io::ErrorKind;
use std::path::Path;

use toolbay_policy::{Claims, Study, Subject};

/// What is known of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Losses {
    /// None if neither the tool nor the host has an opinion.
    pub(super) destructive: Option<bool>,
    pub(super) warnings: Vec<String>,
}

impl Losses {
    pub(super) fn of(claims: Claims, subjects: &[Subject], study: &Study) -> Self {
        let warnings = study.warnings();
        if !warnings.is_empty() {
            return Self {
                destructive: Some(true),
                warnings,
            };
        }
        let claimed = Self {
            destructive: claims.destructive,
            warnings,
        };
        match (claims.destructive, only_paths(subjects)) {
            (Some(true), Some(paths)) => Self::of_files(&paths),
            (Some(true), None) | (Some(false) | None, _) => claimed,
        }
    }

    /// A call that names the files it works on loses what is in them, and no more.
    fn of_files(paths: &[&Path]) -> Self {
        let there = paths.iter().filter(|path| may_exist(path));
        let warnings: Vec<String> = there
            .map(|path| {
                format!(
                    "{} exists already; what is in it may be lost",
                    path.display()
                )
            })
            .collect();
        Self {
            destructive: Some(!warnings.is_empty()),
            warnings,
        }
    }
}

/// The files of a call that names nothing else.
fn only_paths(subjects: &[Subject]) -> Option<Vec<&Path>> {
    let paths = subjects.iter().map(|subject| match subject {
        Subject::Path(path) | Subject::Folder(path) => Some(path.as_path()),
        Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => None,
    });
    let paths: Vec<&Path> = paths.collect::<Option<_>>()?;
    (!paths.is_empty()).then_some(paths)
}

/// Whether something is there, or cannot be said not to be.
fn may_exist(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    !found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use toolbay_policy::{Closed, Policy, Rules};

    use super::*;

    fn losses(destructive: Option<bool>, subjects: &[Subject]) -> Losses {
        let claims = Claims {
            destructive,
            ..Claims::STRICT
        };
        let policy = Policy::new(Rules::default(), vec!["/p".into()], &Closed::default());
        let study = policy.study(subjects, Path::new("/p"));
        Losses::of(claims, subjects, &study)
    }

    #[test]
    fn a_warning_is_there_only_where_something_can_be_lost() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        std::fs::write(&old, "mine").unwrap();
        let path = |name: &str| Subject::Path(folder.path().join(name));
        let script = |text: &str| Subject::Command(text.into());
        let said = |destructive, subjects: &[Subject]| {
            let losses = losses(destructive, subjects);
            (losses.destructive, losses.warnings.len())
        };
        for (claim, subjects, expected) in [
            // New files have nothing to lose, whatever the tool says of all its calls.
            (Some(true), vec![path("new")], (Some(false), 0)),
            (Some(true), vec![path("old")], (Some(true), 1)),
            (Some(true), vec![path("new"), path("old")], (Some(true), 1)),
            (Some(false), vec![path("old")], (Some(false), 0)),
            // The host reads scripts itself.
            (Some(false), vec![script("touch a")], (Some(false), 0)),
            (Some(false), vec![script("rm -rf build")], (Some(true), 1)),
            (None, vec![script("rm -rf build")], (Some(true), 1)),
            // A tool that names nothing that could be looked at is believed.
            (Some(true), vec![], (Some(true), 0)),
            (
                Some(true),
                vec![Subject::Text("db".into())],
                (Some(true), 0),
            ),
            (
                Some(true),
                vec![path("new"), Subject::Text("db".into())],
                (Some(true), 0),
            ),
            (None, vec![], (None, 0)),
        ] {
            assert_eq!(said(claim, &subjects), expected, "{claim:?} {subjects:?}");
        }
        let warnings = losses(Some(true), &[path("old")]).warnings;
        assert!(
            warnings[0].starts_with(&old.display().to_string()),
            "{warnings:?}"
        );
    }
}
