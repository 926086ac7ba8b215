//! The search engine against the real ripgrep, over generated trees.
//!
//! Whoever reads a search result expects what `rg` would have printed, so `rg`
//! itself is the oracle. Queries come from a seed: a failure names the query, and
//! the same seed makes it again. Each answer is also asked for in windows, which
//! must be slices of the whole.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolbay_runtime::search::{
    Fence, Hit, Order, Page, Pattern, Request, Stop, Want, Window, files, matches,
};

use tree::{Seed, Tree, WORDS};

#[path = "search_differential/printed.rs"]
mod printed;
#[path = "search_differential/tree.rs"]
mod tree;

const QUERIES: usize = 480;
const LISTINGS: usize = 40;

#[test]
fn engine_answers_what_ripgrep_answers() {
    assert!(run(2026) >= 250);
}

/// Compares the engine with ripgrep; answers with the number of queries.
pub fn run(seed: u64) -> usize {
    let mut seed = Seed::new(seed);
    let tree = Tree::grow(&mut seed);
    for number in 0..QUERIES {
        let query = Query::random(&mut seed, &tree);
        let expected = comparable(&query, ripgrep(&query));
        let found = engine(&query, ALL, 2);
        assert!(!found.truncated, "query {number}: {query:?}");
        check_windows(&mut seed, &query, &found);
        let found = comparable(&query, found.hits);
        if let Some(difference) = difference(&found, &with_times(&expected)) {
            panic!("query {number}: {query:?}: {difference}");
        }
    }
    for number in 0..LISTINGS {
        let mut query = Query::random(&mut seed, &tree);
        // `files` narrows by globs where ripgrep overrides ignore-files.
        query.request.globs.clear();
        let listing = files(&query.request, Order::Path, 0, &Open, &Stop::default()).unwrap();
        let found: Vec<String> = listing
            .entries
            .into_iter()
            .map(|entry| entry.path)
            .collect();
        assert_eq!(found, ripgrep_files(&query), "listing {number}: {query:?}");
    }
    QUERIES + LISTINGS
}

const ALL: Window = Window {
    skip: 0,
    limit: 0,
    max_bytes: usize::MAX,
};

struct Open;

impl Fence for Open {
    fn may_read(&self, _: &Path) -> bool {
        true
    }
}

#[derive(Debug)]
struct Query {
    request: Request,
    pattern: Pattern,
    want: Want,
}

impl Query {
    fn random(seed: &mut Seed, tree: &Tree) -> Self {
        let multiline = seed.chance(5);
        let mut request = Request {
            root: tree.root.clone(),
            base: tree.root.clone(),
            hidden: seed.chance(3),
            ignored: seed.chance(3),
            ..Request::default()
        };
        if seed.chance(4) {
            request.root = tree.root.join(seed.pick(&tree::FOLDERS));
        } else if seed.chance(12) {
            request.root = tree.root.join(seed.pick(&tree::TEXTS));
        }
        if seed.chance(3) {
            request.globs.push(seed.pick(&GLOBS).to_owned());
            if seed.chance(3) {
                request.globs.push(seed.pick(&GLOBS).to_owned());
            }
        }
        if seed.chance(5) {
            request.types.push(seed.pick(&TYPES).to_owned());
            if seed.chance(3) {
                request.types.push(seed.pick(&TYPES).to_owned());
            }
        }
        let want = match seed.below(4) {
            0 => Want::Paths,
            1 => Want::Counts,
            _ => Want::Lines {
                before: seed.pick(&[0, 0, 0, 1, 2, 5]),
                after: seed.pick(&[0, 0, 0, 1, 3, 7]),
            },
        };
        Self {
            request,
            pattern: Pattern {
                regex: regex(seed, multiline),
                ignore_case: seed.chance(3),
                multiline,
            },
            want,
        }
    }
}

const GLOBS: [&str; 16] = [
    "*.rs",
    "*.{rs,txt}",
    "!*.txt",
    "src/**",
    "**/deep/*",
    "/top.txt",
    "*",
    "**/*.md",
    "!vendor",
    "!**/deep/**",
    "[a-m]*.txt",
    "*.log",
    "sub/",
    "?op.*",
    ".*",
    "**/*",
];

const TYPES: [&str; 5] = ["rust", "md", "txt", "py", "json"];

fn regex(seed: &mut Seed, multiline: bool) -> String {
    let one = seed.pick(&WORDS);
    let two = seed.pick(&WORDS);
    if multiline {
        return match seed.below(6) {
            0 => format!("{one}.*?{two}"),
            1 => format!(r"{one}\s+{two}"),
            2 => format!(r"{one}[^\n]*\n[^\n]*{two}"),
            3 => format!(r"(?s:{one}.{{0,40}}{two})"),
            4 => format!(r"{one}$\n^"),
            _ => one.to_owned(),
        };
    }
    match seed.below(16) {
        0..=2 => one.to_owned(),
        3 => format!("{one}|{two}"),
        4 => format!(r"\b{one}\b"),
        5 => format!(r"^\s*{one}"),
        6 => format!(r"{one}\s*$"),
        7 => format!(r"{one}.*{two}"),
        8 => r"[0-9]{3,}".to_owned(),
        9 => format!(r"(?i){one}\w+"),
        10 => r"[A-Z]\w+[a-z]\(".to_owned(),
        11 => "^$".to_owned(),
        12 => r"\p{Greek}+|ß".to_owned(),
        13 => format!("({one}|{two}|nothing) "),
        14 => r"\S{200,}".to_owned(),
        _ => format!(r"{}\W+{}", one, seed.pick(&WORDS)),
    }
}

fn engine(query: &Query, window: Window, threads: usize) -> Page {
    matches(
        &query.request,
        &query.pattern,
        query.want,
        window,
        threads,
        &Open,
        &Stop::default(),
    )
    .unwrap_or_else(|error| panic!("{query:?}: {error}"))
}

/// The entries that a window counts, one by one: path, line, count.
fn entries(page: &Page) -> Vec<(String, String, u64)> {
    let mut all = Vec::new();
    for hit in &page.hits {
        if hit.lines.is_empty() {
            all.push((hit.path.clone(), String::new(), hit.count));
        }
        for line in &hit.lines {
            all.push((hit.path.clone(), line.text.clone(), line.number));
        }
    }
    all
}

fn check_windows(seed: &mut Seed, query: &Query, whole: &Page) {
    let all = entries(whole);
    let threads = seed.pick(&[1, 2, 4]);
    let skip = seed.below(all.len() as u64 + 3);
    let limit = 1 + seed.below(20);
    let window = Window { skip, limit, ..ALL };
    let page = engine(query, window, threads);
    let start = all.len().min(skip as usize);
    let end = all.len().min(start + limit as usize);
    assert_eq!(entries(&page), &all[start..end], "{window:?} {query:?}");
    assert_eq!(page.truncated, end < all.len(), "{window:?} {query:?}");

    let small = Window {
        max_bytes: 2_000,
        limit: 0,
        ..window
    };
    let page = engine(query, small, threads);
    let found = entries(&page);
    let begins = all[start..].starts_with(&found);
    // A first line longer than all the room is cut.
    assert!(begins || found.len() == 1, "{small:?} {query:?}");
    assert_eq!(found.is_empty(), start == all.len(), "{small:?} {query:?}");
    let is_rest = begins && start + found.len() == all.len();
    assert_eq!(page.truncated, !is_rest, "{small:?} {query:?}");
    let weight: usize = page
        .hits
        .iter()
        .map(|hit| hit.path.len() + text_of(hit))
        .sum();
    assert!(weight <= 2_000, "{weight} bytes {query:?}");
}

fn text_of(hit: &Hit) -> usize {
    hit.lines.iter().map(|line| line.text.len()).sum()
}

/// Without the file whose NUL byte lies behind the first block: how much of it
/// ripgrep shows depends on which files the same thread searched before.
fn comparable(query: &Query, mut hits: Vec<Hit>) -> Vec<Hit> {
    if query.want != Want::Counts {
        hits.retain(|hit| !hit.path.ends_with(tree::LATE_BINARY));
    }
    hits
}

/// The first thing that differs, short enough to read.
fn difference(found: &[Hit], expected: &[Hit]) -> Option<String> {
    if found == expected {
        return None;
    }
    for (one, other) in found.iter().zip(expected) {
        for (line, wanted) in one.lines.iter().zip(&other.lines) {
            if one.path == other.path && line != wanted {
                return Some(format!("{}: {line:?}, ripgrep {wanted:?}", one.path));
            }
        }
        if one != other {
            let short = |hit: &Hit| format!("{} {} {}", hit.path, hit.count, hit.lines.len());
            return Some(format!("{}, ripgrep {}", short(one), short(other)));
        }
    }
    Some(format!("{} files, ripgrep {}", found.len(), expected.len()))
}

/// ripgrep knows no times; they are taken over from the file system.
fn with_times(expected: &[Hit]) -> Vec<Hit> {
    let mut hits = expected.to_vec();
    for hit in &mut hits {
        let time = std::fs::metadata(&hit.path).unwrap().modified().unwrap();
        let age = time.duration_since(std::time::UNIX_EPOCH).unwrap();
        hit.modified_ms = age.as_millis() as u64;
    }
    hits
}

fn command(query: &Query) -> Command {
    let root = &query.request.root;
    let mut command = Command::new(env!("TOOLBAY_TEST_RG"));
    command
        .args([
            "--no-config",
            "--no-messages",
            "--color=never",
            "--null",
            "-j2",
        ])
        // Globs count from here.
        .current_dir(if root.is_dir() {
            root
        } else {
            root.parent().unwrap()
        });
    if query.request.hidden {
        command.arg("--hidden");
    }
    if query.request.ignored {
        command.arg("--no-ignore");
    }
    for glob in &query.request.globs {
        command.args(["--glob", glob]);
    }
    for name in &query.request.types {
        command.args(["--type", name]);
    }
    command
}

fn ripgrep_files(query: &Query) -> Vec<String> {
    let output = command(query)
        .arg("--files")
        .arg(&query.request.root)
        .output()
        .unwrap();
    let mut paths: Vec<String> = output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| String::from_utf8(path.to_vec()).unwrap())
        .collect();
    paths.sort();
    paths
}

fn ripgrep(query: &Query) -> Vec<Hit> {
    let mut command = command(query);
    match query.want {
        Want::Paths => command.arg("--files-with-matches"),
        Want::Counts => command.args(["--count", "--with-filename"]),
        Want::Lines { before, after } => command
            .args(["--line-number", "--with-filename", "--no-heading"])
            .args(["-B", &before.to_string(), "-A", &after.to_string()]),
    };
    if query.pattern.ignore_case {
        command.arg("--ignore-case");
    }
    if query.pattern.multiline {
        command.args(["--multiline", "--multiline-dotall"]);
    }
    let output = command
        .args(["--regexp", &query.pattern.regex])
        .arg(&query.request.root)
        .output()
        .unwrap();
    assert_ne!(output.status.code(), Some(2), "{query:?}");
    let mut hits = match query.want {
        Want::Paths => printed::paths(&output.stdout),
        Want::Counts => printed::counts(&output.stdout),
        Want::Lines { .. } => printed::lines(&output.stdout),
    };
    hits.sort_by(|left, right| left.path.cmp(&right.path));
    hits
}

/// A folder of its own under the system's temporary one.
fn temporary_folder() -> PathBuf {
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("toolbay-differential-{}-{number}", std::process::id());
    std::env::temp_dir().canonicalize().unwrap().join(name)
}
