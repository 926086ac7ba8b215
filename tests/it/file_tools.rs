//! The file tools where the kernel has a say: modes, links, special files, and a
//! program that is killed in the middle of a write.

mod killed;
mod race;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use toolbay_dispatch::ToolResult;
use toolbay_tests::bay::{Running, TestBay};

async fn bay() -> TestBay {
    TestBay::new().builtins().await.says_yes()
}

/// Calls a tool; whoever waits for the other end of a pipe waits in vain.
async fn call(bay: &Running, tool: &str, input: serde_json::Value) -> ToolResult {
    let called = bay.call(tool, input.clone());
    match tokio::time::timeout(Duration::from_secs(60), called).await {
        Ok(result) => result,
        Err(_) => panic!("{tool} {input} hangs"),
    }
}

#[track_caller]
fn succeeded(result: &ToolResult) {
    assert!(!result.is_error, "{}", result.text());
}

#[track_caller]
fn refused(result: &ToolResult, parts: &[&str]) {
    assert!(result.is_error, "{}", result.text());
    for part in parts {
        let text = result.text();
        assert!(text.contains(part), "{part:?} is missing in {text:?}");
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn a_file_keeps_its_mode_whoever_changes_it() {
    let bay = bay().await.ready().await;
    for wanted in [0o600, 0o640, 0o755, 0o444] {
        let path = bay.root().join(format!("{wanted:o}"));
        std::fs::write(&path, "one\n").unwrap();
        set_mode(&path, wanted);
        succeeded(&call(&bay, "Read", json!({"file_path": path})).await);
        let edit = json!({"file_path": path, "old_string": "one", "new_string": "two"});
        succeeded(&call(&bay, "Edit", edit).await);
        assert_eq!(mode(&path), wanted, "{wanted:o} after Edit");
        let write = json!({"file_path": path, "content": "three\n"});
        succeeded(&call(&bay, "Write", write).await);
        assert_eq!(mode(&path), wanted, "{wanted:o} after Write");
        assert_eq!(std::fs::read(&path).unwrap(), b"three\n");
    }
}

#[tokio::test]
async fn a_new_file_has_the_usual_mode_and_its_folders() {
    let bay = bay().await.ready().await;
    let usual = bay.root().join("usual");
    std::fs::write(&usual, "").unwrap();
    for (tool, input) in [
        ("Write", json!({"file_path": "a/b/new", "content": "x"})),
        (
            "Edit",
            json!({"file_path": "c/d/new", "old_string": "", "new_string": "x"}),
        ),
    ] {
        let path = bay.root().join(input["file_path"].as_str().unwrap());
        succeeded(&call(&bay, tool, input).await);
        assert_eq!(mode(&path), mode(&usual), "{tool}");
        assert_eq!(std::fs::read(&path).unwrap(), b"x", "{tool}");
    }
}

#[tokio::test]
async fn an_edit_keeps_line_ends_byte_order_mark_and_mode_together() {
    let bay = bay()
        .await
        .file("a.bat", "\u{feff}one\r\ntwo\r\n")
        .ready()
        .await;
    let path = bay.root().join("a.bat");
    set_mode(&path, 0o755);
    succeeded(&call(&bay, "Read", json!({"file_path": path})).await);
    let edit = json!({"file_path": path, "old_string": "one\ntwo", "new_string": "1\n2\n3"});
    succeeded(&call(&bay, "Edit", edit).await);
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "\u{feff}1\r\n2\r\n3\r\n"
    );
    assert_eq!(mode(&path), 0o755);
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_and_nobody_waits_for_it() {
    let bay = bay().await.root_also("/dev".into()).ready().await;
    let fifo = bay.root().join("fifo");
    make_fifo(&fifo);
    let socket = bay.root().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    symlink("fifo", bay.root().join("link")).unwrap();
    for (path, word) in [
        (fifo.clone(), "not a regular file"),
        (bay.root().join("link"), "not a regular file"),
        (socket.clone(), "not a regular file"),
        ("/dev/null".into(), "may not be read"),
        ("/dev/zero".into(), "may not be read"),
        (bay.root().to_path_buf(), "folder"),
    ] {
        let read = call(&bay, "Read", json!({"file_path": path})).await;
        refused(&read, &[word, path.to_str().unwrap()]);
        let write = json!({"file_path": path, "content": "x"});
        refused(&call(&bay, "Write", write).await, &[]);
        let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        refused(&call(&bay, "Edit", edit).await, &[]);
    }
    // A search meets them on its way and goes on.
    std::fs::write(bay.root().join("a.txt"), "x\n").unwrap();
    let found = call(&bay, "Grep", json!({"pattern": "x"})).await;
    succeeded(&found);
    assert!(found.text().contains("a.txt"), "{}", found.text());
    let found = call(&bay, "Glob", json!({"pattern": "*"})).await;
    succeeded(&found);
}

#[tokio::test]
async fn a_link_inside_the_project_is_followed_and_stays() {
    let bay = bay().await.file("real/a.txt", "one\n").ready().await;
    let target = bay.root().join("real/a.txt");
    for (name, leads) in [
        ("relative", "real/a.txt".into()),
        ("absolute", target.clone()),
    ] {
        std::fs::write(&target, "one\n").unwrap();
        let link = bay.root().join(name);
        symlink(&leads, &link).unwrap();
        let read = call(&bay, "Read", json!({"file_path": link})).await;
        succeeded(&read);
        let edit = json!({"file_path": link, "old_string": "one", "new_string": "two"});
        succeeded(&call(&bay, "Edit", edit).await);
        assert_eq!(std::fs::read(&target).unwrap(), b"two\n", "{name}");
        let write = json!({"file_path": link, "content": "three\n"});
        succeeded(&call(&bay, "Write", write).await);
        assert_eq!(std::fs::read(&target).unwrap(), b"three\n", "{name}");
        assert_eq!(std::fs::read_link(&link).unwrap(), leads, "{name}");
    }
}

#[tokio::test]
async fn a_link_to_a_folder_inside_the_project_is_followed() {
    let bay = bay().await.file("real/a.txt", "one\n").ready().await;
    let real = bay.root().join("real");
    for (name, leads) in [("relative", "real".into()), ("absolute", real.clone())] {
        symlink(&leads, bay.root().join(name)).unwrap();
        std::fs::write(real.join("a.txt"), "one\n").unwrap();
        let path = bay.root().join(name).join("a.txt");
        succeeded(&call(&bay, "Read", json!({"file_path": path})).await);
        let edit = json!({"file_path": path, "old_string": "one", "new_string": "two"});
        succeeded(&call(&bay, "Edit", edit).await);
        assert_eq!(
            std::fs::read(real.join("a.txt")).unwrap(),
            b"two\n",
            "{name}"
        );
        let path = bay.root().join(name).join("below").join(name);
        let write = json!({"file_path": path, "content": "new\n"});
        succeeded(&call(&bay, "Write", write).await);
        let written = std::fs::read(real.join("below").join(name)).unwrap();
        assert_eq!(written, b"new\n", "{name}");
        let found = call(&bay, "Grep", json!({"pattern": "two", "path": name})).await;
        assert!(found.text().contains("a.txt"), "{name}: {}", found.text());
    }
}

#[tokio::test]
async fn a_link_that_leads_out_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "secret\n").unwrap();
    // Nobody says yes here: what lies outside may be read if a person allows it.
    let bay = TestBay::new().builtins().await.allow("Edit").ready().await;
    symlink(&secret, bay.root().join("file")).unwrap();
    symlink(outside.path(), bay.root().join("folder")).unwrap();
    symlink("gone", bay.root().join("nowhere")).unwrap();
    symlink("circle", bay.root().join("circle")).unwrap();
    for path in ["file", "folder/secret.txt", "nowhere", "circle"] {
        let read = call(&bay, "Read", json!({"file_path": path})).await;
        refused(&read, &[]);
        assert!(!read.text().contains("secret\n"), "{}", read.text());
    }
    for path in ["folder/new.txt", "circle"] {
        let edit = json!({"file_path": path, "old_string": "", "new_string": "x"});
        refused(&call(&bay, "Edit", edit).await, &[]);
    }
    let found = call(&bay, "Grep", json!({"pattern": "secret"})).await;
    assert!(!found.text().contains("secret.txt"), "{}", found.text());
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read(&secret).unwrap(), b"secret\n");
}

#[tokio::test]
async fn what_is_too_large_is_refused_in_a_sentence() {
    let bay = bay().await.ready().await;
    let path = bay.root().join("large.txt");
    std::fs::write(&path, "a line of a large file\n".repeat(800_000)).unwrap();
    let read = json!({"file_path": path, "limit": 1});
    succeeded(&call(&bay, "Read", read).await);
    let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    refused(&call(&bay, "Edit", edit).await, &["at most 16777216"]);
    let write = json!({"file_path": "new.txt", "content": "x".repeat(17 << 20)});
    refused(&call(&bay, "Write", write).await, &["at most 16777216"]);
    assert!(!bay.root().join("new.txt").exists());
    let write = json!({"file_path": "new.txt", "content": "x".repeat(16 << 20)});
    succeeded(&call(&bay, "Write", write).await);
}

// There is no portable call for this in the standard library.
#[allow(clippy::disallowed_methods)]
fn make_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}
