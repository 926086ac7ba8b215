//! What the user's own git would run after a command: no command in a cage can write it, however a
//! repository says where it is.

use std::path::Path;
use std::process::{Command, Output};

use toolbay_sandbox::cage::How;

use crate::api::{command, enclosure};
use crate::world::{ALONE, KINDS, User, World, left_out, search_path};

/// A repository, what a command tries in it, and what the user does afterwards.
struct Layout {
    name: &'static str,
    make: &'static str,
    /// The file that git runs.
    run: &'static str,
    /// Instead of writing that file.
    attack: Option<&'static str>,
    then: &'static str,
}

const COMMIT: &str = "git commit -q --allow-empty -m x";

const fn hook(name: &'static str, make: &'static str, run: &'static str) -> Layout {
    Layout {
        name,
        make,
        run,
        attack: None,
        then: COMMIT,
    }
}

const fn program(
    name: &'static str,
    make: &'static str,
    run: &'static str,
    then: &'static str,
) -> Layout {
    Layout {
        name,
        make,
        run,
        attack: None,
        then,
    }
}

const LAYOUTS: &[Layout] = &[
    hook("the usual folder", "true", ".git/hooks/pre-commit"),
    hook(
        "a folder in the tree",
        "mkdir -p a/_; git config core.hooksPath a/_",
        "a/_/pre-commit",
    ),
    hook(
        "one that does not exist",
        "git config core.hooksPath later/_",
        "later/_/pre-commit",
    ),
    hook(
        "a comment behind it",
        "echo '[core] hooksPath = a # ours' >> .git/config; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "a section on the same line",
        "echo '[core] hooksPath = a' >> .git/config; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "a continued line",
        "printf '[core]\\nhooksPath = a\\\\\\nb\\n' >> .git/config; mkdir ab",
        "ab/pre-commit",
    ),
    hook(
        "quotes and blanks",
        "printf '[core]\\nhooksPath = \"my hooks\"\\n' >> .git/config; mkdir 'my hooks'",
        "my hooks/pre-commit",
    ),
    hook(
        "an escape",
        "printf '[core]\\nhooksPath = \"a\\\\\"b\"\\n' >> .git/config; mkdir 'a\"b'",
        "a\\\"b/pre-commit",
    ),
    hook(
        "other letters",
        "printf '[CORE]\\nHOOKSPATH=a\\n' >> .git/config; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "an absolute path",
        "git config core.hooksPath $PWD/a; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "the folder itself",
        "git config core.hooksPath $PWD",
        "pre-commit",
    ),
    hook(
        "a folder behind dots",
        "mkdir a b; git config core.hooksPath a/../b",
        "b/pre-commit",
    ),
    hook(
        "a link",
        "mkdir real; ln -s real a; git config core.hooksPath a",
        "a/pre-commit",
    ),
    hook(
        "included settings",
        "git config include.path ../more; echo '[core] hooksPath = a' > more; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "settings for a folder",
        "git config includeIf.gitdir:$PWD/.path ../more; echo '[core] hooksPath = a' > more; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "settings two files away",
        "git config include.path ../one; echo '[include] path = two' > one; echo '[core] hooksPath = a' > two; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "settings of a work tree",
        "git config extensions.worktreeConfig true; git config --worktree core.hooksPath a; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "the user's settings",
        "git config --global core.hooksPath a; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "the user's other settings",
        "mkdir -p $HOME/.config/git; echo '[core] hooksPath = a' > $HOME/.config/git/config; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "from the user's home",
        "git config core.hooksPath '~/../project/a'; mkdir a",
        "a/pre-commit",
    ),
    hook(
        "a `.git` that is a link",
        "mv .git real; ln -s real .git",
        "real/hooks/pre-commit",
    ),
    Layout {
        name: "a `.git` that leads nowhere yet",
        make: "rm -rf .git; ln -s later .git",
        run: "tool",
        attack: Some(
            "git init -q x; mv x/.git later || cp -r x/.git later; mkdir -p later/hooks later/objects later/refs; echo 'ref: refs/heads/x' > later/HEAD; printf '[core]\nfsmonitor = ./tool\n' > later/config",
        ),
        then: "git status",
    },
    Layout {
        name: "settings for a branch",
        make: "git config includeIf.onbranch:later.path ../more; echo '[core] hooksPath = a' > more; mkdir a",
        run: "a/pre-commit",
        attack: None,
        then: "git checkout -qb later; git commit -q --allow-empty -m x",
    },
    Layout {
        name: "the included file",
        make: "git config include.path ../more; echo > more",
        run: "a/pre-commit",
        attack: Some("echo '[core] hooksPath = a' > more"),
        then: COMMIT,
    },
    Layout {
        name: "an included file that does not exist",
        make: "git config include.path ../sub/more",
        run: "a/pre-commit",
        attack: Some("mkdir sub; echo '[core] hooksPath = a' > sub/more"),
        then: COMMIT,
    },
    Layout {
        name: "a link on the way",
        make: "mkdir real; ln -s real a; git config core.hooksPath a",
        run: "b/pre-commit",
        attack: Some("rm a; ln -s b a"),
        then: COMMIT,
    },
    Layout {
        name: "a missing folder on the way",
        make: "git config core.hooksPath a/_",
        run: "b/_/pre-commit",
        attack: Some("ln -s b a"),
        then: COMMIT,
    },
    program(
        "a linked work tree",
        "git worktree add -q wt; git config core.hooksPath a",
        "wt/a/pre-commit",
        "cd wt; git commit -q --allow-empty -m x",
    ),
    program(
        "a control folder elsewhere",
        "git init -q --separate-git-dir=gd sub",
        "gd/hooks/pre-commit",
        "cd sub; git commit -q --allow-empty -m x",
    ),
    Layout {
        name: "its settings",
        make: "git init -q --separate-git-dir=gd sub",
        run: "sub/a/pre-commit",
        attack: Some("git --git-dir=gd config core.hooksPath a"),
        then: "cd sub; git commit -q --allow-empty -m x",
    },
    program(
        "a repository below",
        "git init -q sub; git -C sub config core.hooksPath a",
        "sub/a/pre-commit",
        "cd sub; git commit -q --allow-empty -m x",
    ),
    program(
        "a watcher of files",
        "git config core.fsmonitor ./tool",
        "tool",
        "git status",
    ),
    program(
        "a filter",
        "git config filter.x.clean 'sh bin/tool'; echo '*.t filter=x' > .gitattributes; echo > a.t",
        "bin/tool",
        "git add a.t",
    ),
    program(
        "an alias",
        "git config alias.go '!bin/tool'",
        "bin/tool",
        "git go",
    ),
    program(
        "an editor",
        "git config core.editor ./tool",
        "tool",
        "git commit --allow-empty",
    ),
    program(
        "a way to servers",
        "git config core.sshCommand ./tool",
        "tool",
        "git fetch ssh://u@h/x",
    ),
    program(
        "an external diff",
        "git config diff.external ./tool; echo > b.t; git add b.t; echo x > b.t",
        "tool",
        "git diff",
    ),
    program(
        "a helper of keys",
        "git config credential.helper '!./tool'",
        "tool",
        "printf 'url=https://x.y/\\n\\n' | git credential fill",
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attack {
    Write,
    Replace,
}

const MARK: &str = "ran-outside";

#[test]
fn no_command_writes_what_the_users_git_would_run() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            in_a_kind(kind, user);
        }
    }
}

fn in_a_kind(kind: &'static str, user: User) {
    let world = World::new(Path::new("/tmp"), user, "repositories");
    let tried = world.caged(kind, "workspace", &[], "true");
    if tried.status.code() == Some(99) {
        return left_out(kind, user, &String::from_utf8_lossy(&tried.stderr));
    }
    let way = |profile, asked, path: String, attack| Way {
        kind,
        profile,
        asked,
        path,
        attack,
    };
    let written = way("workspace", "git is asked", search_path(), Attack::Write);
    let unasked = way("workspace", "no git", "/none".into(), Attack::Write);
    let replaced = way("git", "git is asked", search_path(), Attack::Replace);
    // What is learned without git is the same in each kind.
    let ways = match (kind, user) {
        ("namespaces", User::This) => vec![written, unasked, replaced],
        (_, User::This) => vec![written, replaced],
        (_, User::Ordinary) => vec![written],
    };
    let mut open = Vec::new();
    for layout in LAYOUTS {
        open.extend(ways.iter().filter_map(|way| one(&world, layout, way)));
    }
    println!("{} layouts in {kind} as {}", LAYOUTS.len(), user.name());
    let name = user.name();
    assert!(
        open.is_empty(),
        "{kind}, {name}: {}\n{}",
        open.len(),
        open.join("\n")
    );
}

/// In which cage, and how a layout is tried.
struct Way {
    kind: &'static str,
    profile: &'static str,
    asked: &'static str,
    path: String,
    attack: Attack,
}

/// What went wrong, if anything did.
fn one(world: &World, layout: &Layout, way: &Way) -> Option<String> {
    let Way {
        kind,
        profile,
        asked,
        path,
        attack,
    } = way;
    let attack = *attack;
    fresh(world, layout);
    let Layout { name, run, .. } = layout;
    let write = format!(
        "mkdir -p \"$(dirname \"{run}\")\"; rm -f \"{run}\"; printf '#!/bin/sh\\ntouch '$PROJECT/{MARK} > \"{run}\"; chmod +x \"{run}\""
    );
    let around = format!("d=\"$(dirname \"{run}\")\"; mv \"$d\" moved; mkdir -p \"$d\"; {write}");
    let script = match (attack, layout.attack) {
        (Attack::Write, None) => write.clone(),
        (Attack::Replace, None) => around,
        (Attack::Write, Some(attack)) => format!("{attack}; {write}"),
        (Attack::Replace, Some(attack)) => format!("{write}; {attack}"),
    };
    let script = format!("PATH={}; {script}; true", search_path());
    let option = format!("PATH={path}");
    let caged = world.caged(kind, profile, &["--env", &option], &script);
    let then = format!("{}; true", layout.then);
    let ended = outside(world, &then);
    assert!(
        caged.status.success(),
        "{name}: {kind}, {profile}, {asked}, {attack:?}: {caged:?}"
    );
    if world.project().join(MARK).exists() {
        return Some(format!(
            "{name}: {kind}, {profile}, {asked}, {attack:?}: {ended:?}"
        ));
    }
    // The case is worth something: the same without the cage does run.
    if attack == Attack::Replace {
        fresh(world, layout);
        let attack = layout.attack.unwrap_or("true");
        let ended = outside(world, &format!("{write}; {attack}; {then}"));
        let has_run = world.project().join(MARK).exists();
        return (!has_run).then(|| format!("{name} shows nothing: {ended:?}"));
    }
    None
}

fn fresh(world: &World, layout: &Layout) {
    world.fresh_project();
    let make = format!(
        "rm -rf .git nested deep .claude $HOME/.gitconfig $HOME/.config/git; git init -q; git add README; git commit -qm first; {}",
        layout.make
    );
    let made = outside(world, &format!("set -e; {make}"));
    assert!(made.status.success(), "{}: {made:?}", layout.name);
}

/// As the user, with an identity to commit with.
fn outside(world: &World, script: &str) -> Output {
    let script = format!(
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_TERMINAL_PROMPT=0; {script}"
    );
    world.outside(&["bash", "-c", &script]).output().unwrap()
}

/// A folder that is no repository can hold what the user's settings for all repositories name.
#[test]
fn the_users_own_settings_count_where_there_is_no_repository() {
    const NAMED: [(&str, &str, &str); 5] = [
        ("core.hooksPath", "hooks", "hooks/pre-commit"),
        ("include.path", "more", "more"),
        ("alias.x", "!PLACE/bin/x", "bin/x"),
        (
            "init.templateDir",
            "template",
            "template/hooks/post-checkout",
        ),
        ("core.sshCommand", "ssh -FPLACE/ssh/config", "ssh/config"),
    ];
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "settings");
            for (key, value, file) in NAMED {
                world.fresh_project();
                let write = format!("mkdir -p \"$(dirname {file})\"; echo evil > {file}");
                // The control: what no setting names can be written.
                for is_named in [false, true] {
                    let place = world.project();
                    let place = place.to_str().unwrap();
                    let value = match value.contains("PLACE") {
                        true => value.replace("PLACE", place),
                        false => format!("{place}/{value}"),
                    };
                    let make = format!(
                        "rm -rf .git nested $HOME/.gitconfig $HOME/.config/git; cd /; {}",
                        if is_named {
                            format!("git config --global {key} '{value}'")
                        } else {
                            "true".into()
                        }
                    );
                    assert!(outside(&world, &make).status.success());
                    let home = world.path("home");
                    let home = format!("HOME={}", home.to_str().unwrap());
                    let output = world.caged(kind, "workspace", &["--env", &home], &write);
                    if output.status.code() == Some(99) {
                        left_out(kind, user, String::from_utf8_lossy(&output.stderr).trim());
                        break;
                    }
                    let was_written = world.project().join(file).exists();
                    assert_eq!(was_written, !is_named, "{kind}: {key}: {output:?}");
                    let _ = std::fs::remove_file(world.project().join(file));
                }
            }
        }
    }
}

/// What the user changes while a session runs counts for the next command.
#[test]
fn settings_that_change_while_a_session_runs_count() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let enclosure = enclosure(&root);
    let works = |script: &str| {
        let command = command(&root, script);
        let ended = runtime.block_on(enclosure.run(&command, &mut |_, _| {}));
        ended.map(|ended| ended.how == How::Exit(0))
    };
    let user = |script: &str| {
        let mut command = Command::new("bash");
        let ended = command.args(["-ec", script]).current_dir(&root).output();
        assert!(ended.unwrap().status.success(), "{script}");
    };
    let write = "mkdir -p a b; echo x > a/pre-commit";
    assert!(works(write).unwrap());
    // A new repository, then new settings, then others in a file that they include.
    for settings in [
        "rm -r a; git init -q; git config core.hooksPath a",
        "rm -rf a; git config core.hooksPath b; git config include.path ../more; echo '[core] hooksPath = a' > more",
    ] {
        user(settings);
        assert!(!works(write).unwrap(), "{settings}");
    }
    user("rm -rf a more; git config --unset include.path");
    assert!(works(write).unwrap());
    assert!(!works("echo x > b/pre-commit").unwrap());
    user("git config include.path ../pipe; mkfifo pipe");
    let error = works("true").unwrap_err().to_string();
    assert!(error.contains("pipe"), "{error}");
}
