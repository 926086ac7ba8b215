use super::*;

fn anchors() -> Anchors {
    Anchors {
        home: Some("/home/me".into()),
        cwd: "/srv/app".into(),
        settings: "/srv".into(),
    }
}

fn parse(text: &str) -> PathPattern {
    PathPattern::parse(text, &anchors()).unwrap()
}

#[test]
fn patterns_forbid_as_gitignore_would() {
    for (pattern, path, wanted) in [
        ("//etc/hosts", "/etc/hosts", true),
        ("//etc/**", "/etc/ssh/key", true),
        ("//etc/**", "/etc", false),
        ("//etc/*", "/etc/ssh", true),
        ("//etc/*.conf", "/etc/a/b.conf", false),
        ("//", "/anything", true),
        ("//**", "/anything/below", true),
        ("~/.ssh/**", "/home/me/.ssh/id", true),
        ("~/.ssh", "/home/me/.ssh/deep/id", true),
        ("~", "/home/me/x", true),
        ("~", "/home/you/x", false),
        ("/secrets/**", "/srv/secrets/a", true),
        ("/", "/srv/x", true),
        ("./secrets/**", "/srv/secrets/a", false),
        ("./secrets/**", "/srv/app/secrets/a", true),
        (".", "/srv/app/x", true),
        ("./", "/srv/app/x", true),
        ("../other/*", "/srv/other/a", true),
        ("./a/../b", "/srv/app/b", true),
        ("./a//b/./c", "/srv/app/a/b/c", true),
        ("src/**/*.rs", "/srv/app/src/a/b.rs", true),
        ("src/**/*.rs", "/srv/app/src/b.rs", true),
        ("src/**/*.rs", "/srv/app/lib/src/b.rs", false),
        ("a/**/b", "/srv/app/a/b", true),
        ("a/**/b", "/srv/app/a/x/y/b/c", true),
        (".env", "/srv/app/deep/.env", true),
        (".env", "/srv/app/deep/.envrc", false),
        ("**/.env", "/elsewhere/.env", true),
        ("**/a/b", "/elsewhere/a/b/c", true),
        ("*.pem", "/anywhere/x.pem", true),
        ("*.pem", "/anywhere/.pem", true),
        ("*.pem", "/x.pem/inside", true),
        ("build/", "/srv/app/x/build/out", true),
        ("build/", "/srv/app/x/build", true),
        ("build/", "/srv/app/builder", false),
        ("/out/", "/srv/out/a", true),
        ("/out/", "/srv/app/out/a", false),
        ("a?c", "/x/abc", true),
        ("a?c", "/x/a/c", false),
        ("a[0-9]", "/x/a7", true),
        ("a[!0-9]", "/x/a7", false),
        ("*.{js,ts}", "/x/a.ts", true),
        ("a\\*", "/x/a*", true),
        ("a\\*", "/x/ab", false),
    ] {
        assert_eq!(
            parse(pattern).covers(Path::new(path)),
            wanted,
            "{pattern} on {path}"
        );
    }
}

#[test]
fn what_closes_all_that_a_folder_holds_closes_the_folder() {
    for (pattern, path, wanted) in [
        ("./secret/**", "/srv/app/secret", true),
        ("./secret/**", "/srv/app/secret/deep/key", true),
        ("./secret/**", "/srv/app", false),
        ("./secret/*", "/srv/app/secret", false),
        ("./secret/**/*.pem", "/srv/app/secret", false),
        ("**/secret/**", "/elsewhere/secret", true),
        ("**/any/**", "/elsewhere", false),
        ("s*/**", "/srv/app/secret", true),
        ("s*/**", "/srv/app", false),
        ("//**", "/", true),
    ] {
        let pattern_parsed = parse(pattern);
        assert_eq!(
            pattern_parsed.forbids(Path::new(path)),
            wanted,
            "{pattern} on {path}"
        );
    }
    // To allow all in it is not to allow the folder.
    assert!(!parse("./secret/**").allows(Path::new("/srv/app/secret")));
}

#[test]
fn a_pattern_without_an_anchor_allows_only_in_the_working_folder() {
    for (pattern, path, wanted) in [
        ("*.md", "/srv/app/a/x.md", true),
        ("*.md", "/srv/other/x.md", false),
        ("**/x", "/srv/app/x", true),
        ("**/x", "/x", false),
        ("//**/*.md", "/srv/other/x.md", true),
    ] {
        assert_eq!(
            parse(pattern).allows(Path::new(path)),
            wanted,
            "{pattern} on {path}"
        );
    }
}

#[test]
fn without_a_home_its_patterns_forbid_more_and_allow_nothing() {
    let anchors = Anchors {
        home: None,
        ..anchors()
    };
    let pattern = PathPattern::parse("~/.ssh", &anchors).unwrap();
    assert!(pattern.covers(Path::new("/home/me/.ssh/id")));
    assert!(!pattern.allows(Path::new("/home/me/.ssh/id")));
}

#[test]
fn what_no_path_can_match_is_an_error() {
    for bad in ["a[", "src/*/../x", "**/../x", "{a"] {
        assert!(PathPattern::parse(bad, &anchors()).is_err(), "{bad}");
    }
}

#[test]
fn folders_with_wildcards_in_their_names_are_taken_as_they_are() {
    let anchors = Anchors {
        cwd: "/p/a\\[b]".into(),
        ..anchors()
    };
    let pattern = PathPattern::parse("./*.c", &anchors).unwrap();
    assert!(pattern.covers(Path::new("/p/a\\[b]/x.c")));
    assert!(!pattern.covers(Path::new("/p/ab/x.c")));
}

#[test]
fn a_pattern_counts_from_a_folder() {
    for (pattern, wanted) in [
        (".env*", Some(("/", "**/.env*"))),
        ("**/a/*.pem", Some(("/", "**/a/*.pem"))),
        ("./conf/*.key", Some(("/srv/app/conf", "*.key"))),
        ("//etc/*/x", Some(("/etc", "*/x"))),
        ("./a/b", None),
        ("./a/**", None),
    ] {
        let below = parse(pattern).below();
        let wanted = wanted.map(|(base, glob)| (PathBuf::from(base), glob.to_owned()));
        assert_eq!(below, wanted, "{pattern}");
    }
}

#[test]
fn whole_folders_are_known() {
    for (pattern, wanted) in [
        ("./x/**", Some("/srv/app/x")),
        ("./x", Some("/srv/app/x")),
        ("./x/", Some("/srv/app/x")),
        ("//**", Some("/")),
        ("./x/*", None),
        ("x", None),
    ] {
        assert_eq!(
            parse(pattern).whole_folder(),
            wanted.map(PathBuf::from),
            "{pattern}"
        );
    }
}

#[test]
fn a_pattern_waits_only_under_what_its_paths_must_have() {
    let base = |path: &str| Key::Base(path.into());
    let name = |name: &str| Key::Name(name.into());
    let ending = |ending: &str| Key::Ending(ending.into());
    for (pattern, wanted) in [
        ("./src/a.rs", vec![base("/srv/app/src/a.rs")]),
        ("./src/*.rs", vec![base("/srv/app/src"), ending("rs")]),
        ("d/**/e/x*", vec![base("/srv/app/d"), name("e")]),
        ("d/*/e.txt", vec![base("/srv/app/d"), name("e.txt")]),
        ("*.tar.g?", vec![base("/")]),
        ("x[ab].c", vec![base("/")]),
    ] {
        assert_eq!(parse(pattern).keys(), wanted, "{pattern}");
    }
}
