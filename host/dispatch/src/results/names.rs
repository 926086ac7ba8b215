//! Names of files that hold results. A call id is a stranger's text: only what is harmless
//! in a name is taken over, for people; the digest behind it makes the name unique.

use super::digest::Digest;

const LONGEST_PREFIX: usize = 40;

/// The name of a file that holds these bytes of this call. The same bytes of the same call
/// have the same name, so that a call that is repeated after a crash finds its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileName {
    stem: String,
    extension: &'static str,
}

impl FileName {
    pub(super) fn for_text(call_id: &str, text: &str) -> Self {
        Self::new(call_id, text.as_bytes(), "txt")
    }

    pub(super) fn for_blob(call_id: &str, mime: &str, data: &[u8]) -> Self {
        Self::new(call_id, data, extension(mime))
    }

    /// The name, or another one if something else has taken it.
    pub(super) fn attempt(&self, number: usize) -> String {
        match number {
            0 => format!("{}.{}", self.stem, self.extension),
            _ => format!("{}-{number}.{}", self.stem, self.extension),
        }
    }

    fn new(call_id: &str, bytes: &[u8], extension: &'static str) -> Self {
        let harmless = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let prefix: String = call_id
            .chars()
            .take(LONGEST_PREFIX)
            .map(|c| if harmless(c) { c } else { '_' })
            .collect();
        let prefix = if prefix.is_empty() { "call" } else { &*prefix };
        let digest = Digest::of_parts(&[call_id.as_bytes(), bytes]);
        Self {
            stem: format!("{prefix}-{digest}"),
            extension,
        }
    }
}

/// Whether a name is one that could be made here, and leads nowhere else.
pub(super) fn is_plain_name(name: &str) -> bool {
    let harmless = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    name.len() <= 255 && !name.starts_with('.') && !name.is_empty() && name.bytes().all(harmless)
}

fn extension(mime: &str) -> &'static str {
    const KNOWN: [(&str, &str); 16] = [
        ("application/json", "json"),
        ("application/pdf", "pdf"),
        ("application/xml", "xml"),
        ("application/zip", "zip"),
        ("audio/mpeg", "mp3"),
        ("audio/wav", "wav"),
        ("image/bmp", "bmp"),
        ("image/gif", "gif"),
        ("image/jpeg", "jpg"),
        ("image/png", "png"),
        ("image/svg+xml", "svg"),
        ("image/tiff", "tiff"),
        ("image/webp", "webp"),
        ("text/csv", "csv"),
        ("text/html", "html"),
        ("text/plain", "txt"),
    ];
    let kind = mime.split(';').next().unwrap_or_default().trim();
    KNOWN
        .iter()
        .find(|(known, _)| kind.eq_ignore_ascii_case(known))
        .map_or("bin", |(_, extension)| extension)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn hostile_ids_get_harmless_names_of_their_own() {
        let ids = [
            "toolu_01",
            "TOOLU_01",
            "",
            "..",
            "../x",
            "/../x",
            "a/b",
            "a_b",
            "a\0b",
            "a\nb",
            ".hidden",
            "call",
            "-rf",
            "ä\u{202e}txt",
            &"x".repeat(10_000),
            &"x".repeat(10_001),
        ];
        let names: HashSet<String> = ids
            .iter()
            .map(|id| {
                FileName::for_text(id, "text")
                    .attempt(0)
                    .to_ascii_lowercase()
            })
            .collect();
        assert_eq!(names.len(), ids.len(), "{names:?}");
        for name in &names {
            assert!(is_plain_name(name) && name.len() < 100, "{name}");
        }
    }

    #[test]
    fn a_name_depends_on_call_content_and_attempt_alone() {
        let name = FileName::for_text("a", "x");
        assert_eq!(name, FileName::for_text("a", "x"));
        assert_ne!(name, FileName::for_text("a", "y"));
        assert_ne!(name.attempt(0), name.attempt(1));
    }

    #[test]
    fn extensions_come_from_a_list() {
        for (mime, wanted) in [
            ("image/png", "png"),
            ("IMAGE/JPEG", "jpg"),
            ("text/plain; charset=utf-8", "txt"),
            ("image/../../x", "bin"),
            ("", "bin"),
        ] {
            assert_eq!(extension(mime), wanted, "{mime}");
        }
    }

    #[test]
    fn only_plain_names_lead_to_files() {
        for (name, is_plain) in [
            ("call-1f.txt", true),
            ("", false),
            (".", false),
            ("..", false),
            ("a/b", false),
            ("a\0", false),
        ] {
            assert_eq!(is_plain_name(name), is_plain, "{name:?}");
        }
    }
}
