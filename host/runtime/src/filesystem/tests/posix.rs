//! Where POSIX looks at more than the names of a path: slashes at its end, links themselves, and
//! flags that ask for what is not done.

use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor as _, NewTimestamp, OpenFlags, PathFlags,
};

use super::changing::{Change, apply};
use super::folder::TestFolder;
use super::session::{Session, at_once, code};

#[test]
fn a_slash_at_the_end_demands_a_folder() {
    for (change, wanted) in [
        (Change::Unlink("docs/b.txt/"), ErrorCode::NotDirectory),
        (Change::Unlink("docs/b.txt/."), ErrorCode::NotDirectory),
        (Change::Unlink("docs/to_sub/"), ErrorCode::NotDirectory),
        (Change::Unlink("docs/sub/"), ErrorCode::IsDirectory),
        (Change::Unlink("docs/none/"), ErrorCode::NoEntry),
        (Change::Link("docs/b.txt", "docs/new/"), ErrorCode::NoEntry),
        (Change::Link("docs/b.txt", "docs/sub/"), ErrorCode::Exist),
        (
            Change::Link("docs/b.txt/", "docs/new"),
            ErrorCode::NotDirectory,
        ),
        (Change::Symlink("b.txt", "docs/new/"), ErrorCode::NoEntry),
        (Change::Symlink("b.txt", "docs/to_sub/"), ErrorCode::Exist),
        (Change::Symlink("b.txt", "docs/sub/"), ErrorCode::Exist),
        (
            Change::Rename("docs/b.txt/", "docs/new"),
            ErrorCode::NotDirectory,
        ),
        (
            Change::Rename("docs/b.txt", "docs/new/"),
            ErrorCode::NotDirectory,
        ),
        (Change::Remove("docs/b.txt/"), ErrorCode::NotDirectory),
    ] {
        let folder = TestFolder::with_files();
        folder.link("sub", "project/docs/to_sub");
        let before = folder.snapshot();
        let mut session = Session::writing(&folder);
        assert_eq!(apply(&mut session, change), Err(wanted), "{change:?}");
        assert_eq!(folder.snapshot(), before, "{change:?}");
    }
    for change in [
        Change::Make("docs/made/"),
        Change::Remove("docs/empty/"),
        Change::Rename("docs/empty/", "docs/full/"),
        Change::Symlink("sub/", "docs/new"),
    ] {
        let folder = TestFolder::with_files();
        std::fs::create_dir(folder.at("project/docs/empty")).unwrap();
        let mut session = Session::writing(&folder);
        assert_eq!(apply(&mut session, change), Ok(()), "{change:?}");
    }
}

#[test]
fn the_times_of_a_link_are_its_own() {
    let folder = TestFolder::with_files();
    folder.link("b.txt", "project/docs/to_b");
    folder.link("none", "project/docs/broken");
    let modified = |name: &str| {
        let metadata = folder.at(name).symlink_metadata().unwrap();
        let since = metadata
            .modified()
            .unwrap()
            .duration_since(std::time::UNIX_EPOCH);
        since.unwrap().as_secs()
    };
    let file = modified("project/docs/b.txt");
    let stamp = |seconds| {
        NewTimestamp::Timestamp(Datetime {
            seconds,
            nanoseconds: 0,
        })
    };
    let set = |session: &mut Session<'_>, flags, path: &str, seconds| {
        let root = session.root();
        let mut view = session.view();
        let set = view.set_times_at(
            root,
            flags,
            path.into(),
            NewTimestamp::NoChange,
            stamp(seconds),
        );
        code(at_once(set))
    };
    let mut session = Session::writing(&folder);
    let stay = PathFlags::empty();
    for path in ["docs/to_b", "docs/broken"] {
        assert_eq!(set(&mut session, stay, path, 1_000), Ok(()), "{path}");
        assert_eq!(modified(&format!("project/{path}")), 1_000, "{path}");
    }
    assert_eq!(modified("project/docs/b.txt"), file);
    let follow = PathFlags::SYMLINK_FOLLOW;
    assert_eq!(set(&mut session, follow, "docs/to_b", 2_000), Ok(()));
    assert_eq!(modified("project/docs/b.txt"), 2_000);
    assert_eq!(modified("project/docs/to_b"), 1_000);
    // A link that may not be written keeps its times.
    folder.link("a.txt", "project/to_a");
    let before = modified("project/to_a");
    assert_eq!(
        set(&mut session, stay, "to_a", 1_000),
        Err(ErrorCode::Access)
    );
    assert_eq!(modified("project/to_a"), before);
}

#[test]
fn flags_that_are_not_honoured_are_refused() {
    for flag in [
        DescriptorFlags::FILE_INTEGRITY_SYNC,
        DescriptorFlags::DATA_INTEGRITY_SYNC,
        DescriptorFlags::REQUESTED_WRITE_SYNC,
    ] {
        let folder = TestFolder::with_files();
        let before = folder.snapshot();
        let mut session = Session::writing(&folder);
        for (path, open) in [
            ("docs/b.txt", OpenFlags::TRUNCATE),
            ("new.txt", OpenFlags::CREATE),
        ] {
            let flags = DescriptorFlags::WRITE | flag;
            let opened = session.open(path, PathFlags::empty(), open, flags);
            assert_eq!(
                opened.err(),
                Some(ErrorCode::Unsupported),
                "{path} {flag:?}"
            );
        }
        assert_eq!(folder.snapshot(), before);
    }
}
