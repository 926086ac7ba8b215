//! Path rules, and commands that reach a file by another name.

use std::path::{Path, PathBuf};

use super::super::commands::{decide, request};
use super::super::{Request, Subject};
use super::policy;
use crate::claims::Claims;

#[test]
fn links_are_followed_before_it_is_decided_where_they_lead() {
    let real = |path: &Path| match path.to_str() {
        Some("/p/notes") => PathBuf::from("/etc/passwd"),
        Some("/p/settings") => "/p/.env".into(),
        _ => path.to_owned(),
    };
    let decide = |deny: &[&str], script: &str| {
        let policy = policy(deny, &[], &[]).with_links(toolbay_shell::LinkResolver::new(real));
        let subjects = vec![Subject::Command(script.into())];
        let explanation = policy.explain(&Request {
            claims: Claims {
                read_only: true,
                ..Claims::STRICT
            },
            ..request(&policy, subjects)
        });
        explanation.behavior.word()
    };
    for (deny, script, wanted) in [
        (&[][..], "cat notes", "ask"),
        (&[], "cat < notes", "ask"),
        (&[], "cat other", "allow"),
        (&["Read(.env)"], "cat settings", "deny"),
        (&["Read(.env)"], "cat < settings", "deny"),
        (&["Read(./settings)"], "cat settings", "deny"),
        (&["Read(.env)"], "x=$(cat settings)", "ask"),
        (&["Read(.env)"], "cat other", "allow"),
    ] {
        assert_eq!(decide(deny, script), wanted, "{script}");
    }
}

/// What is reached over a link has another name besides, for which everything counts but what allows.
#[test]
fn other_names_of_a_path_close_it_and_open_nothing() {
    let (real, alias) = ("/p/conf/prod", "/p/.env");
    for (deny, ask, allow, alias, wanted) in [
        (&[][..], &[][..], &["T"][..], alias, "allow"),
        (&["Read(.env)"], &[], &["T"], alias, "deny"),
        (&["T(.env)"], &[], &["T"], alias, "deny"),
        (&["Edit(./.env)"], &[], &["T"], alias, "deny"),
        (&["Read(.env)"], &[], &["T"], "/p/other", "allow"),
        (&[], &["T(./.env)"], &["T"], alias, "ask"),
        (&[], &[], &["T(./conf/**)"], alias, "allow"),
        (&[], &[], &["T(./.env)"], alias, "ask"),
        // A protected name must be named by the rule.
        (&[], &[], &["T(./**)"], "/p/.envrc", "ask"),
        (
            &[],
            &[],
            &["T(./conf/**)", "T(./.envrc)"],
            "/p/.envrc",
            "allow",
        ),
    ] {
        let policy = policy(deny, ask, allow);
        let subjects = vec![Subject::Path(real.into())];
        let request = Request {
            tool: "T".into(),
            aliases: vec![alias.into()],
            ..request(&policy, subjects)
        };
        let found = super::word(&policy.decide(request));
        assert_eq!(found, wanted, "{deny:?} {ask:?} {allow:?} {alias}");
    }
}

#[test]
fn what_a_rule_closes_is_not_printed_out_of_the_repository() {
    let closed = ["Read(.env)"];
    for (deny, allow, script, wanted) in [
        (&closed[..], &["B"][..], "git show HEAD:.env", "deny"),
        (&closed, &["B"], "git cat-file -p HEAD:.env", "deny"),
        (&closed, &["B"], "git log -p -- .env", "deny"),
        (&closed, &["B"], "git diff .env", "deny"),
        (&closed, &["B"], "git grep x -- .env", "deny"),
        (&closed, &["B"], "git blame .env", "deny"),
        (&closed, &["B"], "git archive HEAD .env", "deny"),
        (&closed, &["B"], "x=$(git show HEAD:.env)", "deny"),
        (&closed, &[], "git diff", "ask"),
        (&closed, &["B"], "git diff", "ask"),
        (&closed, &["B"], "git log -p", "ask"),
        (&closed, &["B"], "git show HEAD", "ask"),
        (&closed, &["B(git diff:*)"], "git diff", "allow"),
        (&closed, &["B(git diff:*)"], "git diff && git show", "ask"),
        (&closed, &[], "git diff -- src/main.rs", "allow"),
        (&closed, &[], "git log", "allow"),
        (&closed, &[], "git status", "allow"),
        (&closed, &[], "git diff --stat", "allow"),
        (&closed, &[], "git show --stat", "allow"),
        (&["Read(//elsewhere/x)"], &[], "git diff", "allow"),
        (&["Read(//p/secret)"], &[], "git diff", "ask"),
        (&["Edit(.env)"], &[], "git diff", "allow"),
        (&[], &[], "git diff", "allow"),
    ] {
        assert_eq!(
            decide(deny, &[], allow, script),
            wanted,
            "{script} {deny:?}"
        );
    }
}
