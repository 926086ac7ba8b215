//! What rules speak about in an input, with paths as the kernel sees them.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use toolbay_contract::{SubjectAt, ToolInfo, names_over_links};
use toolbay_policy::{CageWish, CallSubjects, Claims, ReachedPath, Subject, subjects_in};

/// The subjects of one call.
pub(crate) fn subjects(
    declared: &[SubjectAt],
    input: &Value,
    cwd: &Path,
    claims: Claims,
) -> CallSubjects {
    let declared = declared.iter().map(|at| (at.kind, at.pointer.as_str()));
    subjects_in(declared, input, cwd, claims, &path_subject)
}

/// The path as the kernel sees it now. A folder is told from a file because it grants more.
pub fn path_subject(path: &Path) -> ReachedPath {
    let real = real_path(path);
    let aliases = match real == path {
        true => Vec::new(),
        false => names_over_links(path),
    };
    let subject = match real.is_dir() {
        true => Subject::Folder(real),
        false => Subject::Path(real),
    };
    ReachedPath { subject, aliases }
}

/// A tool that says so of itself takes, at this pointer, the wish to run outside the cage.
const UNSANDBOXED: &str = "unsandboxed";

/// What the call wants of the cage. Anything but a plain no is a wish to leave.
pub(crate) fn asks_of_the_cage(info: &ToolInfo, input: &Value) -> CageWish {
    let pointers = info
        .annotations
        .iter()
        .filter(|(key, _)| key == UNSANDBOXED);
    let asks = |pointer: &str| {
        !matches!(
            input.pointer(pointer),
            None | Some(Value::Null | Value::Bool(false))
        )
    };
    match pointers.map(|(_, pointer)| pointer).any(|at| asks(at)) {
        true => CageWish::Outside,
        false => CageWish::Inside,
    }
}

/// The path with every link resolved as far as it exists; what does not exist yet
/// keeps its name.
pub fn real_path(path: &Path) -> PathBuf {
    // Nearly every path exists; one look is enough then, instead of one a part.
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut known = PathBuf::new();
    let mut parts = path.components();
    for part in parts.by_ref() {
        match part {
            Component::CurDir => continue,
            Component::ParentDir => {
                known.pop();
                continue;
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => known.push(part),
        }
        match known.canonicalize() {
            Ok(real) => known = real,
            Err(_) => break,
        }
    }
    for part in parts {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                known.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => known.push(part),
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use toolbay_policy::SubjectKind;

    use super::*;

    #[test]
    fn subjects_are_taken_by_pointer_and_made_real() {
        let root = std::env::temp_dir()
            .canonicalize()
            .unwrap()
            .join(format!("toolbay-subjects-{}", std::process::id()));
        std::fs::create_dir_all(root.join("real")).unwrap();
        let _ = std::os::unix::fs::symlink(root.join("real"), root.join("link"));
        let declared = [
            SubjectAt {
                kind: SubjectKind::Path,
                pointer: "/p".into(),
            },
            SubjectAt {
                kind: SubjectKind::Command,
                pointer: "/c".into(),
            },
        ];
        std::fs::write(root.join("real/there.txt"), "").unwrap();
        let _ = std::os::unix::fs::symlink("link/there.txt", root.join("first"));
        // Where a link leads to nothing it is the name: nothing is made behind it.
        let _ = std::os::unix::fs::symlink("link/missing", root.join("dangling"));
        for (input, wanted, aliases) in [
            (
                serde_json::json!({"p": "link/../x"}),
                vec![Subject::Path(root.join("x"))],
                &[][..],
            ),
            (
                serde_json::json!({"p": "link"}),
                vec![Subject::Folder(root.join("real"))],
                &["link"],
            ),
            (
                serde_json::json!({"p": "./real/../link/new.txt"}),
                vec![Subject::Path(root.join("real/new.txt"))],
                &["link/new.txt"],
            ),
            (
                serde_json::json!({"p": "first"}),
                vec![Subject::Path(root.join("real/there.txt"))],
                &["first", "link/there.txt"],
            ),
            (
                serde_json::json!({"p": "dangling"}),
                vec![Subject::Path(root.join("dangling"))],
                &[],
            ),
            (
                serde_json::json!({"p": ["a", 5], "c": "ls"}),
                vec![
                    Subject::Path(root.join("a")),
                    Subject::Text("5".into()),
                    Subject::Command("ls".into()),
                ],
                &[],
            ),
            (
                serde_json::json!({}),
                vec![Subject::Folder(root.clone())],
                &[],
            ),
        ] {
            let claims = Claims {
                read_only: true,
                ..Claims::STRICT
            };
            let found = subjects(&declared, &input, &root, claims);
            assert_eq!(found.subjects, wanted, "{input}");
            let aliases: Vec<PathBuf> = aliases.iter().map(|name| root.join(name)).collect();
            assert_eq!(found.aliases, aliases, "{input}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
