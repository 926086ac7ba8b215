//! Metadata: values, hashes and times, and who may see them.

use std::time::{Duration, SystemTime};

use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorType, ErrorCode, HostDescriptor as _, NewTimestamp, PathFlags,
};

use super::folder::TestFolder;
use super::session::{Session, again, at_once, code};

fn hash(session: &mut Session<'_>, path: &str, flags: PathFlags) -> Result<(u64, u64), ErrorCode> {
    let root = session.root();
    let found = at_once(session.view().metadata_hash_at(root, flags, path.into()));
    code(found).map(|hash| (hash.lower, hash.upper))
}

#[test]
fn metadata_tells_type_size_links_and_times() {
    let folder = TestFolder::with_files();
    std::fs::hard_link(folder.at("project/a.txt"), folder.at("project/second")).unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 500);
    let file = std::fs::File::options();
    let file = file.clone().write(true).open(folder.at("project/a.txt"));
    file.unwrap().set_modified(at).unwrap();
    let mut session = Session::writing(&folder);
    let handle = session.open_to_read("a.txt").unwrap();
    let by_handle = code(at_once(session.view().stat(handle))).unwrap();
    let root = session.root();
    let by_path = at_once(
        session
            .view()
            .stat_at(root, PathFlags::empty(), "a.txt".into()),
    );
    for stat in [by_handle, code(by_path).unwrap()] {
        assert_eq!(stat.type_, DescriptorType::RegularFile);
        assert_eq!((stat.size, stat.link_count), (5, 2));
        let modified = stat.data_modification_timestamp.unwrap();
        assert_eq!(
            (modified.seconds, modified.nanoseconds),
            (1_000_000_000, 500)
        );
    }
}

#[test]
fn metadata_of_what_is_closed_is_refused_but_for_which_file_it_is() {
    let folder = TestFolder::with_files();
    let mut session = Session::writing(&folder);
    let (stay, follow) = (PathFlags::empty(), PathFlags::SYMLINK_FOLLOW);
    for flags in [stay, follow] {
        for path in ["docs/secret", "docs/secret/key"] {
            let root = session.root();
            let found = at_once(session.view().stat_at(root, flags, path.into()));
            assert_eq!(code(found).err(), Some(ErrorCode::Access), "{path}");
            assert_eq!(session.refused().len(), 1, "{path}");
        }
    }
    assert_eq!(
        hash(&mut session, "docs/secret/key", stay),
        Err(ErrorCode::Access)
    );
    assert_eq!(
        hash(&mut session, "docs/secret", follow),
        Err(ErrorCode::Access)
    );
    assert_eq!(session.refused().len(), 2);
    use std::os::unix::fs::MetadataExt as _;
    let real = std::fs::metadata(folder.at("project/docs/secret")).unwrap();
    let found = hash(&mut session, "docs/secret", stay);
    assert_eq!(found, Ok((real.ino(), real.dev())));
    assert_eq!(session.refused(), []);
}

#[test]
fn hashes_name_a_file_and_its_state() {
    let folder = TestFolder::with_files();
    let mut session = Session::writing(&folder);
    let stay = PathFlags::empty();
    let first = hash(&mut session, "docs/b.txt", stay).unwrap();
    assert_eq!(hash(&mut session, "./docs/b.txt", stay), Ok(first));
    let handle = session.open_to_read("docs/b.txt").unwrap();
    let by_handle = code(at_once(session.view().metadata_hash(handle))).unwrap();
    assert_eq!((by_handle.lower, by_handle.upper), first);
    assert_ne!(hash(&mut session, "a.txt", stay), Ok(first));
    folder.write("project/docs/b.txt", "longer than before");
    assert_ne!(hash(&mut session, "docs/b.txt", stay), Ok(first));
}

#[test]
fn times_are_set_where_a_file_may_be_written() {
    let folder = TestFolder::with_files();
    let mut session = Session::writing(&folder);
    let stamp = |seconds| {
        NewTimestamp::Timestamp(Datetime {
            seconds,
            nanoseconds: 7,
        })
    };
    for (path, seconds, wanted) in [
        ("docs/b.txt", 5, Ok(())),
        ("docs/sub", 5, Ok(())),
        ("docs/b.txt", u64::MAX, Err(ErrorCode::Overflow)),
        ("a.txt", 5, Err(ErrorCode::Access)),
        ("docs/secret/key", 5, Err(ErrorCode::Access)),
    ] {
        let root = session.root();
        let (stay, kept) = (PathFlags::empty(), NewTimestamp::NoChange);
        let mut view = session.view();
        let done = at_once(view.set_times_at(root, stay, path.into(), kept, stamp(seconds)));
        assert_eq!(code(done), wanted, "{path}");
    }
    let at = SystemTime::UNIX_EPOCH + Duration::new(5, 7);
    for (path, is_set) in [("docs/b.txt", true), ("docs/sub", true), ("a.txt", false)] {
        let found = std::fs::metadata(folder.at("project").join(path)).unwrap();
        assert_eq!(found.modified().unwrap() == at, is_set, "{path}");
        assert_ne!(found.accessed().unwrap(), at, "{path}");
    }
    let handle = session.open_to_read("a.txt").unwrap();
    let now = NewTimestamp::Now;
    let done = at_once(session.view().set_times(again(&handle), now, now));
    assert_eq!(code(done), Err(ErrorCode::Access));
}
