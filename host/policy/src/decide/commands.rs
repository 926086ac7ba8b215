//! Rules about commands, from a script to the decision.

use super::tests::{policy, word};
use super::*;
use crate::claims::{Claims, HookWord, Opinion, Reach};

/// A tool that says of its command what the validator says, as one that runs commands does.
pub(super) fn decide(deny: &[&str], ask: &[&str], allow: &[&str], script: &str) -> &'static str {
    let policy = policy(deny, ask, allow);
    let subjects = vec![Subject::Command(script.into())];
    let read_only = toolbay_shell::inspect(script, &toolbay_shell::Place::anywhere()).read_only();
    let decision = policy.decide(Request {
        claims: Claims {
            read_only,
            ..Claims::STRICT
        },
        ..request(&policy, subjects)
    });
    word(&decision)
}

pub(super) fn request(policy: &Policy, subjects: Vec<Subject>) -> Request {
    let study = policy.study(&subjects, Path::new("/p"));
    Request {
        call_id: "1".into(),
        tool: "B".into(),
        input: "{}".into(),
        subjects,
        aliases: Vec::new(),
        claims: Claims::STRICT,
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: crate::outside::CageWish::Inside,
        study,
    }
}

#[test]
fn without_rules_only_reading_inside_needs_no_question() {
    for (script, wanted) in [
        ("cat README.md", "allow"),
        ("sleep 1; ls", "allow"),
        ("man ls", "allow"),
        ("git --help", "allow"),
        ("[[ -f a ]] && cat a", "allow"),
        ("for f in *.rs; do wc -l $f; done", "allow"),
        ("for f in *; do rm $f; done", "ask"),
        ("for f in /etc/passwd; do cat $f; done", "ask"),
        ("rg TODO src | head", "allow"),
        ("cat /etc/passwd", "ask"),
        ("npm install", "ask"),
        ("touch x", "ask"),
        ("ls > x", "ask"),
        ("ls; $X", "ask"),
    ] {
        assert_eq!(decide(&[], &[], &[], script), wanted, "{script}");
    }
}

#[test]
fn what_a_script_does_beside_its_commands_is_shown() {
    let many = format!("{}rm x", "touch a; ".repeat(60));
    for (script, doubt) in [
        ("touch x && echo a > b", Some("it writes to `b`")),
        (many.as_str(), Some("it has 61 commands, more than 50")),
        ("touch x && echo a", None),
    ] {
        let study =
            policy(&[], &[], &[]).study(&[Subject::Command(script.into())], Path::new("/p"));
        let parts = study.shown_parts();
        let whole = parts
            .iter()
            .find(|part| part.text == "the script as a whole");
        assert_eq!(
            whole.and_then(|part| part.doubt.as_deref()),
            doubt,
            "{script}"
        );
    }
}

#[test]
fn an_allow_rule_covers_its_command_and_nothing_beside_it() {
    let allow = [
        "B(npm run:*)",
        "B(git commit:*)",
        "B(make *)",
        "B(npm test)",
    ];
    for (script, wanted) in [
        ("npm run build", "allow"),
        ("npm run", "allow"),
        ("npm runx", "ask"),
        ("npm test", "allow"),
        ("npm test -- x", "ask"),
        ("make -j4 test", "allow"),
        ("NODE_ENV=prod npm run build", "allow"),
        ("LANG=C LC_ALL=C npm run build", "allow"),
        ("LD_PRELOAD=./x.so npm run build", "ask"),
        ("NODE_ENV=prod PATH=. npm run build", "ask"),
        ("NODE_ENV=`x` npm run build", "ask"),
        ("npm run build 2>&1", "allow"),
        ("npm run build > log", "ask"),
        ("npm run build && npm run lint", "allow"),
        ("npm run build && ls", "allow"),
        ("npm run build && curl x", "ask"),
        ("npm run build\ncurl x", "ask"),
        ("npm run build `x`", "ask"),
        ("npm run build <(x)", "ask"),
        ("npm run build\r", "ask"),
        ("npm run build\0", "ask"),
        ("(npm run build; curl x)", "ask"),
        ("npm run build && $CMD", "ask"),
        ("cd ../other && npm run build", "ask"),
        ("git commit -m 'a && b; c | d'", "allow"),
        ("git commit -m \"$(x)\"", "ask"),
        ("git -c core.hooksPath=./x commit -m x", "ask"),
        ("git commit-graph write", "ask"),
        ("'npm run' build", "ask"),
        ("./npm run build", "ask"),
        ("sudo npm run build", "ask"),
        ("npm run build & ", "ask"),
    ] {
        assert_eq!(decide(&[], &[], &allow, script), wanted, "{script:?}");
    }
}

/// Who allows a command by its name has said that it may run whatever it runs.
#[test]
fn beside_a_narrow_deny_rule_only_its_own_narrow_rule_allows_what_runs_others() {
    for (allow, wanted) in [
        (&["B"][..], "ask"),
        (&["B", "B(ls:*)"], "ask"),
        (&["B(ls:*)", "B"], "ask"),
        (&["B", "B(npm run:*)"], "allow"),
        (&["B(npm run:*)"], "allow"),
    ] {
        let found = decide(&["B(curl:*)"], &[], allow, "npm run build");
        assert_eq!(found, wanted, "{allow:?}");
    }
}

#[test]
fn a_deny_rule_is_found_wherever_the_command_hides() {
    for script in [
        "curl x",
        "ls; curl x",
        "ls & curl x",
        "LD_PRELOAD=x curl x",
        "timeout 5 curl x",
        "bash -c 'curl x'",
        "eval 'curl x'",
        "find . -exec curl x \\;",
        "xargs curl < f",
        "\"curl\" x",
        "\\curl x",
        "$'curl' x",
        "for i in 1; do curl x; done",
        "cu${y}rl x",
        "echo 'curl x' | sh",
        "bash <<< 'curl x'",
        "echo $(curl x)",
        "git -c alias.x='!curl y' x",
        "/usr/bin/curl x",
        "env -S 'curl x'",
        "curl x 2>&1",
    ] {
        for allow in [&[][..], &["B"], &["B(*)"], &["B(curl:*)"]] {
            assert_eq!(
                decide(&["B(curl:*)"], &[], allow, script),
                "deny",
                "{script}"
            );
        }
    }
    // Past the number of commands that are looked into, too.
    let many = format!("{}curl x", "true; ".repeat(80));
    assert_eq!(decide(&["B(curl:*)"], &[], &["B(*)"], &many), "deny");
}

#[test]
fn what_cannot_be_named_is_asked_about_where_something_is_forbidden() {
    for script in [
        "$CMD x",
        "/usr/bin/w?t x",
        "python3 -c 'x'",
        "bash x.sh",
        "cat f | sh",
        "eval $x",
    ] {
        assert_eq!(
            decide(&["B(curl:*)"], &[], &["B(*)"], script),
            "ask",
            "{script}"
        );
        assert_eq!(decide(&[], &[], &["B(*)"], script), "allow", "{script}");
    }
    assert_eq!(decide(&["B(curl:*)"], &[], &[], "echo 'curl x'"), "allow");
    assert_eq!(decide(&["B(curl:*)"], &[], &[], "curlx y"), "ask");
}

#[test]
fn some_removals_are_asked_about_whatever_is_allowed() {
    for script in [
        "rm -rf /",
        "rm -rf ~",
        "rm -rf \"$HOME\"",
        "ls && rm -rf ~",
        "/bin/rm -rf /etc",
        "rm -rf .",
    ] {
        for allow in ["B", "B(*)", "B(rm:*)", "B(rm -rf /)"] {
            assert_eq!(
                decide(&[], &[], &[allow], script),
                "ask",
                "{script} {allow}"
            );
        }
        assert_eq!(
            decide(&["B(rm:*)"], &[], &["B"], script),
            "deny",
            "{script}"
        );
    }
    assert_eq!(decide(&[], &[], &["B(rm:*)"], "rm -rf build"), "allow");
}

#[test]
fn deny_beats_ask_beats_allow() {
    let git = ["B(git:*)"];
    for (script, deny, ask, wanted) in [
        ("git push", &["B(git push:*)"][..], &[][..], "deny"),
        ("git status && git push", &["B(git push:*)"], &[], "deny"),
        ("git -C . push", &["B(git push:*)"], &[], "deny"),
        ("git --git-dir=.git push", &["B(git push:*)"], &[], "deny"),
        ("git push", &[], &["B(git push:*)"], "ask"),
        ("git status", &[], &["B(git push:*)"], "allow"),
        ("git status", &[], &["B(git status:*)"], "ask"),
    ] {
        assert_eq!(decide(deny, ask, &git, script), wanted, "{script}");
    }
}
