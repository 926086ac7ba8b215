//! A tool that claims to be read-only and then writes in every way there is; and
//! one that may write, but not there.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolbay_contract::{AuditEvent, Behavior, Failure};
use toolbay_tests::bay::{Running, TestBay};

use super::{Disk, Report, act, assert_still_serves, rogue_bay, stock};

/// Powers that the audit log must have heard of when everything was tried.
const REFUSED_POWERS: [&str; 9] = [
    "files: open for writing",
    "files: create-directory",
    "files: unlink-file",
    "files: remove-directory",
    "files: rename",
    "files: link",
    "files: symlink",
    "files: set-times",
    "files.replace",
];

/// A folder outside the project that the session has as a second root.
fn second_root() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    stock(&real);
    (folder, real)
}

async fn assert_liar_is_caught(running: &Running, dir: &Path, other: Option<&Path>) {
    let mut folders = vec![running.root()];
    folders.extend(other);
    let before = Disk::of(&folders);

    let result = act(
        running,
        "write-every-way",
        json!({"dir": dir, "other_dir": other, "claims_read_only": true}),
    )
    .await;

    let report = Report::of(&result);
    assert_eq!(report.succeeded(), Vec::<&str>::new());
    assert!(report.refused().len() >= 45, "{:?}", report.refused());
    before.assert_unchanged();
    let refusals = running.refusals();
    for power in REFUSED_POWERS.into_iter().chain(["session.put"]) {
        assert!(
            refusals.iter().any(|(refused, _)| refused == power),
            "{power} is not in the log: {refusals:?}"
        );
    }
    assert_eq!(running.session.get("Rogue", "mark"), None);
    assert_still_serves(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_call_cannot_write_in_its_root() {
    let bay = rogue_bay().await;
    stock(&bay.root());
    stock(&bay.root().join("below"));
    let running = bay.ready().await;
    let root = running.root().to_path_buf();
    assert_liar_is_caught(&running, &root.join("below"), None).await;
    assert_liar_is_caught(&running, &root, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_call_cannot_write_from_one_root_into_another() {
    let (_folder, other) = second_root();
    let bay = rogue_bay().await.root_also(other.clone());
    stock(&bay.root());
    std::os::unix::fs::symlink(&other, bay.root().join("link_to_other")).unwrap();
    let running = bay.ready().await;
    let root = running.root().to_path_buf();
    assert_liar_is_caught(&running, &root, Some(&other)).await;
    assert_liar_is_caught(&running, &other, Some(&root)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allow_rule_does_not_let_a_read_only_call_write() {
    let bay = rogue_bay()
        .await
        .allow("Rogue")
        .allow("Edit(./**)")
        .says_yes();
    stock(&bay.root());
    let running = bay.ready().await;
    let root = running.root().to_path_buf();
    assert_liar_is_caught(&running, &root, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_admits_to_write_does_not_run_without_permission() {
    let bay = rogue_bay().await;
    stock(&bay.root());
    let running = bay.ready().await;
    let before = Disk::of(&[running.root()]);

    let input = json!({"dir": running.root(), "claims_read_only": false});
    let result = act(&running, "write-every-way", input).await;

    assert_eq!(
        result.failure,
        Some(Failure::Denied("the test says no".into()))
    );
    before.assert_unchanged();
    let events = running.events.take();
    assert!(
        matches!(
            &events[..],
            [AuditEvent::Decided(asked), AuditEvent::Decided(answered)]
                if asked.tool == "Rogue"
                    && asked.ruling == Behavior::Ask
                    && answered.ruling == Behavior::Deny
        ),
        "{events:?}"
    );
    assert_still_serves(&running).await;
}

/// Runs the act with the zone of a file in `open/` (there are also `closed/` and a
/// second root), and gives back the report.
async fn in_zone(running: &Running, dir: &Path, other: Option<&Path>) -> Report {
    let result = act(
        running,
        "write-every-way",
        json!({
            "dir": dir,
            "other_dir": other,
            "claims_read_only": false,
            "subject": running.root().join("open"),
        }),
    )
    .await;
    Report::of(&result)
}

fn zoned(bay: TestBay) -> TestBay {
    for folder in ["open", "closed"] {
        stock(&bay.root().join(folder));
    }
    std::os::unix::fs::symlink("../closed", bay.root().join("open/link_to_other")).unwrap();
    bay.says_yes()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permit_for_one_folder_opens_no_other() {
    let (_folder, other) = second_root();
    let running = zoned(rogue_bay().await.root_also(other.clone()))
        .ready()
        .await;
    let root = running.root().to_path_buf();
    let (open, closed) = (root.join("open"), root.join("closed"));

    for dir in [&closed, &other, &root] {
        if *dir == root {
            stock(&root);
        }
        let before = Disk::of(&[&root, &other]);
        let report = in_zone(&running, dir, None).await;
        // What the session keeps is not a file.
        assert_eq!(report.succeeded(), ["session-put"], "{}", dir.display());
        before.assert_unchanged();
        let refusals = running.refusals();
        assert!(refusals.iter().any(|(power, _)| power == "files: rename"));
    }

    let before = Disk::of(&[&closed, &other]);
    let report = in_zone(&running, &open, Some(&closed)).await;
    before.assert_unchanged();
    for across in [
        "rename-across",
        "hard-link-across",
        "hard-link-across-back",
        "write-through-new-symlink",
        "write-through-old-symlink",
        "raw-rename-across",
        "raw-link-across",
        "files-replace-across",
        "rename-parent",
    ] {
        assert!(
            report.refused().contains(&across),
            "{across}: {}",
            report.tried(across)
        );
    }
    // And what was permitted works, or the refusals above would prove little.
    for allowed in ["create", "append", "rename", "files-replace", "unlink"] {
        assert!(
            report.succeeded().contains(&allowed),
            "{allowed}: {}",
            report.tried(allowed)
        );
    }
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permit_without_a_path_reaches_the_roots_and_no_further() {
    let (_folder, outside) = second_root();
    let bay = rogue_bay().await.says_yes();
    stock(&bay.root());
    std::os::unix::fs::symlink(&outside, bay.root().join("link_to_other")).unwrap();
    let running = bay.ready().await;
    let before = Disk::of(&[&outside]);

    let input = |dir: &Path| -> Value {
        json!({"dir": dir, "other_dir": outside, "claims_read_only": false})
    };
    let inside = Report::of(&act(&running, "write-every-way", input(running.root())).await);
    let beyond = Report::of(&act(&running, "write-every-way", input(&outside)).await);

    before.assert_unchanged();
    for name in inside.refused() {
        let expected = [
            "across",
            "through",
            "read-only-handle",
            "read-handle",
            "absolute",
            "rename-parent",
            "by-way-of-parent",
            // A folder's own times are not inside it.
            "raw-folder-set-times",
            // Nothing is left of it by then.
            "remove-all",
        ];
        assert!(
            expected.iter().any(|part| name.contains(part)),
            "{name}: {}",
            inside.tried(name)
        );
    }
    assert_eq!(beyond.succeeded(), ["session-put"]);
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_leads_out_cannot_be_made_in_any_number_of_steps() {
    let bay = rogue_bay().await.says_yes();
    let running = bay.ready().await;

    let input = json!({"dir": running.root(), "claims_read_only": false});
    let report = Report::of(&act(&running, "plant-links", input).await);

    assert_eq!(report.succeeded(), Vec::<&str>::new());
    // The harmless steps on the way were not what was refused.
    for step in ["one/two/three/up", "a/b/c/link", "d/e/f/link", "g/h/i/link"] {
        assert!(running.root().join(step).is_symlink(), "{step}");
    }
    let leading_out: Vec<PathBuf> = links_below(running.root())
        .into_iter()
        .filter(|link| !leads_inside(link, running.root()))
        .collect();
    assert_eq!(leading_out, Vec::<PathBuf>::new());
    let refusals = running.refusals();
    assert!(refusals.iter().any(|(power, _)| power == "files: symlink"));
    assert_still_serves(&running).await;
}

fn links_below(folder: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            links.push(entry.path());
        } else if kind.is_dir() {
            links.extend(links_below(&entry.path()));
        }
    }
    links
}

/// Follows the link as another program would; the last name need not exist.
fn leads_inside(link: &Path, root: &Path) -> bool {
    let target = link
        .parent()
        .unwrap()
        .join(std::fs::read_link(link).unwrap());
    let folder = target.parent().unwrap().canonicalize().unwrap();
    let real = folder.join(target.file_name().unwrap_or_default());
    real.canonicalize().unwrap_or(real).starts_with(root)
}
