//! States that a crash can leave, each made by hand.

use std::fs::{self, OpenOptions};
use std::io::Write;

use toolbay_audit::{Tail, Verdict};

use crate::support::{CURRENT, HEAD, World, key, lines};

fn append(world: &World, bytes: &[u8]) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(world.path(CURRENT))
        .unwrap();
    file.write_all(bytes).unwrap();
}

/// A log, and the line that a crash could have torn: the one that would come next.
fn with_next_line(events: u64) -> (World, Vec<u8>) {
    let world = World::with_events(16 << 20, events);
    let kept = world.keep();
    world.write(events..events + 1);
    let next = lines(&fs::read(world.path(CURRENT)).unwrap())
        .pop()
        .unwrap();
    kept.put_back(&world.folder);
    (world, next)
}

#[test]
fn a_torn_line_is_told_from_tampering_and_closed_by_the_next_writer() {
    let (world, next) = with_next_line(10);
    let kept = world.keep();
    for length in 1..next.len() {
        append(&world, &next[..length]);
        let report = world.verify();
        assert_eq!(report.verdict, Verdict::Torn, "{length}");
        let tail = Tail::Torn {
            file: CURRENT.into(),
            line: 12,
            bytes: length as u64,
        };
        assert_eq!(report.tail, tail);
        assert_eq!(report.last, 11);

        world.write(10..12);
        let report = world.assert_intact();
        // Where only the newline was missing, the line is whole again.
        let torn = u64::from(length + 1 < next.len());
        assert_eq!((report.torn, report.last), (torn, 14));
        if length % 100 == 1 {
            // What is left of the line must not change any more either.
            let path = world.path(CURRENT);
            let mut all = lines(&fs::read(&path).unwrap());
            all[11][0] ^= 1;
            fs::write(&path, all.concat()).unwrap();
            world.assert_tampered("remains changed");
            all.remove(11);
            fs::write(&path, all.concat()).unwrap();
            world.assert_tampered("remains removed");
        }
        kept.put_back(&world.folder);
    }
}

#[test]
fn a_crash_while_a_torn_line_is_closed_is_survived_too() {
    let (world, next) = with_next_line(10);
    append(&world, &next[..50]);
    append(&world, b"\n");
    append(&world, &next[..20]);
    assert_eq!(world.verify().verdict, Verdict::Torn);
    world.write(10..12);
    assert_eq!(world.assert_intact().torn, 1);
}

#[test]
fn what_no_crash_leaves_is_not_taken_for_one() {
    let (world, next) = with_next_line(10);
    let kept = world.keep();
    for bytes in [&b"\n"[..], b"something\n", b"{}", &next[1..40]] {
        append(&world, bytes);
        world.assert_tampered("added at the end");
        world.write(10..12);
        world.assert_tampered("added, then gone on");
        kept.put_back(&world.folder);
    }
}

#[test]
fn a_line_without_its_entry_in_the_head_is_no_loss() {
    let world = World::with_events(16 << 20, 10);
    let head = fs::read(world.path(HEAD)).unwrap();
    world.write(10..11);
    fs::write(world.path(HEAD), head).unwrap();
    assert_eq!(world.assert_intact().last, 12);
    world.write(11..12);
    assert_eq!(world.assert_intact().last, 13);
}

#[test]
fn a_crash_while_the_log_begins_is_survived() {
    let (world, _) = with_next_line(1);
    let first = lines(&fs::read(world.path(CURRENT)).unwrap()).remove(0);
    for length in 0..first.len() {
        let world = World::new(Some(key()), 16 << 20, 10);
        drop(world.open());
        if length % 2 == 0 {
            fs::write(world.path(HEAD), fresh_head()).unwrap();
        }
        if length > 0 && length % 2 == 0 {
            append(&world, &first[..length]);
            assert_eq!(world.verify().verdict, Verdict::Torn);
        }
        world.write(0..3);
        assert_eq!(world.assert_intact().last, 4);
    }
}

/// The head before the first line: what a crash leaves of a log that just begins.
fn fresh_head() -> Vec<u8> {
    // It is written before the first line and has the same bytes in each log, so it is
    // taken from one whose first line cannot be written.
    let world = World::new(Some(key()), 16 << 20, 10);
    let log = world.open();
    append(&world, b"");
    fs::hard_link(world.path(CURRENT), world.path("second-name")).unwrap();
    log.record(&crate::support::event(0)).unwrap_err();
    fs::read(world.path(HEAD)).unwrap()
}

#[test]
fn a_rotation_can_stop_at_each_step() {
    let world = World::new(Some(key()), 4 << 10, 100);
    let mut events = 0;
    while world.files().len() < 2 {
        let kept = (world.folder.exists()).then(|| world.keep());
        world.write(events..events + 1);
        events += 1;
        if world.files().len() < 2 {
            continue;
        }
        // This event made the log rotate. Back to before it, then step by step.
        let begun = lines(&fs::read(world.path(CURRENT)).unwrap()).remove(0);
        let kept = kept.unwrap();
        let steps = [
            None,
            Some(0),
            Some(1),
            Some(begun.len() / 2),
            Some(begun.len()),
        ];
        for step in steps {
            kept.put_back(&world.folder);
            fs::rename(world.path(CURRENT), world.path("audit.000001.jsonl")).unwrap();
            if let Some(length) = step {
                append(&world, &begun[..length]);
            }
            let torn = step.is_some_and(|length| (1..begun.len()).contains(&length));
            let verdict = world.verify().verdict;
            assert_eq!(verdict == Verdict::Torn, torn, "{step:?}");
            assert_ne!(verdict, Verdict::Tampered, "{step:?}");
            world.write(events..events + 40);
            let report = world.assert_intact();
            assert_eq!(report.torn, u64::from(torn));
            assert!(report.files > 3);
        }
    }
}

#[test]
fn a_file_that_was_to_be_removed_may_still_be_there() {
    let world = World::new(Some(key()), 4 << 10, 2);
    world.write(0..40);
    let names = world.files();
    let oldest = fs::read(world.path(&names[0])).unwrap();
    let mut events = 40;
    while world.path(&names[0]).exists() {
        world.write(events..events + 1);
        events += 1;
    }
    fs::write(world.path(&names[0]), oldest).unwrap();
    world.assert_intact();
    world.write(events..events + 40);
    world.assert_intact();
    assert!(!world.path(&names[0]).exists());
}

#[test]
fn a_writer_notices_that_its_files_were_taken_away() {
    let world = World::new(Some(key()), 16 << 20, 10);
    let log = world.open();
    let write = |number| log.record(&crate::support::event(number)).unwrap();
    write(0);
    fs::remove_file(world.path(CURRENT)).unwrap();
    write(1);
    assert!(world.path(CURRENT).exists());
    world.assert_tampered("the log removed under its writer");
    fs::remove_file(world.path(HEAD)).unwrap();
    write(2);
    assert!(world.path(HEAD).exists());
    world.assert_tampered("the head removed under its writer");
}
