//! A small agent host: two bays with different rules in one process, an approver of its own, a turn.
//!
//!     cargo run -p toolbay --example embed
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use std::error::Error;
use std::sync::Arc;

use serde_json::json;
use toolbay::contract::{BoxFuture, ToolUse};
use toolbay::dispatch::{Answer, Approver, PermissionQuestion};
use toolbay::{Places, ProcessContext, Toolbay};

/// Says yes to what is about notes, and no to everything else.
struct NotesOnly;

impl Approver for NotesOnly {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        let is_about_notes = question.input.contains("notes.txt");
        println!("asked about {}: {is_about_notes}", question.tool);
        Box::pin(async move {
            match is_about_notes {
                true => Answer::Yes,
                false => Answer::No {
                    reason: "only notes are written here".into(),
                },
            }
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Before there are threads: a cage is not built in a process that has several.
    toolbay::become_helper_if_asked();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("project");
    std::fs::create_dir(&project)?;
    std::fs::write(project.join("secret.txt"), "the key")?;
    let open = || {
        Toolbay::builder()
            .workspace(&project)
            .places(Places::in_folder(folder.path().join("state")))
            .process(ProcessContext::new(std::env::vars_os()))
    };
    let strict = open().deny("Read(./secret.txt)").build().await?;
    let open = open().allow("Bash").approver(Arc::new(NotesOnly));
    let open = open.build().await?;

    let secret = json!({"file_path": "secret.txt"});
    let session = strict.session().open().await?;
    let refused = session.call("Read", secret.clone()).await;
    println!("strict: {}", refused.sentence());
    let session = open.session().open().await?;
    let read = session.call("Read", secret).await;
    println!("open: {}", read.sentence());
    assert!(refused.is_error && !read.is_error);

    // In a cage, which this program builds as a helper of its own.
    let made = json!({"command": "echo caged > made; cat made"});
    let ran = session.call("Bash", made).await;
    println!("command: {}", ran.sentence());
    assert!(!ran.is_error && ran.text().contains("caged"));

    let mut turn = session.turn();
    for (id, name) in [("1", "notes.txt"), ("2", "other.txt")] {
        turn.push(ToolUse {
            id: id.into(),
            name: "Write".into(),
            input: json!({"file_path": name, "content": "hello\n"}),
        });
    }
    let results = turn.finish().await;
    for result in &results {
        println!("{}: {}", result.id, result.sentence());
    }
    assert!(!results[0].is_error && results[1].is_error);
    assert!(project.join("notes.txt").exists() && !project.join("other.txt").exists());
    Ok(())
}
