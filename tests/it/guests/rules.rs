//! Deny rules about paths hold inside every sandbox, whatever the way to the file.

use std::os::unix::fs::symlink;

use serde_json::json;
use toolbay_contract::AuditEvent;
use toolbay_tests::bay::Running;

use super::{Disk, Report, act, assert_still_serves, everything_in, rogue_bay, stock};

const SECRET: &str = "the launch code is 0000";

/// Rules that close the same file: by its folder, its path, its name.
const RULES: [&str; 6] = [
    "Read(./secret/**)",
    "Read(./secret)",
    "Read(./secret/)",
    "Read(./secret/key.txt)",
    "Read(key.txt)",
    "Read(**/*.txt)",
];

async fn with_secret(rule: &str) -> Running {
    let bay = rogue_bay()
        .await
        .file("secret/key.txt", SECRET)
        .file("plain.md", "open to all")
        .deny(rule)
        .says_yes();
    let root = bay.root();
    std::fs::create_dir(root.join("secret/victim_dir")).unwrap();
    symlink("secret", root.join("alias")).unwrap();
    symlink("secret/key.txt", root.join("link.md")).unwrap();
    bay.ready().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_file_cannot_be_read_in_any_way() {
    for rule in RULES {
        let running = with_secret(rule).await;
        let root = running.root().to_path_buf();
        for (path, read_only) in [
            ("secret/key.txt", true),
            ("secret/key.txt", false),
            ("alias/key.txt", true),
            ("alias/key.txt", false),
            ("link.md", true),
            ("link.md", false),
        ] {
            let before = Disk::of(&[&root.join("secret")]);
            let result = act(
                &running,
                "read-every-way",
                json!({"path": root.join(path), "claims_read_only": read_only}),
            )
            .await;
            let case = format!("{rule} {path} read-only: {read_only}");

            let report = Report::of(&result);
            let succeeded = report.succeeded();
            // The link is no secret; what it leads to is.
            let about_the_link = [
                "symlink-metadata",
                "read-link",
                "raw-stat-at",
                "raw-readlink-at",
            ];
            // Which file it is stands in every list of names; see below.
            let harmless = |name: &&str| {
                *name == "raw-metadata-hash-at"
                    || path == "link.md" && about_the_link.contains(name)
            };
            assert!(succeeded.iter().all(harmless), "{case}: {succeeded:?}");
            assert!(!everything_in(&result).contains(SECRET), "{case}");
            before.assert_unchanged();

            let events = running.events.take();
            let told = events.iter().any(|event| {
                matches!(event, AuditEvent::PowerRefused { plugin, detail, path: Some(path), .. }
                    if plugin == "Rogue" && detail.contains(rule) && path.ends_with("secret/key.txt"))
            });
            assert!(told, "{case}: {events:?}");
        }
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_about_files_hide_no_names() {
    // Rules guard contents: a folder that shows less than it holds would only
    // confuse whoever counts, copies or commits it.
    for rule in ["Read(./secret/key.txt)", "Read(./secret/*)"] {
        let running = with_secret(rule).await;
        let path = running.root().join("secret/key.txt");
        let result = act(&running, "read-every-way", json!({"path": path})).await;
        let report = Report::of(&result);
        let value = |name: &str| report.tried(name)["value"].clone();
        assert_eq!(value("names-in-parent"), json!(["key.txt", "victim_dir"]));
        assert_eq!(value("search-files-in-parent"), json!([path]), "{rule}");
        assert_eq!(value("search-matches-in-parent"), json!([]), "{rule}");
    }
    // A rule about the folder itself, or all in it, closes its list of names too.
    for rule in ["Read(./secret)", "Read(./secret/**)"] {
        let running = with_secret(rule).await;
        let path = running.root().join("secret/key.txt");
        let report = Report::of(&act(&running, "read-every-way", json!({"path": path})).await);
        assert_eq!(
            report.tried("names-in-parent")["ok"],
            json!(false),
            "{rule}"
        );
        assert_eq!(
            report.tried("search-files-in-parent")["ok"],
            json!(false),
            "{rule}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_file_cannot_be_written_in_any_way() {
    // By the file, by the folder's content, by the folder, and what may not be read.
    for rule in [
        "Edit(./dir/victim.txt)",
        "Write(./dir/victim.txt)",
        "Edit(./dir/**)",
        "Edit(./dir)",
        "Read(./dir/victim.txt)",
        "Read(./dir)",
    ] {
        let bay = rogue_bay().await.deny(rule).says_yes();
        let root = bay.root();
        let dir = root.join("dir");
        stock(&dir);
        symlink("dir/victim.txt", root.join("by_link.txt")).unwrap();
        let running = bay.ready().await;
        let locked = Disk::of(&[&dir]);

        let input = json!({"dir": dir, "claims_read_only": false});
        let report = Report::of(&act(&running, "write-every-way", input).await);

        let victim = dir.join("victim.txt");
        assert_eq!(
            locked.0.get(&victim),
            Disk::of(&[&dir]).0.get(&victim),
            "{rule}"
        );
        assert!(report.refused().contains(&"rename-parent"), "{rule}");
        if rule.ends_with("dir)") {
            assert_eq!(report.succeeded(), ["session-put"], "{rule}");
            locked.assert_unchanged();
        }
        let events = running.events.take();
        let told = events.iter().any(|event| {
            matches!(event, AuditEvent::PowerRefused { detail, .. } if detail.contains(rule))
        });
        assert!(told, "{rule}: {events:?}");
        assert_still_serves(&running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_any_depth_can_be_checked_before_it_is_renamed() {
    // As deep as a path can be: a check that recursed would overflow its stack.
    let bay = rogue_bay().await.deny("Edit(./locked.txt)").says_yes();
    let dir = bay.root().join("dir");
    stock(&dir);
    let deep = dir.join("d/".repeat(1_900));
    std::fs::create_dir_all(&deep).unwrap();
    let running = bay.ready().await;
    let input = json!({"dir": dir, "claims_read_only": false});
    let report = Report::of(&act(&running, "write-every-way", input).await);
    assert_eq!(report.tried("rename-parent"), &json!({"ok": true}));
    assert!(deep.is_dir());
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_file_can_still_be_read() {
    let running = rogue_bay()
        .await
        .file("locked.txt", "look, do not touch")
        .deny("Edit(./locked.txt)")
        .ready()
        .await;
    let path = running.root().join("locked.txt");
    let report = Report::of(&act(&running, "read-every-way", json!({"path": path})).await);
    assert_eq!(report.tried("read")["value"], "look, do not touch");
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_names_a_denied_path_does_not_start() {
    let running = with_secret("Read(./secret/**)").await;
    for subject in [
        "secret/key.txt",
        "alias/key.txt",
        "link.md",
        "./secret/../secret/key.txt",
    ] {
        let result = act(&running, "ok", json!({"subject": subject})).await;
        let text = result.text();
        assert!(
            result.is_error && text.contains("is closed by `Read(./secret/**)`"),
            "{subject}: {text}"
        );
    }
    assert_still_serves(&running).await;
}
