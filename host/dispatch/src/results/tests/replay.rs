//! Once replaced, always replaced: after restarts, crashes and changed limits.

use super::*;

fn results_of_all_kinds() -> Vec<(&'static str, ResultLimit, Vec<Content>)> {
    vec![
        ("text", ResultLimit::Standard, letters('€', 60_000)),
        ("own", ResultLimit::Chars(10), letters('b', 11)),
        ("large", ResultLimit::SelfManaged, letters('c', 500_000)),
        (
            "mixed",
            ResultLimit::Standard,
            vec![
                image(1),
                text("line\r\n".repeat(20_000)),
                image(30_000),
                image(2),
            ],
        ),
        ("many", ResultLimit::Standard, vec![image(1); 150]),
        ("../\0\"", ResultLimit::Standard, letters('\u{1}', 60_000)),
    ]
}

fn keep_all(results: &Results) -> Vec<Kept> {
    results_of_all_kinds()
        .into_iter()
        .map(|(call_id, limit, content)| {
            let call = KeptCall {
                limit,
                ..call(call_id)
            };
            results.keep(&call, content)
        })
        .collect()
}

#[test]
fn a_restart_changes_no_byte() {
    let session = session();
    let results = session.open();
    let first = keep_all(&results);
    let log = session.log();
    assert_eq!(keep_all(&results), first);
    for _ in 0..2 {
        assert_eq!(keep_all(&session.open()), first);
    }
    assert_eq!(session.log(), log);
    assert_eq!(log.lines().count(), first.len());
}

#[test]
fn a_changed_limit_changes_no_byte() {
    let session = session();
    let small = KeptCall {
        limit: ResultLimit::Chars(100),
        ..call("id")
    };
    let first = session.open().keep(&small, letters('a', 500));
    assert!(first.persisted.is_some());
    for limit in [ResultLimit::Standard, ResultLimit::SelfManaged] {
        for (is_error, keep) in [(false, None), (true, None), (false, Some(Keep::End))] {
            let call = KeptCall {
                limit,
                keep,
                is_error,
                ..small
            };
            let again = session.open().keep(&call, letters('a', 500));
            assert_eq!(again, first);
        }
    }
    // Other content of the same call, and the same content of another, are news.
    let free = call("id");
    assert_eq!(
        session.open().keep(&free, letters('b', 500)).persisted,
        None
    );
    let other = call("ID");
    assert_eq!(
        session.open().keep(&other, letters('a', 500)).persisted,
        None
    );
}

#[test]
fn what_is_kept_and_what_was_cut_come_back_the_same() {
    for keep in [None, Some(Keep::Start), Some(Keep::End), Some(Keep::Both)] {
        for can_save in [true, false] {
            let session = session();
            if !can_save {
                fs::create_dir(session.path()).unwrap();
                fs::write(session.path().join("tool-results"), "").unwrap();
            }
            let asked = KeptCall { keep, ..call("id") };
            let content = || vec![text(format!("first\n{}last\n", "line\n".repeat(20_000)))];
            let first = session.open().keep(&asked, content());
            assert_eq!(first.persisted.is_some(), can_save);
            // Also when the tool has changed its mind since.
            for now in [asked, call("id")] {
                assert_eq!(session.open().keep(&now, content()), first, "{keep:?}");
            }
        }
    }
}

#[test]
fn a_log_from_before_tools_could_ask_reads_as_it_did() {
    let session = session();
    fs::create_dir(session.path()).unwrap();
    fs::write(session.path().join("tool-results"), "").unwrap();
    let first = session.open().keep(&call("id"), letters('a', 60_000));
    let log = session.log();
    let plan = r#""plan":{"text":{"preview":2000,"cut":50000},"blobs":[]"#;
    assert!(log.contains(plan), "{log}");
    let asks = KeptCall {
        keep: Some(Keep::End),
        ..call("id")
    };
    assert_eq!(session.open().keep(&asks, letters('a', 60_000)), first);
    assert_eq!(session.log(), log);
}

#[test]
fn a_kill_between_file_and_log_leaves_one_file_and_the_same_bytes() {
    let session = session();
    let first = keep_all(&session.open());
    let files = session.files();
    let log = session.log();
    // Every moment between two lines, and within the last one.
    let whole: Vec<usize> = log.match_indices('\n').map(|(at, _)| at + 1).collect();
    for end in [0, 1, whole[0], whole[2] - 1, whole[2], log.len() - 1] {
        fs::write(session.path().join("replacements.jsonl"), &log[..end]).unwrap();
        assert_eq!(keep_all(&session.open()), first, "{end}");
        assert_eq!(session.files(), files, "{end}");
        assert_eq!(session.log(), log, "{end}");
    }
}

#[test]
fn a_damaged_log_is_told_and_calls_still_answer() {
    let session = session();
    let first = keep_all(&session.open());
    let damaged = session.log().replacen("\"key\"", "\"kex\"", 1);
    fs::write(session.path().join("replacements.jsonl"), damaged).unwrap();
    let (results, problems) = Results::open(&session.path());
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("line 1"), "{problems:?}");
    assert_eq!(keep_all(&results), first);
}

#[test]
fn a_log_that_was_tampered_with_leads_nowhere() {
    let session = session();
    let content = vec![text("x".repeat(60_000)), image(10)];
    let first = session.open().keep(&call("id"), content.clone());
    let log = session.log();
    let name = first.persisted.as_ref().unwrap().file_name().unwrap();
    let file = format!("\"file\":{name:?}");
    for (from, to) in [
        ("{\"same\":1}", "{\"same\":1},{\"same\":1}"),
        ("{\"same\":1}", "{\"same\":99}"),
        (&*file, "\"file\":\"../../secret\""),
        (&*file, "\"file\":\"\""),
    ] {
        let tampered = log.replacen(from, to, 1);
        assert_ne!(tampered, log, "{from}");
        fs::write(session.path().join("replacements.jsonl"), tampered).unwrap();
        let kept = session.open().keep(&call("id"), content.clone());
        assert_eq!(kept, first, "{to}");
    }
}

#[test]
fn a_log_that_vanishes_under_our_hands_is_no_end() {
    let session = session();
    let results = session.open();
    let first = results.keep(&call("a"), letters('a', 60_000));
    fs::write(session.path().join("replacements.jsonl"), "").unwrap();
    assert_eq!(results.keep(&call("a"), letters('a', 60_000)), first);
    fs::remove_dir_all(session.path()).unwrap();
    let kept = results.keep(&call("b"), letters('b', 60_000));
    assert!(kept.persisted.unwrap().exists());
}
