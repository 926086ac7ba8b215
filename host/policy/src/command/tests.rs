use toolbay_shell::{Place, inspect};

use super::*;

#[test]
fn a_rule_that_forbids_hears_its_command() {
    for (pattern, script, mentioned) in [
        ("git commit:*", "git commit -m x", true),
        ("git commit:*", "git commit", true),
        ("git commit:*", "git commit-graph write", false),
        ("git commit *", "git commit -m x", true),
        ("npm publish", "npm publish", true),
        ("npm publish", "npm publish --tag x", false),
        ("curl:*", "ls; timeout 5 curl x", true),
        ("curl:*", "curlx", false),
        ("curl:*", "/usr/bin/cur? x", true),
        ("git push:*", "gi* push", true),
        ("git push:*", "gi* pull", false),
        ("git * main", "gi? push main", true),
        ("curl:*", "echo 'curl x'", false),
        ("*", "anything", true),
        ("git * main", "git push origin main", true),
        ("git * main", "git push origin mainly", false),
        ("git * main", "ls; env git push origin main", true),
        ("git * main", "git 'push origin main'", true),
        ("npm run test*", "npm run test:unit", true),
        ("npm run test*", "npm run tes", false),
        ("rm * /*", "rm -rf /etc", true),
        ("* --force", "git push --force", true),
        ("echo \\*", "echo '*'", true),
        ("echo \\*", "echo x", false),
    ] {
        let report = inspect(script, &Place::new("/p"));
        let parsed = CommandPattern::parse(pattern);
        let found = parsed.is_mentioned(script, &report);
        assert_eq!(found, mentioned, "{pattern} in {script}");
    }
}

#[test]
fn quotes_do_not_make_other_words() {
    for (pattern, script, wanted) in [
        ("git commit:*", "git 'commit' -m x", true),
        ("git commit:*", "'git commit' -m x", false),
        ("git commit:*", "git 'commit -m' x", false),
        ("git commit:*", "LD_PRELOAD=x git commit", false),
        ("git commit:*", "LANG=C git commit", true),
        ("git * x", "git commit -m x", true),
        ("git * x", "git 'commit -m x'", false),
        ("git * x", "'git commit' x", false),
        ("npm run test*", "npm run test -- --watch", true),
        ("npm run test*", "npm 'run test'", false),
        ("git commit -m 'a b'", "git commit -m 'a b'", true),
        ("git commit -m 'a b'", "git commit -m \"a b\"", true),
        ("git commit -m 'a b'", "git commit -m a b", false),
    ] {
        let report = inspect(script, &Place::new("/p"));
        let pattern_parsed = CommandPattern::parse(pattern);
        let covered = report
            .commands
            .iter()
            .all(|command| pattern_parsed.covers(command));
        assert_eq!(covered, wanted, "{pattern} on {script}");
    }
}

#[test]
fn the_rule_for_a_command_is_about_that_command_alone() {
    for (command, other) in [
        ("ls *.rs", "ls a.rs"),
        ("echo '\\*' x", "echo y x"),
        ("ls :*", "ls :a"),
        ("ls *", "ls a"),
        ("sed 's/\\\\/x/' f", "sed 's/a/x/' f"),
        ("npm test", "npm test x"),
    ] {
        let pattern = CommandPattern::parse(&CommandPattern::text_for(command));
        assert!(pattern.is_text(command), "{command}: {pattern:?}");
        assert!(!pattern.is_text(other), "{command}: {pattern:?}");
        assert!(matches!(pattern, CommandPattern::Exact { .. }), "{command}");
    }
}

#[test]
fn programs_that_run_anything_make_wide_rules() {
    for (pattern, wanted) in [
        ("*", true),
        ("* --version", true),
        ("g* push", true),
        ("bash:*", true),
        ("/bin/sh:*", true),
        ("python3 *", true),
        ("python3 -c:*", true),
        ("sudo:*", true),
        ("env *", true),
        ("xargs:*", true),
        ("bash x.sh", false),
        ("python3 manage.py test:*", false),
        ("git:*", false),
        ("git * main", false),
        ("npm run test*", false),
        ("npm run:*", false),
    ] {
        assert_eq!(
            CommandPattern::parse(pattern).is_wide(),
            wanted,
            "{pattern}"
        );
    }
}

#[test]
fn names_with_wildcards_are_patterns() {
    for (name, wanted) in [
        ("ls", false),
        ("{ls,rm}", false),
        ("l*", true),
        ("l?", true),
        ("[l]s", true),
    ] {
        assert_eq!(is_pattern(name), wanted, "{name}");
    }
}
