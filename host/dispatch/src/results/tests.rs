use super::*;
use std::fs;
use toolbay_contract::Blob;

mod failures;
mod message;
mod repeats;
mod replay;

/// A session's folder that does not exist yet.
struct Session {
    root: tempfile::TempDir,
}

fn session() -> Session {
    Session {
        root: tempfile::tempdir().unwrap(),
    }
}

impl Session {
    fn path(&self) -> PathBuf {
        self.root.path().join("session")
    }

    /// Opens it as a restarted program would.
    fn open(&self) -> Results {
        let (results, problems) = Results::open(&self.path());
        assert_eq!(problems, Vec::<String>::new());
        results
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("tool-results"));
        let mut files: Vec<PathBuf> = entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path().join("replacements.jsonl")).unwrap_or_default()
    }
}

fn call(call_id: &str) -> KeptCall<'_> {
    KeptCall {
        call_id,
        limit: ResultLimit::Standard,
        keep: None,
        is_error: false,
    }
}

fn text(text: impl Into<String>) -> Content {
    Content::Text(text.into())
}

/// A text of so many characters that is like no other letter's.
fn letters(letter: char, chars: usize) -> Vec<Content> {
    vec![text(letter.to_string().repeat(chars))]
}

fn image(bytes: usize) -> Content {
    Content::Image(Blob {
        mime: "image/png".into(),
        data: vec![7; bytes],
    })
}

fn shown(content: &[Content]) -> &str {
    match content {
        [Content::Text(text)] => text,
        other => panic!("not one text: {other:?}"),
    }
}

#[test]
fn what_fits_stays_and_leaves_no_trace() {
    let session = session();
    let results = session.open();
    for (id, content) in [
        ("empty", vec![]),
        ("text", letters('a', 50_000)),
        ("image", vec![text("see"), image(25_000)]),
    ] {
        let kept = results.keep(&call(id), content.clone());
        let bytes: usize = content.iter().map(Content::size).sum();
        assert_eq!(kept.original_bytes, bytes);
        assert_eq!(kept.content, content);
        assert_eq!((kept.persisted, kept.repeated_of), (None, None));
    }
    assert!(!session.path().exists());
}

#[test]
fn what_is_too_long_goes_to_a_file_as_a_whole() {
    let session = session();
    let results = session.open();
    for (limit, content, whole) in [
        (
            ResultLimit::Standard,
            letters('€', 50_001),
            "€".repeat(50_001),
        ),
        (ResultLimit::Chars(3), letters('b', 4), "bbbb".into()),
        (
            ResultLimit::Standard,
            vec![text("a".repeat(30_000)), text("b".repeat(30_000))],
            format!("{}\n{}", "a".repeat(30_000), "b".repeat(30_000)),
        ),
        (
            ResultLimit::SelfManaged,
            letters('c', 400_001),
            "c".repeat(400_001),
        ),
    ] {
        let call = KeptCall {
            limit,
            ..call("id")
        };
        let kept = results.keep(&call, content);
        let path = kept.persisted.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        let shown = shown(&kept.content);
        assert!(shown.starts_with("<persisted-output>\n"));
        assert!(shown.ends_with("</persisted-output>"));
        assert!(shown.contains(path.to_str().unwrap()));
        assert!(shown.len() < 2_600);
    }
    assert_eq!(session.files().len(), 4);
}

#[test]
fn self_managed_results_stay_up_to_the_ceiling() {
    let session = session();
    let results = session.open();
    let call = KeptCall {
        limit: ResultLimit::SelfManaged,
        ..call("id")
    };
    let content = vec![text("x".repeat(400_000)), image(5_000_000)];
    assert_eq!(results.keep(&call, content.clone()).content, content);
    let over = vec![text("x".repeat(400_001)), image(5_000_000)];
    let kept = results.keep(&call, over.clone()).content;
    assert!(matches!(&kept[0], Content::Text(text) if text.starts_with("<persisted-output>")));
    assert_eq!(kept[1..], over[1..]);
}

#[test]
fn large_blobs_go_to_files_and_the_text_stays() {
    let session = session();
    let results = session.open();
    let content = vec![text("before"), image(25_001), image(10), text("after")];
    let kept = results.keep(&call("id"), content.clone());
    let path = kept.persisted.unwrap();
    assert_eq!(fs::read(&path).unwrap(), vec![7; 25_001]);
    assert_eq!(path.extension().unwrap(), "png");
    let line = format!("[image, image/png, 25.0 KB: saved in {}]", path.display());
    assert_eq!(
        kept.content,
        [text("before"), text(line), image(10), text("after")]
    );
}

#[test]
fn links_are_text_too() {
    let session = session();
    let results = session.open();
    let link = Content::Link(toolbay_contract::Link {
        uri: "u".repeat(60_000),
        name: "n".into(),
        mime: None,
    });
    let kept = results.keep(&call("id"), vec![text("a"), link]);
    assert!(shown(&kept.content).len() < 2_600);
    let saved = fs::read_to_string(kept.persisted.unwrap()).unwrap();
    assert_eq!(saved, format!("a\nn: {}", "u".repeat(60_000)));
}

#[test]
fn hostile_ids_stay_in_the_folder_and_apart() {
    let session = session();
    let results = session.open();
    let long = "x".repeat(10_000);
    let ids = [
        "../x", "", "a\0b", "a/b", "a_b", "A_B", ".", "..", "a\nb", &long,
    ];
    for (number, id) in ids.iter().enumerate() {
        let kept = results.keep(&call(id), letters('a', 60_000));
        let path = kept.persisted.unwrap();
        assert_eq!(path.parent().unwrap(), session.path().join("tool-results"));
        assert_eq!(fs::read(&path).unwrap(), vec![b'a'; 60_000]);
        assert_eq!(session.files().len(), number + 1, "{id:?}");
    }
    assert!(session.log().len() < 100_000);
    // The same id with other content is another result.
    let kept = results.keep(&call(""), letters('b', 60_000));
    assert_eq!(
        fs::read(kept.persisted.unwrap()).unwrap(),
        vec![b'b'; 60_000]
    );
    assert_eq!(session.files().len(), ids.len() + 1);
}

#[test]
fn calls_beside_each_other_agree() {
    let session = session();
    let results = session.open();
    let shown: Vec<Kept> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| results.keep(&call("id"), letters('a', 60_000))))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(shown.iter().all(|kept| *kept == shown[0]));
    assert_eq!(session.files().len(), 1);
    assert_eq!(session.log().lines().count(), 1);
}

#[test]
fn a_relative_folder_becomes_a_path_that_works_elsewhere() {
    let folder = Folder::new(Path::new("some/session"));
    assert!(folder.file_path("a").is_absolute());
}
