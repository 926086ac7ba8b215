//! Links with protected names, and links in protected folders: no command writes what they lead to,
//! whether it exists or not.

use std::os::unix::fs::symlink;
use std::path::Path;

use toolbay_sandbox::cage::How;

use crate::api::{command, enclosure};
use crate::world::{ALONE, KINDS, User, World, left_out};

/// Links, what a command tries, and the protected name that must lead to the same as before.
struct Case {
    name: &'static str,
    make: &'static str,
    attack: &'static str,
    read: &'static str,
}

const fn case(
    name: &'static str,
    make: &'static str,
    attack: &'static str,
    read: &'static str,
) -> Case {
    Case {
        name,
        make,
        attack,
        read,
    }
}

const CASES: &[Case] = &[
    case(
        "a file that does not exist",
        "ln -s scripts/env .envrc",
        "mkdir -p scripts; echo x > scripts/env",
        ".envrc",
    ),
    case(
        "a folder that does not exist",
        "rm -r .claude; ln -s later .claude",
        "mkdir later; echo x > later/settings.json",
        ".claude/settings.json",
    ),
    case(
        "another folder in its place",
        "rm -r .claude; ln -s later .claude",
        "mkdir own; echo x > own/settings.json; mv own later; ln -s own later",
        ".claude/settings.json",
    ),
    case(
        "a hook that does not exist",
        "ln -s ../../x .git/hooks/pre-commit",
        "echo x > x",
        ".git/hooks/pre-commit",
    ),
    case(
        "a hook that exists",
        "mkdir tools; echo mine > tools/hook; ln -s ../../tools/hook .git/hooks/pre-commit",
        "echo x > tools/hook; rm tools/hook; mv tools t; mkdir tools; echo x > tools/hook",
        ".git/hooks/pre-commit",
    ),
    case(
        "a hook of a repository below",
        "ln -s ../../../x nested/.git/hooks/pre-commit",
        "echo x > x",
        "nested/.git/hooks/pre-commit",
    ),
    case(
        "settings of a repository",
        "mv .git/config c; ln -s ../c .git/config",
        "echo x >> c; rm c; echo x > c",
        ".git/config",
    ),
    case(
        "the end of a chain",
        "ln -s a .envrc; ln -s b/c a",
        "mkdir b; echo x > b/c",
        ".envrc",
    ),
    case(
        "a link of a chain",
        "ln -s a .envrc; ln -s b a; echo mine > b",
        "ln -sfn c a; rm a; echo x > a; echo x > c",
        ".envrc",
    ),
    case(
        "a loop",
        "ln -s l .envrc; ln -s .envrc l",
        "rm l; echo x > l",
        ".envrc",
    ),
    case(
        "dots behind what does not exist",
        "ln -s missing/../y .mcp.json",
        "mkdir missing; echo x > y",
        ".mcp.json",
    ),
    case(
        "a link in the place of what does not exist",
        "ln -s missing/../y .mcp.json",
        "mkdir -p q/w; echo x > q/y; ln -s q/w missing",
        ".mcp.json",
    ),
    case(
        "a link in the place of a folder",
        "mkdir d; ln -s d/../y .mcp.json",
        "mkdir -p q/w; echo x > q/y; rmdir d; ln -s q/w d",
        ".mcp.json",
    ),
    case(
        "a link in a protected folder",
        "rm .claude/settings.json; ln -s ../shared.json .claude/settings.json",
        "echo x > shared.json",
        ".claude/settings.json",
    ),
    case(
        "a link in what a protected name leads to",
        "rm -r .claude; mkdir shared; ln -s shared .claude; ln -s ../tools/hook shared/hook",
        "mkdir tools; echo x > tools/hook",
        ".claude/hook",
    ),
    case(
        "an absolute path",
        "ln -s $PROJECT/abs .envrc",
        "echo x > abs",
        ".envrc",
    ),
    case(
        "a way through another folder",
        "ln -sfn $PROJECT/back $OUTSIDE/link; ln -s $OUTSIDE/link .envrc",
        "echo x > back",
        ".envrc",
    ),
    case(
        "a way through a folder that cannot be read",
        "mkdir dark; ln -s dark/env .envrc; chmod 000 dark",
        "chmod 700 dark; echo x > dark/env",
        ".envrc",
    ),
    case(
        "a name below the top",
        "ln -s ../../../x deep/a/b/.envrc",
        "echo x > x",
        "deep/a/b/.envrc",
    ),
];

#[test]
fn no_command_writes_what_a_protected_link_leads_to() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let mut open = Vec::new();
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "links");
            for case in CASES {
                for profile in ["workspace", "git"] {
                    let name = format!("{} in {kind}, {profile}, {}", case.name, user.name());
                    match one(&world, kind, profile, case) {
                        Tried::NoCage(why) => left_out(kind, user, &why),
                        Tried::Held => {}
                        Tried::Open(what) => open.push(format!("{name}: {what}")),
                    }
                }
            }
        }
    }
    assert!(open.is_empty(), "{}:\n{}", open.len(), open.join("\n"));
}

enum Tried {
    NoCage(String),
    Held,
    Open(String),
}

fn one(world: &World, kind: &str, profile: &str, case: &Case) -> Tried {
    let before = fresh(world, case);
    // Whatever fails, the rest is tried.
    let caged = world.caged(kind, profile, &[], case.attack);
    if caged.status.code() == Some(99) {
        return Tried::NoCage(String::from_utf8_lossy(&caged.stderr).into_owned());
    }
    let after = read(world, case);
    if after != before {
        return Tried::Open(format!("{before:?} became {after:?}: {caged:?}"));
    }
    // The case is worth something: the same without the cage changes it.
    fresh(world, case);
    world
        .outside(&["bash", "-c", case.attack])
        .output()
        .unwrap();
    let changed = read(world, case);
    assert_ne!(changed, before, "{} shows nothing", case.name);
    Tried::Held
}

fn fresh(world: &World, case: &Case) -> Option<String> {
    let unlocked = "test ! -e dark || chmod 700 dark";
    world.outside(&["bash", "-c", unlocked]).output().unwrap();
    world.fresh_project();
    let make = format!("set -e; {}", case.make);
    let made = world.outside(&["bash", "-c", &make]).output().unwrap();
    assert!(made.status.success(), "{}: {made:?}", case.name);
    read(world, case)
}

/// What a protected name leads to, if it leads anywhere.
fn read(world: &World, case: &Case) -> Option<String> {
    std::fs::read_to_string(world.project().join(case.read)).ok()
}

/// A checkout of the user's brings a link while a session runs.
#[test]
fn a_link_that_is_made_between_two_commands_counts_for_the_second() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("below")).unwrap();
    std::fs::write(root.join("below/.envrc"), "mine").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let enclosure = enclosure(&root);
    let writes = |file: &str| {
        let script = format!("mkdir -p scripts; echo x > {file}");
        let command = command(&root, &script);
        let ended = runtime.block_on(enclosure.run(&command, &mut |_, _| {}));
        ended.unwrap().how == How::Exit(0)
    };
    assert!(writes("scripts/env") && writes("scripts/other"));
    std::fs::remove_file(root.join("scripts/env")).unwrap();
    symlink("scripts/env", root.join(".envrc")).unwrap();
    assert!(!writes("scripts/env"));
    // A file with a protected name that has become a link, at any depth.
    std::fs::remove_file(root.join("below/.envrc")).unwrap();
    symlink("../scripts/other", root.join("below/.envrc")).unwrap();
    assert!(!writes("scripts/other"));
    // A link that leads elsewhere now.
    std::fs::remove_file(root.join(".envrc")).unwrap();
    symlink("scripts/third", root.join(".envrc")).unwrap();
    assert!(!writes("scripts/third"));
    assert!(writes("scripts/fourth"));
}
