//! Cases: what passes, what does not, and by which check.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::commands::COMMANDS;
use crate::{Check, inspect};

/// For each command: scripts that are read-only, and scripts that are not.
const CASES: &[(&str, &[&str], &[&str])] = &[
    ("pwd", &["pwd", "pwd -P"], &["pwd -x", "pwd here"]),
    ("whoami", &["whoami"], &["whoami --help", "whoami me"]),
    ("true", &["true"], &["true it"]),
    ("false", &["false"], &["false it"]),
    (
        "echo",
        &["echo", "echo -n 'a b' \"c\"", "echo é"],
        &["echo -x"],
    ),
    (
        "ls",
        &["ls -la src", "ls --all -- -odd"],
        &["ls --hyperlink", "ls -T 3", "ls --al"],
    ),
    (
        "cat",
        &["cat a.txt", "cat -n 'b c'", "cat -"],
        &["cat -z a"],
    ),
    (
        "head",
        &["head -n 5 a", "head -n5 a", "head -20 a"],
        &["head -x a", "head -n"],
    ),
    (
        "tail",
        &["tail -c 100 a", "tail -n +3 a"],
        &["tail -f a", "tail --follow a"],
    ),
    (
        "wc",
        &["wc -l a b", "ls | wc --lines"],
        &["wc --files0-from=list"],
    ),
    (
        "date",
        &["date -u +%s", "date -d now '+%d %m'"],
        &["date -us 1", "date --set=1", "date 0102"],
    ),
    ("uname", &["uname -a"], &["uname -z", "uname name"]),
    (
        "basename",
        &["basename /a/b.txt .txt", "basename -s .txt a"],
        &["basename -x a"],
    ),
    ("dirname", &["dirname /a/b"], &["dirname -x a"]),
];

#[test]
fn every_command_has_cases_and_they_hold() {
    let named: Vec<&str> = CASES.iter().map(|(name, ..)| *name).collect();
    let listed: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
    assert_eq!(named, listed);
    for (name, hits, misses) in CASES {
        assert!(!hits.is_empty() && !misses.is_empty(), "{name}");
        for hit in *hits {
            assert_eq!(inspect(hit).findings, [], "{hit}");
        }
        for miss in *misses {
            assert!(!inspect(miss).read_only, "{miss}");
        }
    }
}

#[test]
fn each_check_fires_on_its_own_cases() {
    let long = format!("echo {}", "x".repeat(10_000));
    let cases: &[(Check, &[&str])] = &[
        (Check::Length, &[&long]),
        (
            Check::Control,
            &[
                "ls\0",
                "ls\r",
                "ls\t-l",
                "\u{1b}[2J",
                "ls\u{7f}",
                "ls\u{85}",
            ],
        ),
        (Check::Direction, &["echo \u{202e}sl", "echo '\u{2066}'"]),
        (
            Check::Invisible,
            &["l\u{200b}s", "\u{feff}ls", "ls\u{e0041}"],
        ),
        (
            Check::Blank,
            &["ls\u{a0}-l", "ls\u{3000}", "ls\u{2800}", "ls\u{2028}"],
        ),
        (
            Check::Syntax,
            &["", " ", "ls;", "; ls", "ls && ", "ls ;; ls"],
        ),
        (
            Check::Syntax,
            &["ls || ls", "ls |& ls", "ls &", "ls & ls", "(ls)", "{ ls"],
        ),
        (
            Check::Syntax,
            &[
                "ls\nls",
                "echo 'a\nb'",
                "echo $x",
                "echo \"$x\"",
                "echo `ls`",
            ],
        ),
        (
            Check::Syntax,
            &[
                "echo \"`ls`\"",
                "ls > a",
                "cat < a",
                "ls *",
                "ls ?",
                "ls [a]",
            ],
        ),
        (
            Check::Syntax,
            &[
                "ls ~",
                "! ls",
                "ls # no",
                "ls \\",
                "echo \"\\n\"",
                "echo \"a!\"",
            ],
        ),
        (
            Check::Syntax,
            &["echo 'open", "echo \"open", "A=1", "A=1 ls", "A+=1 ls"],
        ),
        (
            Check::Command,
            &[
                "rm a",
                "ls && rm a",
                "ls | tee a",
                "/bin/ls",
                "./ls",
                "'' ls",
                "LS",
                "l's' ; id",
            ],
        ),
        (
            Check::Argument,
            &["ls -la --zero", "echo a; date -s 1", "'ls' '-'T"],
        ),
    ];
    for (check, scripts) in cases {
        for script in *scripts {
            let report = inspect(script);
            let fired: Vec<u32> = report.findings.iter().map(|found| found.check).collect();
            assert_eq!(fired, [check.number()], "{script:?}");
            assert!(!report.read_only, "{script:?}");
        }
    }
}

#[test]
fn quotes_hide_nothing_from_the_check() {
    assert!(inspect("'ls' \"-l\"a 'a;b&&c|d$e'").read_only);
    assert!(!inspect("'r'm a").read_only);
    assert!(!inspect("date '-s' noon").read_only);
}

#[test]
fn joined_commands_are_read_only_when_each_is() {
    assert!(inspect("pwd && ls -l; cat a|head -3 | wc -l").read_only);
    assert_eq!(inspect("rm a; mv b c").findings.len(), 2);
}

#[test]
fn a_prefix_is_never_wider_than_one_program() {
    for (script, wanted) in [
        ("ls -la", Some("ls")),
        ("git status -s", Some("git status")),
        ("cargo test --all", Some("cargo test")),
        ("./build.sh x", Some("./build.sh")),
        ("git", None),
        ("git -c core.pager=x log", None),
        ("npm run build", None),
        ("bash -c ls", None),
        ("/usr/bin/env ls", None),
        ("python3.12 a.py", None),
        ("sudo ls", None),
        (". a", None),
        ("3", None),
        ("git status && rm a", None),
        ("ls > a", None),
        ("'a b' c", None),
        ("", None),
    ] {
        assert_eq!(inspect(script).prefix.as_deref(), wanted, "{script}");
    }
}
