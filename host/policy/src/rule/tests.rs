use super::*;

fn study(subjects: &[Subject]) -> Study {
    Study::of(subjects, &toolbay_shell::Place::new("/p"))
}

fn touches(rule: &Rule, tool: &str, subjects: &[Subject]) -> bool {
    rule.touches(tool, subjects, &study(subjects))
}

fn covers_all(rule: &Rule, tool: &str, subjects: &[Subject]) -> bool {
    let rules = Rules {
        allow: vec![rule.clone()],
        ..Rules::default()
    };
    rules.allow(tool, subjects, &study(subjects)).is_some()
}

fn anchors() -> Anchors {
    Anchors {
        home: Some("/home/me".into()),
        cwd: "/srv/app".into(),
        settings: "/srv".into(),
    }
}

fn rule(text: &str) -> Rule {
    Rule::parse(text, &anchors()).unwrap()
}

#[test]
fn path_patterns_follow_their_anchors() {
    for (pattern, path, wanted) in [
        ("T(//etc/hosts)", "/etc/hosts", true),
        ("T(//etc/**)", "/etc/ssh/key", true),
        ("T(//etc/*)", "/etc/ssh", true),
        ("T(//etc/*.conf)", "/etc/a/b.conf", false),
        ("T(~/.ssh/**)", "/home/me/.ssh/id", true),
        ("T(~/.ssh)", "/home/me/.ssh/deep/id", true),
        ("T(/secrets/**)", "/srv/secrets/a", true),
        ("T(./secrets/**)", "/srv/secrets/a", false),
        ("T(./secrets/**)", "/srv/app/secrets/a", true),
        ("T(src/**/*.rs)", "/srv/app/src/a/b.rs", true),
        ("T(.env)", "/srv/app/deep/.env", true),
        ("T(.env)", "/srv/app/deep/.envrc", false),
        ("T(*.pem)", "/anywhere/x.pem", true),
        ("T(build/)", "/srv/app/x/build/out", true),
    ] {
        assert_eq!(
            touches(&rule(pattern), "T", &[Subject::Path(path.into())]),
            wanted,
            "{pattern} on {path}"
        );
    }
}

#[test]
fn the_rule_for_a_path_covers_that_path_alone() {
    for (path, other) in [
        ("/p/a.txt", "/p/ab.txt"),
        ("/p/a*", "/p/ab"),
        ("/p/a?[b]{c,d}", "/p/axbc"),
        ("/p/a\\b", "/p/ab"),
        ("/p/a (1)", "/p/a"),
        ("/p/a:*", "/p/a:b"),
    ] {
        let rule = rule(&Rule::text_for_path("T", Path::new(path)));
        for (path, wanted) in [(path, true), (other, false)] {
            let covers = covers_all(&rule, "T", &[Subject::Path(path.into())]);
            assert_eq!(covers, wanted, "{} on {path}", rule.text());
        }
    }
    let anchors = Anchors {
        cwd: "/p/a\\[b]".into(),
        ..anchors()
    };
    let rule = Rule::parse("T(./c)", &anchors).unwrap();
    assert!(touches(&rule, "T", &[Subject::Path("/p/a\\[b]/c".into())]));
}

#[test]
fn commands_match_exactly_or_by_prefix_at_a_word() {
    for (pattern, command, wanted) in [
        ("B(git status)", "git status", true),
        ("B(git status)", "git status -s", false),
        ("B(git:*)", "git push", true),
        ("B(git:*)", "gitk", false),
    ] {
        assert_eq!(
            touches(&rule(pattern), "B", &[Subject::Command(command.into())]),
            wanted,
            "{pattern} on {command}"
        );
    }
}

#[test]
fn urls_match_by_host_alone() {
    for (pattern, url, wanted) in [
        ("W(domain:example.com)", "https://example.com/x", true),
        ("W(domain:example.com)", "https://EXAMPLE.com:8080", true),
        (
            "W(domain:example.com)",
            "https://example.com.evil.org/",
            false,
        ),
        (
            "W(domain:example.com)",
            "https://example.com@evil.org/",
            false,
        ),
        (
            "W(domain:example.com)",
            "https://evil.org\\@example.com/",
            false,
        ),
        ("W(domain:*.example.com)", "https://a.example.com", true),
        ("W(domain:*.example.com)", "https://badexample.com", false),
    ] {
        assert_eq!(
            touches(&rule(pattern), "W", &[Subject::Url(url.into())]),
            wanted,
            "{pattern} on {url}"
        );
    }
}

#[test]
fn an_allow_rule_must_cover_every_subject() {
    let subjects = [
        Subject::Path("/srv/app/a".into()),
        Subject::Path("/etc/passwd".into()),
    ];
    assert!(touches(&rule("T(./**)"), "T", &subjects));
    assert!(!covers_all(&rule("T(./**)"), "T", &subjects));
    assert!(covers_all(&rule("T"), "T", &subjects));
    assert!(!covers_all(&rule("T(./**)"), "T", &[]));
}

#[test]
fn broken_rules_say_what_is_wrong() {
    for (text, part) in [
        ("", "tool name"),
        ("(x)", "tool name"),
        ("T(x", "no `)`"),
        ("T()", "nothing between"),
        ("a b(c)", "letters"),
        ("T(a[)", "does not parse"),
    ] {
        let error = Rule::parse(text, &anchors()).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
