//! What rules speak about, taken out of a call's input. The host does this itself, so that no tool
//! decides which rules see what; and in one place, so that what is explained is what is enforced.

use std::path::Path;

use serde_json::Value;

use crate::claims::{Claims, Subject, SubjectKind};

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
    paths: &dyn Fn(&Path) -> Subject,
) -> Vec<Subject> {
    let mut all = Vec::new();
    let mut lacks_path = false;
    for (kind, pointer) in declared {
        match input.pointer(pointer) {
            None | Some(Value::Null) => lacks_path |= kind == SubjectKind::Path,
            Some(Value::Array(values)) => {
                all.extend(values.iter().map(|value| subject(kind, value, cwd, paths)));
            }
            Some(value) => all.push(subject(kind, value, cwd, paths)),
        }
    }
    let is_path = |subject: &Subject| matches!(subject, Subject::Path(_) | Subject::Folder(_));
    if claims.read_only && lacks_path && !all.iter().any(is_path) {
        all.push(paths(cwd));
    }
    all
}

fn subject(
    kind: SubjectKind,
    value: &Value,
    cwd: &Path,
    paths: &dyn Fn(&Path) -> Subject,
) -> Subject {
    let Some(text) = value.as_str() else {
        // Not what the tool declared: no path or command rule may allow it.
        return Subject::Text(value.to_string());
    };
    match kind {
        SubjectKind::Command => Subject::Command(text.to_owned()),
        SubjectKind::Path => paths(&cwd.join(text)),
        SubjectKind::Url => Subject::Url(text.to_owned()),
        SubjectKind::Text => Subject::Text(text.to_owned()),
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
            true => here(),
            false => Subject::Path(path.to_owned()),
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
            let taken = |claims| subjects_in(declared.into_iter(), &input, cwd, claims, &paths);
            assert_eq!(taken(READS), wanted, "{input}");
            // What may write names what it was given, and nothing else.
            let given: Vec<Subject> = wanted.into_iter().filter(|one| *one != here()).collect();
            assert_eq!(taken(Claims::STRICT), given, "{input}");
        }
        let text_only = declared[2..].iter().copied();
        let none = subjects_in(text_only, &json!({}), cwd, READS, &paths);
        assert_eq!(none, []);
    }
}
