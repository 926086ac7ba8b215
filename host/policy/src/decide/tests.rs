use super::*;
use crate::rule::{Anchors, Rule};

mod closed;

pub(super) fn policy(deny: &[&str], ask: &[&str], allow: &[&str]) -> Policy {
    let anchors = Anchors {
        home: None,
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let parse = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| Rule::parse(text, &anchors).unwrap())
            .collect()
    };
    Policy::new(
        Rules {
            deny: parse(deny),
            ask: parse(ask),
            allow: parse(allow),
        },
        vec!["/p".into()],
        &Closed {
            unwritable_names: vec![".own".into()],
            ..Closed::default()
        },
    )
}

#[test]
fn the_hosts_own_files_are_closed_whatever_the_rules_allow() {
    for (path, read_only, wanted) in [
        ("/p/.own", false, "deny"),
        ("/p/a/.own/settings", false, "deny"),
        ("/p/.own/settings", true, "allow"),
        ("/p/.owner", false, "allow"),
    ] {
        let decision = policy(&[], &[], &["T"]).decide(request(read_only, &[path]));
        assert_eq!(word(&decision), wanted, "{path} {read_only}");
    }
}

fn request(read_only: bool, paths: &[&str]) -> Request {
    Request {
        call_id: "1".into(),
        tool: "T".into(),
        input: "{}".into(),
        subjects: paths
            .iter()
            .map(|path| Subject::Path(path.into()))
            .collect(),
        claims: Claims {
            read_only,
            ..Claims::STRICT
        },
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: crate::outside::CageWish::Inside,
        study: Study::default(),
    }
}

pub(super) fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow(_) => "allow",
        Decision::Ask(_) => "ask",
        Decision::Deny { .. } => "deny",
    }
}

#[test]
fn deny_beats_ask_beats_allow() {
    for (deny, ask, allow, read_only, wanted) in [
        (&[][..], &[][..], &[][..], true, "allow"),
        (&[], &[], &[], false, "ask"),
        (&[], &[], &["T"], false, "allow"),
        (&[], &["T"], &["T"], true, "ask"),
        (&["T"], &["T"], &["T"], true, "deny"),
        (&["Read(./a)"], &[], &["T"], true, "deny"),
        (&["Edit(./a)"], &[], &["T"], true, "allow"),
        (&["Edit(./a)"], &[], &["T"], false, "deny"),
    ] {
        let decision = policy(deny, ask, allow).decide(request(read_only, &["/p/a"]));
        assert_eq!(
            word(&decision),
            wanted,
            "{deny:?} {ask:?} {allow:?} {read_only}"
        );
    }
}

#[test]
fn reading_outside_the_roots_is_asked_about() {
    let decision = policy(&[], &[], &[]).decide(request(true, &["/etc/passwd"]));
    assert_eq!(word(&decision), "ask");
    let decision = policy(&[], &[], &["T(//etc/passwd)"]).decide(request(true, &["/etc/passwd"]));
    let Decision::Allow(permit) = decision else {
        panic!("not allowed")
    };
    assert_eq!(permit.extra_reads(), [PathBuf::from("/etc/passwd")]);
    assert_eq!(permit.access(), &Access::ReadOnly);
}

#[test]
fn a_writer_may_write_in_the_folder_of_its_file_only() {
    let Decision::Allow(permit) = policy(&[], &[], &["T"]).decide(request(false, &["/p/src/a.rs"]))
    else {
        panic!("not allowed")
    };
    assert_eq!(
        permit.access(),
        &Access::ReadWrite {
            zones: vec!["/p/src".into()]
        }
    );
}

#[test]
fn a_component_that_can_reach_nothing_needs_no_question() {
    let mut harmless = request(false, &[]);
    harmless.reach = Reach {
        session: true,
        ..Reach::default()
    };
    assert_eq!(
        word(&policy(&[], &[], &[]).decide(harmless.clone())),
        "allow"
    );
    harmless.opinion = Opinion::Ask("unsure".into());
    assert_eq!(
        word(&policy(&[], &[], &["T"]).decide(harmless.clone())),
        "ask"
    );
    harmless.opinion = Opinion::Deny("no".into());
    assert_eq!(word(&policy(&[], &[], &["T"]).decide(harmless)), "deny");
}

#[test]
fn a_hooks_allow_never_beats_a_rule_and_its_deny_beats_all() {
    let allow = HookWord::Allow("fine".into());
    for (policy, hooks, read_only, wanted) in [
        (policy(&[], &[], &[]), allow.clone(), false, "allow"),
        (policy(&["T"], &[], &[]), allow.clone(), false, "deny"),
        (policy(&[], &["T"], &[]), allow.clone(), false, "ask"),
        (
            policy(&[], &[], &["T"]),
            HookWord::Ask("?".into()),
            false,
            "ask",
        ),
        (
            policy(&[], &[], &["T"]),
            HookWord::Deny("no".into()),
            true,
            "deny",
        ),
    ] {
        let decision = policy.decide(Request {
            hooks: hooks.clone(),
            ..request(read_only, &["/p/a"])
        });
        assert_eq!(word(&decision), wanted, "{hooks:?}");
    }
    // A tool that asks is asked about, whatever a hook says.
    let policy = policy(&[], &[], &[]);
    let decision = policy.decide(Request {
        hooks: allow,
        opinion: Opinion::Ask("sure?".into()),
        ..request(false, &["/p/a"])
    });
    assert_eq!(word(&decision), "ask");
}

#[test]
fn a_read_only_claim_about_a_command_is_checked_by_the_host() {
    let policy = policy(&[], &[], &[]);
    for (command, wanted) in [("ls", "allow"), ("rm -r x", "ask"), ("ls $(rm x)", "ask")] {
        let subjects = vec![Subject::Command(command.into())];
        for study in [policy.study(&subjects, Path::new("/p")), Study::default()] {
            let decision = policy.decide(Request {
                subjects: subjects.clone(),
                study,
                ..request(true, &[])
            });
            assert_eq!(word(&decision), wanted, "{command}");
        }
    }
}

#[test]
fn a_deny_rule_without_content_removes_a_tool() {
    let policy = policy(&["W", "E(x)", "mcp__a", "mcp__b__*", "G*"], &[], &[]);
    for (tool, wanted) in [
        ("W", true),
        ("Wx", false),
        ("E", false),
        ("mcp__a__t", true),
        ("mcp__ab__t", false),
        ("mcp__a", true),
        ("mcp__b__t", true),
        ("mcp__b2__t", false),
        ("Grep", true),
    ] {
        assert_eq!(policy.removes(tool), wanted, "{tool}");
    }
}

#[test]
fn what_is_kept_for_the_model_may_be_read_and_nothing_beside_it() {
    let closed = Closed {
        unreadable: vec!["/state".into()],
        readable: vec!["/state/s/results".into()],
        ..Closed::default()
    };
    let policy = Policy::new(Rules::default(), vec!["/p".into()], &closed);
    for (path, read_only, wanted) in [
        ("/state/s/results/a.txt", true, "allow"),
        ("/state/s/results/a.txt", false, "deny"),
        ("/state/s/results2", true, "deny"),
        ("/state/key", true, "deny"),
        ("/elsewhere", true, "ask"),
    ] {
        let decision = policy.decide(request(read_only, &[path]));
        assert_eq!(word(&decision), wanted, "{path} {read_only}");
    }
}
