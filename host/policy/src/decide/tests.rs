use super::*;
use crate::rule::{Anchors, Rule};
use crate::zones::{Zone, Zones};

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
        aliases: Vec::new(),
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
    assert_eq!(
        permit.extra_reads(),
        &Zones::new(vec![Zone::File("/etc/passwd".into())])
    );
    assert_eq!(permit.access(), &Access::ReadOnly);
}

#[test]
fn a_writer_may_write_the_file_that_it_names_and_no_other() {
    let Decision::Allow(permit) = policy(&[], &[], &["T"]).decide(request(false, &["/p/src/a.rs"]))
    else {
        panic!("not allowed")
    };
    assert_eq!(
        permit.access(),
        &Access::ReadWrite {
            zones: Zones::new(vec![Zone::File("/p/src/a.rs".into())])
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

/// What a call gets, as words: the decision, and where it may write.
fn grant(allow: &[&str], mode: crate::mode::Mode, subject: Subject) -> (String, String) {
    let policy = policy(&[], &[], allow).with_mode(mode);
    let mut request = request(false, &[]);
    request.reach = Reach {
        files: true,
        ..Reach::default()
    };
    request.subjects = vec![subject];
    let decision = policy.decide(request);
    let access = match &decision {
        Decision::Allow(permit) => permit.access().clone(),
        Decision::Ask(question) => question.would_grant().clone(),
        Decision::Deny { .. } => Access::ReadOnly,
    };
    let zones = match access {
        Access::ReadOnly => String::new(),
        Access::ReadWrite { zones } => {
            let zones: Vec<String> = zones.iter().map(ToString::to_string).collect();
            zones.join(" ")
        }
    };
    (word(&decision).to_owned(), zones)
}

#[test]
fn a_zone_is_what_was_named_and_never_its_parent() {
    use crate::mode::Mode;
    let file = |path: &str| Subject::Path(path.into());
    let folder = |path: &str| Subject::Folder(path.into());
    for (allow, mode, subject, decision, zones) in [
        (&[][..], Mode::AcceptEdits, folder("/p"), "allow", "/p/"),
        (&["T"], Mode::Default, folder("/p"), "allow", "/p/"),
        (&["T(.)"], Mode::Default, folder("/p"), "allow", "/p/"),
        (&["T"], Mode::Default, folder("/p/src"), "allow", "/p/src/"),
        (&["T"], Mode::Bypass, folder("/"), "deny", ""),
        (
            &["T"],
            Mode::Default,
            file("/p/README.md"),
            "allow",
            "/p/README.md",
        ),
        (
            &["T(./src/a.rs)"],
            Mode::Default,
            file("/p/src/a.rs"),
            "allow",
            "/p/src/a.rs",
        ),
        (
            &["T"],
            Mode::Default,
            file("/etc/hosts"),
            "allow",
            "/etc/hosts",
        ),
        (&["T"], Mode::Default, folder("/etc"), "allow", "/etc/"),
    ] {
        let granted = grant(allow, mode, subject.clone());
        let wanted = (decision.to_owned(), zones.to_owned());
        assert_eq!(granted, wanted, "{allow:?} {mode} {subject:?}");
    }
}

#[test]
fn a_protected_name_takes_a_rule_that_names_it() {
    use crate::mode::Mode;
    for (allow, mode, path, wanted) in [
        (&[][..], Mode::Default, "/p/.git/config", "ask"),
        (&["T"], Mode::Default, "/p/.git/config", "ask"),
        (&["T(./**)"], Mode::Default, "/p/.git/config", "ask"),
        (&["T(.g*/**)"], Mode::Default, "/p/.git/config", "ask"),
        (&["T(./.git/**)"], Mode::Default, "/p/.git/config", "allow"),
        (&["T(.git)"], Mode::Default, "/p/sub/.git/config", "allow"),
        (
            &["T(./.git/config)"],
            Mode::Default,
            "/p/.git/config",
            "allow",
        ),
        (
            &["T(./.git/config)"],
            Mode::Default,
            "/p/.git/hooks/x",
            "ask",
        ),
        (
            &["T", "T(./.vscode/**)"],
            Mode::Default,
            "/p/.git/config",
            "ask",
        ),
        (&[], Mode::AcceptEdits, "/p/.codex/config.toml", "ask"),
        (&[], Mode::AcceptEdits, "/p/sub/.Husky/pre-commit", "ask"),
        (&[], Mode::AcceptEdits, "/p/.github/workflows/ci.yml", "ask"),
        (&[], Mode::AcceptEdits, "/p/src/git.rs", "allow"),
        (&["T"], Mode::DontAsk, "/p/.git/config", "deny"),
        (&[], Mode::Bypass, "/p/.git/config", "allow"),
    ] {
        let (decision, _) = grant(allow, mode, Subject::Path(path.into()));
        assert_eq!(decision, wanted, "{allow:?} {mode} {path}");
    }
    for name in [
        "zed",
        "devcontainer.json",
        "exrc",
        "nvim.lua",
        "gdbinit",
        "jj",
        "claude.json",
    ] {
        let path = format!("/p/.{name}");
        let (decision, _) = grant(&["T"], Mode::AcceptEdits, Subject::Path(path.into()));
        assert_eq!(decision, "ask", ".{name}");
    }
}

#[test]
fn a_rule_is_offered_that_names_the_protected_file() {
    let policy = policy(&[], &[], &["T"]);
    let request = request(false, &["/p/.git/config"]);
    assert_eq!(policy.offers(&request), ["T(//p/.git/config)"]);
}

#[test]
fn a_project_below_a_protected_name_is_no_special_case() {
    let anchors = Anchors {
        home: None,
        cwd: "/u/.claude/trees/x".into(),
        settings: "/u/.claude/trees/x".into(),
    };
    let allow = vec![Rule::parse("T(./**)", &anchors).unwrap()];
    let rules = Rules {
        allow,
        ..Rules::default()
    };
    let policy = Policy::new(rules, vec![anchors.cwd.clone()], &Closed::default());
    for (path, wanted) in [
        ("/u/.claude/trees/x/a.rs", "allow"),
        ("/u/.claude/trees/x/.claude/settings.json", "ask"),
    ] {
        assert_eq!(
            word(&policy.decide(request(false, &[path]))),
            wanted,
            "{path}"
        );
    }
}

#[test]
fn a_permit_carries_the_scripts_that_were_decided_about() {
    let policy = policy(&[], &[], &["T"]);
    let mut request = request(false, &[]);
    request.subjects = vec![Subject::Command("make".into())];
    let Decision::Allow(permit) = policy.decide(request) else {
        panic!("not allowed")
    };
    assert_eq!(permit.scripts(), ["make"]);
}

#[test]
fn other_rules_change_nothing_else() {
    let real = |path: &std::path::Path| match path.ends_with("link") {
        true => "/etc/passwd".into(),
        false => path.to_owned(),
    };
    let mut exits = crate::outside::Exits::default();
    exits.exclude("docker:*").unwrap();
    let before = policy(&[], &[], &[])
        .with_home("/home/me")
        .with_links(toolbay_shell::LinkResolver::new(real))
        .with_exits(exits)
        .with_mode(crate::Mode::AcceptEdits);
    let after = before.with_rules(Rules::default());
    let asks = |policy: &Policy, script: &str| {
        let mut request = request(true, &[]);
        request.subjects = vec![Subject::Command(script.into())];
        let (decision, ruling) = policy.decide_and_say(request);
        (word(&decision), ruling.reason)
    };
    for policy in [&before, &after] {
        assert_eq!(policy.home(), Some(std::path::Path::new("/home/me")));
        assert_eq!(policy.mode(), crate::Mode::AcceptEdits);
        assert_eq!(asks(policy, "cat plain").0, "allow");
        assert_eq!(asks(policy, "cat link").0, "ask");
        let (decision, reason) = asks(policy, "docker ps");
        assert_eq!(decision, "ask");
        assert!(reason.contains("WITHOUT A CAGE"), "{reason}");
    }
}

#[test]
fn allow_rules_that_do_not_count_are_listed() {
    let anchors = Anchors {
        home: None,
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let of_a_project = crate::Provenance::of(crate::Source::Project);
    let rule = Rule::parse("T", &anchors).unwrap().from(of_a_project);
    let rules = Rules {
        allow: vec![rule],
        ..Rules::default()
    };
    let policy = Policy::new(rules, vec!["/p".into()], &Closed::default());
    assert_eq!(policy.ignored().len(), 1);
    assert!(policy.rules().allow.is_empty());
}

#[test]
fn a_permit_says_who_granted_it() {
    let asked = || match policy(&[], &[], &[]).decide(request(false, &["/p/a"])) {
        Decision::Ask(question) => question,
        other => panic!("{other:?}"),
    };
    assert!(asked().grant().reason().contains("a person allowed it"));
    let granted = asked().grant_because("the classifier".into());
    assert_eq!(granted.reason(), "the classifier");
    assert_eq!(granted.access(), asked().would_grant());
}

#[test]
fn a_rule_about_all_in_a_folder_decides_about_the_folder() {
    let folder = |read_only| Request {
        subjects: vec![Subject::Folder("/p/secret".into())],
        ..request(read_only, &[])
    };
    for (deny, ask, read_only, wanted) in [
        (&["T(./secret/**)"][..], &[][..], true, "deny"),
        (&["Read(./secret/**)"], &[], true, "deny"),
        (&["Edit(./secret/**)"], &[], false, "deny"),
        (&["Edit(./secret/**)"], &[], true, "allow"),
        (&[], &["T(./secret/**)"], true, "ask"),
        (&["T(./secret/*)"], &[], true, "allow"),
    ] {
        let decision = policy(deny, ask, &[]).decide(folder(read_only));
        assert_eq!(word(&decision), wanted, "{deny:?} {ask:?} {read_only}");
    }
}
