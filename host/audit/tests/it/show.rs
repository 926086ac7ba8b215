//! Reading the log.

use std::fs;

use serde_json::json;
use toolbay_audit::{Entry, Filter, Kind, Record, render, show};
use toolbay_contract::Behavior;

use crate::support::{CURRENT, World, event};

fn records(world: &World, filter: Filter) -> Vec<Record> {
    show(&world.folder, filter)
        .unwrap()
        .map(|entry| match entry.unwrap() {
            Entry::Record(record) => *record,
            Entry::Unreadable { file, line } => panic!("{file}:{line}"),
        })
        .collect()
}

#[test]
fn a_record_says_who_what_when_and_keeps_no_secret() {
    let world = World::with_events(16 << 20, 2);
    let all = records(&world, Filter::default());
    let decision = serde_json::to_value(&all[1]).unwrap();
    let expected = json!({
        "seq": 2, "kind": "decision", "time": "2027-01-15T08:00:00.000Z", "session": "s-1",
        "actor": {"uid": 1000, "user": "anna"},
        "what": {
            "tool": "Look", "call": "call-0", "plugin": format!("sha256:{}", "ab".repeat(32)),
            "decision": "allow", "by": "rule", "rule": "Look(./src/**)",
            "source": "user settings.json:4", "reason": "a rule allows it",
            "subjects": [{"kind": "path", "text": "/home/me/src/0.rs"}],
            "input": "{\"file\":\"src/0.rs\",\"password\":\"[redacted]\"}", "bytes_in": 40,
        },
        "prev": all[0].hash, "hash": all[1].hash,
    });
    assert_eq!(decision, expected);
    let call = serde_json::to_value(&all[2].what).unwrap();
    let expected = json!({
        "tool": "Look", "call": "call-0", "class": "done",
        "limits": {"deadline_ms": 120_000, "memory": 1 << 28},
        "bytes_in": 31, "bytes_out": 1001, "micros": 412,
    });
    assert_eq!(call, expected);
    assert!(
        !fs::read_to_string(world.path(CURRENT))
            .unwrap()
            .contains("hunter2")
    );
}

#[test]
fn filters_choose_over_all_files() {
    let world = World::new(None, 4 << 10, 1000);
    world.write(0..40);
    let log = world.open().for_session("s-2");
    log.record(&event(3)).unwrap();
    drop(log);
    let count = |filter: Filter| records(&world, filter).len();
    let all = records(&world, Filter::default());
    assert!(world.files().len() > 3);
    let events = all
        .iter()
        .filter(|record| record.what.chain.is_none())
        .count();
    assert_eq!(events, 41);
    assert_eq!(
        count(Filter {
            session: Some("s-2".into()),
            ..Filter::default()
        }),
        1
    );
    assert_eq!(
        count(Filter {
            tool: Some("Sneaky".into()),
            ..Filter::default()
        }),
        10
    );
    assert_eq!(
        count(Filter {
            kind: Some(Kind::Call),
            ..Filter::default()
        }),
        10
    );
    assert_eq!(
        count(Filter {
            decision: Some(Behavior::Deny),
            ..Filter::default()
        }),
        11
    );
    assert_eq!(
        count(Filter {
            call: Some("call-4".into()),
            ..Filter::default()
        }),
        2
    );
    let last = Filter {
        last: Some(3),
        kind: Some(Kind::Refusal),
        ..Filter::default()
    };
    let last = records(&world, last);
    assert_eq!(last.len(), 3);
    assert_eq!(last[2].what.call.as_deref(), Some("call-38"));
    let (since, until) = (Some(all[5].time.clone()), Some(all[9].time.clone()));
    let between = records(
        &world,
        Filter {
            since,
            until,
            ..Filter::default()
        },
    );
    assert!(between.iter().any(|record| record.seq == all[5].seq));
    assert!(between.iter().all(|record| record.time < all[9].time));
    for record in &all {
        assert!(!render(record).contains('\n'));
    }
}

#[test]
fn a_line_that_cannot_be_read_is_shown_as_such() {
    let world = World::with_events(16 << 20, 3);
    let text = fs::read_to_string(world.path(CURRENT)).unwrap();
    fs::write(
        world.path(CURRENT),
        text.replacen("\"kind\":\"call\"", "\"kind\":\"cull\"", 1),
    )
    .unwrap();
    let filter = Filter {
        tool: Some("nobody's".into()),
        ..Filter::default()
    };
    let entries: Vec<Entry> = show(&world.folder, filter)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let unreadable = Entry::Unreadable {
        file: CURRENT.into(),
        line: 3,
    };
    assert_eq!(entries, [unreadable]);
}
