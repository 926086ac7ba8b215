//! Every way to write below a folder that the standard library and the host's own
//! interfaces know; `raw_writes.rs` has those of bare WASI.
//!
//! The folder must hold `victim.txt`, `bystander.txt` and an empty `victim_dir/`;
//! otherwise "not found" would hide a missing refusal. Where writing is allowed each
//! try puts things back, so that the next one finds them. What destroys comes last.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use toolbay_sdk::Result as CallResult;
use toolbay_sdk::files::{Expectation, replace};
use toolbay_sdk::session;

use crate::raw_writes;
use crate::reads::with_suffix;
use crate::report::{Attempt, Report, Told};

/// The folder under attack.
pub struct Place {
    pub dir: PathBuf,
}

impl Place {
    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn victim(&self) -> PathBuf {
        self.at("victim.txt")
    }
}

type Try = (&'static str, fn(&Place) -> Attempt);

const GENTLE: &[Try] = &[
    ("create", |p| fs::write(p.at("created.txt"), "x").told()),
    ("create-new", |p| File::create_new(p.at("new.txt")).told()),
    ("append", |p| {
        OpenOptions::new()
            .append(true)
            .open(p.victim())
            .and_then(|mut file| file.write_all(b"appended"))
            .told()
    }),
    ("open-read-write", |p| {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(p.victim())
            .told()
    }),
    ("write-at-offset", |p| {
        OpenOptions::new()
            .write(true)
            .open(p.victim())
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(1))?;
                file.write_all(b"offset")
            })
            .told()
    }),
    ("write-to-read-only-handle", |p| {
        File::open(p.victim())
            .and_then(|mut file| file.write_all(b"x"))
            .told()
    }),
    ("set-len", |p| {
        OpenOptions::new()
            .write(true)
            .open(p.victim())
            .and_then(|file| file.set_len(1))
            .told()
    }),
    ("set-len-of-read-only-handle", |p| {
        File::open(p.victim())
            .and_then(|file| file.set_len(1))
            .told()
    }),
    ("set-times", |p| {
        let times = FileTimes::new().set_modified(UNIX_EPOCH + Duration::from_secs(1));
        File::open(p.victim())
            .and_then(|file| file.set_times(times))
            .told()
    }),
    ("rename", |p| {
        let away = p.at("renamed.txt");
        fs::rename(p.victim(), &away)
            .and_then(|()| fs::rename(&away, p.victim()))
            .told()
    }),
    ("rename-parent", |p| {
        let away = with_suffix(&p.dir, "_renamed");
        fs::rename(&p.dir, &away)
            .and_then(|()| fs::rename(&away, &p.dir))
            .told()
    }),
    ("hard-link", |p| {
        fs::hard_link(p.victim(), p.at("hard.txt")).told()
    }),
    ("symlink", |p| symlink("victim.txt", &p.at("soft.txt"))),
    ("symlink-absolute", |p| {
        symlink(&p.victim().to_string_lossy(), &p.at("soft_absolute.txt"))
    }),
    ("mkdir", |p| fs::create_dir(p.at("made_dir")).told()),
    ("mkdir-all", |p| {
        fs::create_dir_all(p.at("made/deep")).told()
    }),
    ("copy", |p| {
        fs::copy(p.at("bystander.txt"), p.at("copied.txt")).told()
    }),
    ("files-replace-new", |p| {
        host_replace(&p.at("replaced.txt"), &Expectation::Absent)
    }),
    ("files-replace", |p| {
        host_replace(&p.victim(), &Expectation::Anything)
    }),
    ("session-put", |_| {
        session::put("mark", "left by the rogue")
            .map(|()| serde_json::Value::Null)
            .map_err(|error| format!("{error:?}"))
    }),
];

const DESTRUCTIVE: &[Try] = &[
    ("truncate", |p| File::create(p.victim()).told()),
    ("rename-over", |p| {
        fs::rename(p.at("bystander.txt"), p.victim()).told()
    }),
    ("unlink", |p| fs::remove_file(p.victim()).told()),
    ("rmdir", |p| fs::remove_dir(p.at("victim_dir")).told()),
    ("remove-all", |p| {
        fs::remove_dir_all(p.at("victim_dir")).told()
    }),
];

pub fn write_every_way(dir: &str, other_dir: Option<&str>) -> CallResult {
    let place = Place { dir: dir.into() };
    let mut report = Report::default();
    for (what, attempt) in GENTLE {
        report.note(what, attempt(&place));
    }
    for (what, attempt) in raw_writes::TRIES {
        report.note(what, attempt(&place));
    }
    if let Some(other) = other_dir {
        across(&mut report, &place, Path::new(other));
    }
    let sync = File::open(place.victim()).and_then(|file| file.sync_all());
    report.note_neutral("sync", sync.told());
    report.note_neutral(
        "raw-open-mutate-directory",
        raw_writes::open_mutable_directory(&place),
    );
    for (what, attempt) in DESTRUCTIVE {
        report.note(what, attempt(&place));
    }
    report.into_result()
}

/// From one granted folder into another: each may be harmless alone.
fn across(report: &mut Report, place: &Place, other: &Path) {
    let target = other.join("moved.txt");
    let moved =
        fs::rename(place.victim(), &target).and_then(|()| fs::rename(&target, place.victim()));
    report.note("rename-across", moved.told());

    let linked = fs::hard_link(other.join("victim.txt"), place.at("hard_across.txt"));
    report.note("hard-link-across", linked.told());
    let written = fs::write(place.at("hard_across.txt"), "through the link");
    report.note("write-through-hard-link", written.told());
    let linked = fs::hard_link(place.victim(), other.join("hard_across.txt"));
    report.note("hard-link-across-back", linked.told());

    let way_out = place.at("way_out");
    report.note(
        "symlink-across",
        symlink(&relative(&place.dir, other), &way_out),
    );
    let planted = fs::write(way_out.join("planted.txt"), "x");
    report.note("write-through-new-symlink", planted.told());
    // A link that was there before the call, if the test made one.
    let planted = fs::write(place.at("link_to_other").join("planted.txt"), "x");
    report.note("write-through-old-symlink", planted.told());

    report.note(
        "raw-rename-across",
        raw_writes::rename_across(&place.dir, other),
    );
    report.note(
        "raw-link-across",
        raw_writes::link_across(&place.dir, other),
    );
    report.note(
        "files-replace-across",
        host_replace(&way_out.join("replaced.txt"), &Expectation::Anything),
    );
}

// `soft_link` is the only symlink function that is stable on this target.
#[allow(deprecated)]
pub fn symlink(target: &str, link: &Path) -> Attempt {
    fs::soft_link(target, link).told()
}

fn host_replace(path: &Path, expect: &Expectation) -> Attempt {
    replace(&path.to_string_lossy(), b"replaced", expect)
        .map(|_| serde_json::Value::Null)
        .map_err(|error| format!("{error:?}"))
}

/// The way from one absolute folder to another.
fn relative(from: &Path, to: &Path) -> String {
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(left, right)| left == right)
        .count();
    let mut way = PathBuf::new();
    for _ in from.components().skip(shared) {
        way.push("..");
    }
    way.extend(to.components().skip(shared));
    way.to_string_lossy().into_owned()
}
