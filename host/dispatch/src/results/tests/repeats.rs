//! The same result again: a reference, if the model has seen the first one.

use super::*;

const LONG: usize = 1_001;

/// Sends a result to the model, as it was kept.
fn send(results: &Results, call_id: &str, content: &[Content]) -> Vec<Content> {
    let mut content = content.to_vec();
    results.fit_message(&mut [MessagePart {
        call_id,
        limit: ResultLimit::Standard,
        keep: None,
        content: &mut content,
    }]);
    content
}

fn keep_and_send(results: &Results, call_id: &str, content: Vec<Content>) -> Kept {
    let kept = results.keep(&call(call_id), content);
    send(results, call_id, &kept.content);
    kept
}

#[test]
fn a_repeated_result_names_the_first_call() {
    let session = session();
    let results = session.open();
    for content in [
        letters('a', LONG),
        letters('b', 60_000),
        vec![text("c".repeat(LONG)), image(30_000)],
    ] {
        let first = keep_and_send(&results, "first", content.clone());
        assert_eq!(first.repeated_of, None);
        for later in ["second", "third"] {
            let kept = keep_and_send(&results, later, content.clone());
            assert_eq!(kept.repeated_of.as_deref(), Some("first"));
            assert_eq!(kept.persisted, None);
            assert_eq!(
                shown(&kept.content),
                "[The same result, to the letter, as that of the earlier call \"first\"; see there. It is not shown twice.]"
            );
        }
        // The first call itself, asked for again, is no repetition.
        assert_eq!(results.keep(&call("first"), content), first);
    }
}

#[test]
fn of_two_equal_results_in_one_turn_the_first_is_named() {
    let results = Results::in_memory();
    let content = letters('a', LONG);
    for id in ["first", "second"] {
        assert_eq!(results.keep(&call(id), content.clone()).content, content);
    }
    for id in ["first", "second"] {
        send(&results, id, &content);
    }
    let kept = results.keep(&call("third"), content);
    assert_eq!(kept.repeated_of.as_deref(), Some("first"));
}

#[test]
fn only_long_equal_results_without_errors_that_were_seen_count() {
    type First = fn(&Results);
    let error = |id| KeptCall {
        is_error: true,
        ..call(id)
    };
    let long_id = "x".repeat(300);
    let content = letters('a', LONG);
    let firsts: [(&str, First); 5] = [
        ("was kept but never sent", |results| {
            results.keep(&call("first"), letters('a', LONG));
        }),
        ("was sent as something else", |results| {
            results.keep(&call("first"), letters('a', LONG));
            send(results, "first", &[text("discarded")]);
        }),
        ("was sent and never kept", |results| {
            send(results, "first", &letters('a', LONG));
        }),
        ("was an error", |results| {
            let call = KeptCall {
                is_error: true,
                ..call("first")
            };
            let kept = results.keep(&call, letters('a', LONG));
            send(results, "first", &kept.content);
        }),
        ("differs", |results| {
            keep_and_send(results, "first", letters('b', LONG));
        }),
    ];
    for (what, first) in firsts {
        for results in [Results::in_memory(), session().open()] {
            first(&results);
            let kept = results.keep(&call("second"), content.clone());
            assert_eq!(
                (kept.repeated_of, kept.content),
                (None, content.clone()),
                "{what}"
            );
        }
    }
    let results = Results::in_memory();
    keep_and_send(&results, "first", content.clone());
    assert_eq!(
        results.keep(&error("second"), content.clone()).repeated_of,
        None
    );
    assert_eq!(results.keep(&call(&long_id), content).repeated_of, None);
    let short = letters('a', LONG - 1);
    keep_and_send(&results, "first", short.clone());
    assert_eq!(results.keep(&call("second"), short).repeated_of, None);
}

#[test]
fn nothing_refers_to_what_was_cut() {
    let results = Results::in_memory();
    for chars in [60_000, 40_000] {
        let content = letters('a', chars);
        let mut parts: Vec<Vec<Content>> = (0..6)
            .map(|number| {
                let id = format!("first {number}");
                results.keep(&call(&id), content.clone()).content
            })
            .collect();
        let ids: Vec<String> = (0..6).map(|number| format!("first {number}")).collect();
        let mut message: Vec<MessagePart<'_>> = ids
            .iter()
            .zip(&mut parts)
            .map(|(call_id, content)| MessagePart {
                call_id,
                limit: ResultLimit::Standard,
                keep: None,
                content,
            })
            .collect();
        // Cut one by one until the message fits; what fits uncut comes last.
        results.fit_message(&mut message);
        let uncut = parts.iter().position(|part| *part == content);
        let kept = results.keep(&call("second"), content);
        assert_eq!(kept.repeated_of, uncut.map(|at| ids[at].clone()), "{chars}");
    }
}

#[test]
fn references_are_replayed_byte_for_byte() {
    let session = session();
    let results = session.open();
    let content = letters('a', LONG);
    keep_and_send(&results, "first\n\"", content.clone());
    let second = keep_and_send(&results, "second", content.clone());
    assert!(second.repeated_of.is_some());
    // The restarted session has not seen the first call, and knows all the same.
    let restarted = session.open();
    assert_eq!(restarted.keep(&call("second"), content.clone()), second);
    let shown = send(&restarted, "second", &second.content);
    assert_eq!(shown, second.content);
    assert_eq!(restarted.keep(&call("third"), content).repeated_of, None);
}

#[test]
fn without_a_record_nothing_is_a_reference() {
    let session = session();
    fs::create_dir_all(session.path().join("replacements.jsonl")).unwrap();
    let (results, _) = Results::open(&session.path());
    let content = letters('a', LONG);
    keep_and_send(&results, "first", content.clone());
    let kept = results.keep(&call("second"), content.clone());
    assert_eq!((kept.repeated_of, kept.content), (None, content));
}

#[test]
fn references_are_consistent_without_a_folder() {
    let results = Results::in_memory();
    let content = letters('a', LONG);
    keep_and_send(&results, "first", content.clone());
    let second = results.keep(&call("second"), content.clone());
    assert_eq!(second.repeated_of.as_deref(), Some("first"));
    // So many others make the session forget what it has seen, but not what it said.
    for number in 0..5_000 {
        let other = vec![text(format!("{number}{}", "x".repeat(LONG)))];
        keep_and_send(&results, "other", other);
    }
    assert_eq!(
        results.keep(&call("third"), content.clone()).repeated_of,
        None
    );
    assert_eq!(results.keep(&call("second"), content), second);
}
