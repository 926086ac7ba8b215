//! Several writers, one chain.

use std::fs::File;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use toolbay_contract::Audit;

use crate::support::{HEAD, World, event, key};

#[test]
fn writers_that_know_nothing_of_each_other_write_one_chain() {
    const EACH: u64 = 300;
    let world = World::new(Some(key()), 20 << 10, 1000);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let world = &world;
            scope.spawn(move || {
                // Two threads share a log, and the others have one each, as programs do.
                let log = world.open();
                let other = log.for_session("s-2");
                for number in 0..EACH {
                    let log = if writer % 2 == 0 { &log } else { &other };
                    log.record(&event(number)).unwrap();
                }
            });
        }
        // Whoever verifies in between sees a whole log, or none yet.
        for _ in 0..20 {
            if world.folder.join("audit.jsonl").exists() {
                world.assert_intact();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let report = world.assert_intact();
    assert!(report.files > 3);
    // The first line, one for each rotation, and the events.
    assert_eq!(report.records, report.files + 4 * EACH);
}

#[test]
fn a_program_that_holds_the_log_does_not_stop_the_others_for_good() {
    let world = World::with_events(16 << 20, 3);
    let log = world.open();
    let held = File::open(world.path(HEAD)).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    log.note(event(3));
    assert_eq!(log.lost(), 1);
    let reason = log.ready("call").unwrap_err();
    assert!(reason.contains("held by another program"), "{reason}");
    flock(&held, FlockOperation::Unlock).unwrap();
    log.ready("call").unwrap();
    assert_eq!(log.lost(), 0);
    let report = world.assert_intact();
    assert_eq!((report.lost, report.records), (1, 5));
}
