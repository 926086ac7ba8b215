//! A tool with a path for its subject that tries one thing after another with every path that it
//! is given, and tells which of them worked. What works is undone at once, so that no try depends
//! on the one before.

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
        let worked: Vec<bool> = input.tries.iter().map(|one| attempt(one).is_ok()).collect();
        let report = json!({ "worked": worked });
        Ok(Outcome::text(report.to_string()).with_structured(&report))
    }
}

fn attempt(one: &Try) -> io::Result<()> {
    let path = Path::new(&one.path);
    let to = Path::new(&one.to);
    match one.what {
        What::Read => {
            let mut byte = [0; 1];
            fs::File::open(path)?.read(&mut byte).map(drop)
        }
        What::List => fs::read_dir(path).map(drop),
        What::Append => {
            let mut file = OpenOptions::new().append(true).open(path)?;
            file.write_all(b"+")?;
            let length = file.metadata()?.len();
            file.set_len(length - 1)
        }
        What::Truncate => {
            let before = fs::read(path)?;
            OpenOptions::new().write(true).truncate(true).open(path)?;
            fs::write(path, before)
        }
        What::Create => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
        What::Replace => {
            let before = fs::read(path).ok();
            let content = before.clone().unwrap_or_default();
            replace(&one.path, &content, &Expectation::Anything)
                .map_err(|error| io::Error::other(format!("{error:?}")))?;
            match before {
                Some(_) => Ok(()),
                None => fs::remove_file(path),
            }
        }
        What::MakeFolder => {
            fs::create_dir(path)?;
            // That it can be made and not removed again is how folders on the way to a file are.
            let _ = fs::remove_dir(path);
            Ok(())
        }
        What::RemoveFolder => {
            fs::remove_dir(path)?;
            fs::create_dir(path)
        }
        What::Remove => {
            let before = fs::read(path)?;
            fs::remove_file(path)?;
            fs::write(path, before)
        }
        What::Rename => {
            fs::rename(path, to)?;
            fs::rename(to, path)
        }
        What::Link => {
            fs::hard_link(path, to)?;
            fs::remove_file(to)
        }
        What::Touch => {
            let file = fs::File::open(path)?;
            let modified = file.metadata()?.modified()?;
            file.set_times(fs::FileTimes::new().set_modified(modified))
        }
    }
}

toolbay_sdk::export!(Greedy);
