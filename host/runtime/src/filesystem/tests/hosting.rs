//! Handles, and reading and writing through them.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorType, ErrorCode, Host as _, HostDescriptor, HostDirectoryEntryStream,
};

use super::folder::TestFolder;
use super::session::{Session, again, at_once, code};

#[test]
fn files_are_read_and_written_at_offsets() {
    let folder = TestFolder::with_files();
    let mut session = Session::writing(&folder);
    let handle = session.open_to_write("docs/b.txt").unwrap();
    for (length, offset, wanted, at_end) in [
        (4, 0, "beta", false),
        (2, 1, "et", false),
        (100, 2, "ta", false),
        (1, 4, "", true),
        (0, 0, "", false),
        (0, 4, "", false),
    ] {
        let read = at_once(session.view().read(again(&handle), length, offset));
        let wanted = (wanted.as_bytes().to_vec(), at_end);
        assert_eq!(code(read), Ok(wanted), "{length} at {offset}");
    }
    let wrote = at_once(session.view().write(again(&handle), b"XY".to_vec(), 3));
    assert_eq!(code(wrote), Ok(2));
    assert_eq!(folder.read("project/docs/b.txt"), "betXY");
    assert_eq!(
        code(at_once(session.view().set_size(again(&handle), 2))),
        Ok(())
    );
    assert_eq!(folder.read("project/docs/b.txt"), "be");
    assert_eq!(code(at_once(session.view().sync(again(&handle)))), Ok(()));
    assert_eq!(code(at_once(session.view().sync_data(handle))), Ok(()));
}

#[test]
fn a_handle_does_only_what_it_was_opened_for() {
    let folder = TestFolder::with_files();
    let before = folder.snapshot();
    let mut session = Session::writing(&folder);
    let file = session.open_to_read("docs/b.txt").unwrap();
    let bad = ErrorCode::BadDescriptor;
    let wrote = at_once(session.view().write(again(&file), b"x".to_vec(), 0));
    assert_eq!(code(wrote), Err(bad));
    assert_eq!(
        code(at_once(session.view().set_size(again(&file), 0))),
        Err(bad)
    );
    assert_eq!(
        code(session.view().write_via_stream(again(&file), 0)).err(),
        Some(bad)
    );
    assert_eq!(
        code(session.view().append_via_stream(again(&file))).err(),
        Some(bad)
    );
    assert!(session.view().read_via_stream(again(&file), 0).is_ok());
    let listed = session.names(again(&file)).err();
    assert_eq!(listed, Some(ErrorCode::NotDirectory));
    let root = session.root();
    let read = at_once(session.view().read(root, 1, 0));
    assert_eq!(code(read), Err(ErrorCode::IsDirectory));
    assert_eq!(folder.snapshot(), before);
}

#[test]
fn a_folder_lists_its_names_and_a_closed_one_nothing() {
    let folder = TestFolder::with_files();
    let mut session = Session::writing(&folder);
    let docs = session.open_to_read("docs").unwrap();
    let names = session.names(docs).unwrap();
    assert_eq!(names, [".git", "b.txt", "secret", "sub"]);
    let found = session.view().get_directories().unwrap();
    let names: Vec<_> = found.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, [folder.project().display().to_string()]);
}

#[test]
fn handles_are_told_apart_and_end_when_dropped() {
    let folder = TestFolder::with_files();
    let mut session = Session::writing(&folder);
    let a = session.open_to_read("a.txt").unwrap();
    let same = session.open_to_read("./a.txt").unwrap();
    let other = session.open_to_read("docs/b.txt").unwrap();
    let is_same = at_once(session.view().is_same_object(again(&a), again(&same)));
    assert!(is_same.unwrap());
    let is_same = at_once(session.view().is_same_object(again(&a), again(&other)));
    assert!(!is_same.unwrap());
    let kind = at_once(session.view().get_type(again(&a)));
    assert_eq!(code(kind), Ok(DescriptorType::RegularFile));
    let rep = a.rep();
    HostDescriptor::drop(&mut session.view(), a).unwrap();
    assert!(at_once(session.view().get_type(Resource::new_borrow(rep))).is_err());

    let root = session.root();
    let listing = code(at_once(session.view().read_directory(root))).unwrap();
    let rep = listing.rep();
    HostDirectoryEntryStream::drop(&mut session.view(), listing).unwrap();
    let entry = at_once(
        session
            .view()
            .read_directory_entry(Resource::new_borrow(rep)),
    );
    assert!(entry.is_err());
}

#[test]
fn one_handle_too_many_is_an_error_that_a_tool_can_handle() {
    let folder = TestFolder::with_files();
    let mut session = Session::writing(&folder);
    let root = session.root();
    session.table.set_max_capacity(1);
    let listed = session.names(root);
    assert_eq!(listed.err(), Some(ErrorCode::InsufficientMemory));
}

#[test]
fn open_listings_hold_no_names() {
    let folder = TestFolder::with_files();
    for number in 0..20_000 {
        folder.write(&format!("project/docs/sub/{number:0100}"), "");
    }
    let mut session = Session::writing(&folder);
    let sub = session.open_to_read("docs/sub").unwrap();
    let before = held();
    for _ in 0..100 {
        let listing = code(at_once(session.view().read_directory(again(&sub)))).unwrap();
        let listing = Resource::new_borrow(listing.rep());
        let first = at_once(session.view().read_directory_entry(listing));
        assert!(code(first).unwrap().is_some());
    }
    let grown = held().saturating_sub(before);
    // As lists these were 100 times 20,000 names of 100 bytes: more than 200 MB.
    assert!(grown < 64 << 20, "{grown}");
}

/// The memory of this process, in bytes.
fn held() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    resident.unwrap_or(0) * 4_096
}

#[test]
fn errors_of_streams_have_the_code_of_the_file_system() {
    let folder = TestFolder::new();
    let mut session = Session::reading(&folder);
    let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
    for (error, wanted) in [
        (wasmtime::Error::from(missing), Some(ErrorCode::NoEntry)),
        (wasmtime::Error::msg("other"), None),
    ] {
        let error = session.table.push(error).unwrap();
        let found = session.view().filesystem_error_code(error).unwrap();
        assert_eq!(found, wanted);
    }
}
