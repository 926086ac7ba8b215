//! git obeys the settings of what looks like a repository. No command gives a folder of the user's such looks,
//! and none takes them from a repository, so that git would go on to the folder around it.

use std::path::Path;
use std::process::Output;

use crate::world::{ALONE, KINDS, User, World, left_out};

const MARK: &str = "ran-outside";
/// What git runs of a folder that looks like a repository, beside it.
const SETTINGS: &str = r#"printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = %s\n\tfsmonitor = %s/tool\n[alias]\n\tgo = !%s/tool\n' "$PWD" "$PWD" "$PWD" > config; \
    printf '#!/bin/sh\ntouch "$PROJECT/ran-outside"\n' > tool; chmod +x tool;"#;

/// Each makes a repository of the folder that it starts in, the last name in another way.
const LOOKS: &[(&str, &str)] = &[
    (
        "a written head",
        "mkdir objects refs; echo 'ref: refs/heads/x' > HEAD",
    ),
    (
        "a head that is made to be read",
        "mkdir objects refs; echo 'ref: refs/heads/x' > h; python3 -c 'import os; os.open(\"HEAD\", os.O_RDONLY | os.O_CREAT)'; cat h > HEAD",
    ),
    (
        "a moved head",
        "mkdir objects refs; echo 'ref: refs/heads/x' > h; mv h HEAD",
    ),
    (
        "a head with two names",
        "mkdir objects refs; echo 'ref: refs/heads/x' > h; ln h HEAD",
    ),
    (
        "a head that is a link",
        "mkdir objects refs; ln -s refs/heads/x HEAD",
    ),
    (
        "a head that is made as a node",
        "mkdir objects refs; python3 -c 'import os; os.mknod(\"HEAD\", 0o100644)'; echo 'ref: refs/heads/x' > HEAD",
    ),
    (
        "folders last",
        "echo 'ref: refs/heads/x' > HEAD; mkdir objects; mkdir refs",
    ),
    (
        "folders in the other order",
        "echo 'ref: refs/heads/x' > HEAD; mkdir refs; mkdir objects",
    ),
    (
        "a moved folder",
        "echo 'ref: refs/heads/x' > HEAD; mkdir refs o; mv o objects",
    ),
    (
        "a linked folder",
        "echo 'ref: refs/heads/x' > HEAD; mkdir refs; ln -s refs objects",
    ),
    (
        "files instead of folders",
        "echo 'ref: refs/heads/x' > HEAD; mkdir objects; echo > refs; chmod +x refs",
    ),
    (
        "folders elsewhere",
        "mkdir -p common/objects common/refs; cp config common/config; echo common > commondir; echo 'ref: refs/heads/x' > HEAD",
    ),
    (
        "folders elsewhere, last",
        "mkdir -p common/objects common/refs; cp config common/config; echo 'ref: refs/heads/x' > HEAD; echo common > commondir",
    ),
    (
        "git itself",
        "git init -q --bare new; cp new/HEAD HEAD; cp -r new/objects new/refs .",
    ),
    (
        "an unpacked archive",
        "mkdir a; cd a; mkdir b; echo 'ref: refs/heads/x' > b/h; tar -cf x.tar --transform=s/h/HEAD/ b/h; cd ..; mkdir objects refs; tar -xf a/x.tar --strip-components=1",
    ),
];

/// Each takes its looks from the repository of the project.
const SPOILED: &[(&str, &str)] = &[
    ("a removed head", "rm -f .git/HEAD"),
    ("a moved head", "mv .git/HEAD .git/ORIG_HEAD"),
    ("an emptied head", ": > .git/HEAD"),
    (
        "a cut head",
        "truncate -s 0 .git/HEAD; python3 -c 'import os; os.truncate(os.open(\".git/HEAD\", os.O_RDWR), 0)'",
    ),
    ("a head of another kind", "rm -f .git/HEAD; mkdir .git/HEAD"),
    (
        "another text",
        "echo x > .git/HEAD.lock; mv -f .git/HEAD.lock .git/HEAD",
    ),
    (
        "another text with two names",
        "echo x > .git/HEAD.lock; ln -f .git/HEAD.lock .git/HEAD",
    ),
    (
        "an exchanged head",
        "echo x > .git/ORIG_HEAD; python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\".git/ORIG_HEAD\", -100, b\".git/HEAD\", 2); ctypes.CDLL(None).renameat2(-100, b\".git/HEAD\", -100, b\".git/ORIG_HEAD\", 2)'",
    ),
    (
        "a head that is open",
        "exec 3> .git/HEAD.lock; echo 'ref: refs/heads/x' >&3; mv -f .git/HEAD.lock .git/HEAD; : > /proc/self/fd/3; truncate -s 0 /dev/fd/3",
    ),
    ("an unreadable head", "chmod 0 .git/HEAD"),
    (
        "an unreadable new head",
        "echo 'ref: refs/heads/x' > .git/HEAD.lock; chmod 0 .git/HEAD.lock; mv -f .git/HEAD.lock .git/HEAD",
    ),
    ("removed branches", "rm -rf .git/refs; rmdir .git/refs"),
    ("removed objects", "rm -rf .git/objects; rmdir .git/objects"),
    (
        "moved branches",
        "mv .git/refs .git/logs; mv -T .git/refs .git/lfs",
    ),
    ("closed branches", "chmod 0 .git/refs; chmod 0 .git"),
    ("closed objects", "chmod 0 .git/objects"),
    (
        "a list of who may",
        "python3 -c 'import os, struct
for path in [\".git\", \".git/refs\", \".git/objects\", \".git/HEAD\"]:
    entries = [(1, 0, -1), (4, 0, -1), (16, 0, -1), (32, 0, -1)]
    text = struct.pack(\"<I\", 2) + b\"\".join(struct.pack(\"<HHi\", *one) for one in entries)
    try: os.setxattr(path, \"system.posix_acl_access\", text)
    except OSError: pass'",
    ),
];

fn outside(world: &World, script: &str) -> Output {
    let script = format!(
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; {script}"
    );
    world.outside(&["bash", "-c", &script]).output().unwrap()
}

fn fresh(world: &World, make: &str) {
    let _ = outside(world, "chmod -R u+rwX .git");
    world.fresh_project();
    let made = outside(
        world,
        &format!(
            "set -e; rm -rf .git nested deep; git init -q; git add README; git commit -qm first; {make}"
        ),
    );
    assert!(made.status.success(), "{made:?}");
}

/// In each cage; what is wrong is told.
fn in_each(profiles: &[&'static str], test: impl Fn(&World, &str, &str) -> Vec<String>) {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let mut wrong = Vec::new();
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "lookalikes");
            let trial = world.caged(kind, "workspace", &[], "true");
            if trial.status.code() == Some(99) {
                left_out(kind, user, String::from_utf8_lossy(&trial.stderr).trim());
                continue;
            }
            for profile in profiles {
                let found = test(&world, kind, profile).into_iter();
                let who = user.name();
                wrong.extend(found.map(|what| format!("{kind} as {who}, {profile}: {what}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

fn has_run(world: &World, folder: &str) -> bool {
    let _ = outside(world, &format!("cd {folder}; git status; git diff; git go"));
    world.project().join(MARK).exists()
}

#[test]
fn no_folder_gets_the_looks_of_a_repository() {
    in_each(&["workspace"], |world, kind, profile| {
        let mut wrong = Vec::new();
        for (name, look) in LOOKS {
            let script = format!("mkdir sub; cd sub; {SETTINGS} {look}; true");
            fresh(world, "true");
            let caged = world.caged(kind, profile, &[], &script);
            assert!(caged.status.success(), "{name}: {caged:?}");
            if has_run(world, "sub") {
                wrong.push(format!("{name}: {caged:?}"));
            }
            // The control: without the cage it is one.
            if kind == "namespaces" {
                fresh(world, "true");
                let made = outside(world, &script);
                assert!(has_run(world, "sub"), "{name} shows nothing: {made:?}");
            }
        }
        wrong
    });
}

#[test]
fn a_repository_keeps_its_looks() {
    in_each(&["git"], |world, kind, profile| {
        let mut wrong = Vec::new();
        for (name, spoil) in SPOILED {
            fresh(world, "git pack-refs --all --prune");
            let caged = world.caged(kind, profile, &[], &format!("{spoil}; true"));
            assert!(caged.status.success(), "{name}: {caged:?}");
            let found = outside(world, "git rev-parse --git-dir");
            if found.stdout != b".git\n" {
                wrong.push(format!("{name}: {found:?}, {caged:?}"));
            }
        }
        wrong
    });
}

/// The whole of it: no repository any more, and its folder looks like one.
#[test]
fn the_project_does_not_take_the_place_of_its_repository() {
    in_each(&["git"], |world, kind, profile| {
        let script = format!("{SETTINGS} rm -f .git/HEAD; {}; true", LOOKS[0].1);
        fresh(world, "true");
        let caged = world.caged(kind, profile, &[], &script);
        let has_run = has_run(world, ".");
        has_run.then(|| format!("{caged:?}")).into_iter().collect()
    });
}

#[test]
fn names_and_repositories_stay_usable() {
    const SCRIPTS: [&str; 6] = [
        "mkdir -p sub/objects sub/refs sub/HEAD.d; echo x > sub/head.txt; rm -r sub",
        "mkdir objects refs; rmdir refs; echo x > HEAD; rm HEAD; mkdir refs",
        "git init -q --bare $TMPDIR/x.git; git -C $TMPDIR/x.git rev-parse",
        // One that the user has made.
        "cd bare.git; mkdir -p refs/heads/x objects/zz; echo 'ref: refs/heads/y' > HEAD.lock; mv HEAD.lock HEAD; rm HEAD; mkdir objects/HEAD",
        "cd bare.git; mv HEAD H; git -C .. rev-parse --git-dir | grep -qx .git",
        "mkdir a; for i in 1 2 3 4; do (for n in 1 2 3 4 5 6 7 8; do mkdir -p a/refs; rmdir a/refs 2> /dev/null; done) & done; wait",
    ];
    in_each(&["workspace", "git"], |world, kind, profile| {
        let wrong = SCRIPTS.iter().filter_map(|script| {
            fresh(world, "git init -q --bare bare.git");
            let caged = world.caged(kind, profile, &[], &format!("set -e; {script}"));
            (!caged.status.success()).then(|| format!("{script}: {caged:?}"))
        });
        wrong.collect()
    });
}
