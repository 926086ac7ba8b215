//! What rules speak about, taken out of a call's input. The host does this itself, so that no tool
//! decides which rules see what; and in one place, so that what is explained is what is enforced.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::claims::{Claims, Subject, SubjectKind};

/// What a call is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSubjects {
    pub subjects: Vec<Subject>,
    /// Other names by which it reaches its paths: as they were written, and where each link on the way
    /// leads to. Deny and ask rules and protected names count for them too; nothing is allowed by them.
    pub aliases: Vec<PathBuf>,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedPath {
    pub subject: Subject,
    /// The names of it that have links on the way.
    pub aliases: Vec<PathBuf>,
}

/// A path without links.
impl From<Subject> for ReachedPath {
    fn from(subject: Subject) -> Self {
        Self {
            subject,
            aliases: Vec::new(),
        }
    }
}

/// The subjects of one call: a kind and a JSON pointer for each that its tool declares. `paths` says
/// where a path leads and whether it is a folder.
///
/// A tool that declares a path and is called without one works in the working directory. If the
/// call only reads, that is what it is about: a rule that closes the folder must not be evaded by
/// leaving it out. One that may write names nothing then, and no rule or mode for paths allows it.
pub fn subjects_in<'a>(
    declared: impl Iterator<Item = (SubjectKind, &'a str)>,
    input: &Value,
    cwd: &Path,
    claims: Claims,
    paths: &dyn Fn(&Path) -> ReachedPath,
) -> CallSubjects {
    let mut found = CallSubjects::default();
    let mut lacks_path = false;
    for (kind, pointer) in declared {
        match input.pointer(pointer) {
            None | Some(Value::Null) => lacks_path |= kind == SubjectKind::Path,
            Some(Value::Array(values)) => {
                for value in values {
                    found.add(subject(kind, value, cwd, paths));
                }
            }
            Some(value) => found.add(subject(kind, value, cwd, paths)),
        }
    }
    let is_path = |subject: &Subject| matches!(subject, Subject::Path(_) | Subject::Folder(_));
    if claims.read_only && lacks_path && !found.subjects.iter().any(is_path) {
        found.add(paths(cwd));
    }
    found
}

impl CallSubjects {
    fn add(&mut self, reached: ReachedPath) {
        self.subjects.push(reached.subject);
        self.aliases.extend(reached.aliases);
    }
}

fn subject(
    kind: SubjectKind,
    value: &Value,
    cwd: &Path,
    paths: &dyn Fn(&Path) -> ReachedPath,
) -> ReachedPath {
    let Some(text) = value.as_str() else {
        // Not what the tool declared: no path or command rule may allow it.
        return Subject::Text(value.to_string()).into();
    };
    match kind {
        SubjectKind::Command => Subject::Command(text.to_owned()).into(),
        SubjectKind::Path => paths(&cwd.join(text)),
        SubjectKind::Url => Subject::Url(text.to_owned()).into(),
        SubjectKind::Text => Subject::Text(text.to_owned()).into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_without_its_path_is_about_the_working_directory() {
        let declared = [
            (SubjectKind::Path, "/path"),
            (SubjectKind::Path, "/other"),
            (SubjectKind::Text, "/text"),
        ];
        const READS: Claims = Claims {
            read_only: true,
            ..Claims::STRICT
        };
        let cwd = Path::new("/p");
        let here = || Subject::Folder("/p".into());
        let paths = |path: &Path| match path == Path::new("/p") {
            true => here().into(),
            false => ReachedPath {
                subject: Subject::Path(path.to_owned()),
                aliases: vec![path.join("alias")],
            },
        };
        let text = || Subject::Text("t".into());
        for (input, wanted) in [
            (json!({}), vec![here()]),
            (json!({"path": null}), vec![here()]),
            (json!({"text": "t"}), vec![text(), here()]),
            (json!({"path": "a"}), vec![Subject::Path("/p/a".into())]),
            (json!({"other": "/a"}), vec![Subject::Path("/a".into())]),
            // It names none, and says so.
            (json!({"path": [], "other": []}), vec![]),
            (
                json!({"path": 5, "other": "b"}),
                vec![Subject::Text("5".into()), Subject::Path("/p/b".into())],
            ),
        ] {
            let taken = |claims| {
                let found = subjects_in(declared.into_iter(), &input, cwd, claims, &paths);
                let named = found.subjects.iter().filter_map(|subject| match subject {
                    Subject::Path(path) => Some(path.join("alias")),
                    _ => None,
                });
                assert_eq!(found.aliases, named.collect::<Vec<_>>(), "{input}");
                found.subjects
            };
            assert_eq!(taken(READS), wanted, "{input}");
            // What may write names what it was given, and nothing else.
            let given: Vec<Subject> = wanted.into_iter().filter(|one| *one != here()).collect();
            assert_eq!(taken(Claims::STRICT), given, "{input}");
        }
        let text_only = declared[2..].iter().copied();
        let none = subjects_in(text_only, &json!({}), cwd, READS, &paths);
        assert_eq!(none, CallSubjects::default());
    }
}
