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
    let refused = guard().refuses(Path::new(by), Path::new(program), words);
    refused.is_some()
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
fn programs_start_no_interpreters_and_nothing_of_the_project() {
    for (by, program, wanted) in [
        ("/usr/bin/git", "/usr/lib/git-core/git-log", false),
        ("/usr/bin/git", "/usr/lib/git-core/git", false),
        ("/usr/lib/git-core/git-log", "/usr/bin/less", true),
        ("/usr/bin/git", "/usr/bin/dash", true),
        ("/usr/bin/git", "/usr/bin/ssh", true),
        ("/usr/bin/git", "/usr/bin/gpg", true),
        ("/usr/bin/git", "/usr/bin/gitk", true),
        ("/usr/bin/git", "/work/p/git-evil", true),
        (
            "/home/u/.cargo/bin/cargo",
            "/home/u/.rustup/toolchains/s/bin/cargo",
            false,
        ),
        (
            "/home/u/.cargo/bin/cargo",
            "/work/p/.rustup/toolchains/s/bin/cargo",
            false,
        ),
        ("/home/u/.cargo/bin/cargo", "/work/p/chain/bin/cargo", true),
        ("/home/u/.cargo/bin/cargo", "/usr/bin/env", true),
        ("/usr/bin/man", "/usr/bin/groff", false),
        ("/usr/bin/man", "/usr/bin/dash", true),
        ("/usr/bin/node", "/usr/bin/python3.11", true),
        ("/usr/bin/gh", "/usr/bin/perl5.36-x86", false),
        ("/usr/bin/gh", "/usr/bin/perl5.36", true),
        ("/usr/bin/gh", "/usr/bin/Rscript", true),
        ("/usr/bin/x", "/usr/bin/lua5.4", true),
        ("/usr/bin/gcc", "/usr/lib/gcc/cc1", false),
    ] {
        assert_eq!(is_refused(by, program, &[]), wanted, "{by} {program}");
    }
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
