//! A disk without room.
//!
//! On a small disk of its own where this machine lets us mount one; else with a limit on
//! the length of files, which fails in the same place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use toolbay_audit::{Filter, Kind, Log, OnFull, Trouble, show};
use toolbay_contract::Audit;

use crate::kill::{child, given_folder};
use crate::support::{World, event, key};

#[test]
#[ignore = "is the child of the test below, and wants a disk of one megabyte"]
fn on_a_small_disk() {
    let Some(disk) = given_folder() else {
        return;
    };
    for on_full in [OnFull::Stop, OnFull::GoOn] {
        fill(
            &disk.join(format!("{on_full:?}")),
            on_full,
            &disk.join("ballast"),
        );
    }
    println!("both ways of going on were tried");
}

#[test]
#[ignore = "is the child of the test below, and wants a limit on the length of files"]
fn with_short_files() {
    let Some(folder) = given_folder() else {
        return;
    };
    let (log, told, world) = open(&folder.join("audit"), OnFull::Stop);
    // A shorter line may fit where a longer one did not.
    let mut written = 0;
    for _ in 0..9 {
        written = write_until_full(&log).max(written);
        if log.ready("call").is_err() {
            break;
        }
    }
    assert!(log.ready("call").is_err());
    assert!(!told.lock().unwrap().is_empty());
    // A line that did not fit leaves no half of it.
    drop(log);
    let report = toolbay_audit::verify(&folder.join("audit"), world.key.as_ref()).unwrap();
    assert_eq!(report.verdict, toolbay_audit::Verdict::Intact);
    assert!(report.last >= written);
    println!("short files were tried");
}

type Told = Arc<Mutex<Vec<Trouble>>>;

fn open(folder: &Path, on_full: OnFull) -> (Log, Told, World) {
    let world = World::new(Some(key()), 64 << 20, 10);
    let told = Told::default();
    let mut options = world.options();
    options.folder = folder.to_path_buf();
    options.on_full = on_full;
    let ear = told.clone();
    options.on_trouble = Arc::new(move |trouble| ear.lock().unwrap().push(trouble.clone()));
    (Log::open(options).unwrap(), told, world)
}

fn write_until_full(log: &Log) -> u64 {
    let mut last = 0;
    for number in 0..1_000_000 {
        match log.record(&event(number)) {
            Ok(seq) => last = seq,
            Err(_) => return last,
        }
    }
    panic!("the disk has no end");
}

fn fill(folder: &PathBuf, on_full: OnFull, ballast: &Path) {
    let (log, told, world) = open(folder, on_full);
    log.note(event(0));
    log.ready("call").unwrap();

    // Somebody else takes all the room that is left.
    let mut chunk = 64 << 10;
    let mut taken = Vec::new();
    while chunk > 0 {
        taken.resize(taken.len() + chunk, 1);
        if fs::write(ballast, &taken).is_err() {
            taken.truncate(taken.len() - chunk);
            chunk /= 2;
        }
    }
    // The log has taken room ahead. It says that there is no more while it can still
    // write how the calls end that run by now.
    let mut still = 0;
    while log.ready("call").is_ok() && told.lock().unwrap().is_empty() {
        log.note(event(still));
        still += 1;
        assert!(still < 10_000, "nobody noticed that the disk is full");
    }
    assert!(still > 20, "{still}");
    assert_eq!(log.lost(), 0);
    let started = told.lock().unwrap().clone();
    assert!(
        matches!(started[..], [Trouble::Started { .. }]),
        "{started:?}"
    );
    for _ in 0..20 {
        log.record(&event(1)).unwrap();
    }

    // Then there is none for anybody.
    let last = write_until_full(&log);
    log.note(event(4));
    assert_eq!(log.lost(), 2);
    match on_full {
        OnFull::Stop => {
            let reason = log.ready("call").unwrap_err();
            assert!(reason.contains("audit log cannot be written"), "{reason}");
        }
        OnFull::GoOn => log.ready("call").unwrap(),
    }
    let report = toolbay_audit::verify(folder, world.key.as_ref()).unwrap();
    assert_eq!(report.verdict, toolbay_audit::Verdict::Intact);
    assert_eq!(report.last, last);

    // Room again: the log says what is missing, and calls go on, but for the one whose
    // decision is not there.
    fs::remove_file(ballast).unwrap();
    log.ready("call").unwrap();
    assert_eq!(log.ready("call-4").is_ok(), on_full == OnFull::GoOn);
    log.ready("call-4").unwrap();
    log.record(&event(2)).unwrap();
    assert_eq!(log.lost(), 0);
    let over = told.lock().unwrap().clone();
    assert!(
        matches!(over[..], [_, Trouble::Over { lost: 2 }]),
        "{over:?}"
    );
    let report = toolbay_audit::verify(folder, world.key.as_ref()).unwrap();
    assert_eq!((report.lost, report.last), (2, last + 2));
    let filter = Filter {
        kind: Some(Kind::Lost),
        ..Filter::default()
    };
    assert_eq!(show(folder, filter).unwrap().count(), 1);
    drop(log);
    fs::remove_dir_all(folder).unwrap();
}

fn run(mut command: Command) -> (bool, String) {
    let output = command.output().unwrap();
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said += &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), said)
}

/// A shell that prepares something and then becomes the test.
fn shell(words: &[&str], script: &str, test: &str, folder: &Path) -> Command {
    let inner = child(test, folder);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(["sh", "-c", script, "sh"]);
    command
        .arg(folder)
        .arg(inner.get_program())
        .args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    command
}

#[test]
fn a_full_disk_stops_calls_or_is_counted_as_settings_say() {
    let temporary = tempfile::tempdir().unwrap();
    // In a namespace of its own: the mount is gone with the process.
    let mount = "mount -t tmpfs -o size=1m none \"$1\" && shift && exec \"$@\"";
    for words in [&["unshare", "-m"][..], &["unshare", "-r", "-m"]] {
        let (done, said) = run(shell(
            words,
            mount,
            "full::on_a_small_disk",
            temporary.path(),
        ));
        if said.contains("both ways of going on were tried") {
            assert!(done, "{said}");
            return;
        }
        assert!(!said.contains("panicked"), "{said}");
    }
    eprintln!("NOT TRIED: this machine lets us mount no small disk");
}

#[test]
fn a_line_that_does_not_fit_leaves_no_half_of_it() {
    let temporary = tempfile::tempdir().unwrap();
    // The signal would end the program before it could see the error.
    let limit = "trap '' XFSZ && ulimit -f 100 && shift && exec \"$@\"";
    let (done, said) = run(shell(
        &["env"],
        limit,
        "full::with_short_files",
        temporary.path(),
    ));
    assert!(done && said.contains("short files were tried"), "{said}");
}
