//! Programs that are killed while they write as fast as they can.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use toolbay_audit::{Log, Verdict};

use crate::support::{Dice, World, event, key};

const FOLDER: &str = "TOOLBAY_AUDIT_TEST_FOLDER";
const ROUNDS: u64 = 50;

/// This very program, as another that runs one test.
pub fn child(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        test,
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env(FOLDER, folder);
    command
}

/// Where the child is to write.
pub fn given_folder() -> Option<std::path::PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

fn writing(folder: &Path) -> Child {
    child("kill::writes_without_end", folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "is the child of the tests below, and runs until it is killed"]
fn writes_without_end() {
    let Some(folder) = given_folder() else {
        return;
    };
    let world = World::new(Some(key()), 24 << 10, 6);
    let mut options = world.options();
    options.folder = folder;
    let log = Log::open(options).unwrap();
    for number in 0.. {
        let seq = log.record(&event(number)).unwrap();
        // Said only when it is written: from here on it must not be lost.
        println!("written {seq}");
    }
}

/// The last number that a child said before it died.
fn last_said(child: &mut Child) -> u64 {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let numbers = lines.map_while(Result::ok).filter_map(|line| {
        let number = line.strip_prefix("written ")?.parse::<u64>();
        number.ok()
    });
    numbers.last().unwrap_or(0)
}

#[test]
fn a_kill_loses_at_most_the_line_being_written() {
    let world = World::new(Some(key()), 24 << 10, 6);
    let mut dice = Dice(0xdead_beef);
    let mut torn = 0;
    let mut before = 0;
    for round in 0..ROUNDS {
        // Now and then two at once.
        let mut children = vec![writing(&world.folder)];
        if round % 5 == 0 {
            children.push(writing(&world.folder));
        }
        // Not before it has begun, and then at any moment.
        for _ in 0..2_000 {
            let last = toolbay_audit::verify(&world.folder, world.key.as_ref());
            if last.is_ok_and(|report| report.last > before) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_micros(dice.roll(20_000) as u64));
        for child in &mut children {
            child.kill().unwrap();
        }
        let said = children.iter_mut().map(last_said).max().unwrap();
        for child in &mut children {
            child.wait().unwrap();
        }
        let report = world.verify();
        assert_ne!(report.verdict, Verdict::Tampered, "{:?}", report.findings);
        assert!(
            report.last >= said,
            "{said} was written, {} is there",
            report.last
        );
        assert!(report.last > before);
        torn += u64::from(report.verdict == Verdict::Torn);
        before = report.last;
    }
    // And it can be gone on with.
    world.write(0..3);
    let report = world.assert_intact();
    assert!(report.pruned.is_some(), "{report:?}");
    println!("{ROUNDS} kills, {before} records, {torn} torn lines");
}
