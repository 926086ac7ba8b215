//! The hostile repositories are worth something: where nothing protects, their code runs. And the
//! programs that they need: those of this machine, and stand-ins for a few that it need not have.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::{Hostile, hostile};

/// What springs the trap where the commands that run unasked do not: a part of what makes the
/// repository, and a command of a user who is less careful.
const TRIGGERS: &[(&str, &str)] = &[
    (
        "merge.x.driver",
        "git commit -qam m; git checkout -qb side HEAD~1; echo s > a.txt; git commit -qam s; git merge -q @{-1}",
    ),
    ("core.hooksPath", "git checkout -q -b other"),
    (
        "core.askPass",
        "printf 'url=https://x.y/\\n\\n' | git credential fill",
    ),
    (
        "t/hooks",
        "git init -q --template=t c; cd c; git commit -q --allow-empty -m x; git checkout -q -b y",
    ),
    (
        "submodule.sub.update",
        "git config submodule.sub.url ./sub; git -C sub commit -q --allow-empty -m y; git submodule update",
    ),
    ("rustc-wrapper", "cargo check --offline"),
    ("script-shell", "npm exec -c true"),
    ("editor=./evil", "npm config edit"),
    ("sitecustomize", "PYTHONPATH=. python3 -c 1"),
    ("eslint.config.js", "node index.js"),
    (".DEFAULT", "make x"),
    (".bash_env", "bash -ic true"),
    (".bash_login", "bash -lc true"),
    ("shell ./evil", "gdb -batch -ex quit"),
    (".ripgreprc", "RIPGREP_CONFIG_PATH=.ripgreprc rg one"),
    ("cp evil git; cp evil ls", "PATH=.:$PATH git status"),
    ("mkdir bin; for n in git", "PATH=bin:$PATH git status"),
    ("`sh evil`", "for f in *; do eval \"echo $f\"; done"),
    (
        "--checkpoint-action",
        "tar cf x.tar --checkpoint=1 '--checkpoint-action=exec=sh evil' a.txt",
    ),
    (".sy sh ./evil", "groff -U -man -Tascii x.1"),
];

/// No git of today springs these.
pub(super) const LATER: &[&str] = &["git config hook.x.command"];

/// Careless programs of the kind that repositories hope for.
const STAND_INS: &[(&[&str], &str)] = &[
    // The shim of a version manager, which takes what the file says for a part of a path.
    (
        &["python", "python3", "pip", "ruby", "go"],
        r#"#!/bin/sh
name=${0##*/}
for file in .python-version .ruby-version .go-version; do
  test -f "$file" || continue
  read -r version < "$file"
  case $version in
    /*) exec "$version/bin/$name" "$@" ;;
    *) exec "/usr/share/doc/$version/bin/$name" "$@" ;;
  esac
done
test -x "/usr/bin/$name" && exec "/usr/bin/$name" "$@"
echo "$name 1.0"
"#,
    ),
    // It keeps notes where it is asked, and runs the providers of the project.
    (
        &["terraform"],
        r#"#!/bin/sh
mkdir -p .terraform && echo note > .terraform/note
mkdir -p "$HOME/.terraform.d" && echo note > "$HOME/.terraform.d/note"
echo "Terraform v1.0"
for provider in p/terraform-provider-*; do
  test -x "$provider" && "$provider"
done
true
"#,
    ),
];

/// A folder with the stand-ins, where a cage shows it.
pub(super) fn stand_ins() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stand-ins");
        std::fs::create_dir_all(&folder).unwrap();
        for (names, text) in STAND_INS {
            for name in *names {
                let program = folder.join(name);
                std::fs::write(&program, text).unwrap();
                std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
            }
        }
        folder
    })
}

/// The folders of programs: stand-ins, a Rust tool chain, the search that the tests are built with,
/// and those of the system. Where a repository chooses a tool chain, rustup's proxies come first.
#[allow(clippy::disallowed_methods)]
pub(super) fn path_for(make: &str) -> PathBuf {
    let chain = Path::new(env!("CARGO")).parent().unwrap();
    let proxies = std::env::home_dir().unwrap().join(".cargo/bin");
    let rust = match make.contains("rust-toolchain") {
        true => &*proxies,
        false => chain,
    };
    let rg = Path::new(toolbay_tests::RG).parent().unwrap();
    let own = [stand_ins(), rust, rg].map(|folder| folder.display().to_string());
    let own = own.join(":");
    format!("{own}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").into()
}

/// Whether the repository's code runs in a plain shell with a terminal; or else what was seen.
pub(super) fn attacks((make, scripts): &Hostile) -> Result<(), String> {
    let triggers = TRIGGERS.iter().filter(|(part, _)| make.contains(part));
    let triggers = triggers.map(|(_, trigger)| trigger);
    let mut all = String::new();
    for script in triggers.chain(*scripts) {
        let project = hostile(make);
        let said = unprotected(&project.root(), make, script);
        let marks = ["", "sub", "wt", "docs", "x.git"];
        let mut marks = marks
            .iter()
            .map(|folder| project.root().join(folder).join("pwned"));
        // git may see a part of it alone, and say so.
        if marks.any(|mark| mark.exists()) || said.contains("PWNE") {
            return Ok(());
        }
        all.push_str(&format!("$ {script}\n{said}\n"));
    }
    Err(format!("{make}:\n{all}"))
}

#[allow(clippy::disallowed_methods)]
fn unprotected(folder: &Path, make: &str, script: &str) -> String {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "1", "10", "script", "-qec", script, "/dev/null"])
        .current_dir(folder)
        .env_clear()
        .envs([("TERM", "xterm"), ("LESS", "FX"), ("MANPAGER", "cat")])
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@b")])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("PATH", path_for(make))
        .env("HOME", folder)
        .stdin(Stdio::null());
    let ended = command.output().unwrap();
    let said = [ended.stdout, ended.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}
