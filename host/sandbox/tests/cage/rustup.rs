//! The proxies of rustup start the tool chain that a project's file names: not in a judged script,
//! where that tool chain is the project's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{ALONE, KINDS, User, World, left_out, not_run, search_path};

const MARK: &str = "ITS OWN CODE RAN";

/// All of them run the project's code where all programs may start.
const SCRIPTS: &[&str] = &[
    "cargo --version",
    "rustc --version",
    "cargo metadata --no-deps",
    "rustup show active-toolchain -v",
];

/// These start nothing, whatever they are told.
const HARMLESS: &[&str] = &["rustup which cargo", "rustup show"];

/// How a project names its tool chain; rustup itself refuses a relative path.
const FILES: &[(&str, &str)] = &[
    (
        "rust-toolchain.toml",
        "[toolchain]\npath = \"$PROJECT/evil\"\n",
    ),
    (
        "rust-toolchain.toml",
        "[toolchain]\npath = \"/proc/self/cwd/evil\"\n",
    ),
    (
        "rust-toolchain",
        "[toolchain]\npath = \"/proc/self/cwd/evil\"\n",
    ),
];

/// Where the proxies are, if they are rustup's.
fn proxies() -> Option<PathBuf> {
    let found = Command::new("sh")
        .args(["-c", "dirname \"$(command -v rustup)\""])
        .output();
    let folder = String::from_utf8(found.unwrap().stdout).unwrap();
    let folder = PathBuf::from(folder.trim());
    let all = ["cargo", "rustc", "rustup"];
    let is_there = folder.is_absolute() && all.iter().all(|name| folder.join(name).is_file());
    is_there.then_some(folder)
}

fn project(world: &World, (file, text): &(&str, &str)) {
    world.fresh_project();
    let project = world.project();
    let text = text.replace("$PROJECT", project.to_str().unwrap());
    fs::write(project.join(file), text).unwrap();
    fs::create_dir_all(project.join("evil/bin")).unwrap();
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("src/lib.rs"), "").unwrap();
    fs::write(
        project.join("Cargo.toml"),
        "[package]\nname = \"a\"\nedition = \"2021\"\n[workspace]\n",
    )
    .unwrap();
    for name in ["cargo", "rustc"] {
        let program = project.join("evil/bin").join(name);
        fs::write(&program, format!("#!/bin/sh\necho {MARK}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_projects_tool_chain_is_not_started_in_a_judged_script() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let Some(proxies) = proxies() else {
        return not_run("tool chains of a project (there is no rustup)");
    };
    let home = std::env::home_dir().unwrap();
    let world = World::new(Path::new("/tmp"), User::This, "rustup");
    let said = |kind: &str, profile: &str, programs: &str, script: &str| {
        let path = format!("PATH={}:{}", proxies.display(), search_path());
        let home = format!("HOME={}", home.display());
        let options = ["--env", &path, "--env", &home, "--programs", programs];
        let ended = world.caged(kind, profile, &options, script);
        let all = [ended.stdout, ended.stderr].concat();
        (
            ended.status.code(),
            String::from_utf8_lossy(&all).into_owned(),
        )
    };
    for file in FILES {
        project(&world, file);
        for script in SCRIPTS {
            let (_, text) = said("any", "read-only", "any", script);
            assert!(
                text.contains(MARK),
                "{file:?}: {script} shows nothing: {text}"
            );
        }
        let (code, text) = said("any", "read-only", "judged", HARMLESS[0]);
        assert!(code == Some(0) && text.contains("evil/bin/cargo"), "{text}");
        for kind in KINDS {
            for profile in ["read-only", "workspace"] {
                for script in SCRIPTS.iter().chain(HARMLESS) {
                    let (code, text) = said(kind, profile, "judged", script);
                    if code == Some(99) {
                        left_out(kind, User::This, &text);
                        break;
                    }
                    let name = format!("{file:?}: {script} in {kind}, {profile}");
                    assert!(!text.contains(MARK), "{name}: {text}");
                }
            }
        }
    }
    // The proxies are of use where the tool chain is the user's.
    world.fresh_project();
    let (code, text) = said("any", "read-only", "judged", "rustc --version");
    assert!(code == Some(0) && text.contains("rustc 1."), "{text}");
}
