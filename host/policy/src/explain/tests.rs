use std::path::PathBuf;

use super::*;
use crate::claims::{Claims, HookWord, Opinion, Reach};
use crate::{Anchors, Closed, Mode, Rules, Source, Study};

mod advice;

fn policy(deny: &[&str], ask: &[&str], allow: &[&str]) -> Policy {
    let anchors = Anchors {
        home: None,
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let mut line = 0;
    let mut of = |texts: &[&str]| {
        let mut rules = Vec::new();
        for text in texts {
            line += 1;
            let provenance = Provenance::of(Source::User)
                .in_file("/home/me/settings.json")
                .at_line(line);
            rules.push(Rule::parse(text, &anchors).unwrap().from(provenance));
        }
        rules
    };
    let rules = Rules {
        deny: of(deny),
        ask: of(ask),
        allow: of(allow),
    };
    Policy::new(rules, vec![PathBuf::from("/p")], &Closed::default())
}

fn request(subjects: Vec<Subject>) -> Request {
    Request {
        call_id: "1".into(),
        tool: "T".into(),
        input: "{}".into(),
        subjects,
        claims: Claims::STRICT,
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: crate::outside::CageWish::Inside,
        aliases: Vec::new(),
        study: Study::default(),
    }
}

fn command(script: &str) -> Request {
    request(vec![Subject::Command(script.into())])
}

#[test]
fn the_winner_is_named_with_file_and_line() {
    let policy = policy(
        &["T(curl:*)", "Read(./secret)"],
        &["T(git push:*)"],
        &["T(git:*)", "Other", "T(npm run:*)"],
    );
    for (request, behavior, winner) in [
        (command("git push"), "ask", Some(("T(git push:*)", 3))),
        (command("git add x"), "allow", Some(("T(git:*)", 4))),
        (command("ls; curl x"), "deny", Some(("T(curl:*)", 1))),
        (command("cat secret/a"), "deny", Some(("Read(./secret)", 2))),
        (command("touch x"), "ask", None),
        (command("$X"), "ask", Some(("T(curl:*)", 1))),
    ] {
        let explanation = policy.explain(&request);
        assert_eq!(explanation.behavior.word(), behavior, "{request:?}");
        let place = |line| format!("/home/me/settings.json:{line}");
        let wanted = winner.map(|(text, line)| (text.to_owned(), place(line)));
        let found = explanation
            .winner
            .map(|winner| (winner.rule, winner.provenance.to_string()));
        assert_eq!(found, wanted, "{request:?}");
    }
}

#[test]
fn every_rule_about_the_call_is_shown_and_whether_it_matched() {
    let policy = policy(
        &["T(curl:*)", "Read(./secret)", "U"],
        &["T(git push:*)"],
        &["T(git:*)", "U", "T(npm run:*)"],
    );
    let explanation = policy.explain(&command("git add x && cat notes"));
    let shown: Vec<(&str, bool)> = explanation
        .looked_at
        .iter()
        .map(|looked| (looked.rule.as_str(), looked.matched))
        .collect();
    assert_eq!(
        shown,
        [
            ("T(curl:*)", false),
            ("Read(./secret)", false),
            ("T(git push:*)", false),
            ("T(git:*)", true),
            ("T(npm run:*)", false),
        ]
    );
    let stages: Vec<Stage> = explanation.steps.iter().map(|step| step.stage).collect();
    assert_eq!(
        stages,
        [
            Stage::Hook,
            Stage::Tool,
            Stage::Limits,
            Stage::Rules,
            Stage::Mode
        ]
    );
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["behavior"], "allow");
    assert_eq!(json["winner"]["provenance"]["line"], 5);
    assert_eq!(json["steps"][3]["stage"], "rules");
}

#[test]
fn a_mode_that_denies_what_would_be_asked_names_the_rule_that_asks() {
    let policy = policy(&[], &["T(git push:*)"], &[]).with_mode(crate::Mode::DontAsk);
    let json = serde_json::to_value(policy.explain(&command("git push"))).unwrap();
    assert_eq!(json["behavior"], "deny");
    assert!(json["winner"].to_string().contains("git push"), "{json}");
}

/// With its variables and redirections, letter by letter.
#[test]
fn a_rule_that_is_the_whole_command_is_shown_as_matched() {
    let text = "LANG=C make x > log.txt";
    let policy = policy(&[], &[], &[&format!("T({text})"), "T(make y)"]);
    let explanation = policy.explain(&command(text));
    let matched = explanation.looked_at.iter().map(|looked| looked.matched);
    assert_eq!(matched.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn suggestions_would_allow_the_call_and_are_left_out_where_none_could() {
    let path = |path: &str| Subject::Path(path.into());
    for (request, wanted) in [
        (command("git commit -m x"), &["T(git commit:*)"][..]),
        (
            command("git add x && npm run y"),
            &["T(git add:*)", "T(npm run:*)"],
        ),
        (command("bash -c 'git add x'"), &[]),
        (command("python3 x.py"), &[]),
        (command("sudo npm run x"), &[]),
        (command("rm -rf ~"), &[]),
        (command("npm publish x"), &[]),
        (command("curl x"), &[]),
        (request(vec![path("/p/a*")]), &["T(//p/a[*])"]),
        (
            request(vec![path("/p/a"), path("/p/b")]),
            &["T(//p/a)", "T(//p/b)"],
        ),
        (
            request((0..6).map(|n| path(&format!("/p/{n}"))).collect()),
            &[],
        ),
        (
            request(vec![Subject::Url("https://example.com/x".into())]),
            &["T(domain:example.com)"],
        ),
        (request(vec![]), &["T"]),
    ] {
        let (deny, ask) = (&["T(curl:*)"], &["T(npm publish:*)"]);
        let explanation = policy(deny, ask, &[]).explain(&request);
        assert_eq!(explanation.suggestions, wanted, "{:?}", request.subjects);
        if !wanted.is_empty() {
            let allowed = policy(deny, ask, wanted).explain(&request);
            assert_eq!(allowed.behavior, Behavior::Allow, "{:?}", request.subjects);
        }
    }
    let silent = policy(&[], &[], &[]).with_mode(Mode::DontAsk);
    let explanation = silent.explain(&command("git commit -m x"));
    assert_eq!(explanation.behavior, Behavior::Deny);
    assert_eq!(explanation.suggestions, ["T(git commit:*)"]);
}

#[test]
fn the_reason_names_the_cause_and_the_advice_what_would_help() {
    let rules =
        |texts: &[&str]| RuleAdvice::Rules(texts.iter().map(|text| (*text).to_owned()).collect());
    let none = |why: &str| RuleAdvice::NoRule(why.to_owned());
    let whole = |why: &str| {
        none(&format!(
            "{why}; only the rule `T` would, and it allows every call of that tool"
        ))
    };
    for (script, reason, advice) in [
        (
            "cat /etc/passwd | head",
            "it reads outside the project's folders: `/etc/passwd` lies outside the project's folders",
            rules(&["T(cat /etc/passwd)"]),
        ),
        (
            "cat /etc/passwd",
            "it reads outside the project's folders: `/etc/passwd` lies outside the project's folders",
            rules(&["T(cat /etc/passwd)"]),
        ),
        (
            "mkdir -p a; ls",
            "it may change things: `mkdir` is not known to be read-only",
            rules(&["T(mkdir:*)"]),
        ),
        (
            "rm -f a; ls",
            "it may change things: `rm` is not known to be read-only",
            rules(&["T(rm -f a)"]),
        ),
        (
            "rm -f 'a b' && python3 x.py && git add x",
            "it may change things: `rm` is not known to be read-only",
            rules(&["T(rm -f 'a b')", "T(python3 x.py)", "T(git add:*)"]),
        ),
        (
            "ls 'a",
            "it is not a complete script: a quote is not closed",
            whole(
                "rules for commands cover only plain commands; it is not a complete script: a quote is not closed",
            ),
        ),
        (
            "ls |",
            "it is not a complete script: it ends where a command is missing",
            whole(
                "rules for commands cover only plain commands; it is not a complete script: it ends where a command is missing",
            ),
        ),
        (
            "while true; do ls; done",
            "it cannot be told what it does: `while` is more than a plain command",
            whole(
                "rules for commands cover only plain commands; it cannot be told what it does: `while` is more than a plain command",
            ),
        ),
        (
            "ls > x; rm -f a",
            "it may change things: it writes to `x`",
            whole("rules for its commands do not cover that it writes to `x`"),
        ),
        (
            "ls > x",
            "it may change things: it writes to `x`",
            rules(&["T(ls > x)"]),
        ),
        (
            "npm publish x",
            "the ask rule `T(npm publish:*)` covers it",
            none("the ask rule `T(npm publish:*)` covers it, and it comes before every allow rule"),
        ),
        (
            "rm -rf ~",
            "no rule can allow this: it removes `~`",
            none("no rule can allow this: it removes `~`"),
        ),
        (
            "rm -f a; rm -f b; rm -f c; rm -f d; rm -f e; rm -f f",
            "it may change things: `rm` is not known to be read-only",
            whole("it would need more than 5 rules"),
        ),
        (
            "cd /elsewhere && cat x",
            "it reads outside the project's folders: `/elsewhere` lies outside the project's folders",
            whole(
                "rules for its commands do not cover that `/elsewhere` lies outside the project's folders",
            ),
        ),
    ] {
        let policy = policy(&[], &["T(npm publish:*)"], &[]);
        let request = command(script);
        let explanation = policy.explain(&request);
        assert_eq!(explanation.behavior, Behavior::Ask, "{script}");
        assert_eq!(explanation.reason, reason, "{script}");
        assert_eq!(policy.advice(&request), advice, "{script}");
        let offered = match advice {
            RuleAdvice::Rules(rules) => rules,
            RuleAdvice::NoRule(_) => Vec::new(),
        };
        assert_eq!(policy.offers(&request), offered, "{script}");
    }
}

#[test]
fn only_what_no_rule_covers_yet_is_suggested() {
    let policy = policy(&[], &[], &["T(git add:*)"]);
    let request = command("git add x && rm -f a && rm -f b");
    let wanted = ["T(rm -f a)", "T(rm -f b)"];
    assert_eq!(policy.explain(&request).suggestions, wanted);
    assert_eq!(policy.offers(&request), wanted);
}

#[test]
fn a_rule_for_first_words_says_nothing_about_reading_outside() {
    for (allow, script, wanted) in [
        ("T(cat:*)", "cat /etc/passwd | head", "ask"),
        ("T(cat *)", "cat /etc/passwd | head", "ask"),
        ("T(cat /etc/passwd)", "cat /etc/passwd | head", "allow"),
        ("T(cat /etc/passwd)", "cat /etc/passwd | tee x", "ask"),
        ("T(cat /etc/passwd)", "cat /etc/shadow | head", "ask"),
        ("T(cat ../x)", "cd a && cat ../../x", "ask"),
        ("T(git status)", "cd a && git status", "ask"),
        ("T(head < /etc/passwd)", "head < /etc/passwd | wc", "ask"),
    ] {
        let explanation = policy(&[], &[], &[allow]).explain(&command(script));
        assert_eq!(explanation.behavior.word(), wanted, "{allow} {script}");
    }
}
