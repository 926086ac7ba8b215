//! Files on disk, read the way a call reads them.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::place;
use crate::request::Input;
use crate::source::CHUNK;

/// A folder of its own for each test, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolbay-read-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn request(offset: Option<u64>, limit: Option<u64>, pages: Option<&str>) -> Request {
    Request::of(&Input {
        file_path: "/x".into(),
        offset,
        limit,
        pages: pages.map(Into::into),
    })
    .unwrap()
}

/// Reads without knowing how many lines there are, and again as if the host had
/// counted them: nobody can tell the difference.
fn read_path(path: &Path, request: &Request) -> Result<Reading, String> {
    let read_as = |size| read(path, size, request, &|| Ok(())).map_err(|error| error.sentence());
    let bytes = place::check(path, &[]).map_err(|error| error.sentence())?;
    let uncounted = read_as(Size::bytes(bytes));
    let content = fs::read(path).unwrap();
    let ends = content.iter().filter(|byte| **byte == b'\n').count();
    let last = content.last().is_some_and(|byte| *byte != b'\n');
    let counted = read_as(Size {
        bytes,
        lines: Some((ends + usize::from(last)) as u64),
    });
    let told = |reading: &Result<Reading, String>| match reading {
        Ok(reading) => (
            format!("{:?}", reading.content),
            reading.structured.to_string(),
            reading.whole,
        ),
        Err(error) => (error.clone(), String::new(), false),
    };
    assert_eq!(told(&counted), told(&uncounted), "{}", path.display());
    counted
}

fn text_of(reading: Reading) -> String {
    reading.into_outcome().plain_text()
}

#[test]
fn text_files_are_shown_in_any_supported_encoding() {
    let folder = Folder::new("encodings");
    for (name, bytes) in [
        ("plain", &b"a\nb\n"[..]),
        ("marked", b"\xef\xbb\xbfa\nb\n"),
        ("little", b"\xff\xfea\0\n\0b\0\n\0"),
        ("big", b"\xfe\xff\0a\0\n\0b\0\n"),
    ] {
        let path = folder.file(name, bytes);
        let reading = read_path(&path, &request(None, None, None)).unwrap();
        assert!(reading.whole, "{name}");
        assert_eq!(text_of(reading), "     1\ta\n     2\tb", "{name}");
    }
}

#[test]
fn a_file_too_large_to_be_counted_says_so_and_is_read_in_parts() {
    let folder = Folder::new("sparse");
    let path = folder.file("sparse", "some text\n".repeat(CHUNK).as_bytes());
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let request = request(Some(3), Some(2), None);
    let reading = read(&path, Size::bytes(1 << 40), &request, &|| Ok(())).unwrap();
    assert!(!reading.whole);
    assert_eq!(reading.structured["bytes"], 1_u64 << 40);
    assert!(reading.structured.get("total_lines").is_none());
    let text = text_of(reading);
    assert!(
        text.starts_with("     3\tsome text\n     4\tsome text\n"),
        "{text}"
    );
    assert!(
        text.contains("The file has 1099511627776 bytes, too many to count"),
        "{text}"
    );
    assert!(text.contains("use offset 5 and limit to read on"), "{text}");
}

#[test]
fn large_files_are_streamed_and_still_counted() {
    let folder = Folder::new("large");
    let line = "0123456789abcde\n";
    let count = 40 * CHUNK as u64 / 16 + 3;
    let path = folder.file("large", line.repeat(count as usize));
    let across = CHUNK as u64 / 16;
    for (offset, limit, first) in [
        (None, 2, 1),
        (Some(across), 2, across),
        (Some(count), 2, count),
    ] {
        let reading = read_path(&path, &request(offset, Some(limit), None)).unwrap();
        assert_eq!(reading.structured["total_lines"], count);
        let text = text_of(reading);
        assert!(
            text.starts_with(&format!("{first:>6}\t0123456789abcde")),
            "{text}"
        );
    }
    let text = text_of(read_path(&path, &request(Some(count + 1), None, None)).unwrap());
    assert_eq!(
        text,
        format!(
            "(The file has {count} lines, so offset {} is beyond its end.)",
            count + 1
        )
    );
}

#[test]
fn what_cannot_be_shown_is_refused_with_advice() {
    let folder = Folder::new("refused");
    folder.file("notes.txt", "x");
    let binary = folder.file("binary", b"abc\0def");
    let text = folder.file("text", "x");
    for (path, pages, part) in [
        (folder.0.clone(), None, "is a folder"),
        (binary, None, "is a binary file"),
        (PathBuf::from("/dev/null"), None, "is a device"),
        (folder.0.join("note.txt"), None, "Did you mean"),
        (folder.0.join("zzzzzzzzz"), None, "Check the path"),
        (
            folder.0.join("no/such/file"),
            None,
            "the nearest folder that does is",
        ),
        (folder.0.join("notes.txt/file"), None, "does not exist"),
        (text, Some("1"), "pages is only for PDF files"),
    ] {
        let error = read_path(&path, &request(None, None, pages)).err().unwrap();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_path_outside_the_roots_is_denied_rather_than_missing() {
    let error = place::check(Path::new("/no/such"), &["/root".into()]).unwrap_err();
    assert!(matches!(error, ToolError::Denied(_)));
}

#[test]
fn pictures_are_known_by_their_bytes() {
    let folder = Folder::new("pictures");
    let gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    let path = folder.file("picture.txt", gif);
    let reading = read_path(&path, &request(None, None, None)).unwrap();
    let [Content::Image(blob)] = &reading.content[..] else {
        panic!("one picture");
    };
    assert_eq!(
        (blob.mime.as_str(), blob.data.as_slice()),
        ("image/gif", &gif[..])
    );
}
