//! Results that were too long, as resources of the client whose calls they were. Nothing else
//! on the disk has a URI.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Resource, ResourceContents};

/// What is remembered; the oldest are forgotten first.
const MOST_KEPT: usize = 1000;
/// What one answer may carry.
const MOST_BYTES: u64 = 32 << 20;

/// The results that one client may read again.
#[derive(Default)]
pub(super) struct Shelf {
    kept: Vec<Kept>,
    next: u64,
}

struct Kept {
    resource: Resource,
    path: PathBuf,
}

impl Shelf {
    /// Puts a saved result on the shelf and answers with what leads to it.
    pub(super) fn put(&mut self, tool: &str, path: &Path) -> Resource {
        if let Some(known) = self.kept.iter().find(|kept| kept.path == path) {
            return known.resource.clone();
        }
        self.next += 1;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut resource = Resource::new(
            format!("toolbay://results/{}/{name}", self.next),
            name.clone(),
        );
        resource.title = Some(format!("The whole result of a call of {tool}"));
        resource.mime_type = Some(mime(path).into());
        resource.size = std::fs::metadata(path).ok().map(|found| found.len());
        if self.kept.len() >= MOST_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(Kept {
            resource: resource.clone(),
            path: path.to_path_buf(),
        });
        resource
    }

    pub(super) fn list(&self) -> Vec<Resource> {
        let all = self.kept.iter();
        all.map(|kept| kept.resource.clone()).collect()
    }

    /// The file behind a URI, if it is one of ours.
    pub(super) fn find(&self, uri: &str) -> Option<PathBuf> {
        let found = self.kept.iter().find(|kept| kept.resource.uri == uri);
        found.map(|kept| kept.path.clone())
    }
}

/// Reads a saved result. Waits for the disk.
pub(super) fn read(uri: &str, path: &Path) -> Result<ResourceContents, String> {
    let gone = |error: std::io::Error| format!("the saved result is gone: {error}");
    let size = std::fs::metadata(path).map_err(gone)?.len();
    if size > MOST_BYTES {
        return Err(format!(
            "the saved result has {size} bytes, more than the {MOST_BYTES} that one answer may \
             carry; read parts of it with a tool: {}",
            path.display()
        ));
    }
    let bytes = toolbay_contract::regular_file::read(path, MOST_BYTES).map_err(gone)?;
    let mime_type = Some(mime(path).to_owned());
    let uri = uri.to_owned();
    Ok(match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            meta: None,
        },
        Err(error) => ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob: STANDARD.encode(error.as_bytes()),
            meta: None,
        },
    })
}

fn mime(path: &Path) -> &'static str {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    match extension.as_ref() {
        "txt" | "md" | "log" => "text/plain",
        "json" => "application/json",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_put_there_can_be_read() {
        let mut shelf = Shelf::default();
        let resource = shelf.put("Some", Path::new("/x/one.txt"));
        assert_eq!(shelf.find(&resource.uri), Some("/x/one.txt".into()));
        assert_eq!(shelf.put("Some", Path::new("/x/one.txt")).uri, resource.uri);
        for uri in [
            "toolbay://results/1/../../../etc/passwd",
            "toolbay://results/2/one.txt",
            "file:///etc/passwd",
            "/x/one.txt",
            "",
        ] {
            assert_eq!(shelf.find(uri), None, "{uri}");
        }
        for number in 0..2 * MOST_KEPT {
            shelf.put("Some", Path::new(&format!("/x/{number}")));
        }
        assert_eq!(shelf.list().len(), MOST_KEPT);
        assert_eq!(shelf.find(&resource.uri), None);
    }
}
