use std::path::PathBuf;

use super::*;
use crate::claims::{Claims, Reach, Trust};
use crate::managed::Managed;
use crate::mode::Mode;
use crate::{Anchors, Closed, Provenance, Rule, Rules, Source, Study, Trusting};

mod levers;

fn rule(text: &str, source: Source) -> Rule {
    let anchors = Anchors {
        home: Some("/home/me".into()),
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let rule = Rule::parse(text, &anchors).unwrap();
    rule.from(Provenance::of(source))
}

fn rules(deny: &[&str], ask: &[&str], allow: &[&str]) -> Rules {
    let of = |texts: &[&str]| texts.iter().map(|text| rule(text, Source::User)).collect();
    Rules {
        deny: of(deny),
        ask: of(ask),
        allow: of(allow),
    }
}

fn policy(rules: Rules, managed: Managed) -> Policy {
    let closed = Closed {
        unreadable: vec!["/state".into()],
        unwritable_names: vec![".own".into()],
        ..Closed::default()
    };
    let roots = vec![PathBuf::from("/p")];
    Policy::governed(rules, roots, &closed, Trusting::default(), managed).with_home("/home/me")
}

/// What only touches files, as most tools.
const FILES: Reach = Reach {
    files: true,
    search: false,
    network: false,
    shell: false,
    ask_user: false,
    tasks: false,
    agents: false,
    session: false,
};

fn request(subjects: Vec<Subject>, read_only: bool) -> Request {
    Request {
        call_id: "1".into(),
        tool: "T".into(),
        input: "{}".into(),
        subjects,
        claims: Claims {
            read_only,
            ..Claims::STRICT
        },
        reach: FILES,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: crate::outside::CageWish::Inside,
        aliases: Vec::new(),
        study: Study::default(),
    }
}

fn edit(path: &str) -> Request {
    request(vec![Subject::Path(path.into())], false)
}

fn command(script: &str) -> Request {
    let place = toolbay_shell::Place::anywhere();
    let read_only = toolbay_shell::inspect(script, &place).read_only();
    Request {
        reach: Reach::ALL,
        ..request(vec![Subject::Command(script.into())], read_only)
    }
}

fn word(policy: &Policy, request: Request) -> &'static str {
    let explained = policy.explain(&request).behavior;
    let (_, ruling) = policy.decide_and_say(request);
    assert_eq!(ruling.behavior, explained);
    ruling.behavior.word()
}

#[test]
fn modes_change_what_no_rule_decides_and_never_a_deny() {
    let policy = policy(
        rules(
            &["T(./secret)", "T(curl:*)"],
            &["T(./asked)", "T(git push:*)"],
            &["T(./allowed)", "T(npm run:*)"],
        ),
        Managed::default(),
    );
    // default, plan, acceptEdits, bypassPermissions, dontAsk
    for (request, wanted) in [
        (edit("/p/a"), ["ask", "deny", "allow", "allow", "deny"]),
        (
            edit("/p/allowed"),
            ["allow", "deny", "allow", "allow", "allow"],
        ),
        (edit("/p/asked"), ["ask", "deny", "ask", "allow", "deny"]),
        (edit("/p/secret"), ["deny"; 5]),
        (edit("/p/.own/x"), ["deny"; 5]),
        (edit("/elsewhere"), ["ask", "deny", "ask", "allow", "deny"]),
        (
            edit("/p/.git/hooks/x"),
            ["ask", "deny", "ask", "allow", "deny"],
        ),
        (
            edit("/p/.GIT/config"),
            ["ask", "deny", "ask", "allow", "deny"],
        ),
        (command("ls"), ["allow"; 5]),
        (
            command("cat /etc/passwd"),
            ["ask", "ask", "ask", "allow", "deny"],
        ),
        (command("touch x"), ["ask", "deny", "ask", "allow", "deny"]),
        (
            command("npm run x"),
            ["allow", "deny", "allow", "allow", "allow"],
        ),
        (command("git push"), ["ask", "deny", "ask", "allow", "deny"]),
        (command("curl x"), ["deny"; 5]),
        (command("$X y"), ["ask", "deny", "ask", "allow", "deny"]),
        (command("rm -rf ~"), ["ask", "deny", "ask", "ask", "deny"]),
        (
            request(vec![], false),
            ["ask", "deny", "ask", "allow", "deny"],
        ),
        (
            Request {
                reach: Reach::default(),
                ..request(vec![], false)
            },
            ["allow"; 5],
        ),
        (
            Request {
                reach: Reach::ALL,
                ..edit("/p/a")
            },
            ["ask", "deny", "ask", "allow", "deny"],
        ),
    ] {
        for (mode, wanted) in Mode::ALL.into_iter().zip(wanted) {
            let policy = policy.clone().with_mode(mode);
            let found = word(&policy, request.clone());
            assert_eq!(found, wanted, "{mode}: {:?}", request.subjects);
        }
    }
}

#[test]
fn the_owners_questions_and_hooks_are_asked_in_bypass_too() {
    let mut rules = rules(&[], &["T(./a)", "T"], &[]);
    rules.ask.insert(1, rule("T(./managed)", Source::Managed));
    let policy = policy(rules, Managed::default()).with_mode(Mode::Bypass);
    for (path, hooks, opinion, wanted) in [
        ("/p/a", HookWord::None, Opinion::None, "allow"),
        ("/p/managed", HookWord::None, Opinion::None, "ask"),
        (
            "/p/managed",
            HookWord::Allow("x".into()),
            Opinion::None,
            "ask",
        ),
        ("/p/a", HookWord::Ask("x".into()), Opinion::None, "ask"),
        ("/p/a", HookWord::None, Opinion::Ask("x".into()), "allow"),
        ("/p/a", HookWord::Deny("x".into()), Opinion::None, "deny"),
    ] {
        let request = Request {
            hooks,
            opinion,
            ..edit(path)
        };
        assert_eq!(word(&policy, request), wanted, "{path}");
    }
}

#[test]
fn what_may_be_denied_is_asked_about_unless_it_is_allowed_by_name() {
    for (script, allow, source, mode, wanted) in [
        (
            "npm run x",
            &["T(npm run:*)"][..],
            Source::User,
            Mode::Default,
            "allow",
        ),
        (
            "npm run x",
            &["T(npm run x)"],
            Source::User,
            Mode::Default,
            "allow",
        ),
        (
            "npm run x",
            &["T(npm * x)"],
            Source::User,
            Mode::Default,
            "allow",
        ),
        ("npm run x", &["T(*)"], Source::User, Mode::Default, "ask"),
        ("npm run x", &["T"], Source::User, Mode::Default, "ask"),
        (
            "npm run x",
            &["T", "T(npm run:*)"],
            Source::User,
            Mode::Default,
            "allow",
        ),
        (
            "git commit -m x",
            &["T(git:*)"],
            Source::User,
            Mode::Default,
            "allow",
        ),
        (
            "npm run x && make",
            &["T(npm run:*)"],
            Source::User,
            Mode::Default,
            "ask",
        ),
        (
            "npm run x && $Y",
            &["T(npm run:*)", "T(*)"],
            Source::User,
            Mode::Default,
            "ask",
        ),
        (
            "bash x.sh",
            &["T(bash:*)"],
            Source::User,
            Mode::Default,
            "ask",
        ),
        (
            "bash x.sh",
            &["T(bash x.sh)"],
            Source::User,
            Mode::Default,
            "allow",
        ),
        (
            "bash x.sh",
            &["T(bash:*)", "T(bash x.sh)"],
            Source::User,
            Mode::Default,
            "allow",
        ),
        (
            "python3 a.py test",
            &["T(python3:*)", "T(python3 a.py test:*)"],
            Source::User,
            Mode::Default,
            "allow",
        ),
        ("npm run x", &[], Source::User, Mode::Bypass, "allow"),
        ("npm run x", &[], Source::Managed, Mode::Bypass, "ask"),
        (
            "npm run x",
            &["T(npm run:*)"],
            Source::Managed,
            Mode::Bypass,
            "allow",
        ),
        (
            "ls $(npm run x; curl y)",
            &["T(npm run:*)"],
            Source::User,
            Mode::Bypass,
            "deny",
        ),
    ] {
        let mut rules = rules(&[], &[], allow);
        rules.deny.push(rule("T(curl:*)", source));
        let policy = policy(rules, Managed::default()).with_mode(mode);
        assert_eq!(
            word(&policy, command(script)),
            wanted,
            "{script} {allow:?} {mode}"
        );
    }
}

#[test]
fn no_allow_of_a_hook_or_a_tool_beats_anything() {
    for (deny, ask, wanted) in [
        (&["T"][..], &[][..], "deny"),
        (&[], &["T"], "ask"),
        (&[], &[], "allow"),
    ] {
        for (hooks, opinion) in [
            (HookWord::Allow("x".into()), Opinion::None),
            (HookWord::None, Opinion::Allow("x".into())),
            (HookWord::Allow("x".into()), Opinion::Allow("x".into())),
        ] {
            let policy = policy(rules(deny, ask, &[]), Managed::default());
            let request = Request {
                hooks,
                opinion,
                ..edit("/p/a")
            };
            assert_eq!(word(&policy, request.clone()), wanted, "{deny:?} {ask:?}");
            let own = Request {
                subjects: vec![Subject::Path("/p/.own/x".into())],
                ..request.clone()
            };
            assert_eq!(word(&policy, own), "deny");
            let removal = Request {
                subjects: vec![Subject::Command("rm -rf ~".into())],
                ..request.clone()
            };
            assert_ne!(word(&policy, removal), "allow");
            let planned = policy.with_mode(Mode::Plan);
            assert_eq!(word(&planned, request), "deny");
        }
    }
    let allow = Opinion::Allow("x".into());
    assert_eq!(allow.clone().believed_of(Trust::ThirdParty), Opinion::None);
    assert_eq!(allow.clone().believed_of(Trust::BuiltIn), allow);
}

#[test]
fn path_rules_reach_into_commands() {
    let policy = policy(
        rules(
            &["Read(.env)", "Edit(*.lock)", "Read(~/.ssh)"],
            &[],
            &["T", "T(*)"],
        ),
        Managed::default(),
    );
    for (script, wanted) in [
        ("cat .env", "deny"),
        ("head -1 sub/.env", "deny"),
        ("cat < .env", "deny"),
        ("cat ~/.ssh/id", "deny"),
        ("cat x.lock", "allow"),
        ("echo x > x.lock", "deny"),
        ("rm x.lock", "deny"),
        ("echo x > .own/settings", "deny"),
        ("cat /state/key", "deny"),
        ("cat .own/settings", "allow"),
        ("cat .envrc", "allow"),
        // Not understood: asked about where a closed file is named.
        ("cat .env & true", "ask"),
        ("for f in x; do cat $f .e\"n\"v; done", "ask"),
        ("echo $(cat ~/.ssh/id)", "ask"),
        ("echo x >.own/settings & true", "ask"),
        ("cat .envrc & true", "allow"),
    ] {
        assert_eq!(word(&policy, command(script)), wanted, "{script}");
    }
}

/// A component that edits the named file and could run commands beside it does more than an edit.
#[test]
fn accept_edits_covers_no_component_that_could_do_more() {
    let policy = policy(rules(&[], &[], &[]), Managed::default()).with_mode(Mode::AcceptEdits);
    for (reach, wanted) in [
        (FILES, "allow"),
        (
            Reach {
                shell: true,
                ..FILES
            },
            "ask",
        ),
        (
            Reach {
                tasks: true,
                ..FILES
            },
            "ask",
        ),
        (
            Reach {
                agents: true,
                ..FILES
            },
            "ask",
        ),
    ] {
        let request = Request {
            reach,
            ..request(vec![Subject::Path("/p/a".into())], false)
        };
        assert_eq!(word(&policy, request), wanted, "{reach:?}");
    }
}

#[test]
fn speaking_to_a_host_needs_a_word_even_if_it_only_reads() {
    let request = request(vec![Subject::Url("https://example.com/x".into())], true);
    for (allow, wanted) in [
        (&[][..], "ask"),
        (&["T(domain:example.com)"], "allow"),
        (&["T(domain:other.example)"], "ask"),
    ] {
        let policy = policy(rules(&[], &[], allow), Managed::default());
        assert_eq!(word(&policy, request.clone()), wanted, "{allow:?}");
    }
}

#[test]
fn a_stage_has_one_name_in_words_and_in_json() {
    for stage in [
        Stage::Hook,
        Stage::Tool,
        Stage::Limits,
        Stage::Rules,
        Stage::Otherwise,
        Stage::Mode,
    ] {
        let json = serde_json::to_value(stage).unwrap();
        assert_eq!(json, stage.word());
    }
}
