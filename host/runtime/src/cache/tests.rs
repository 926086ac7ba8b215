use std::io::Seek;

use super::*;

struct Place {
    root: PathBuf,
}

impl Place {
    fn new() -> Self {
        let root = std::env::temp_dir().join(format!("toolbay-cache-{:x}", unique().unwrap()));
        fs::create_dir(&root).unwrap();
        Self { root }
    }

    fn cache(&self, max_bytes: u64) -> Cache {
        Cache::open(&self.root.join("c"), &self.root.join("s"), "f1", max_bytes).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// What the cache holds for a component, as info and code.
fn load(cache: &Cache, digest: &str) -> Option<(String, String)> {
    let entry = cache.load(digest)?;
    let code = match entry.code {
        Code::Sealed(mut file) => {
            let mut bytes = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            bytes
        }
        Code::Held(bytes) => bytes,
    };
    Some((
        String::from_utf8(entry.info).unwrap(),
        String::from_utf8(code).unwrap(),
    ))
}

#[test]
fn what_is_stored_comes_back() {
    let place = Place::new();
    let cache = place.cache(DEFAULT_MAX_BYTES);
    assert_eq!(load(&cache, "sha256:aa"), None);
    // Longer than what is read at a time, and not a multiple of it.
    let code = "code ".repeat(CHUNK);
    cache.store("sha256:aa", b"{}", &Code::Held(code.clone().into_bytes()));
    let again = load(&place.cache(DEFAULT_MAX_BYTES), "sha256:aa");
    assert!(again == Some(("{}".into(), code)));
    let mode = fs::metadata(cache.path("sha256:aa")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fs::metadata(cache.folder()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_file_that_somebody_could_have_changed_is_never_run() {
    let place = Place::new();
    let cache = place.cache(DEFAULT_MAX_BYTES);
    let path = cache.path("sha256:aa");
    let keep = || {
        cache.store("sha256:aa", b"{}", &Code::Held(b"code".to_vec()));
        fs::read(&path).unwrap()
    };
    type Spoiler<'a> = (&'a str, &'a dyn Fn(&[u8]));
    let spoilers: [Spoiler<'_>; 6] = [
        ("flipped bit", &|bytes| {
            let mut bytes = bytes.to_vec();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&path, bytes).unwrap();
        }),
        ("cut short", &|bytes| {
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("empty", &|_| fs::write(&path, "").unwrap()),
        ("open to others", &|_| {
            fs::set_permissions(&path, Permissions::from_mode(0o620)).unwrap();
        }),
        ("a symlink", &|bytes| {
            let elsewhere = place.root.join("elsewhere");
            fs::write(&elsewhere, bytes).unwrap();
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(elsewhere, &path).unwrap();
        }),
        ("another component's", &|_| {
            cache.store("sha256:bb", b"{}", &Code::Held(b"evil".to_vec()));
            fs::rename(cache.path("sha256:bb"), &path).unwrap();
        }),
    ];
    for (name, spoil) in spoilers {
        spoil(&keep());
        assert_eq!(load(&cache, "sha256:aa"), None, "{name}");
        assert!(
            fs::symlink_metadata(&path).is_err(),
            "{name} was left lying"
        );
    }
}

#[test]
fn a_file_written_with_another_key_is_never_run() {
    let place = Place::new();
    place
        .cache(DEFAULT_MAX_BYTES)
        .store("sha256:aa", b"{}", &Code::Held(b"code".to_vec()));
    fs::write(place.root.join("s/cache.key"), [7; 32]).unwrap();
    assert_eq!(load(&place.cache(DEFAULT_MAX_BYTES), "sha256:aa"), None);
}

#[test]
fn the_oldest_files_go_when_there_is_no_room() {
    let place = Place::new();
    let cache = place.cache(2_500);
    for digest in ["sha256:a", "sha256:b", "sha256:c"] {
        cache.store(digest, b"{}", &Code::Held(vec![b'x'; 1_000]));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(load(&cache, "sha256:a"), None);
    assert!(cache.load("sha256:c").is_some());
    assert!(cache.usage().1 <= 2_500);
}

#[test]
fn a_folder_open_to_others_is_closed() {
    let place = Place::new();
    let folder = place.root.join("c");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    let cache = place.cache(DEFAULT_MAX_BYTES);
    assert_eq!(fs::metadata(cache.folder()).unwrap().mode() & 0o777, 0o700);
}
