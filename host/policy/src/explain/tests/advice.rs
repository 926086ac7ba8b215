//! What is suggested, where it ends, and what is said where nothing can be.

use super::*;
use crate::{Managed, Trusting};

fn paths(count: usize) -> Request {
    let path = |n| Subject::Path(format!("/p/{n}").into());
    request((0..count).map(path).collect())
}

fn removals(count: usize) -> Request {
    let one = |n| format!("rm -f {n}");
    command(&(0..count).map(one).collect::<Vec<_>>().join("; "))
}

#[test]
fn five_rules_are_suggested_and_six_are_not() {
    let policy = policy(&[], &[], &[]);
    for (request, wanted) in [
        (paths(5), 5),
        (paths(6), 0),
        (removals(2), 2),
        (removals(5), 5),
        (removals(6), 0),
    ] {
        let found = policy.explain(&request).suggestions;
        assert_eq!(found.len(), wanted, "{found:?}");
    }
}

#[test]
fn suggestions_are_sorted_and_left_out_where_they_would_not_do() {
    let policy = policy(&[], &[], &[]);
    for (script, wanted) in [
        (
            "npm run y && git add x",
            &["T(git add:*)", "T(npm run:*)"][..],
        ),
        ("ls > x; rm -f a", &[]),
    ] {
        let found = policy.explain(&command(script)).suggestions;
        assert_eq!(found, wanted, "{script}");
    }
}

#[test]
fn a_text_makes_a_rule_if_all_of_it_is_seen() {
    for (text, wanted) in [("x", Some("T(x)")), (" x", None), ("x ", None), ("", None)] {
        let request = request(vec![Subject::Text(text.into())]);
        let found = policy(&[], &[], &[]).explain(&request).suggestions;
        assert_eq!(found.first().map(String::as_str), wanted, "{text:?}");
    }
}

#[test]
fn a_rule_about_a_path_matches_whatever_tool_touches_it() {
    let path = |read_only| {
        let mut request = request(vec![Subject::Path("/p/a".into())]);
        request.claims.read_only = read_only;
        request
    };
    for (deny, request, wanted) in [
        ("Read(./a)", path(true), true),
        ("Read(./b)", path(true), false),
        ("Edit(./a)", path(false), true),
        ("Edit(./a)", path(true), false),
    ] {
        let looked_at = policy(&[deny], &[], &[]).explain(&request).looked_at;
        let matched: Vec<bool> = looked_at.iter().map(|looked| looked.matched).collect();
        assert_eq!(matched, [wanted], "{deny}");
    }
}

#[test]
fn what_may_be_written_is_shown_unless_the_call_is_denied() {
    let request = request(vec![Subject::Path("/p/a".into())]);
    for (deny, wanted) in [(&[][..], &[Zone::File("/p/a".into())][..]), (&["T"], &[])] {
        assert_eq!(policy(deny, &[], &[]).explain(&request).writes, wanted);
    }
}

#[test]
fn advice_says_who_decides_each_time() {
    let plain = || request(vec![Subject::Path("/p/a".into())]);
    let hook = |hooks| Request { hooks, ..plain() };
    let tool = |opinion| Request { opinion, ..plain() };
    let none = |why: &str| RuleAdvice::NoRule(why.into());
    let itself = RuleAdvice::Rules(vec!["T(//p/a)".into()]);
    for (request, wanted) in [
        (
            hook(HookWord::Ask("x".into())),
            none("a hook wants it decided each time"),
        ),
        (hook(HookWord::Allow("x".into())), itself.clone()),
        (
            tool(Opinion::Ask("x".into())),
            none("the tool wants it decided each time"),
        ),
        (tool(Opinion::Allow("x".into())), itself.clone()),
        (plain(), itself),
        (
            command("git add x"),
            RuleAdvice::Rules(vec!["T(git add:*)".into()]),
        ),
        (
            command("curl x"),
            none("the deny rule `T(curl:*)` forbids it"),
        ),
    ] {
        let policy = policy(&["T(curl:*)"], &[], &["T(git add:*)"]);
        assert_eq!(policy.advice(&request), wanted, "{request:?}");
    }
}

#[test]
fn managed_rules_alone_are_the_reason_only_where_few_rules_would_do() {
    let managed = Managed {
        only_managed_rules: true,
        ..Managed::default()
    };
    let policy = Policy::governed(
        Rules::default(),
        vec![PathBuf::from("/p")],
        &Closed::default(),
        Trusting::default(),
        managed,
    );
    let by_managed = "the managed policy lets only its own rules allow";
    let too_many = "it would need more than 5 rules";
    for (request, wanted) in [
        (paths(5), by_managed),
        (paths(6), too_many),
        (removals(5), by_managed),
        (removals(6), too_many),
    ] {
        let RuleAdvice::NoRule(why) = policy.advice(&request) else {
            panic!("a rule that would not count was offered")
        };
        assert_eq!(why, wanted);
    }
}

#[test]
fn the_reason_names_a_command_that_no_rule_covers() {
    for (allow, script, named) in [
        (&["T(touch:*)"][..], "touch a && rm b", "`rm`"),
        (&["T(rm b)"], "touch a && rm b", "`touch`"),
        (&[], "touch a && rm b", "`touch`"),
        (
            &["T(touch:*)", "T(cat /etc/hosts)"],
            "touch a; cat /etc/hosts; rm b",
            "`rm`",
        ),
    ] {
        let reason = policy(&[], &[], allow).explain(&command(script)).reason;
        assert!(reason.contains(named), "{allow:?} {script}: {reason}");
    }
}
