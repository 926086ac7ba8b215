//! What the differential test against ripgrep cannot show: confinement, rules,
//! cancellation, windows, and the words of errors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::confine::{Anchor, Way};
use super::*;
use folder::Folder;

pub(super) mod folder;

struct Open;

impl Fence for Open {
    fn may_read(&self, _: &Path) -> bool {
        true
    }
}

const ALL: Window = Window {
    skip: 0,
    limit: 0,
    max_bytes: usize::MAX,
};
const LINES: Want = Want::Lines {
    before: 0,
    after: 0,
};

fn pattern(regex: &str) -> Pattern {
    Pattern {
        regex: regex.to_owned(),
        ..Pattern::default()
    }
}

fn search(request: &Request, regex: &str, want: Want, window: Window) -> Page {
    matches(
        request,
        &pattern(regex),
        want,
        window,
        3,
        &Open,
        &Stop::default(),
    )
    .unwrap()
}

fn fails(request: &Request, pattern: &Pattern) -> String {
    matches(
        request,
        pattern,
        Want::Paths,
        ALL,
        1,
        &Open,
        &Stop::default(),
    )
    .unwrap_err()
    .to_string()
}

#[test]
fn links_are_never_followed() {
    let outside = Folder::new(&[("secret.txt", b"needle"), ("in/deep.txt", b"needle")]);
    let folder = Folder::new(&[("here.txt", b"needle")]);
    symlink(outside.0.join("secret.txt"), folder.0.join("file.txt")).unwrap();
    symlink(&outside.0, folder.0.join("folder")).unwrap();
    let page = search(&folder.request(), "needle", Want::Paths, ALL);
    assert_eq!(folder.names(&page), ["here.txt"]);

    let ways = [
        #[cfg(target_os = "linux")]
        Way::Whole,
        Way::Stepwise,
    ];
    for way in ways {
        let anchor = Anchor::open_with(&folder.request(), way).unwrap();
        for (name, opens) in [
            ("here.txt", true),
            ("file.txt", false),
            ("folder/secret.txt", false),
            ("folder/in/deep.txt", false),
            ("../here.txt", false),
            ("missing.txt", false),
        ] {
            let file = anchor.file(&folder.0.join(name));
            assert_eq!(file.is_some(), opens, "{way:?} {name}");
        }
        let through = Anchor::open_with(&folder.below("folder/in"), way);
        assert!(through.is_err(), "{way:?}");
    }
}

#[test]
fn a_root_that_is_a_link_or_lies_outside_is_refused() {
    let outside = Folder::new(&[("secret.txt", b"needle")]);
    let folder = Folder::new(&[]);
    symlink(&outside.0, folder.0.join("link")).unwrap();
    let elsewhere = Request {
        root: outside.0.clone(),
        ..folder.request()
    };
    assert!(fails(&elsewhere, &pattern("x")).contains("outside"));
    assert!(fails(&folder.below("link"), &pattern("x")).contains("outside"));
    let listing = files(
        &folder.below("link"),
        Order::Path,
        0,
        &Open,
        &Stop::default(),
    );
    assert!(matches!(listing, Err(SearchError::Outside(_))));
    assert!(fails(&folder.below("none"), &pattern("x")).contains("does not exist"));
}

#[test]
fn pipes_do_not_block_and_are_left_out() {
    let folder = Folder::new(&[("a.txt", b"needle")]);
    let pipe = folder.0.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    for request in [folder.request(), folder.below("pipe")] {
        let page = search(&request, "needle", LINES, ALL);
        assert!(folder.names(&page).iter().all(|name| name == "a.txt"));
    }
}

#[test]
fn denied_files_are_listed_but_not_searched() {
    struct NoKeys;
    impl Fence for NoKeys {
        fn may_read(&self, path: &Path) -> bool {
            path.extension().is_none_or(|extension| extension != "key")
        }
    }
    let folder = Folder::new(&[("a.key", b"needle"), ("a.txt", b"needle")]);
    for request in [folder.request(), folder.below("a.key")] {
        let page = matches(
            &request,
            &pattern("needle"),
            LINES,
            ALL,
            2,
            &NoKeys,
            &Stop::default(),
        )
        .unwrap();
        assert!(folder.names(&page).iter().all(|name| name == "a.txt"));
    }
    let listing = files(&folder.request(), Order::Path, 0, &Open, &Stop::default()).unwrap();
    assert_eq!(listing.total, 2);
}

#[test]
fn a_single_file_is_searched_whatever_the_globs_unless_binary() {
    let folder = Folder::new(&[("a.txt", b"needle\n"), ("b.bin", b"needle\n\0")]);
    let mut request = folder.below("a.txt");
    request.globs.push("*.rs".to_owned());
    assert_eq!(search(&request, "needle", LINES, ALL).hits.len(), 1);
    // The grant may be the file itself.
    request.base.clone_from(&request.root);
    assert_eq!(search(&request, "needle", LINES, ALL).hits.len(), 1);
    assert!(
        search(&folder.below("b.bin"), "needle", LINES, ALL)
            .hits
            .is_empty()
    );
}

#[test]
fn a_late_nul_byte_ends_a_file_at_the_same_place_always() {
    let mut late = b"needle in a line of text\n".repeat(4_000);
    late.extend_from_slice(b"\0");
    let long = vec![b'x'; 500_000];
    let folder = Folder::new(&[("a.txt", &long), ("b.txt", &long), ("late.txt", &late)]);
    let alone = search(&folder.below("late.txt"), "needle", LINES, ALL);
    assert!(alone.hits[0].count > 1_000);
    for _ in 0..20 {
        // Whoever searches the long lines first has a larger buffer then.
        let page = search(&folder.request(), "needle", LINES, ALL);
        assert_eq!(page.hits, alone.hits);
    }
    assert!(
        search(&folder.request(), "needle", Want::Counts, ALL)
            .hits
            .is_empty()
    );
    assert_eq!(
        search(&folder.request(), "needle", Want::Paths, ALL)
            .hits
            .len(),
        1
    );
}

#[test]
fn a_line_that_does_not_fit_is_cut_when_it_is_the_first() {
    let line = "needle äöü ".repeat(1_000);
    let folder = Folder::new(&[("a.txt", line.as_bytes()), ("b.txt", b"needle\n")]);
    let window = Window {
        max_bytes: folder.0.as_os_str().len() + 120,
        ..ALL
    };
    let page = search(&folder.request(), "needle", LINES, window);
    assert!(page.truncated);
    assert_eq!(folder.names(&page), ["a.txt"]);
    let text = &page.hits[0].lines[0].text;
    assert!(
        text.len() > 90 && text.len() <= 120 && line.starts_with(text),
        "{text}"
    );
    let page = search(
        &folder.request(),
        "needle",
        LINES,
        Window { skip: 1, ..window },
    );
    assert_eq!(folder.names(&page), ["b.txt"]);
    assert!(!page.truncated);
}

#[test]
fn files_come_newest_first_and_globs_only_narrow() {
    let folder = Folder::new(&[
        (".gitignore", b"*.log\n/out/\n"),
        (".git/HEAD", b""),
        ("a.rs", b""),
        ("b.rs", b""),
        ("sub/c.rs", b""),
        ("x.log", b""),
        ("out/d.rs", b""),
        (".dot.rs", b""),
    ]);
    for (name, age) in [("a.rs", 30), ("b.rs", 10), ("sub/c.rs", 20), (".dot.rs", 5)] {
        let file = fs::File::options()
            .write(true)
            .open(folder.0.join(name))
            .unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age))
            .unwrap();
    }
    for (globs, hidden, limit, names, total) in [
        (
            &["*.rs"][..],
            false,
            0,
            &["b.rs", "sub/c.rs", "a.rs"][..],
            3,
        ),
        (&["/*.rs"], false, 0, &["b.rs", "a.rs"], 2),
        (&["**/*", "!.git"], true, 2, &[".gitignore", ".dot.rs"], 5),
        (&["*.rs"], false, 1, &["b.rs"], 3),
        (&["*.log"], false, 0, &[], 0),
        (&["!sub"], false, 0, &["b.rs", "a.rs"], 2),
    ] {
        let request = Request {
            globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
            hidden,
            ..folder.request()
        };
        let listing = files(&request, Order::Newest, limit, &Open, &Stop::default()).unwrap();
        let found: Vec<String> = listing
            .entries
            .iter()
            .map(|entry| folder.name(&entry.path))
            .collect();
        assert_eq!(found, names, "{globs:?}");
        assert_eq!(listing.total, total, "{globs:?}");
        assert_eq!(listing.truncated, total > names.len() as u64, "{globs:?}");
    }
}

#[test]
fn errors_say_what_to_do() {
    let folder = Folder::new(&[]);
    let with = |change: fn(&mut Request)| {
        let mut request = folder.request();
        change(&mut request);
        request
    };
    let plain = folder.request();
    for (request, regex, part) in [
        (plain.clone(), "foo(", "unclosed group"),
        (plain.clone(), "(?=x)", "backslash"),
        (plain.clone(), r"a\nb", "set multiline"),
        (plain, r"\x00", "NUL"),
        (
            with(|request| request.globs.push("a{b".into())),
            "x",
            "`a{b`",
        ),
        (
            with(|request| request.types.push("rustt".into())),
            "x",
            "`rust`",
        ),
        (
            with(|request| request.types.push("tsx".into())),
            "x",
            "`ts`",
        ),
        (
            with(|request| request.types.push(".yml".into())),
            "x",
            "`yaml`",
        ),
        (
            with(|request| request.types.push("qqqqqq".into())),
            "x",
            "*.ext",
        ),
    ] {
        let message = fails(&request, &pattern(regex));
        assert!(message.contains(part), "{message}");
    }
    assert!(type_names().contains(&"rust".to_owned()));
}

#[test]
fn a_stopped_search_ends_soon() {
    let text = "some ordinary line of text without it\n".repeat(200_000);
    let folder = Folder::new(&[]);
    for number in 0..6 {
        folder.write(&format!("{number}.txt"), text.as_bytes());
    }
    let stop = Stop::default();
    let raised = stop.clone();
    let raiser = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        raised.stop();
        Instant::now()
    });
    let result = loop {
        // Repeated, so that it is under way when the flag goes up.
        let result = matches(
            &folder.request(),
            &pattern(r"\w+ \w+ \w+ \w+ \w+ with$"),
            LINES,
            ALL,
            2,
            &Open,
            &stop,
        );
        if result.is_err() {
            break result;
        }
    };
    let ended = Instant::now();
    assert!(matches!(result, Err(SearchError::Stopped)));
    let late = ended.duration_since(raiser.join().unwrap());
    // Far above the few milliseconds it takes: test machines are busy.
    assert!(late < Duration::from_millis(500), "{late:?}");
    assert!(matches!(
        files(&folder.request(), Order::Path, 0, &Open, &stop),
        Err(SearchError::Stopped)
    ));
}
