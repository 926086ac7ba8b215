use std::path::PathBuf;

use super::*;
use crate::claims::Subject;
use crate::claims::{Claims, HookWord, Opinion, Reach};
use crate::decide::Decision;
use crate::managed::Managed;
use crate::mode::Mode;
use crate::{Anchors, Closed, Provenance, Rule, Rules, Study, Trusting};

fn rule(text: &str, source: Source) -> Rule {
    let anchors = Anchors {
        home: None,
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let rule = Rule::parse(text, &anchors).unwrap();
    rule.from(Provenance::of(source))
}

fn exits(on_request: bool, patterns: &[&str]) -> Exits {
    let mut exits = Exits {
        on_request,
        ..Exits::default()
    };
    for pattern in patterns {
        exits.exclude(pattern).unwrap();
    }
    exits
}

fn policy(allow: &[(&str, Source)], exits: Exits, managed: Managed) -> Policy {
    let allow = allow.iter().map(|(text, source)| rule(text, *source));
    let rules = Rules {
        allow: allow.collect(),
        ..Rules::default()
    };
    let trusting = Trusting {
        project: true,
        local: true,
    };
    let roots = vec![PathBuf::from("/p")];
    Policy::governed(rules, roots, &Closed::default(), trusting, managed).with_exits(exits)
}

fn request(script: &str, cage: CageWish) -> Request {
    Request {
        call_id: "1".into(),
        tool: "B".into(),
        input: "{}".into(),
        subjects: vec![Subject::Command(script.into())],
        claims: Claims {
            read_only: true,
            concurrency_safe: true,
            destructive: Some(false),
        },
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage,
        aliases: Vec::new(),
        study: Study::default(),
    }
}

/// The word for a decision, and what its permit lets out.
fn decided(policy: &Policy, request: Request) -> (&'static str, Outside) {
    match policy.decide(request) {
        Decision::Allow(permit) => ("allow", permit.outside().clone()),
        Decision::Ask(question) => ("ask", question.grant().outside().clone()),
        Decision::Deny { .. } => ("deny", Outside::Nothing),
    }
}

const USER: Source = Source::User;

#[test]
fn to_ask_for_it_is_refused_unless_settings_allow_it_and_then_always_asked() {
    let ask = |policy: &Policy| decided(policy, request("ls", CageWish::Outside));
    let out = || Outside::Asked(vec!["ls".into()]);
    let every = [("B", USER), ("B(*)", Source::Managed), ("B(ls)", USER)];
    let closed = policy(&every, exits(false, &["ls"]), Managed::default());
    assert_eq!(ask(&closed), ("deny", Outside::Nothing));
    let open = policy(&every, exits(true, &["ls"]), Managed::default());
    assert_eq!(ask(&open), ("ask", out()));
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Bypass] {
        assert_eq!(ask(&open.clone().with_mode(mode)), ("ask", out()), "{mode}");
    }
    for mode in [Mode::Plan, Mode::DontAsk] {
        assert_eq!(ask(&open.clone().with_mode(mode)).0, "deny", "{mode}");
    }
    // Neither a hook nor the tool can answer it, whatever they say, in whatever mode.
    for mode in [Mode::Default, Mode::Bypass] {
        let open = open.clone().with_mode(mode);
        for word in [
            HookWord::Allow("x".into()),
            HookWord::Ask("x".into()),
            HookWord::None,
        ] {
            for opinion in [
                Opinion::Allow("x".into()),
                Opinion::Ask("x".into()),
                Opinion::None,
            ] {
                let mut request = request("ls", CageWish::Outside);
                request.hooks = word.clone();
                request.opinion = opinion;
                assert!(open.cage_warning(&request).is_some());
                assert!(open.offers(&request).is_empty());
                assert_eq!(decided(&open, request), ("ask", out()), "{word:?}");
            }
        }
    }
    // The classifier answers only what is open at the stage `otherwise`.
    let (_, ruling) = open.decide_and_say(request("ls", CageWish::Outside));
    assert_eq!(ruling.stage, crate::Stage::Limits);
    assert!(
        ruling.reason.contains("WITHOUT A CAGE"),
        "{}",
        ruling.reason
    );
    let forced = Managed {
        forced_sandbox: true,
        ..Managed::default()
    };
    let forced = policy(&every, exits(true, &["ls"]), forced);
    assert_eq!(ask(&forced), ("deny", Outside::Nothing));
    // What stays inside is not touched by any of this.
    assert_eq!(
        decided(&forced, request("ls", CageWish::Inside)),
        ("allow", Outside::Nothing)
    );
}

#[test]
fn a_script_is_let_out_only_if_each_of_its_commands_is() {
    let exits = || exits(false, &["docker:*", "make release"]);
    let policy = policy(&[], exits(), Managed::default());
    let out = |script: &str| decided(&policy, request(script, CageWish::Inside)).1;
    for script in [
        "docker ps",
        "docker compose up -d",
        "make release",
        "docker ps && make release",
        "docker ps | docker load",
        "docker ps; docker ps\ndocker ps",
        "docker ps > /dev/null 2>&1",
        "LANG=C docker ps",
        "! docker ps",
        "docker build 'a b' \"c\"",
    ] {
        let wanted = Outside::Excluded(vec![script.into()]);
        assert_eq!(out(script), wanted, "{script}");
    }
    for script in [
        // Others beside it.
        "docker ps; curl x",
        "docker ps && rm -rf x",
        "curl x | docker load",
        "docker ps & curl x",
        "docker ps\ncurl x",
        "docker ps || true",
        "cd /; docker ps",
        // Behind wrappers and other shells.
        "sudo docker ps",
        "env docker ps",
        "timeout 5 docker ps",
        "nice docker ps",
        "xargs docker ps",
        "command docker ps",
        "exec docker ps",
        "bash -c 'docker ps'",
        "eval docker ps",
        // Whose words nobody knows yet.
        "docker $(curl x)",
        "docker `curl x`",
        "docker $X",
        "$DOCKER ps",
        "docker <(curl x)",
        "docker ${x:-$(curl y)}",
        "docker \"$(curl x)\"",
        "docker {a,b}",
        // With variables that change what it is.
        "PATH=/p docker ps",
        "LD_PRELOAD=/p/x.so docker ps",
        "DOCKER_HOST=tcp://x docker ps",
        "X=1 docker ps",
        "export PATH=/p; docker ps",
        // That do more than run it.
        "docker ps > out",
        "docker ps >> ~/.bashrc",
        "docker load < /etc/shadow",
        "docker() { curl x; }; docker ps",
        "function docker { curl x; }\ndocker ps",
        "alias docker=curl; docker x",
        "for i in 1; do docker ps; done",
        "if docker ps; then docker ps; fi",
        "docker ps <<< x",
        "docker ps <<X\n$(curl x)\nX",
        // That only look alike.
        "./docker ps",
        "/p/docker ps",
        "dockers ps",
        "docker\u{a0}ps",
        "d*cker ps",
        "make release now",
        "make",
        "make releasee",
        "=docker ps",
        "docker ps \\\n; curl x",
        "docker ps #\ncurl x",
        "",
        " ",
        "#",
    ] {
        assert_eq!(out(script), Outside::Nothing, "{script:?}");
    }
    let many = "docker ps; ".repeat(80);
    assert_eq!(out(&many), Outside::Nothing);
}

#[test]
fn what_is_let_out_is_asked_about_unless_somebody_who_may_names_it() {
    let decide = |allow: &[(&str, Source)], script: &str| {
        let policy = policy(allow, exits(false, &["docker:*"]), Managed::default());
        decided(&policy, request(script, CageWish::Inside)).0
    };
    for source in [
        Source::Managed,
        Source::Flags,
        Source::Session,
        Source::CommandLine,
        USER,
    ] {
        assert_eq!(decide(&[("B(docker:*)", source)], "docker ps"), "allow");
        assert_eq!(decide(&[("B(docker ps)", source)], "docker ps"), "allow");
        // One rule for all is nobody's word on this.
        for wide in ["B", "B(*)", "*"] {
            assert_eq!(decide(&[(wide, source)], "docker ps"), "ask", "{wide}");
        }
    }
    for source in [Source::Project, Source::Local] {
        assert_eq!(decide(&[("B(docker:*)", source)], "docker ps"), "ask");
    }
    let one = [("B(docker ps)", USER)];
    assert_eq!(decide(&one, "docker ps && docker rm x"), "ask");
    assert_eq!(decide(&[("C(docker:*)", USER)], "docker ps"), "ask");
    // A mode does not spare the question, and deny rules still hold.
    let policy = policy(
        &[("B", USER)],
        exits(false, &["docker:*"]),
        Managed::default(),
    );
    let bypass = policy.clone().with_mode(Mode::Bypass);
    let asked = decided(&bypass, request("docker ps", CageWish::Inside));
    assert_eq!(asked.0, "ask");
    let mut rules = policy.rules().clone();
    rules.deny.push(rule("B(docker rm:*)", USER));
    let denies = policy.with_rules(rules);
    let denied = decided(&denies, request("docker rm x", CageWish::Inside));
    assert_eq!(denied.0, "deny");
}

#[test]
fn nothing_that_is_let_out_counts_as_reading() {
    let policy = policy(&[], exits(false, &["git:*"]), Managed::default());
    let Decision::Ask(question) = policy.decide(request("git status", CageWish::Inside)) else {
        panic!("it only reads inside the cage");
    };
    assert_ne!(*question.would_grant(), crate::Access::ReadOnly);
    let plan = policy.with_mode(Mode::Plan);
    let decided = decided(&plan, request("git status", CageWish::Inside));
    assert_eq!(decided.0, "deny");
}

#[test]
fn a_pattern_that_lets_anything_out_is_refused() {
    for text in [
        "",
        "*",
        ":*",
        "bash:*",
        "sh *",
        "python3:*",
        "env:*",
        "sudo:*",
        "xargs:*",
        "* x",
        "node:*",
        "bash -c:*",
    ] {
        assert!(Exits::default().exclude(text).is_err(), "{text:?}");
    }
    for text in [
        "docker:*",
        "docker",
        "make release",
        "git push:*",
        "bazel *",
    ] {
        assert!(Exits::default().exclude(text).is_ok(), "{text:?}");
    }
}

#[test]
fn a_refusal_names_who_forbids_to_leave_the_cage() {
    let forced = Managed {
        forced_sandbox: true,
        ..Managed::default()
    };
    for (managed, on_request, part) in [
        (forced, true, "the managed policy"),
        (Managed::default(), false, "allowUnsandboxed"),
    ] {
        let policy = policy(&[], exits(on_request, &[]), managed);
        let Decision::Deny { reason } = policy.decide(request("ls", CageWish::Outside)) else {
            panic!("not denied")
        };
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn who_is_asked_is_warned_of_what_leaves_the_cage() {
    let policy = policy(&[], exits(true, &["docker:*"]), Managed::default());
    for (script, cage, is_warned) in [
        ("ls", CageWish::Inside, false),
        ("ls", CageWish::Outside, true),
        ("docker ps", CageWish::Inside, true),
        ("docker ps; npm i", CageWish::Inside, false),
    ] {
        let request = policy.studied(request(script, cage));
        let warning = policy.cage_warning(&request);
        let found = warning.map(|text| text.contains("WITHOUT A CAGE"));
        assert_eq!(found, is_warned.then_some(true), "{script} {cage:?}");
    }
}
