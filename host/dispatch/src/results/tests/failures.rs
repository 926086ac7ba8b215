//! Nothing can be saved: the call answers all the same, and says what is missing and why.

use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

/// A session in which saving fails, and a word of the reason.
fn broken_sessions() -> Vec<(Option<Session>, Results, &'static str)> {
    type Breaking = fn(&Session);
    let breakings: [(Breaking, &'static str); 6] = [
        (
            |session| fs::write(session.path(), "").unwrap(),
            "File exists",
        ),
        (
            |session| {
                fs::create_dir(session.path()).unwrap();
                fs::write(session.path().join("tool-results"), "").unwrap();
            },
            "Not a directory",
        ),
        (
            |session| {
                fs::create_dir(session.path()).unwrap();
                symlink("/", session.path().join("tool-results")).unwrap();
            },
            "Not a directory",
        ),
        (
            |session| symlink("/", session.path()).unwrap(),
            "Not a directory",
        ),
        (
            |session| fs::create_dir_all(session.path().join("replacements.jsonl")).unwrap(),
            "Is a directory",
        ),
        (
            |session| {
                fs::create_dir(session.path()).unwrap();
                symlink("x", session.path().join("replacements.jsonl")).unwrap();
            },
            "symbolic link",
        ),
    ];
    let mut all = vec![(None, Results::in_memory(), "keeps no files")];
    for (breaking, reason) in breakings {
        let session = session();
        breaking(&session);
        let (results, _) = Results::open(&session.path());
        all.push((Some(session), results, reason));
    }
    let below_a_file = session();
    fs::write(below_a_file.path(), "").unwrap();
    let (results, _) = Results::open(&below_a_file.path().join("deeper"));
    all.push((Some(below_a_file), results, "Not a directory"));
    let no_text = session();
    let (results, _) = Results::open(&no_text.root.path().join(OsStr::from_bytes(b"\xff")));
    all.push((Some(no_text), results, "one line of text"));
    all
}

#[test]
fn a_result_that_cannot_be_saved_is_cut_and_says_why() {
    for (_session, results, reason) in broken_sessions() {
        let content = vec![text(format!("start{}end", "€".repeat(60_000)))];
        let kept = results.keep(&call("id"), content.clone());
        let text = shown(&kept.content);
        assert!(text.chars().count() <= 50_000, "{reason}");
        let note = text.lines().next().unwrap();
        assert!(note.contains("could not be saved: "), "{note}");
        assert!(note.contains(reason), "{note}");
        assert!(text.contains("]\nstart€") && text.ends_with("€end"));
        assert!(text.contains(" characters left out]"));
        assert_eq!((&kept.persisted, &kept.repeated_of), (&None, &None));
        assert_eq!(kept.original_bytes, 180_008);
        assert_eq!(results.keep(&call("id"), content), kept);
    }
}

#[test]
fn every_kind_of_result_is_bounded_without_a_disk() {
    let results = Results::in_memory();
    let limited = |limit| KeptCall {
        limit,
        ..call("id")
    };
    let own = results.keep(&limited(ResultLimit::SelfManaged), letters('€', 200_000));
    assert!(shown(&own.content).len() <= 400_000);
    let small = results.keep(&limited(ResultLimit::Chars(500)), letters('x', 9_000));
    assert!(shown(&small.content).len() <= 500);
    let kept = results.keep(&call("id"), vec![text("see"), image(30_000), image(3)]);
    assert_eq!(
        kept.content,
        [
            text("see"),
            text(
                "[image, image/png, 30.0 KB: left out, because it is too large to be shown and could not be saved: this session keeps no files]"
            ),
            image(3),
        ]
    );
}

#[test]
fn a_cut_result_stays_cut_when_the_disk_recovers() {
    let session = session();
    fs::create_dir(session.path()).unwrap();
    fs::write(session.path().join("tool-results"), "").unwrap();
    let results = session.open();
    let cut = results.keep(&call("a"), letters('a', 60_000));
    assert_eq!(cut.persisted, None);
    fs::remove_file(session.path().join("tool-results")).unwrap();
    for results in [results, session.open()] {
        assert_eq!(results.keep(&call("a"), letters('a', 60_000)), cut);
        let next = results.keep(&call("b"), letters('b', 60_000));
        assert!(next.persisted.unwrap().exists());
    }
}

#[test]
fn a_broken_folder_is_told_when_it_is_opened() {
    for (session, _, _) in broken_sessions() {
        let Some(session) = session else { continue };
        let is_odd_log = session
            .path()
            .join("replacements.jsonl")
            .symlink_metadata()
            .is_ok_and(|metadata| !metadata.is_file());
        let is_no_folder = session
            .path()
            .symlink_metadata()
            .is_ok_and(|metadata| !metadata.is_dir());
        let (_, problems) = Results::open(&session.path());
        let expected = usize::from(is_odd_log || is_no_folder);
        assert_eq!(problems.len(), expected, "{problems:?}");
    }
}

#[test]
fn a_decision_that_cannot_be_written_down_is_not_used() {
    let session = session();
    let results = session.open();
    results.keep(&call("a"), letters('a', 60_000));
    let log = fs::OpenOptions::new()
        .write(true)
        .open(session.path().join("replacements.jsonl"))
        .unwrap();
    log.set_len(128 << 20).unwrap();
    let kept = results.keep(&call("b"), letters('b', 60_000));
    let note = shown(&kept.content).lines().next().unwrap();
    assert!(note.contains("no room"), "{note}");
    assert_eq!(results.keep(&call("b"), letters('b', 60_000)), kept);
    let hidden = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with('.');
    assert!(!session.files().iter().any(hidden));
}
