use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const NOTHING: [&str; 0] = [];

struct Place {
    root: tempfile::TempDir,
    folder: Folder,
}

fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::new(&root.path().join("deep/session"));
    Place { root, folder }
}

impl Place {
    fn results(&self) -> PathBuf {
        self.root.path().join("deep/session").join(RESULTS)
    }

    fn names(&self) -> Vec<String> {
        names_in(&self.results())
    }

    /// Puts something where the file of this name will be.
    fn plant(&self, name: &FileName, plant: impl FnOnce(&Path)) {
        fs::create_dir_all(self.results()).unwrap();
        plant(&self.results().join(name.attempt(0)));
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn name() -> FileName {
    FileName::for_text("call", "bytes")
}

#[test]
fn files_and_folders_are_private_and_nothing_else_remains() {
    let place = place();
    let saved = place.folder.save(&name(), b"bytes").unwrap();
    assert_eq!(place.names(), [saved.as_str()]);
    let path = place.folder.file_path(&saved);
    assert_eq!(fs::read(&path).unwrap(), b"bytes");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&place.results()), 0o700);
    assert_eq!(mode(place.results().parent().unwrap()), 0o700);
}

#[test]
fn a_folder_that_is_open_to_others_is_closed() {
    let place = place();
    fs::create_dir_all(place.results()).unwrap();
    fs::set_permissions(place.results(), fs::Permissions::from_mode(0o777)).unwrap();
    place.folder.save(&name(), b"bytes").unwrap();
    assert_eq!(mode(&place.results()), 0o700);
}

#[test]
fn the_same_bytes_are_one_file() {
    let place = place();
    let first = place.folder.save(&name(), b"bytes").unwrap();
    assert_eq!(place.folder.save(&name(), b"bytes").unwrap(), first);
    assert_eq!(place.names().len(), 1);
}

#[test]
fn whatever_has_the_name_is_neither_followed_nor_overwritten() {
    let victim = tempfile::tempdir().unwrap();
    let target = victim.path().join("target");
    fs::write(&target, "bytes").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    type Plant<'a> = &'a dyn Fn(&Path);
    let plants: [(&str, Plant<'_>); 7] = [
        ("a link to the same bytes", &|path| {
            symlink(&target, path).unwrap()
        }),
        ("a link to nothing", &|path| {
            symlink(victim.path().join("absent"), path).unwrap()
        }),
        ("a link to itself", &|path| symlink(path, path).unwrap()),
        ("another file", &|path| fs::write(path, "other").unwrap()),
        ("a longer file", &|path| {
            fs::write(path, "bytes and more").unwrap()
        }),
        ("a folder", &|path| fs::create_dir(path).unwrap()),
        ("a pipe", &|path| {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                path,
                rustix::fs::FileType::Fifo,
                private_file(),
                0,
            )
            .unwrap();
        }),
    ];
    for (what, plant) in plants {
        let place = place();
        place.plant(&name(), plant);
        let before = fs::symlink_metadata(place.results().join(name().attempt(0))).unwrap();
        let saved = place.folder.save(&name(), b"bytes").unwrap();
        assert_eq!(saved, name().attempt(1), "{what}");
        assert_eq!(fs::read(place.folder.file_path(&saved)).unwrap(), b"bytes");
        let after = fs::symlink_metadata(place.results().join(name().attempt(0))).unwrap();
        assert_eq!(before.ino(), after.ino(), "{what}");
        assert_eq!(names_in(victim.path()), ["target"], "{what}");
        assert_eq!(fs::read(&target).unwrap(), b"bytes");
        // The second time finds what the first one made.
        assert_eq!(place.folder.save(&name(), b"bytes").unwrap(), saved);
    }
}

#[test]
fn a_file_that_others_can_read_is_not_taken_over() {
    let place = place();
    place.plant(&name(), |path| {
        fs::write(path, "bytes").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    });
    assert_eq!(
        place.folder.save(&name(), b"bytes").unwrap(),
        name().attempt(1)
    );
}

#[test]
fn names_run_out_with_an_error_and_without_remains() {
    let place = place();
    fs::create_dir_all(place.results()).unwrap();
    for attempt in 0..NAME_ATTEMPTS {
        fs::write(place.results().join(name().attempt(attempt)), "other").unwrap();
    }
    let error = place.folder.save(&name(), b"bytes").unwrap_err();
    assert!(matches!(error, StoreError::Taken(_)), "{error}");
    assert_eq!(place.names().len(), NAME_ATTEMPTS);
}

#[test]
fn folders_that_are_links_or_files_are_refused() {
    let victim = tempfile::tempdir().unwrap();
    for (what, at) in [
        ("link", "deep/session/tool-results"),
        ("link", "deep/session"),
    ]
    .into_iter()
    .chain([("file", "deep/session/tool-results"), ("file", "deep")])
    {
        let place = place();
        let path = place.root.path().join(at);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match what {
            "link" => symlink(victim.path(), &path).unwrap(),
            _ => fs::write(&path, "").unwrap(),
        }
        let error = place.folder.save(&name(), b"bytes").unwrap_err();
        assert!(matches!(error, StoreError::Io { .. }), "{what} {at}");
        assert!(error.to_string().contains("deep"), "{error}");
        assert_eq!(names_in(victim.path()), NOTHING, "{what} {at}");
    }
}

#[test]
fn the_log_is_a_plain_file_or_none() {
    let victim = tempfile::tempdir().unwrap();
    let target = victim.path().join("target");
    fs::write(&target, "").unwrap();
    type Plant<'a> = &'a dyn Fn(&Path);
    let plants: [Plant<'_>; 4] = [
        &|path| symlink(&target, path).unwrap(),
        &|path| symlink(victim.path().join("absent"), path).unwrap(),
        &|path| fs::create_dir(path).unwrap(),
        &|path| {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                path,
                rustix::fs::FileType::Fifo,
                private_file(),
                0,
            )
            .unwrap();
        },
    ];
    for (number, plant) in plants.iter().enumerate() {
        let place = place();
        fs::create_dir_all(place.results()).unwrap();
        plant(&place.folder.log_path());
        for if_absent in [IfAbsent::Create, IfAbsent::Fail] {
            assert!(place.folder.open_log(if_absent).is_err(), "{number}");
        }
        assert_eq!(names_in(victim.path()), ["target"]);
    }
}

#[test]
fn leftovers_of_a_killed_process_are_in_nobodys_way() {
    let place = place();
    fs::create_dir_all(place.results()).unwrap();
    let next = TEMPORARY.load(Ordering::Relaxed);
    for number in next..next + 50 {
        let name = format!(".partial-{}-{number}", std::process::id());
        fs::write(place.results().join(name), "half").unwrap();
    }
    let saved = place.folder.save(&name(), b"bytes").unwrap();
    assert_eq!(fs::read(place.folder.file_path(&saved)).unwrap(), b"bytes");
}
