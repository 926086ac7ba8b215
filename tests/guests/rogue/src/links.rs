//! Links that lead out of the granted folders, made in steps that look harmless.
//!
//! The guest gains nothing by them: it cannot follow a link out. They lie in wait
//! for the next program that does, which is why making them is to be refused.

use std::fs;
use std::path::Path;

use toolbay_sdk::Result as CallResult;

use crate::report::{Attempt, Report, Told};
use crate::writes::symlink;

type Try = (&'static str, fn(&Path) -> Attempt);

const TRIES: &[Try] = &[
    ("straight-out", |dir| {
        symlink("../../../../../../../../etc", &dir.join("out_straight"))
    }),
    ("absolute", |dir| symlink("/etc", &dir.join("out_absolute"))),
    // `up` leads to the folder itself, so the `..` after it leads above the folder,
    // although by the letters it stays three levels below.
    ("by-way-of-a-link", |dir| {
        let deep = dir.join("one/two/three");
        fs::create_dir_all(&deep).told()?;
        symlink("../../..", &deep.join("up"))?;
        symlink("up/../beside", &deep.join("out_by_link"))
    }),
    // The link is inside where it is made, and leads out where it is moved.
    ("by-moving-the-link", |dir| {
        let deep = dir.join("a/b/c");
        fs::create_dir_all(&deep).told()?;
        symlink("../../../inside", &deep.join("link"))?;
        fs::rename(deep.join("link"), dir.join("out_moved")).told()
    }),
    ("by-a-second-name", |dir| {
        let deep = dir.join("d/e/f");
        fs::create_dir_all(&deep).told()?;
        symlink("../../../inside", &deep.join("link"))?;
        fs::hard_link(deep.join("link"), dir.join("out_second")).told()
    }),
    ("by-moving-the-folder", |dir| {
        let deep = dir.join("g/h/i");
        fs::create_dir_all(&deep).told()?;
        symlink("../../../inside", &deep.join("link"))?;
        fs::rename(&deep, dir.join("out_folder")).told()
    }),
];

pub fn plant_links(dir: &str) -> CallResult {
    let mut report = Report::default();
    for (what, attempt) in TRIES {
        report.note(what, attempt(Path::new(dir)));
    }
    report.into_result()
}
