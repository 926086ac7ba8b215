//! A log that is put back, emptied or removed is found, from beside it and from elsewhere; what
//! a crash leaves is not taken for that.

use std::fs;
use std::path::Path;

use toolbay_audit::{Anchor, LogError, Problem, Report, Verdict};

use crate::support::{HEAD, World, event};

fn beside(world: &World) -> &Path {
    world.anchor.as_deref().unwrap()
}

fn messages(report: &Report) -> String {
    let all = report.findings.iter().map(ToString::to_string);
    all.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_folder_that_is_put_back_is_found_and_stays_found() {
    let world = World::anchored();
    world.write(0..10);
    world.assert_intact();
    let before = world.keep();
    let early = world.verify().anchor().unwrap();
    world.write(10..30);
    let late = world.assert_intact().anchor().unwrap();
    before.put_back(&world.folder);
    let report = world.assert_tampered("put back");
    let said = messages(&report);
    assert!(said.contains("rolled back: "), "{said}");
    assert!(
        said.contains("lines are missing since 2027-01-15T"),
        "{said}"
    );
    let missing = report.findings.iter().find_map(|one| match one.problem {
        Problem::RolledBack { missing, .. } => Some((missing.from, missing.to)),
        _ => None,
    });
    assert_eq!(missing, Some((early.seq + 1, late.seq)));
    // The log goes on behind the gap, which no number fills again.
    world.write(30..40);
    let report = world.assert_tampered("put back, and gone on with");
    let gap = Problem::Removed(toolbay_audit::Missing {
        from: early.seq + 1,
        to: late.seq,
    });
    assert!(
        report.findings.iter().any(|one| one.problem == gap),
        "{report:?}"
    );
    assert_eq!(report.findings.len(), 1, "{report:?}");
}

#[test]
fn a_log_that_is_gone_or_begun_anew_is_found() {
    for emptied in [true, false] {
        let world = World::anchored();
        world.write(0..10);
        let end = world.assert_intact().last;
        fs::remove_dir_all(&world.folder).unwrap();
        if emptied {
            fs::create_dir(&world.folder).unwrap();
        }
        let report = world.assert_tampered("removed");
        assert_eq!(
            report.findings[0].problem,
            Problem::LogGone { records: end }
        );
        assert!(messages(&report).contains("the log's folder is gone"));
        world.write(10..20);
        let report = world.assert_tampered("removed, and begun anew");
        let gap = Problem::Removed(toolbay_audit::Missing { from: 1, to: end });
        assert_eq!(report.findings.len(), 1, "{report:?}");
        assert_eq!(report.findings[0].problem, gap);
    }
}

#[test]
fn an_anchor_that_is_gone_changed_or_anothers_is_found() {
    let world = World::anchored();
    world.write(0..10);
    let bytes = fs::read(beside(&world)).unwrap();
    assert_eq!(bytes, fs::read(world.path(HEAD)).unwrap());
    fs::remove_file(beside(&world)).unwrap();
    let report = world.assert_tampered("anchor removed");
    assert_eq!(report.findings[0].problem, Problem::AnchorGone);
    for at in (0..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(beside(&world), &changed).unwrap();
        let report = world.assert_tampered("anchor changed");
        assert_eq!(report.findings[0].problem, Problem::AnchorChanged, "{at}");
    }
    // A writer makes it anew, and says so for good.
    world.write(10..12);
    let report = world.assert_tampered("anchor made anew");
    assert_eq!(report.findings.len(), 1, "{report:?}");
    assert_eq!(report.findings[0].problem, Problem::AnchorWasLost);
    // The anchor of another log, with the same key.
    let other = World::anchored();
    other.write(0..8);
    let world = World::anchored();
    world.write(1..9);
    fs::copy(beside(&other), beside(&world)).unwrap();
    let report = world.assert_tampered("the anchor of another log");
    assert!(matches!(
        report.findings[0].problem,
        Problem::Replaced { .. }
    ));
}

#[test]
fn what_a_crash_leaves_is_no_finding() {
    let world = World::anchored();
    world.write(0..6);
    // Between the head and the anchor, and between the line and both.
    let anchor = fs::read(beside(&world)).unwrap();
    world.write(6..7);
    fs::write(beside(&world), &anchor).unwrap();
    world.assert_intact();
    world.write(7..8);
    world.assert_intact();
    assert_eq!(
        fs::read(beside(&world)).unwrap(),
        fs::read(world.path(HEAD)).unwrap()
    );
    let world = World::anchored();
    world.write(0..6);
    let (old_head, old_anchor) = (
        fs::read(world.path(HEAD)).unwrap(),
        fs::read(beside(&world)).unwrap(),
    );
    world.write(6..7);
    fs::write(world.path(HEAD), old_head).unwrap();
    fs::write(beside(&world), old_anchor).unwrap();
    world.assert_intact();
    world.write(7..9);
    world.assert_intact();
    // Made, and not written yet.
    let world = World::anchored();
    drop(world.open());
    assert!(matches!(world.verify_with(None), Err(LogError::NoLog(_))));
    world.write(0..2);
    world.assert_intact();
}

#[test]
fn an_older_log_gets_an_anchor_without_a_finding() {
    let mut world = World::anchored();
    let anchor = world.anchor.take();
    world.write(0..6);
    world.anchor = anchor;
    world.assert_intact();
    world.write(6..9);
    let report = world.assert_intact();
    // One line more says from where on it is anchored.
    let files = world.files().into_iter();
    let texts = files.map(|name| fs::read_to_string(world.path(&name)).unwrap());
    let said = texts.map(|text| text.matches("\"anchored\":true").count());
    assert_eq!(said.sum::<usize>(), 1, "{report:?}");
    world.write(9..12);
    world.assert_intact();
}

#[test]
fn several_writers_keep_one_anchor() {
    let world = World::anchored();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let world = &world;
            scope.spawn(move || {
                let log = world.open();
                for number in 0..50 {
                    log.record(&event(writer * 100 + number)).unwrap();
                }
            });
        }
        for _ in 0..50 {
            // Whoever looks meanwhile sees lines and anchor that belong together.
            match world.verify_with(None) {
                Ok(report) => assert_eq!(report.findings, []),
                Err(error) => assert!(matches!(error, LogError::NoLog(_)), "{error}"),
            }
        }
    });
    let report = world.assert_intact();
    assert!(report.records >= 200);
    let (head, anchor) = (fs::read(world.path(HEAD)), fs::read(beside(&world)));
    assert_eq!(head.unwrap(), anchor.unwrap());
}

#[test]
fn what_was_noted_elsewhere_finds_a_whole_state_that_is_put_back() {
    let world = World::anchored();
    world.write(0..10);
    let (before, anchor) = (world.keep(), fs::read(beside(&world)).unwrap());
    world.write(10..20);
    let noted = serde_json::to_string(&world.verify().anchor().unwrap()).unwrap();
    let noted = Anchor::parse(&noted).unwrap();
    assert_eq!(
        world.verify_with(Some(&noted)).unwrap().verdict,
        Verdict::Intact
    );
    world.write(20..30);
    assert_eq!(
        world.verify_with(Some(&noted)).unwrap().verdict,
        Verdict::Intact
    );
    before.put_back(&world.folder);
    fs::write(beside(&world), anchor).unwrap();
    // From here alone nobody can tell.
    world.assert_intact();
    let report = world.verify_with(Some(&noted)).unwrap();
    assert!(messages(&report).contains("rolled back"), "{report:?}");
    // Gone on with until the number is there again.
    world.write(100..140);
    world.assert_intact();
    let report = world.verify_with(Some(&noted)).unwrap();
    assert_eq!(
        report.findings[0].problem,
        Problem::Replaced { seq: noted.seq }
    );
    for text in [
        "",
        "{}",
        "{\"anchor\":2,\"seq\":1,\"hash\":\"\"}",
        "[1]",
        "null",
    ] {
        assert!(Anchor::parse(text).is_err(), "{text}");
    }
}
