use super::*;

fn study(subjects: &[Subject]) -> Study {
    Study::of(subjects, &toolbay_shell::Place::new("/p"))
}

fn touches(rule: &Rule, tool: &str, subjects: &[Subject]) -> bool {
    rule.touches(tool, subjects, &study(subjects))
}

fn covers_all(rule: &Rule, tool: &str, subjects: &[Subject]) -> bool {
    let rules = [rule.clone()];
    let index = crate::index::RuleIndex::new(&rules);
    index
        .covering(&rules, tool, subjects, &study(subjects))
        .is_some()
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
fn urls_match_by_host_alone_and_allow_only_what_is_certain() {
    for (pattern, url, forbids, allows) in [
        ("W(domain:example.com)", "https://example.com/x", true, true),
        (
            "W(domain:example.com)",
            "https://a.example.com/x",
            false,
            false,
        ),
        (
            "W(domain:example.com)",
            "https://example.com@evil.example/",
            false,
            false,
        ),
        (
            "W(domain:example.com)",
            "https://evil.example\\@example.com/",
            true,
            false,
        ),
        ("W(domain:example.com)", "https:example.com", true, false),
        (
            "W(domain:*.example.com)",
            "https://a.example.com",
            true,
            true,
        ),
        (
            "W(domain:*.example.com)",
            "https://badexample.com",
            false,
            false,
        ),
        ("W(domain:*)", "https://anything.example", true, true),
        ("W(*)", "https://anything.example", true, true),
        ("W(example.com)", "https://example.com", false, false),
    ] {
        let subjects = [Subject::Url(url.into())];
        let rule = rule(pattern);
        assert_eq!(
            touches(&rule, "W", &subjects),
            forbids,
            "{pattern} on {url}"
        );
        assert_eq!(
            covers_all(&rule, "W", &subjects),
            allows,
            "{pattern} on {url}"
        );
    }
}

#[test]
fn servers_and_stems_name_their_tools() {
    for (rule_text, tool, wanted) in [
        ("mcp__a", "mcp__a__t", true),
        ("mcp__a", "mcp__a", true),
        ("mcp__a", "mcp__ab__t", false),
        ("mcp__a__*", "mcp__a__t", true),
        ("mcp__a__*", "mcp__a2__t", false),
        ("mcp__a__t", "mcp__a__t", true),
        ("mcp__a__t", "mcp__a__t2", false),
        ("mcp__a__t", "mcp__a__t__u", false),
        ("mcp__a_", "mcp__a___t", true),
        ("G*", "Grep", true),
        ("*", "anything", true),
    ] {
        assert_eq!(rule(rule_text).names(tool), wanted, "{rule_text} {tool}");
        assert_eq!(
            covers_all(&rule(rule_text), tool, &[]),
            wanted,
            "{rule_text} {tool}"
        );
    }
}

#[test]
fn a_command_that_is_no_path_pattern_still_makes_a_rule() {
    let rule = rule("B(grep [a f)");
    let command = [Subject::Command("grep '[a' f".into())];
    assert!(covers_all(&rule, "B", &command));
    // Where it meets a path after all, it forbids and does not allow.
    let path = [Subject::Path("/p/x".into())];
    assert!(touches(&rule, "B", &path));
    assert!(!covers_all(&rule, "B", &path));
    assert!(Rule::parse("Read([a f)", &anchors()).is_err());
}

#[test]
fn one_command_is_allowed_letter_by_letter_and_several_are_not() {
    for (text, script, wanted) in [
        ("npm run build > log", "npm run build > log", true),
        ("npm run build > log", "npm run build > log2", false),
        ("npm run build > log", "npm run build", false),
        ("git commit -m 'a b'", "git commit -m \"a b\"", true),
        ("a && b", "a && b", false),
        ("npm run $X", "npm run $X", false),
        ("npm run build\r", "npm run build\r", false),
    ] {
        let rule = rule(&format!("B({text})"));
        let covered = covers_all(&rule, "B", &[Subject::Command(script.into())]);
        assert_eq!(covered, wanted, "{text:?} on {script:?}");
    }
    let text = Rule::text_for_command("B", "ls *.rs");
    assert!(covers_all(
        &rule(&text),
        "B",
        &[Subject::Command("ls *.rs".into())]
    ));
    assert!(!covers_all(
        &rule(&text),
        "B",
        &[Subject::Command("ls -R x.rs".into())]
    ));
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
        ("T(src/*/../x)", "cannot follow"),
        ("T(domain:https://example.com)", "is no host"),
        ("T(domain:)", "is no host"),
    ] {
        let error = Rule::parse(text, &anchors()).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
