//! What a file is, judged by its first bytes.
//!
//! Names lie: a `.png` may be text and a file without an ending a picture. Only
//! notebooks need the name, since their content is plain JSON.

use std::path::Path;

/// How much of the beginning is looked at.
const SAMPLE: usize = 8 * 1024;
/// A text in some eight-bit encoding has a few bytes that are not UTF-8, a
/// binary has them everywhere: more than three in ten is no text.
const ODD_BYTES_PER_TEN: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text(Encoding),
    Picture(Format),
    Pdf,
    Notebook,
    Binary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    /// With the three bytes of a byte order mark in front.
    Utf8Marked,
    Utf16Little,
    Utf16Big,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl Format {
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }
}

/// Judges a file by its path and its beginning.
pub fn sniff(path: &Path, head: &[u8]) -> Kind {
    if let Some(format) = picture(head) {
        return Kind::Picture(format);
    }
    if head.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    match text(head) {
        None => Kind::Binary,
        Some(Encoding::Utf8 | Encoding::Utf8Marked)
            if !head.is_empty() && has_extension(path, "ipynb") =>
        {
            Kind::Notebook
        }
        Some(encoding) => Kind::Text(encoding),
    }
}

/// The format of a picture, by its magic bytes.
pub fn picture(head: &[u8]) -> Option<Format> {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(Format::Png)
    } else if head.starts_with(b"\xff\xd8\xff") {
        Some(Format::Jpeg)
    } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        Some(Format::Gif)
    } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some(Format::WebP)
    } else {
        None
    }
}

/// The encoding of a text, `None` for a binary.
pub fn text(head: &[u8]) -> Option<Encoding> {
    // The mark of UTF-32 begins like that of UTF-16; nobody writes such files.
    if head.starts_with(b"\xff\xfe\0\0") {
        return None;
    }
    if head.starts_with(b"\xff\xfe") {
        return Some(Encoding::Utf16Little);
    }
    if head.starts_with(b"\xfe\xff") {
        return Some(Encoding::Utf16Big);
    }
    let sample = &head[..head.len().min(SAMPLE)];
    if memchr::memchr(0, sample).is_some() || odd(sample) * 10 > sample.len() * ODD_BYTES_PER_TEN {
        return None;
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        return Some(Encoding::Utf8Marked);
    }
    Some(Encoding::Utf8)
}

/// Bytes that no text in UTF-8 has: broken sequences and rare control codes.
fn odd(sample: &[u8]) -> usize {
    let control = sample
        .iter()
        .filter(|byte| matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127))
        .count();
    let broken: usize = sample
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len())
        .sum();
    control + broken
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_and_the_name_only_for_notebooks() {
        for (name, head, wanted) in [
            ("a.txt", &b"hello"[..], Kind::Text(Encoding::Utf8)),
            ("a.png", b"hello", Kind::Text(Encoding::Utf8)),
            ("empty", b"", Kind::Text(Encoding::Utf8)),
            (
                "a.txt",
                b"\xef\xbb\xbfhello",
                Kind::Text(Encoding::Utf8Marked),
            ),
            (
                "a.txt",
                b"\xff\xfeh\0i\0",
                Kind::Text(Encoding::Utf16Little),
            ),
            ("a.txt", b"\xfe\xff\0h\0i", Kind::Text(Encoding::Utf16Big)),
            ("a.txt", b"\xff\xfe\0\0h\0\0\0", Kind::Binary),
            ("a.txt", b"abc\0def", Kind::Binary),
            ("a.txt", b"\xfa\x81\x93\xf0ab", Kind::Binary),
            (
                "latin",
                b"Stra\xdfe und B\xfccher",
                Kind::Text(Encoding::Utf8),
            ),
            (
                "colour.log",
                b"\x1b[31mred\x1b[0m",
                Kind::Text(Encoding::Utf8),
            ),
            ("x", b"\x89PNG\r\n\x1a\n....", Kind::Picture(Format::Png)),
            ("x", b"\xff\xd8\xff\xe0", Kind::Picture(Format::Jpeg)),
            ("x.txt", b"GIF89a..", Kind::Picture(Format::Gif)),
            ("x", b"RIFF....WEBPVP8 ", Kind::Picture(Format::WebP)),
            ("x", b"RIFF....WAVEfmt ", Kind::Text(Encoding::Utf8)),
            ("x", b"%PDF-1.7\n", Kind::Pdf),
            ("x.ipynb", b"{}", Kind::Notebook),
            ("x.IPYNB", b"{}", Kind::Notebook),
            ("x.ipynb", b"", Kind::Text(Encoding::Utf8)),
            ("x.json", b"{}", Kind::Text(Encoding::Utf8)),
        ] {
            assert_eq!(sniff(Path::new(name), head), wanted, "{name} {head:?}");
        }
    }

    #[test]
    fn a_sequence_cut_by_the_sample_is_no_sign_of_a_binary() {
        let text = "ü".repeat(SAMPLE);
        assert_eq!(
            super::text(&text.as_bytes()[..SAMPLE + 1]),
            Some(Encoding::Utf8)
        );
    }
}
