//! Every way to read one file, for files that the path rules deny.
//!
//! Whatever is got hold of is put into the report, so that a test may simply look
//! for the secret anywhere in the answer.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolbay_sdk::search::{self, ContextLines, Order, Pattern, Scope, Want, Window};
use toolbay_sdk::{Result as CallResult, files};
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, OpenFlags, PathFlags};

use crate::raw;
use crate::report::{Attempt, Report, Told, excerpt, told_code, told_io};
use crate::writes::symlink;

type Try = (&'static str, fn(&Target) -> Attempt);

struct Target {
    path: PathBuf,
    parent: PathBuf,
    name: String,
}

const TRIES: &[Try] = &[
    ("open", |t| File::open(&t.path).told()),
    ("read", |t| read(&t.path)),
    ("metadata", |t| {
        fs::metadata(&t.path)
            .map(|found| json!({"len": found.len()}))
            .map_err(|error| told_io(&error))
    }),
    ("symlink-metadata", |t| {
        fs::symlink_metadata(&t.path)
            .map(|found| json!({"len": found.len()}))
            .map_err(|error| told_io(&error))
    }),
    ("read-link", |t| {
        fs::read_link(&t.path)
            .map(|found| found.to_string_lossy().into())
            .map_err(|error| told_io(&error))
    }),
    ("read-as-folder", |t| names_in(&t.path)),
    ("read-with-dot", |t| read(&t.parent.join(".").join(&t.name))),
    ("read-by-way-of-parent", |t| {
        let folder = t.parent.file_name().unwrap_or_default();
        read(&t.parent.join("..").join(folder).join(&t.name))
    }),
    ("read-by-way-of-child", |t| {
        read(&t.parent.join("victim_dir").join("..").join(&t.name))
    }),
    ("read-with-doubled-slash", |t| {
        read(Path::new(&format!("{}//{}", t.parent.display(), t.name)))
    }),
    ("read-in-upper-case", |t| {
        read(&t.parent.join(t.name.to_uppercase()))
    }),
    ("copy-then-read", |t| {
        let copy = t.parent.join("stolen_copy.txt");
        fs::copy(&t.path, &copy).told()?;
        read(&copy)
    }),
    ("hard-link-then-read", |t| {
        let link = t.parent.join("stolen_hard.txt");
        fs::hard_link(&t.path, &link).told()?;
        read(&link)
    }),
    ("symlink-then-read", |t| {
        let link = t.parent.join("stolen_soft.txt");
        symlink(&t.name, &link)?;
        read(&link)
    }),
    ("rename-then-read", |t| {
        let away = t.parent.join("stolen_moved.txt");
        fs::rename(&t.path, &away).told()?;
        let content = read(&away);
        fs::rename(&away, &t.path).told()?;
        content
    }),
    ("rename-parent-then-read", |t| {
        let away = with_suffix(&t.parent, "_stolen");
        fs::rename(&t.parent, &away).told()?;
        let content = read(&away.join(&t.name));
        fs::rename(&away, &t.parent).told()?;
        content
    }),
    ("raw-open", |t| {
        let (folder, rest) = raw::preopen_of(&t.path)?;
        let file = open_raw(&folder, &rest)?;
        file.read(200, 0)
            .map(|(bytes, _)| excerpt(&bytes))
            .map_err(|error| told_code(&error))
    }),
    ("raw-open-in-folder", |t| {
        // By its bare name, from the folder's own descriptor: no path to look at.
        let folder = raw::folder(&t.parent)?;
        let file = open_raw(&folder, &t.name)?;
        file.read(200, 0)
            .map(|(bytes, _)| excerpt(&bytes))
            .map_err(|error| told_code(&error))
    }),
    ("raw-read-via-stream", |t| {
        let (folder, rest) = raw::preopen_of(&t.path)?;
        let file = open_raw(&folder, &rest)?;
        let stream = file.read_via_stream(0).map_err(|error| told_code(&error))?;
        stream
            .blocking_read(200)
            .map(|bytes| excerpt(&bytes))
            .map_err(|error| format!("stream: {error}"))
    }),
    ("raw-stat-at", |t| {
        let (folder, rest) = raw::preopen_of(&t.path)?;
        folder
            .stat_at(PathFlags::empty(), &rest)
            .map(|found| json!({"len": found.size}))
            .map_err(|error| told_code(&error))
    }),
    ("raw-metadata-hash-at", |t| {
        let (folder, rest) = raw::preopen_of(&t.path)?;
        folder.metadata_hash_at(PathFlags::empty(), &rest).told()
    }),
    ("raw-readlink-at", |t| {
        let (folder, rest) = raw::preopen_of(&t.path)?;
        folder.readlink_at(&rest).told()
    }),
    ("files-digest", |t| {
        files::digest(&t.path.to_string_lossy())
            .map(Value::from)
            .map_err(|error| format!("{error:?}"))
    }),
    ("search-matches", |t| matches_in(&t.path)),
];

/// Ways that rightly show the file's neighbours; its own name or content must not
/// be among what they tell.
const AROUND: &[Try] = &[
    ("search-matches-in-parent", |t| matches_in(&t.parent)),
    ("search-files-in-parent", |t| {
        search::files(&everything_in(&t.parent), Order::Path, 100)
            .map(|listing| {
                let paths = listing.entries.into_iter().map(|entry| entry.path);
                paths.collect::<Vec<_>>().into()
            })
            .map_err(|error| format!("{error:?}"))
    }),
    ("names-in-parent", |t| names_in(&t.parent)),
];

pub fn read_every_way(path: &str) -> CallResult {
    let path = PathBuf::from(path);
    let target = Target {
        parent: path.parent().unwrap_or(Path::new("/")).into(),
        name: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        path,
    };
    let mut report = Report::default();
    for (what, attempt) in TRIES {
        report.note(what, attempt(&target));
    }
    for (what, attempt) in AROUND {
        report.note_neutral(what, attempt(&target));
    }
    report.into_result()
}

pub fn read(path: &Path) -> Attempt {
    fs::read(path)
        .map(|bytes| excerpt(&bytes))
        .map_err(|error| told_io(&error))
}

pub fn names_in(folder: &Path) -> Attempt {
    let names: std::io::Result<Vec<String>> = fs::read_dir(folder).and_then(|entries| {
        entries
            .map(|entry| entry.map(|found| found.file_name().to_string_lossy().into_owned()))
            .collect()
    });
    let mut names = names.map_err(|error| told_io(&error))?;
    names.sort();
    Ok(names.into())
}

/// The path beside this one whose name is longer by the suffix.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn open_raw(folder: &Descriptor, name: &str) -> Result<Descriptor, String> {
    raw::open(folder, name, OpenFlags::empty(), DescriptorFlags::READ)
        .map_err(|error| told_code(&error))
}

fn everything_in(root: &Path) -> Scope {
    Scope {
        root: root.to_string_lossy().into_owned(),
        globs: Vec::new(),
        types: Vec::new(),
        hidden: true,
        ignored: true,
    }
}

fn matches_in(root: &Path) -> Attempt {
    let pattern = Pattern {
        regex: ".".into(),
        ignore_case: false,
        multiline: false,
    };
    let want = Want::Lines(ContextLines {
        before: 0,
        after: 0,
    });
    let window = Window {
        skip: 0,
        limit: 100,
        max_bytes: 10_000,
    };
    let page = search::matches(&everything_in(root), &pattern, want, window)
        .map_err(|error| format!("{error:?}"))?;
    let lines = page.hits.into_iter().map(|hit| {
        json!([
            hit.path,
            hit.lines
                .into_iter()
                .map(|line| line.text)
                .collect::<Vec<_>>()
        ])
    });
    Ok(lines.collect::<Vec<_>>().into())
}
