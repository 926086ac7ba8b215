//! What somebody does to the files is found, and named by file and line.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use toolbay_audit::{Key, Problem, Verdict, verify};

use crate::support::{CURRENT, Dice, HEAD, Kept, World, key, lines};

/// Changes one byte in place, looks, and puts it back.
fn with_byte(world: &World, name: &str, at: usize, change: u8, look: impl FnOnce(&World)) {
    let path = world.path(name);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at as u64).unwrap();
    file.write_all_at(&[byte[0] ^ change], at as u64).unwrap();
    look(world);
    file.write_all_at(&byte, at as u64).unwrap();
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let world = World::with_events(4 << 10, 24);
    world.assert_intact();
    let mut names = world.files();
    assert!(names.len() >= 3, "{names:?}");
    names.push(HEAD.into());
    let mut tried = 0;
    for name in &names {
        let bytes = fs::read(world.path(name)).unwrap();
        for at in 0..bytes.len() {
            let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
            with_byte(&world, name, at, 1 << (at % 7), |world| {
                let report = world.assert_tampered(&format!("{name}, byte {at}"));
                let named = report
                    .findings
                    .iter()
                    .any(|finding| finding.file == *name && (name == HEAD || finding.line == line));
                assert!(named, "{name}:{line}, byte {at}: {:?}", report.findings);
            });
            tried += 1;
        }
    }
    world.assert_intact();
    println!("{tried} single bytes changed, all found");
}

#[test]
fn changed_bytes_in_ten_thousand_lines_are_found() {
    const TRIES: usize = 2_000;
    let world = World::with_events(16 << 20, 9_999);
    let report = world.assert_intact();
    assert_eq!((report.records, report.files), (10_000, 1));
    let length = fs::metadata(world.path(CURRENT)).unwrap().len() as usize;
    let mut dice = Dice(0x5eed_1234);
    for _ in 0..TRIES {
        let (at, bit) = (dice.roll(length), dice.roll(8));
        with_byte(&world, CURRENT, at, 1 << bit, |world| {
            world.assert_tampered(&format!("byte {at}"));
        });
    }
    world.assert_intact();
    println!("{TRIES} single bytes of {length} changed, all found");
}

/// Changes the lines of each file, looks, and puts them back.
fn with_lines(
    world: &World,
    kept: &Kept,
    name: &str,
    change: impl FnOnce(&mut Vec<Vec<u8>>),
) -> String {
    kept.put_back(&world.folder);
    let path = world.path(name);
    let before = fs::read(&path).unwrap();
    let mut all = lines(&before);
    change(&mut all);
    let after = all.concat();
    if after == before {
        return String::new();
    }
    fs::write(&path, after).unwrap();
    format!("{:?}", world.assert_tampered(name).findings)
}

#[test]
fn lines_that_are_removed_repeated_moved_or_added_are_found() {
    let world = World::with_events(6 << 10, 40);
    world.assert_intact();
    let kept = world.keep();
    let other = World::with_events(16 << 20, 60);
    let strangers = lines(&fs::read(other.path(CURRENT)).unwrap());
    for name in world.files() {
        let count = lines(&fs::read(world.path(&name)).unwrap()).len();
        for at in 0..count {
            with_lines(&world, &kept, &name, |all| drop(all.remove(at)));
            with_lines(&world, &kept, &name, |all| all.insert(at, all[at].clone()));
            with_lines(&world, &kept, &name, |all| all.push(all[at].clone()));
            with_lines(&world, &kept, &name, |all| all.insert(at, b"\n".to_vec()));
            with_lines(&world, &kept, &name, |all| all.insert(at, b"{}\n".to_vec()));
            with_lines(&world, &kept, &name, |all| all[at].insert(0, b' '));
            with_lines(&world, &kept, &name, |all| all[at].extend(b"\n"));
            // Lines that the same key vouches for, of another log.
            let stranger = strangers[at].clone();
            with_lines(&world, &kept, &name, |all| all[at] = stranger.clone());
            with_lines(&world, &kept, &name, |all| all.insert(at, stranger.clone()));
            for to in 0..count {
                with_lines(&world, &kept, &name, |all| all.swap(at, to));
            }
        }
        with_lines(&world, &kept, &name, |all| all.reverse());
    }
}

#[test]
fn a_log_that_is_cut_off_is_found_wherever_the_cut_is() {
    let world = World::with_events(6 << 10, 40);
    let kept = world.keep();
    let names = world.files();
    let whole = fs::read(world.path(CURRENT)).unwrap();
    // Within the last file at each byte: the head knows what was whole.
    for length in 0..whole.len() {
        fs::write(world.path(CURRENT), &whole[..length]).unwrap();
        world.assert_tampered(&format!("cut at {length}"));
    }
    // At each line of each file, with all that comes after it gone.
    for (index, name) in names.iter().enumerate() {
        let all = lines(&fs::read(world.path(name)).unwrap_or_default());
        for count in 0..all.len() {
            kept.put_back(&world.folder);
            for later in &names[index..] {
                fs::remove_file(world.path(later)).unwrap();
            }
            fs::write(world.path(name), all[..count].concat()).unwrap();
            let report = world.assert_tampered(&format!("{name} after line {count}"));
            let cut = report.findings.iter();
            let cut = cut.filter(|finding| matches!(finding.problem, Problem::CutOff { .. }));
            assert_eq!(cut.count(), 1, "{:?}", report.findings);
        }
        kept.put_back(&world.folder);
    }
}

#[test]
fn what_was_cut_off_stays_a_finding_when_the_log_goes_on() {
    let world = World::with_events(16 << 20, 20);
    let all = lines(&fs::read(world.path(CURRENT)).unwrap());
    fs::write(world.path(CURRENT), all[..15].concat()).unwrap();
    world.write(20..30);
    let report = world.assert_tampered("cut and gone on");
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    let finding = &report.findings[0];
    assert_eq!((finding.file.as_str(), finding.line), (CURRENT, 16));
    assert_eq!(
        finding.to_string(),
        "audit.jsonl:16: records 16 to 21 are gone before this line"
    );
}

#[test]
fn files_that_are_removed_or_exchanged_are_found() {
    let world = World::with_events(4 << 10, 60);
    let kept = world.keep();
    let names = world.files();
    for name in names.iter().chain([&HEAD.to_owned()]) {
        fs::remove_file(world.path(name)).unwrap();
        world.assert_tampered(&format!("{name} removed"));
        // Nor does it help that the log goes on.
        world.write(60..70);
        world.assert_tampered(&format!("{name} removed, then gone on"));
        kept.put_back(&world.folder);
    }
    let (first, second) = (world.path(&names[0]), world.path(&names[1]));
    let bytes = fs::read(&first).unwrap();
    fs::write(&first, fs::read(&second).unwrap()).unwrap();
    world.assert_tampered("a file twice");
    fs::write(&second, bytes).unwrap();
    world.assert_tampered("two files exchanged");
    kept.put_back(&world.folder);
    fs::copy(&first, world.path("audit.000900.jsonl")).unwrap();
    world.assert_tampered("a file too many");
}

#[test]
fn files_that_the_log_removed_are_told_from_files_that_others_removed() {
    let world = World::new(Some(key()), 4 << 10, 3);
    world.write(0..80);
    let names = world.files();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_ne!(names[0], "audit.000001.jsonl");
    let report = world.assert_intact();
    assert!(report.first > 1);
    assert!(report.pruned.is_some());
    fs::remove_file(world.path(&names[0])).unwrap();
    let report = world.assert_tampered("the oldest file");
    let problem = Problem::FileGone {
        name: names[0].clone(),
    };
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].problem, problem);
}

#[test]
fn a_log_without_the_key_or_with_another_does_not_pass() {
    let world = World::with_events(16 << 20, 5);
    for key in [None, Some(Key::from_bytes([8; 32]))] {
        let report = verify(&world.folder, key.as_ref()).unwrap();
        assert_eq!(report.verdict, Verdict::Tampered);
        assert_eq!(report.findings[0].problem, Problem::OtherKey);
    }
    // A whole new chain, made by somebody who lacks the key.
    let forged = World::new(None, 16 << 20, 10);
    forged.write(0..5);
    forged.assert_intact();
    let report = verify(&forged.folder, Some(&key())).unwrap();
    assert_eq!(report.verdict, Verdict::Tampered);
    // Nor does a writer with another key make one log of two.
    let mut options = world.options();
    options.key = Some(Key::from_bytes([8; 32]));
    assert!(toolbay_audit::Log::open(options).is_err());
    world.assert_intact();
}

#[test]
fn no_log_is_no_verdict() {
    let world = World::new(Some(key()), 16 << 20, 10);
    assert!(verify(&world.folder, None).is_err());
    // Opened, and nothing written.
    drop(world.open());
    assert!(verify(&world.folder, None).is_err());
}
