use super::*;
use crate::{Anchors, Source};

fn found(deny: &[&str], ask: &[&str], allow: &[&str]) -> Vec<(&'static str, String)> {
    let anchors = Anchors {
        home: None,
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let of = |texts: &[&str]| {
        texts
            .iter()
            .zip(1..)
            .map(|(text, line)| {
                let provenance = Provenance::of(Source::User)
                    .in_file("/s.json")
                    .at_line(line);
                Rule::parse(text, &anchors).unwrap().from(provenance)
            })
            .collect()
    };
    let rules = Rules {
        deny: of(deny),
        ask: of(ask),
        allow: of(allow),
    };
    let kinds = |tool: &str| match tool {
        "B" => Some(SubjectKind::Command),
        "T" => Some(SubjectKind::Path),
        "W" => Some(SubjectKind::Url),
        "S" => Some(SubjectKind::Text),
        _ => None,
    };
    lint(&rules, &kinds)
        .into_iter()
        .map(|lint| {
            assert!(lint.to_string().starts_with("/s.json:"), "{lint}");
            (lint.kind.word(), lint.rule)
        })
        .collect()
}

#[test]
fn a_stricter_rule_shadows_what_it_covers() {
    for (deny, ask, allow, is_shadowed) in [
        (&["B(git:*)"][..], &[][..], "B(git push:*)", true),
        (&["B(git:*)"], &[], "B(git push)", true),
        (&["B(git:*)"], &[], "B(git push * main)", true),
        (&["B(git push:*)"], &[], "B(git:*)", false),
        (&["B(git push:*)"], &[], "B(git * main)", false),
        (&["B(npm:*)"], &[], "B(git * main)", false),
        (&["B(gi:*)"], &[], "B(git push)", false),
        (&["B(git * main)"], &[], "B(git push main)", true),
        (&["B(*)"], &[], "B(npm test)", true),
        (&[], &["B(git:*)"], "B(git push:*)", true),
        (&["S(a)"], &[], "S(a)", true),
        (&["S(a)"], &[], "S(ab)", false),
        (&["S(*)"], &[], "S(ab)", true),
        (&["T(./src/**)"], &[], "T(./src/a.rs)", true),
        (&["T(./src)"], &[], "T(./src/**/*.rs)", true),
        (&["T(./src/**)"], &[], "T(./src/**/*.rs)", false),
        (&["T(./src/**)"], &[], "T(./src/x/*.rs)", true),
        (&["T(*.rs)"], &[], "T(./src/a.rs)", true),
        (&["T(./src/*.rs)"], &[], "T(./src/**)", false),
        (&["Read(./src)"], &[], "T(./src/a)", true),
        (&["Edit(./src)"], &[], "T(./src/a)", false),
        (
            &["W(domain:*.example.com)"],
            &[],
            "W(domain:a.example.com)",
            true,
        ),
        (
            &["W(domain:*.example.com)"],
            &[],
            "W(domain:example.com)",
            false,
        ),
        (
            &["W(domain:*.example.com)"],
            &[],
            "W(domain:*.example.com)",
            true,
        ),
        (
            &["W(domain:*.example.com)"],
            &[],
            "W(domain:*.a.example.com)",
            true,
        ),
        (
            &["W(domain:*.a.example.com)"],
            &[],
            "W(domain:*.example.com)",
            false,
        ),
        (
            &["W(domain:*.example.com)"],
            &[],
            "W(domain:*.example.org)",
            false,
        ),
        (&["mcp__a"], &[], "B(npm test)", false),
        (&["X(a)"], &[], "X(a)", false),
    ] {
        let shadowed = found(deny, ask, &[allow])
            .iter()
            .any(|(kind, rule)| *kind == "shadowed" && rule == allow);
        assert_eq!(shadowed, is_shadowed, "{deny:?} {ask:?} {allow}");
    }
}

#[test]
fn rules_about_removed_tools_and_doubled_rules_are_found() {
    let lints = found(
        &["B", "mcp__a", "mcp__a__t", "T(./x)", "T(./x)"],
        &["mcp__a__*"],
        &["B(npm test)", "mcp__a__t", "W(domain:a.example)"],
    );
    let wanted = [
        ("unreachable", "mcp__a__t"),
        ("duplicate", "T(./x)"),
        ("unreachable", "mcp__a__*"),
        ("unreachable", "B(npm test)"),
        ("unreachable", "mcp__a__t"),
    ];
    let wanted: Vec<(&str, String)> = wanted.map(|(kind, rule)| (kind, rule.into())).into();
    assert_eq!(lints, wanted);
}

#[test]
fn rules_that_allow_nearly_everything_are_found() {
    for (allow, is_wide) in [
        ("B", true),
        ("B(*)", true),
        ("B(:*)", true),
        ("B(bash:*)", true),
        ("B(sudo:*)", true),
        ("B(python3 -c:*)", true),
        ("B(* --help)", true),
        ("B(git:*)", false),
        ("B(bash x.sh)", false),
        ("T", false),
        ("T(//**)", true),
        ("T(//)", true),
        ("T(./**)", false),
        ("W(domain:*)", true),
        ("W(domain:*.example.com)", false),
        ("*", true),
        ("mcp__*", true),
        ("mcp__a__*", false),
        ("Other(*)", true),
        ("Other", false),
    ] {
        let kinds = found(&[], &[], &[allow]);
        let wide = kinds.iter().any(|(kind, _)| *kind == "too-wide");
        assert_eq!(wide, is_wide, "{allow}");
        let denied = found(&[allow], &[], &[]);
        assert!(
            denied.iter().all(|(kind, _)| *kind != "too-wide"),
            "{allow}"
        );
    }
}

#[test]
fn rules_that_nothing_can_match_are_found() {
    for (rule, never) in [
        ("B(git add x && ls:*)", true),
        ("B(npm test | tee:*)", true),
        ("B(FOO=1 npm run:*)", true),
        ("B(FOO_BAR=1 npm run:*)", true),
        ("B(a/b=1 npm run:*)", false),
        ("B(git commit -m \"x:*)", true),
        ("B(npm test && npm run x)", true),
        ("B(domain:example.com)", true),
        ("B(git commit:*)", false),
        ("B(npm test > log)", false),
        ("B(grep 'a|b' f)", false),
        ("T(~you/x)", true),
        ("T(~/x)", true),
        ("T(x:*)", true),
        ("T(domain:example.com)", true),
        ("T(./x)", false),
        ("W(https://example.com)", true),
        ("W(example.com)", true),
        ("W(domain:example.com)", false),
        ("W(*)", false),
    ] {
        let kinds = found(&[], &[], &[rule]);
        let found = kinds.iter().any(|(kind, _)| *kind == "never-matches");
        assert_eq!(found, never, "{rule}");
    }
}

#[test]
fn what_makes_a_rule_too_wide_is_said() {
    let anchors = Anchors {
        home: None,
        cwd: "/p".into(),
        settings: "/p".into(),
    };
    let (command, path) = (Some(SubjectKind::Command), Some(SubjectKind::Path));
    for (text, kind, part) in [
        ("*", None, "tools that nobody knows yet"),
        ("B", command, "every command"),
        ("B(*)", command, "every command"),
        (
            "B(bash:*)",
            command,
            "every command: it names a program that runs others",
        ),
        ("T(//**)", path, "every file of the machine"),
        ("W(*)", Some(SubjectKind::Url), "every host"),
        ("W(domain:*)", Some(SubjectKind::Url), "every host"),
        ("X(*)", None, "every call of the tool"),
    ] {
        let rule = Rule::parse(text, &anchors).unwrap();
        let wanted = format!("allows {part}");
        assert_eq!(too_wide(&rule, kind), Some(wanted.as_str()), "{text}");
    }
}
