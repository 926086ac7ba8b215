use super::*;
use std::fs;

fn record(number: usize) -> Record {
    let key = Digest::of_parts(&[&number.to_le_bytes()]);
    Record {
        call: format!("call {number}"),
        key,
        shown: key.in_call("shown"),
        decision: Decision::repeats(format!("earlier\n{number}")),
    }
}

struct Session {
    folder: Folder,
    _root: tempfile::TempDir,
}

fn session() -> Session {
    let root = tempfile::tempdir().unwrap();
    Session {
        folder: Folder::new(&root.path().join("session")),
        _root: root,
    }
}

impl Session {
    fn read(&self) -> (Log, Vec<(Record, Place)>, Vec<String>) {
        let mut records = Vec::new();
        let (log, problems) = Log::read(self.folder.clone(), |record, place| {
            records.push((record, place));
        });
        (log, records, problems)
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.folder.log_path()).unwrap()
    }

    /// A log with the first records, and these bytes behind them.
    fn with(records: usize, rest: &[u8]) -> Self {
        let session = session();
        let (mut log, ..) = session.read();
        for number in 0..records {
            log.append(&record(number)).unwrap();
        }
        let whole = [session.bytes().as_slice(), rest].concat();
        fs::write(session.folder.log_path(), whole).unwrap();
        session
    }
}

#[test]
fn records_are_found_again_where_they_are() {
    let session = session();
    let (mut log, records, problems) = session.read();
    assert!(records.is_empty() && problems.is_empty());
    let places: Vec<Place> = (0..5)
        .map(|number| log.append(&record(number)).unwrap())
        .collect();
    let (again, records, problems) = session.read();
    assert_eq!(problems, Vec::<String>::new());
    for (number, place) in places.iter().enumerate() {
        assert_eq!(log.fetch(*place), Some(record(number)));
        assert_eq!(again.fetch(*place), Some(record(number)));
        assert_eq!(records[number], (record(number), *place));
    }
}

#[test]
fn nothing_is_made_before_it_is_needed() {
    let session = session();
    let _ = session.read();
    assert!(!session.folder.log_path().parent().unwrap().exists());
}

#[test]
fn a_torn_line_is_dropped_wherever_it_was_torn() {
    let line = serde_json::to_vec(&record(2)).unwrap();
    for length in [1, 2, line.len() / 2, line.len() - 1, line.len()] {
        let session = Session::with(2, &line[..length]);
        let (mut log, records, problems) = session.read();
        assert_eq!((records.len(), problems.len()), (2, 0), "{length}");
        let place = log.append(&record(3)).unwrap();
        assert_eq!(log.fetch(place), Some(record(3)));
        let (_, records, problems) = session.read();
        assert_eq!((records.len(), problems.len()), (3, 0), "{length}");
        assert!(session.bytes().ends_with(b"}\n"));
    }
}

#[test]
fn a_log_that_is_one_torn_line_starts_anew() {
    let session = session();
    fs::create_dir_all(session.folder.log_path().parent().unwrap()).unwrap();
    fs::write(session.folder.log_path(), "x".repeat(200_000)).unwrap();
    let (mut log, ..) = session.read();
    log.append(&record(0)).unwrap();
    assert_eq!(session.read().1.len(), 1);
}

#[test]
fn damaged_lines_are_told_and_the_rest_is_kept() {
    let long = [&vec![b'x'; 2_500_000][..], b"\n"].concat();
    let other = b"{\"call\":\"a\",\"key\":\"zz\",\"shown\":\"0\",\"decision\":{\"cut\":{}}}\n";
    for (damage, lines) in [
        (&b"\n"[..], 1),
        (b"garbage\n", 1),
        (b"\0\xff\xfe\n\n", 2),
        (b"{}\n[]\nnull\n", 3),
        (other, 1),
        (&long, 1),
        (&[b'['; 100_000], 0),
    ] {
        let session = Session::with(2, damage);
        let (mut log, ..) = session.read();
        log.append(&record(2)).unwrap();
        let (log, records, problems) = session.read();
        assert_eq!(records.len(), 3);
        assert_eq!(log.fetch(records[2].1), Some(record(2)));
        assert_eq!(problems.len(), usize::from(lines > 0));
        if let Some(problem) = problems.first() {
            let said = format!(
                "{lines} of {} lines are damaged and ignored, the first is line 3: ",
                lines + 3
            );
            assert!(problem.contains(&said), "{problem}");
            assert!(problem.len() < 500, "{problem}");
        }
    }
}

#[test]
fn a_log_of_absurd_size_is_neither_read_whole_nor_touched() {
    let session = Session::with(1, b"");
    let file = fs::OpenOptions::new()
        .write(true)
        .open(session.folder.log_path())
        .unwrap();
    file.set_len(MOST_BYTES + 1).unwrap();
    let (mut log, records, problems) = session.read();
    assert_eq!(records.len(), 1);
    assert!(problems[0].contains("is larger than"), "{problems:?}");
    let error = log.append(&record(2)).unwrap_err();
    assert!(matches!(error, StoreError::Full(_)), "{error}");
    assert_eq!(file.metadata().unwrap().len(), MOST_BYTES + 1);
}

#[test]
fn a_record_longer_than_a_line_may_be_is_refused() {
    let session = session();
    let (mut log, ..) = session.read();
    let mut long = record(0);
    long.call = "x".repeat(2_000_000);
    assert!(matches!(log.append(&long), Err(StoreError::Full(_))));
    assert_eq!(session.bytes(), b"");
}

#[test]
fn a_lock_that_is_never_given_back_ends_in_an_error() {
    let session = Session::with(1, b"");
    let (mut log, ..) = session.read();
    let other = fs::File::open(session.folder.log_path()).unwrap();
    other.lock().unwrap();
    let error = log.append(&record(1)).unwrap_err();
    assert!(matches!(error, StoreError::Busy(_)), "{error}");
    other.unlock().unwrap();
    log.append(&record(1)).unwrap();
    assert_eq!(session.read().1.len(), 2);
}

#[test]
fn two_programs_may_add_to_one_log() {
    let session = session();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let session = &session;
            scope.spawn(move || {
                let (mut log, ..) = session.read();
                for number in 0..10 {
                    let record = record(thread * 100 + number);
                    // A slow disk may make one wait for longer than a call would.
                    let place = loop {
                        match log.append(&record) {
                            Err(StoreError::Busy(_)) => {}
                            added => break added.unwrap(),
                        }
                    };
                    assert_eq!(log.fetch(place), Some(record));
                }
            });
        }
    });
    let (_, records, problems) = session.read();
    assert_eq!((records.len(), problems.len()), (40, 0));
}

#[test]
fn a_record_that_was_changed_under_our_hands_is_no_record() {
    let session = Session::with(2, b"");
    let (log, records, _) = session.read();
    fs::write(session.folder.log_path(), "x").unwrap();
    assert_eq!(log.fetch(records[0].1), None);
}
