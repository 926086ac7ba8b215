//! A tool with a path for its subject that tries one thing after another with every path that it
//! is given, and tells which of them worked and what it saw. What works is undone at once, so that
//! no try depends on the one before; unless the input says that it stays.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::files::{Expectation, replace};
use toolbay_sdk::{Info, Outcome, Result, SubjectKind, Tool};

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    tries: Vec<Try>,
    #[serde(default)]
    claims_read_only: bool,
    /// What works stays done.
    #[serde(default)]
    stays: bool,
    /// The report says what was seen.
    #[serde(default)]
    tells: bool,
    /// How often everything is tried; once if not given.
    #[serde(default)]
    rounds: usize,
}

/// One thing to try.
#[derive(Deserialize)]
struct Try {
    what: What,
    path: String,
    /// The other path of a rename or a link.
    #[serde(default)]
    to: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    Read,
    List,
    Append,
    Truncate,
    Create,
    Replace,
    MakeFolder,
    RemoveFolder,
    Remove,
    Rename,
    Link,
    Touch,
    Size,
    Target,
}

struct Greedy;

impl Tool for Greedy {
    type Input = Input;

    const INFO: Info = Info::new(
        "Greedy",
        "Tries to do more than it may, and tells what worked.",
    )
    .schema(r#"{"type":"object","additionalProperties":true}"#)
    .subjects(&[
        (SubjectKind::Path, "/subject"),
        (SubjectKind::Path, "/subjects"),
    ]);

    fn is_read_only(input: &Input) -> bool {
        input.claims_read_only
    }

    fn call(input: Input) -> Result {
        let mut worked = vec![false; input.tries.len()];
        let mut seen = BTreeSet::new();
        for _ in 0..input.rounds.max(1) {
            for (one, worked) in input.tries.iter().zip(&mut worked) {
                *worked |= attempt(one, input.stays, &mut seen).is_ok();
            }
        }
        let mut report = json!({ "worked": worked });
        if input.tells {
            report["seen"] = json!(seen);
        }
        Ok(Outcome::text(report.to_string()).with_structured(&report))
    }
}

/// Tries one thing. Contents, names, sizes and targets of links go to what was seen.
fn attempt(one: &Try, stays: bool, seen: &mut BTreeSet<String>) -> io::Result<()> {
    let path = Path::new(&one.path);
    let to = Path::new(&one.to);
    let undo = |undo: &dyn Fn() -> io::Result<()>| if stays { Ok(()) } else { undo() };
    match one.what {
        What::Read => {
            let mut content = Vec::new();
            let read = fs::File::open(path)?.read_to_end(&mut content);
            seen.insert(String::from_utf8_lossy(&content).into_owned());
            read.map(drop)
        }
        What::List => {
            for entry in fs::read_dir(path)? {
                seen.insert(entry?.file_name().to_string_lossy().into_owned());
            }
            Ok(())
        }
        What::Append => {
            let mut file = OpenOptions::new().append(true).open(path)?;
            file.write_all(b"+")?;
            undo(&|| file.set_len(file.metadata()?.len() - 1))
        }
        What::Truncate => {
            let before = fs::read(path)?;
            OpenOptions::new().write(true).truncate(true).open(path)?;
            undo(&|| fs::write(path, &before))
        }
        What::Create => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            undo(&|| fs::remove_file(path))
        }
        What::Replace => {
            let before = fs::read(path).ok();
            let content = before.clone().unwrap_or_default();
            replace(&one.path, &content, &Expectation::Anything)
                .map_err(|error| io::Error::other(format!("{error:?}")))?;
            match before {
                Some(_) => Ok(()),
                None => undo(&|| fs::remove_file(path)),
            }
        }
        What::MakeFolder => {
            fs::create_dir(path)?;
            // That it can be made and not removed again is how folders on the way to a file are.
            let _ = undo(&|| fs::remove_dir(path));
            Ok(())
        }
        What::RemoveFolder => {
            fs::remove_dir(path)?;
            undo(&|| fs::create_dir(path))
        }
        What::Remove => {
            let before = fs::read(path)?;
            fs::remove_file(path)?;
            undo(&|| fs::write(path, &before))
        }
        What::Rename => {
            fs::rename(path, to)?;
            undo(&|| fs::rename(to, path))
        }
        What::Link => {
            fs::hard_link(path, to)?;
            undo(&|| fs::remove_file(to))
        }
        What::Touch => {
            let file = fs::File::open(path)?;
            let modified = file.metadata()?.modified()?;
            file.set_times(fs::FileTimes::new().set_modified(modified))
        }
        What::Size => {
            seen.insert(format!("size {}", fs::metadata(path)?.len()));
            Ok(())
        }
        What::Target => {
            seen.insert(fs::read_link(path)?.to_string_lossy().into_owned());
            Ok(())
        }
    }
}

toolbay_sdk::export!(Greedy);
