//! Who may start what, case by case.

use std::path::Path;

use super::*;

fn guard() -> ProgramGuard {
    ProgramGuard {
        data: vec!["/work/p".into(), "/tmp".into()],
        path: vec!["/usr/bin".into(), "/work/p/.venv/bin".into()],
        tools: vec!["/work/p/.rustup/toolchains".into()],
    }
}

fn is_refused(by: &str, program: &str, words: &[&str]) -> bool {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let program = Path::new(program);
    let started = Started {
        written: program,
        found: program,
        real: program,
        kind: FileKind::Binary,
        words: &words,
    };
    guard().refuses(Path::new(by), &started).is_some()
}

#[test]
fn a_script_starts_what_it_names_and_no_file_of_the_project() {
    for (by, program, wanted) in [
        ("/usr/bin/bash", "/usr/bin/git", false),
        ("/usr/bin/bash", "/usr/bin/python3.11", false),
        ("/usr/bin/env", "/usr/bin/node", false),
        ("/usr/bin/xargs", "/usr/bin/wc", false),
        ("/usr/bin/bash", "/work/p/build.sh", true),
        ("/usr/bin/bash", "/work/p", true),
        ("/usr/bin/bash", "/work/pp/tool", false),
        ("/usr/bin/find", "/work/p/x", true),
        ("/usr/bin/bash", "/tmp/x", true),
        // What the environment names is the user's choice; only shells look there.
        ("/usr/bin/bash", "/work/p/.venv/bin/pip", false),
        ("/usr/bin/git", "/work/p/.venv/bin/git-x", true),
        ("/usr/bin/bash", "/work/p/.venv/bin/deep/pip", true),
    ] {
        assert_eq!(is_refused(by, program, &[]), wanted, "{by} {program}");
    }
}

#[test]
fn programs_start_what_they_are_known_to_need_and_nothing_of_the_project() {
    for (by, program, wanted) in [
        ("/usr/bin/git", "/usr/lib/git-core/git", false),
        ("/usr/lib/git-core/git-log", "/usr/bin/git", false),
        ("/usr/bin/git", "/usr/bin/git-lfs", false),
        (
            "/usr/bin/git",
            "/usr/lib/git-core/git-difftool--helper",
            true,
        ),
        ("/usr/lib/git-core/git-log", "/usr/bin/less", true),
        ("/usr/bin/git", "/usr/bin/dash", true),
        ("/usr/bin/git", "/usr/bin/ssh", true),
        ("/usr/bin/git", "/work/p/git", true),
        (
            "/home/u/.cargo/bin/cargo",
            "/home/u/.rustup/toolchains/s/bin/cargo",
            false,
        ),
        (
            "/home/u/.cargo/bin/rustup",
            "/work/p/.rustup/toolchains/s/bin/cargo",
            false,
        ),
        ("/home/u/.cargo/bin/cargo", "/work/p/chain/bin/cargo", true),
        ("/home/u/.cargo/bin/cargo", "/usr/bin/env", true),
        (
            "/home/u/.cargo/bin/cargo",
            "/usr/bin/perl5.36-x86_64-linux-gnu",
            true,
        ),
        ("/usr/bin/man", "/usr/bin/groff", false),
        ("/usr/bin/man", "/usr/bin/dash", true),
        ("/usr/bin/node", "/usr/bin/python3.11", true),
        ("/usr/bin/x86_64-linux-gnu-gcc-12", "/usr/bin/perl", true),
    ] {
        assert_eq!(is_refused(by, program, &[]), wanted, "{by} {program}");
    }
}

/// Where a link of the project leads does not matter, and a script is whatever it says it is.
#[test]
fn a_link_of_the_project_and_a_script_are_not_what_they_lead_to() {
    let path = Path::new;
    let real = path("/usr/bin/rustc");
    let by = path("/home/u/.cargo/bin/cargo");
    for (written, found, kind, wanted) in [
        ("/usr/bin/rustc", "/usr/bin/rustc", FileKind::Binary, false),
        (
            "/work/p/tc/bin/cargo",
            "/usr/bin/rustc",
            FileKind::Binary,
            true,
        ),
        ("/usr/bin/x", "/work/p/tc/cargo", FileKind::Binary, true),
        ("/usr/bin/rustc", "/usr/bin/rustc", FileKind::Script, true),
    ] {
        let started = Started {
            written: path(written),
            found: path(found),
            real,
            kind,
            words: &[],
        };
        let refused = guard().refuses(by, &started).is_some();
        assert_eq!(refused, wanted, "{written} {found} {kind:?}");
    }
    let nroff = path("/usr/bin/nroff");
    let started = Started {
        written: nroff,
        found: nroff,
        real: nroff,
        kind: FileKind::Script,
        words: &[],
    };
    assert_eq!(guard().refuses(path("/usr/bin/man"), &started), None);
}

#[test]
fn of_all_texts_git_has_its_filter_for_large_files_run() {
    for (words, wanted) in [
        (&["/bin/sh", "-c", "git-lfs filter-process"][..], false),
        (
            &[
                "sh",
                "-c",
                "git-lfs filter-process",
                "git-lfs filter-process",
            ],
            false,
        ),
        (&["sh", "-c", "git-lfs filter-process; ./x"], true),
        (&["sh", "-c", "git-lfs smudge"], true),
        (&["sh", "-x", "git-lfs filter-process"], true),
        (&["bash", "-c", "git-lfs filter-process"], true),
        (&["sh", "-c"], true),
        (&["sh"], true),
        (&[], true),
    ] {
        let refused = is_refused("/usr/bin/git", "/usr/bin/dash", words);
        assert_eq!(refused, wanted, "{words:?}");
        assert!(is_refused("/usr/bin/cargo", "/usr/bin/dash", words));
    }
}
