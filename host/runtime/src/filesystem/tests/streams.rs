//! Streams over files: what is read and written, and where.

use std::fs::File;
use std::sync::Arc;

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream as _, OutputStream as _, StreamError};

use super::super::streams::{FileReader, FileWriter, MAX_CHUNK, Place, read_at};
use super::folder::TestFolder;

/// Some bytes that differ at every place of a page.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

fn open(folder: &TestFolder) -> Arc<File> {
    let path = folder.at("project/data");
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(false);
    Arc::new(options.open(path).unwrap())
}

#[test]
fn reads_end_at_the_end_of_the_file() {
    let folder = TestFolder::new();
    folder.write("project/data", "0123456789");
    let file = open(&folder);
    for (size, position, wanted) in [
        (4, 0, "0123"),
        (4, 8, "89"),
        (10, 0, "0123456789"),
        (4096, 3, "3456789"),
        (1 << 20, 3, "3456789"),
        (usize::MAX, 0, "0123456789"),
        (4, 10, ""),
        (1 << 20, 11, ""),
        (0, 0, ""),
    ] {
        let found = read_at(&file, size, position).unwrap();
        assert_eq!(found, wanted.as_bytes(), "{size} at {position}");
    }
    // A guest that requests much of a small file costs the host little.
    assert!(read_at(&file, 1 << 20, 0).unwrap().capacity() <= 64 * 1024);
}

#[test]
fn one_call_moves_no_more_than_four_mebibytes() {
    assert_eq!(MAX_CHUNK, 4 << 20);
    let folder = TestFolder::new();
    let file = open(&folder);
    file.set_len(5 << 20).unwrap();
    assert_eq!(read_at(&file, usize::MAX, 0).unwrap().len(), 4 << 20);
    assert_eq!(read_at(&file, usize::MAX, 4 << 20).unwrap().len(), 1 << 20);
}

#[test]
fn a_reader_goes_on_where_it_stopped_and_closes_at_the_end() {
    let folder = TestFolder::new();
    let content = pattern(200_000);
    std::fs::write(folder.at("project/data"), &content).unwrap();
    let mut reader = FileReader {
        file: open(&folder),
        position: 5,
    };
    assert_eq!(reader.read(0).unwrap(), Bytes::new());
    assert!(reader.read(3).unwrap() == content[5..8]);
    assert!(reader.read(100_000).unwrap() == content[8..100_008]);
    assert!(reader.read(1 << 20).unwrap() == content[100_008..]);
    assert_eq!(reader.read(0).unwrap(), Bytes::new());
    assert!(matches!(reader.read(1), Err(StreamError::Closed)));
}

#[test]
fn a_writer_goes_on_where_it_stopped_and_an_appender_at_the_end() {
    let folder = TestFolder::new();
    folder.write("project/data", "0123456789");
    let mut writer = FileWriter {
        file: open(&folder),
        place: Place::At(2),
    };
    assert_eq!(writer.check_write().unwrap(), 4 << 20);
    writer.write("ab".into()).unwrap();
    writer.write("c".into()).unwrap();
    writer.flush().unwrap();
    assert_eq!(folder.read("project/data"), "01abc56789");
    let mut appender = FileWriter {
        file: open(&folder),
        place: Place::End,
    };
    appender.write("xy".into()).unwrap();
    writer.write("d".into()).unwrap();
    appender.write("z".into()).unwrap();
    assert_eq!(folder.read("project/data"), "01abcd6789xyz");
    let large = pattern(150_000);
    appender.write(large.clone().into()).unwrap();
    let found = std::fs::read(folder.at("project/data")).unwrap();
    assert!(found[13..] == large);
}
