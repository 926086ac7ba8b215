//! Zones as a host uses them: what can be one, what one opens, and what happens to one meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolbay_sandbox::cage::{CageZone, Closed, Enclosure, GitAccess, How, Profile};

use crate::api::{cages, command, enclosure};
use crate::endings::times;
use crate::world::ALONE;
use crate::zones::snapshot;

const NOTHING: [PathBuf; 0] = [];
const WORKSPACE: Profile = Profile::Workspace {
    git: GitAccess::ReadOnly,
};

fn project() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    for part in [
        "src/deep",
        ".github/workflows/.vscode",
        ".claude/skills/.git",
        "docs",
        "../outside",
    ] {
        fs::create_dir_all(root.join(part)).unwrap();
    }
    for file in ["src/a", "src/deep/b", ".mcp.json", "docs/c", "../outside/d"] {
        fs::write(root.join(file), "mine\n").unwrap();
    }
    symlink("../outside", root.join("out")).unwrap();
    symlink("src/a", root.join("link")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    (folder, root)
}

async fn works(enclosure: &Enclosure, root: &Path, script: &str) -> bool {
    let ended = enclosure.run(&command(root, script), &mut |_, _| {}).await;
    ended.unwrap().how == How::Exit(0)
}

#[test]
fn zones_never_widen() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let (_folder, root) = project();
    let enclosure = enclosure(&root);
    let file = |part: &str| CageZone::File(root.join(part));
    let folder = |part: &str| CageZone::Folder(root.join(part));
    for zone in [
        folder(".."),
        folder("../outside"),
        folder("out"),
        folder("missing"),
        folder("src/a"),
        file("src"),
        file("out/d"),
        file("out/new"),
        file("../outside/d"),
        file("dangling"),
        file("missing/new"),
        file("src/.."),
        CageZone::File("src/a".into()),
        CageZone::Folder("/etc".into()),
        CageZone::Folder("/proc/self".into()),
    ] {
        let narrowed = enclosure.narrowed(std::slice::from_ref(&zone));
        let error = narrowed.err().map(|error| error.to_string());
        assert!(error.is_some(), "{zone:?}");
    }
}

#[test]
fn what_is_said_to_be_writable_follows_from_zones_and_what_is_closed() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let (_folder, root) = project();
    let wide = enclosure(&root);
    assert_eq!(wide.writable(WORKSPACE), std::slice::from_ref(&root));
    assert_eq!(wide.writable(Profile::ReadOnly), NOTHING);
    let narrow = wide
        .narrowed(&[
            CageZone::Folder(root.join("src")),
            // Open with the folder around it, unlike what is protected there.
            CageZone::File(root.join("link")),
            CageZone::File(root.join("src/.envrc")),
            CageZone::File(root.join("docs/c")),
        ])
        .unwrap();
    let expected = ["docs/c", "src", "src/.envrc"].map(|part| root.join(part));
    assert_eq!(narrow.writable(WORKSPACE), expected);
    assert_eq!(narrow.writable(Profile::ReadOnly), NOTHING);
    let closed = Closed {
        unreadable: vec![root.join("docs")],
        unwritable: vec![root.join("src/.envrc")],
        ..Closed::default()
    };
    let closing = narrow.closing(&closed).unwrap();
    assert_eq!(closing.writable(WORKSPACE), [root.join("src")]);
    // Narrowing again starts from the session, and keeps what is closed.
    let again = closing.narrowed(&[CageZone::Folder(root.join("docs"))]);
    assert_eq!(again.unwrap().writable(WORKSPACE), NOTHING);
    assert_eq!(wide.narrowed(&[]).unwrap().writable(WORKSPACE), NOTHING);
}

#[tokio::test]
async fn a_zone_opens_what_was_named_and_nothing_beside_it() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let (_folder, root) = project();
    for (kind, wide) in cages(&root) {
        let zones = [
            CageZone::Folder(root.join(".github/workflows")),
            CageZone::Folder(root.join(".claude/skills")),
            CageZone::Folder(root.join("src")),
            CageZone::File(root.join(".mcp.json")),
            CageZone::File(root.join("docs/new")),
            CageZone::File(root.join("src/.envrc")),
        ];
        let narrow = wide.narrowed(&zones).unwrap();
        let closed = Closed {
            unreadable: vec![],
            unwritable: vec![root.join("src/deep")],
            ..Closed::default()
        };
        let narrow = narrow.closing(&closed).unwrap();
        for (script, expected) in [
            ("echo x > .github/workflows/ci.yml", true),
            ("echo x > .github/other", false),
            ("touch .github/workflows/.vscode/x", false),
            ("mkdir .github/workflows/.idea", false),
            ("mv .github/workflows .github/w", false),
            ("rm -r .github", false),
            (
                "mkdir .claude/skills/mine && mv .claude/skills/mine .claude/skills/m",
                true,
            ),
            ("touch .claude/skills/.git/x", false),
            ("echo x > .claude/settings.json", false),
            ("echo x > src/b && mv src/b src/c && rm src/c", true),
            ("echo x > src/.ENVRC", false),
            (
                "echo x > src/.envrc && chmod +x src/.envrc && test -x src/.envrc",
                true,
            ),
            ("rm src/.envrc", false),
            ("mkdir src/.vscode", false),
            ("echo x > src/deep/b", false),
            ("mv src/deep src/d", false),
            ("mv src s", false),
            ("rmdir src", false),
            ("echo x >> .mcp.json && truncate -s 1 .mcp.json", true),
            ("rm .mcp.json", false),
            (
                "echo x > src/y && mv -n src/y .mcp.json && test ! -e src/y",
                false,
            ),
            ("ln .mcp.json src/m", false),
            ("mkdir docs/new", false),
            ("ln -s /etc docs/new", false),
            (
                "test ! -e docs/new && echo x > docs/new && echo y >> docs/new && touch docs/new",
                true,
            ),
            (
                "chmod 755 docs/new && touch -d 2001-01-01 docs/new && test -x docs/new",
                true,
            ),
            (
                "python3 -c 'open(\"docs/new\",\"r+\").write(\"z\")' && grep -q z docs/new",
                true,
            ),
            (
                "truncate -s 0 docs/new && (echo a > /dev/fd/3) 3>> docs/new && test -s docs/new",
                true,
            ),
            ("rm docs/new", false),
            ("mv docs/new docs/newer", false),
            ("echo x > docs/other", false),
            ("echo x > docs/c", false),
            ("chmod 777 docs/c || chmod 777 docs", false),
            ("touch docs", false),
            ("echo x > top", false),
            (
                "python3 -c 'import os; os.setxattr(\"docs/c\", \"user.x\", b\"y\")'",
                false,
            ),
            (
                "cat docs/c src/a >/dev/null && echo x > /tmp/t && mkdir /tmp/.git",
                kind != toolbay_sandbox::cage::Kind::Degraded,
            ),
            ("t=$(mktemp) && echo x > $t", true),
        ] {
            let done = works(&narrow, &root, script).await;
            assert_eq!(done, expected, "{kind:?} {script}");
        }
        // The same for a command that may write to repositories.
        let mut git = command(&root, "echo x > .github/other || echo x > .gitlab-ci.yml");
        git.profile = Profile::Workspace {
            git: GitAccess::Writes,
        };
        let ended = narrow.run(&git, &mut |_, _| {}).await.unwrap();
        assert_ne!(ended.how, How::Exit(0), "{kind:?}");
        assert!(works(&wide, &root, "rm -f docs/new src/y; echo mine > docs/c").await);
        fs::remove_file(root.join("src/.envrc")).unwrap();
    }
}

/// Another process swaps a folder for a link and back: at once, or when a command is under way.
fn swap(stop: &AtomicBool, folder: &Path, targets: &[PathBuf]) {
    let aside = folder.with_file_name("aside");
    let pauses = [300, 1_000, 4_000, 9_000, 20_000];
    for (target, pause) in targets.iter().cycle().zip(pauses.iter().cycle()) {
        fs::rename(folder, &aside).unwrap();
        symlink(target, folder).unwrap();
        std::thread::sleep(Duration::from_micros(400));
        fs::remove_file(folder).unwrap();
        fs::rename(&aside, folder).unwrap();
        std::thread::sleep(Duration::from_micros(*pause));
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// What a command tries in a folder that is swapped, and above it.
const EVIL: &str = "for f in a deep/b .envrc deep/new; do echo evil >> src/$f; : > src/$f; \
    chmod 777 src/$f src/deep src; mkdir src/deep/folder; rm src/deep/new; \
    touch -d 2001-01-01 src/$f; done 2>/dev/null; true";

/// Runs commands while a folder is swapped for links to others. Tells how many ran and how many
/// were refused.
fn run_meanwhile(wide: &Enclosure, root: &Path) -> (usize, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let zones = [
        CageZone::Folder(root.join("src/deep")),
        CageZone::File(root.join("src/a")),
        CageZone::File(root.join("src/.envrc")),
    ];
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..times(16) {
        let narrow = loop {
            let Ok(narrow) = wide.narrowed(&zones) else {
                refused += 1;
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            // Where a link stood at that moment, its target was named, and shown.
            let named = narrow.writable(WORKSPACE);
            if named.iter().all(|path| path.starts_with(root.join("src"))) {
                break narrow;
            }
        };
        let ended = runtime.block_on(narrow.run(&command(root, EVIL), &mut |_, _| {}));
        match ended {
            Ok(_) => ran += 1,
            Err(_) => refused += 1,
        }
    }
    (ran, refused)
}

#[test]
fn a_zone_that_is_swapped_for_a_link_opens_nothing_else() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for (swapped, up) in [("src", ""), ("src/deep", "../")] {
        let (_folder, root) = project();
        let others = [
            root.join("docs"),
            root.join("../outside").canonicalize().unwrap(),
        ];
        // Commands of the session may write to one of them and not to the other; neither was named.
        for place in &others {
            fs::create_dir_all(place.join("deep")).unwrap();
            for file in ["a", "new", "deep/b", "deep/new", ".envrc"] {
                fs::write(place.join(file), "mine\n").unwrap();
            }
        }
        let targets = [
            PathBuf::from(format!("{up}docs")),
            others[1].clone(),
            PathBuf::from(format!("{up}../outside")),
            others[0].clone(),
        ];
        for (kind, wide) in cages(&root) {
            let before = snapshot(&others);
            let stop = AtomicBool::new(false);
            let (ran, refused) = std::thread::scope(|scope| {
                scope.spawn(|| swap(&stop, &root.join(swapped), &targets));
                let done = run_meanwhile(&wide, &root);
                stop.store(true, Ordering::Relaxed);
                done
            });
            println!("{kind:?}, {swapped} swapped: {ran} commands ran, {refused} were refused");
            let after = snapshot(&others);
            let changed: Vec<&PathBuf> = before
                .keys()
                .chain(after.keys())
                .filter(|path| before.get(*path) != after.get(*path))
                .collect();
            assert!(changed.is_empty(), "{kind:?} {swapped}: {changed:?}");
        }
    }
}
