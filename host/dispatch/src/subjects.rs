//! Takes out of an input what rules speak about. The host does this itself, so
//! that no tool decides which rules see what.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use toolbay_contract::{SubjectAt, ToolInfo};
use toolbay_policy::{CageWish, Subject, SubjectKind};

/// The subjects of one call.
pub(crate) fn subjects(declared: &[SubjectAt], input: &Value, cwd: &Path) -> Vec<Subject> {
    let mut all = Vec::new();
    for at in declared {
        match input.pointer(&at.pointer) {
            None | Some(Value::Null) => {}
            Some(Value::Array(values)) => {
                all.extend(values.iter().map(|value| subject(at.kind, value, cwd)));
            }
            Some(value) => all.push(subject(at.kind, value, cwd)),
        }
    }
    all
}

fn subject(kind: SubjectKind, value: &Value, cwd: &Path) -> Subject {
    let Some(text) = value.as_str() else {
        // Not what the tool declared: no path or command rule may allow it.
        return Subject::Text(value.to_string());
    };
    match kind {
        SubjectKind::Command => Subject::Command(text.to_owned()),
        SubjectKind::Path => path_subject(&cwd.join(text)),
        SubjectKind::Url => Subject::Url(text.to_owned()),
        SubjectKind::Text => Subject::Text(text.to_owned()),
    }
}

/// The path as the kernel sees it now. A folder is told from a file because it grants more.
pub fn path_subject(path: &Path) -> Subject {
    let real = real_path(path);
    match real.is_dir() {
        true => Subject::Folder(real),
        false => Subject::Path(real),
    }
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
        for (input, wanted) in [
            (
                serde_json::json!({"p": "link/../x"}),
                vec![Subject::Path(root.join("x"))],
            ),
            (
                serde_json::json!({"p": "link"}),
                vec![Subject::Folder(root.join("real"))],
            ),
            (
                serde_json::json!({"p": "link/new.txt"}),
                vec![Subject::Path(root.join("real/new.txt"))],
            ),
            (
                serde_json::json!({"p": ["a", 5], "c": "ls"}),
                vec![
                    Subject::Path(root.join("a")),
                    Subject::Text("5".into()),
                    Subject::Command("ls".into()),
                ],
            ),
            (serde_json::json!({}), vec![]),
        ] {
            assert_eq!(subjects(&declared, &input, &root), wanted, "{input}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
