//! The client's folders. They narrow what was granted at the start and never widen it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::model::ListRootsResult;
use rmcp::service::Peer;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use toolbay_dispatch::real_path;

/// A client that has folders knows them; one that does not answer gets no call.
const PATIENCE: Duration = Duration::from_secs(15);
/// More than anybody has open. What is beyond is not granted.
const MOST: usize = 256;

/// Asks the client for its folders.
pub(super) async fn of(peer: &Peer<RoleServer>) -> Result<Vec<String>, String> {
    let asking = peer.list_roots();
    let told = tokio::time::timeout(PATIENCE, asking).await;
    let told = told.map_err(|_| {
        format!("the client has folders (roots) but did not list them within {PATIENCE:?}")
    })?;
    let told = told
        .map_err(|error| format!("the client has folders (roots) but cannot list them: {error}"))?;
    Ok(told.roots.into_iter().map(|root| root.uri).collect())
}

/// The folders that came with a request.
pub(super) fn told(answer: Value) -> Result<Vec<String>, ErrorData> {
    let told: ListRootsResult = serde_json::from_value(answer).map_err(|error| {
        ErrorData::invalid_params(format!("inputResponses.roots: {error}"), None)
    })?;
    Ok(told.roots.into_iter().map(|root| root.uri).collect())
}

/// What the client's folders leave of those that were granted: none of them if no URI is of any
/// use, all of them (`None`) if the client has nothing open and so says nothing about folders.
pub(super) fn narrowed(granted: &[PathBuf], theirs: &[String]) -> Option<Vec<PathBuf>> {
    if theirs.is_empty() {
        return None;
    }
    let mut left: Vec<PathBuf> = Vec::new();
    for folder in theirs.iter().take(MOST).filter_map(|uri| folder(uri)) {
        for root in granted {
            let both = if folder.starts_with(root) {
                folder.clone()
            } else if root.starts_with(&folder) {
                root.clone()
            } else {
                continue;
            };
            if !left.iter().any(|other| both.starts_with(other)) {
                left.retain(|other| !other.starts_with(&both));
                left.push(both);
            }
        }
    }
    // In the order of what was granted: the first one is where calls work.
    let place = |path: &Path| granted.iter().position(|root| path.starts_with(root));
    left.sort_by_key(|path| place(path));
    (left != granted).then_some(left)
}

/// The real folder behind a `file` URI; anything else is none.
fn folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let at = rest.find('/')?;
    let (host, path) = rest.split_at(at);
    if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = decoded(path)?;
    if path.contains('\0') {
        return None;
    }
    let real = real_path(Path::new(&path));
    real.is_dir().then_some(real)
}

/// The text behind percent signs.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let digits = rest.get(..2).filter(|two| two.is_ascii())?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with `a/b` and `c` in it, and a link `c/up` to its parent.
    fn tree() -> (PathBuf, impl Drop) {
        struct Gone(PathBuf);
        impl Drop for Gone {
            fn drop(&mut self) {
                let _ = std::fs::remove_dir_all(&self.0);
            }
        }
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolbay-roots-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::create_dir_all(folder.join("c")).unwrap();
        std::os::unix::fs::symlink("..", folder.join("c/up")).unwrap();
        let folder = folder.canonicalize().unwrap();
        (folder.clone(), Gone(folder))
    }

    fn uri(path: &Path) -> String {
        format!("file://{}", path.display())
    }

    #[test]
    fn they_narrow_and_never_widen() {
        let (top, _gone) = tree();
        let granted = [top.join("a")];
        let cases = [
            // The same, its parent, everything: what was granted stays.
            (vec![uri(&top.join("a"))], None),
            (vec![uri(&top)], None),
            (vec!["file:///".into()], None),
            (vec![uri(&top.join("c/up"))], None),
            // One inside.
            (vec![uri(&top.join("a/b"))], Some(vec![top.join("a/b")])),
            (
                vec![uri(&top.join("c/up/a/b/../../a/b"))],
                Some(vec![top.join("a/b")]),
            ),
            (
                vec![uri(&top.join("a/b")).replace("/b", "/%62")],
                Some(vec![top.join("a/b")]),
            ),
            // Others, and what is none.
            (vec![uri(&top.join("c"))], Some(vec![])),
            (vec![uri(&top.join("a/../c"))], Some(vec![])),
            (vec![uri(&top.join("not there"))], Some(vec![])),
            (
                vec![format!("https://{}", top.join("a").display())],
                Some(vec![]),
            ),
            (
                vec![format!("file://elsewhere{}", top.join("a").display())],
                Some(vec![]),
            ),
            (vec!["file://".into(), "a".into(), "".into()], Some(vec![])),
            (
                vec![
                    "file:///%00".into(),
                    "file:///%f".into(),
                    "file:///%+1".into(),
                ],
                Some(vec![]),
            ),
            // Nothing open.
            (vec![], None),
        ];
        for (theirs, left) in cases {
            assert_eq!(narrowed(&granted, &theirs), left, "{theirs:?}");
        }
    }

    #[test]
    fn thousands_are_cut_and_none_is_named_twice() {
        let (top, _gone) = tree();
        let granted = [top.join("a"), top.join("c")];
        let mut theirs = vec![uri(&top.join("a/b")); 300];
        theirs.extend(vec![uri(&top.join("c")); 10_000]);
        assert_eq!(narrowed(&granted, &theirs), Some(vec![top.join("a/b")]));
        let both = [
            uri(&top.join("c")),
            uri(&top.join("a/b")),
            uri(&top.join("a")),
        ];
        assert_eq!(narrowed(&granted, &both), None);
    }
}
