use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn rules(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A text, the rule that is added, and what becomes of it.
const EDITED: &[(&str, &str, &str)] = &[
    // A file on one line stays on one line where it can.
    (
        r#"{"permissions": {"allow": []}}"#,
        "A",
        r#"{"permissions": {"allow": ["A"]}}"#,
    ),
    (
        r#"{"permissions": {"allow": ["A"]}}"#,
        "B",
        r#"{"permissions": {"allow": ["A", "B"]}}"#,
    ),
    // What is missing is made, in the file's own indentation.
    (
        "{}",
        "A",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\"\n    ]\n  }\n}",
    ),
    (
        "{\n}\n",
        "A",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\"\n    ]\n  }\n}\n",
    ),
    (
        "{\n    \"permissions\": {\n        \"deny\": [\"D\"]\n    },\n    \"plugins\": []\n}\n",
        "A",
        "{\n    \"permissions\": {\n        \"deny\": [\"D\"],\n        \"allow\": [\n            \
         \"A\"\n        ]\n    },\n    \"plugins\": []\n}\n",
    ),
    (
        "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"A\"\n\t\t]\n\t}\n}\n",
        "B",
        "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"A\",\n\t\t\t\"B\"\n\t\t]\n\t}\n}\n",
    ),
    // Keys that nobody knows, and the order of all of them.
    (
        "{\"z\": 1, \"permissions\": {\"x\": 1.50, \"allow\": [], \"b\": null}, \"a\": \"\\u00e4\"}",
        "A",
        "{\"z\": 1, \"permissions\": {\"x\": 1.50, \"allow\": [\"A\"], \"b\": null}, \"a\": \"\\u00e4\"}",
    ),
    // Line ends and trailing commas as the file has them.
    (
        "{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"A\"\r\n    ]\r\n  }\r\n}\r\n",
        "B",
        "{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"A\",\r\n      \"B\"\r\n    ]\r\n  }\r\n}\r\n",
    ),
    (
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\",\n    ],\n  },\n}\n",
        "B",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\",\n      \"B\",\n    ],\n  },\n}\n",
    ),
    (
        "{\n  \"hooks\": {},\n}\n",
        "A",
        "{\n  \"hooks\": {},\n  \"permissions\": {\n    \"allow\": [\n      \"A\"\n    ]\n  },\n}\n",
    ),
    // Comments, wherever they are.
    (
        "// top\n{\n  // one\n  \"permissions\": { // two\n    \"allow\": [ // three\n      \"A\", \
         // four\n      // five\n      \"B\" // six\n      // seven\n    ] // eight\n  } // nine\n\
         }\n// end\n",
        "C",
        "// top\n{\n  // one\n  \"permissions\": { // two\n    \"allow\": [ // three\n      \"A\", \
         // four\n      // five\n      \"B\", // six\n      \"C\"\n      // seven\n    ] // eight\n  \
         } // nine\n}\n// end\n",
    ),
    (
        "/* a */ {\"permissions\": /* b */ {\"allow\": [/* c */]}} /* d */",
        "A",
        "/* a */ {\"permissions\": /* b */ {\"allow\": [/* c */\"A\"]}} /* d */",
    ),
    (
        "{\"permissions\": {\"allow\": [ // c\n]}}",
        "A",
        "{\"permissions\": {\"allow\": [ // c\n      \"A\"\n]}}",
    ),
    // A rule is text like any other.
    (
        r#"{"permissions": {"allow": []}}"#,
        "A(\"q\" \\ \u{e4} // \n)",
        "{\"permissions\": {\"allow\": [\"A(\\\"q\\\" \\\\ \u{e4} // \\n)\"]}}",
    ),
];

#[test]
fn a_rule_is_added_and_nothing_else_changes() {
    for (text, rule, expected) in EDITED {
        let edited = edit::with_rules(text, &rules(&[rule])).unwrap();
        assert_eq!(edited.as_deref(), Some(*expected), "{text}");
        // A second time there is nothing to do.
        assert_eq!(
            edit::with_rules(expected, &rules(&[rule])).unwrap(),
            None,
            "{text}"
        );
    }
}

#[test]
fn only_what_is_missing_is_added_and_only_once() {
    let text = r#"{"permissions": {"allow": ["A", "\u0042"]}}"#;
    assert_eq!(edit::with_rules(text, &rules(&["A", "B"])).unwrap(), None);
    assert_eq!(edit::with_rules(text, &[]).unwrap(), None);
    let edited = edit::with_rules(text, &rules(&["C", "A", "C", "D"])).unwrap();
    let expected = r#"{"permissions": {"allow": ["A", "\u0042", "C", "D"]}}"#;
    assert_eq!(edited.as_deref(), Some(expected));
    let new = edit::new_file(&rules(&["A", "A", "B"])).unwrap();
    let expected =
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\",\n      \"B\"\n    ]\n  }\n}\n";
    assert_eq!(new, expected);
}

#[test]
fn a_file_that_cannot_be_used_is_left_alone_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".toolbay/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let large = format!("{{}}{}", " ".repeat(MOST_BYTES as usize));
    let cases: &[(&str, &str)] = &[
        ("", "line 1"),
        ("{\n\"a\" 1}", "line 2"),
        ("{", "line 1"),
        ("{'a': 1}", "line 1"),
        ("{a: 1}", "line 1"),
        ("{\"a\": 0x1}", "line 1"),
        ("{} {}", "line 1"),
        ("[1,,]", "line 1"),
        ("{} /*", "does not end"),
        ("[]", "no JSON object"),
        ("{\"permissions\": []}", "`permissions` is no object"),
        (
            "{\"permissions\": {\"allow\": {}}}",
            "`permissions.allow` is no array",
        ),
        ("{\"permissions\": {\"allow\": [1]}}", "no rule"),
        // Which of the two would count?
        (
            "{\"permissions\": {}, \"permissions\": {}}",
            "cannot be added",
        ),
        (
            "{\"permissions\": {\"allow\": [], \"allow\": []}}",
            "cannot be added",
        ),
        (&deep, "recursion"),
        (&large, "larger than"),
    ];
    for (text, reason) in cases {
        std::fs::write(&file, text).unwrap();
        let error = add_allow_rules(RuleScope::Project, &file, &rules(&["A"])).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains(reason), "{error}");
        assert!(error.contains("settings.json"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), *text);
    }
    std::fs::write(&file, b"{\"\xff\": 1}").unwrap();
    let error = add_allow_rules(RuleScope::User, &file, &rules(&["A"])).unwrap_err();
    assert!(format!("{error:#}").contains("UTF-8"), "{error:#}");
    // Nothing is left lying about.
    assert_eq!(
        std::fs::read_dir(file.parent().unwrap()).unwrap().count(),
        1
    );
    let error = add_allow_rules(RuleScope::Session, &file, &rules(&["A"])).unwrap_err();
    assert!(error.to_string().contains("no file"), "{error}");
}

#[test]
fn files_and_folders_are_made_for_those_who_may_read_them() {
    for (scope, name, mode) in [
        (RuleScope::Local, "settings.local.json", 0o600),
        (RuleScope::Project, "settings.json", 0o644),
        (RuleScope::User, "settings.json", 0o600),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        let places = Places {
            managed: "/none.json".into(),
            home: Some(root.clone()),
            cache: root.clone(),
            state: root.clone(),
            data: root.clone(),
        };
        let file = settings_file_of(scope, &root, &places).unwrap();
        assert_eq!(file, root.join(".toolbay").join(name));
        let made = add_allow_rules(scope, &file, &rules(&["A"]))
            .unwrap()
            .unwrap();
        assert_eq!(made.before, None);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), made.after);
        let mode_of = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode_of(&file), mode, "{scope:?}");
        assert_eq!(mode_of(file.parent().unwrap()), 0o700);
        // One that is there keeps its own.
        let own = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(&file, own).unwrap();
        let inode = std::fs::metadata(&file).unwrap().ino();
        let changed = add_allow_rules(scope, &file, &rules(&["B"]))
            .unwrap()
            .unwrap();
        assert_eq!(changed.before, Some(made.after));
        assert_eq!(mode_of(&file), 0o640);
        let now = std::fs::metadata(&file).unwrap().ino();
        assert_ne!(now, inode, "it was written in place");
        // What changes nothing writes nothing.
        let same = add_allow_rules(scope, &file, &rules(&["A", "B"])).unwrap();
        assert_eq!(same, None);
        assert_eq!(std::fs::metadata(&file).unwrap().ino(), now);
        assert_eq!(
            std::fs::read_dir(file.parent().unwrap()).unwrap().count(),
            1
        );
    }
    let places = Places {
        managed: "/none.json".into(),
        home: None,
        cache: "/".into(),
        state: "/".into(),
        data: "/".into(),
    };
    let of = |scope| settings_file_of(scope, Path::new("/p"), &places);
    assert_eq!((of(RuleScope::Session), of(RuleScope::User)), (None, None));
    // A project that is not there is not made.
    let nowhere = tempfile::tempdir()
        .unwrap()
        .path()
        .join("gone/.toolbay/settings.json");
    assert!(add_allow_rules(RuleScope::Project, &nowhere, &rules(&["A"])).is_err());
}

#[test]
fn links_lead_only_to_where_they_may() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("project");
    let file = project.join(".toolbay/settings.json");
    for made in ["project/.toolbay", "project/config", "dotfiles"] {
        std::fs::create_dir_all(root.join(made)).unwrap();
    }
    let add = |scope| {
        let added = add_allow_rules(scope, &file, &rules(&["A"]));
        added.map_err(|error| format!("{error:#}"))
    };
    let has_rule = |file: &Path| std::fs::read_to_string(file).unwrap().contains("\"A\"");

    // Inside of the project, through a link that stays.
    let inside = project.join("config/own.json");
    std::fs::write(&inside, "{}").unwrap();
    symlink("../config/own.json", &file).unwrap();
    add(RuleScope::Project).unwrap();
    assert!(has_rule(&inside) && file.is_symlink());
    std::fs::remove_file(&file).unwrap();

    // Out of it: a person's own files may be elsewhere, a project's may not.
    let outside = root.join("dotfiles/settings.json");
    std::fs::write(&outside, "{}").unwrap();
    symlink(&outside, &file).unwrap();
    for scope in [RuleScope::Project, RuleScope::Local] {
        let error = add(scope).unwrap_err();
        assert!(error.contains("outside of the project"), "{error}");
        assert!(!has_rule(&outside));
    }
    add(RuleScope::User).unwrap();
    assert!(has_rule(&outside) && file.is_symlink());
    std::fs::remove_file(&file).unwrap();

    // To nowhere, and to what is no file.
    symlink(root.join("gone"), &file).unwrap();
    assert!(add(RuleScope::User).unwrap_err().contains("not there"));
    assert!(!root.join("gone").exists());
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(
        add(RuleScope::User)
            .unwrap_err()
            .contains("no ordinary file")
    );
    std::fs::remove_dir(&file).unwrap();

    // The settings folder itself is a link out of the project.
    std::fs::remove_dir(project.join(".toolbay")).unwrap();
    std::fs::write(&outside, "{}").unwrap();
    symlink(root.join("dotfiles"), project.join(".toolbay")).unwrap();
    assert!(
        add(RuleScope::Local)
            .unwrap_err()
            .contains("outside of the project")
    );
    assert!(!has_rule(&outside));

    // A folder of somebody else. Whoever runs this as the owner of everything can make one.
    let theirs = root.join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    let target = theirs.join("settings.json");
    std::fs::write(&target, "{}").unwrap();
    match std::os::unix::fs::chown(&theirs, Some(12345), None) {
        Ok(()) => {
            let link = root.join("link.json");
            symlink(&target, &link).unwrap();
            let error = add_allow_rules(RuleScope::User, &link, &rules(&["A"])).unwrap_err();
            assert!(format!("{error:#}").contains("somebody else"), "{error:#}");
            assert!(!has_rule(&target));
        }
        Err(error) => println!("a folder of somebody else is not tried: {error}"),
    }
}

#[test]
fn writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".toolbay/settings.json");
    let writers = 4;
    let each = 10;
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let file = &file;
            scope.spawn(move || {
                for number in 0..each {
                    let rule = format!("R{writer}x{number}");
                    add_allow_rules(RuleScope::Local, file, &[rule]).unwrap();
                    // Whoever reads meanwhile reads a whole file.
                    let text = std::fs::read_to_string(file).unwrap();
                    serde_json::from_str::<serde_json::Value>(&text).unwrap();
                }
            });
        }
    });
    let text = std::fs::read_to_string(&file).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let kept = value["permissions"]["allow"].as_array().unwrap();
    assert_eq!(kept.len(), writers * each, "{text}");
    assert_eq!(
        std::fs::read_dir(file.parent().unwrap()).unwrap().count(),
        1
    );
}

/// Two readers that know nothing of each other agree on what is a settings file.
#[test]
fn comments_are_read_as_others_read_them() {
    const PIECES: [&str; 18] = [
        "{", "}", "[", "]", ",", ",", ":", "\"a\"", "\"/*\"", "1", "null", " ", "\n", "// c\n",
        "/* c */", "/", "*", "\"\\\"\"",
    ];
    let mut state = 1_u64;
    let mut random = move || {
        // Numerical Recipes' generator: the same texts on every machine.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut good = 0;
    for _ in 0..200_000 {
        let text: String = (0..1 + random() % 9)
            .map(|_| PIECES[random() % PIECES.len()])
            .collect();
        let ours = read_jsonc(&text).map(|json| {
            assert_eq!(json.len(), text.len(), "{text:?}");
            serde_json::from_str::<serde_json::Value>(&json).is_ok()
        });
        let ours = ours.unwrap_or(false);
        assert_eq!(ours, edit::others_read(&text), "{text:?}");
        good += usize::from(ours);
    }
    assert!(good > 1_000, "only {good} texts were worth reading");
}
