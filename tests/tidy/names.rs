//! The host knows no tool by name: behaviour is a field of the tool's info or a
//! capability, never `if name == "…"`.

use crate::source::{Source, has_word, lines_with_word};
use crate::tree::{check, files, is_test};
use crate::{assert_tidy, check_rule};

/// Where a tool's name may stand, and why.
const EXCEPTIONS: [(&str, &str); 4] = [
    (
        "host/policy/src/verb.rs",
        "the rule language has verbs that reach beyond one tool; users write them already",
    ),
    (
        "host/cli/src/tour",
        "a script of calls, as a model would make them",
    ),
    ("host/cli/src/commands/tour", "the same, as a command"),
    (
        "host/toolbay/examples",
        "programs of others, which make calls as a model would",
    ),
];

/// The name that a plugin gives itself.
fn tool_name(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Info::new(")?;
    let (name, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    Some(name)
}

/// Whether the name is more than an English word. `Read` is a trait and a fine name for
/// a variant, so in code only names like `TodoWrite` can be told to mean the tool.
fn is_compound(name: &str) -> bool {
    name.chars().filter(|c| c.is_uppercase()).count() > 1
}

fn tools_named(path: &str, text: &str, names: &[String]) -> Vec<String> {
    if is_test(path) || EXCEPTIONS.iter().any(|(place, _)| path.starts_with(place)) {
        return Vec::new();
    }
    let source = Source::new(text);
    let code = source.shipped_code();
    let mut found = Vec::new();
    for name in names {
        // As a name: `"Read"`. As a rule: `"Read(./secret)"`.
        let rule = format!("{name}(");
        let literals = source.shipped_literals();
        let named = literals
            .iter()
            .filter(|piece| piece.text == name || has_word(piece.text, &rule));
        found.extend(named.map(|piece| (piece.line, name)));
        if is_compound(name) {
            found.extend(
                lines_with_word(&code, name)
                    .into_iter()
                    .map(|line| (line, name)),
            );
        }
    }
    found.sort();
    found
        .into_iter()
        .map(|(line, name)| format!("{path}:{line}: the host names the tool {name}"))
        .collect()
}

#[test]
fn the_host_names_no_tool() {
    let plugins = files(&["plugins"], &["/src/lib.rs"]);
    let names: Vec<String> = plugins
        .iter()
        .filter_map(|file| tool_name(&file.text))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        names.len(),
        plugins.len(),
        "a plugin's lib.rs has no `Info::new(\"Name\"`: {names:?}"
    );
    assert_tidy(check(&files(&["host"], &[".rs"]), |path, text| {
        tools_named(path, text, &names)
    }));
}

#[test]
fn no_two_plugins_share_a_name() {
    let plugins = files(&["plugins"], &["/src/lib.rs"]);
    let mut names: Vec<&str> = plugins
        .iter()
        .filter_map(|file| tool_name(&file.text))
        .collect();
    names.sort_unstable();
    let twice: Vec<String> = names
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| format!("{} twice", pair[0]))
        .collect();
    assert_tidy(twice);
}

#[test]
fn a_plugins_name_is_read_off_its_info() {
    for (text, expected) in [
        ("Info::new(\"Read\", \"Reads.\")", Some("Read")),
        ("Info::new(\n    \"NotebookEdit\",", Some("NotebookEdit")),
        ("Info::new(NAME)", None),
        ("", None),
    ] {
        assert_eq!(tool_name(text), expected, "{text}");
    }
}

#[test]
fn the_rule_on_names_catches_names_and_rules_but_not_rust() {
    let names = ["Read".to_owned(), "TodoWrite".to_owned()];
    check_rule(
        |path, text| tools_named(path, text, &names),
        &[
            ("host/a.rs", "if name == \"Read\" {}"),
            ("host/a.rs", "Rule::parse(\"Read(./a)\")"),
            ("host/a.rs", "r#\"TodoWrite\"#"),
            ("host/a.rs", "Kind::TodoWrite => {}"),
        ],
        &[
            ("host/a.rs", "use std::io::Read; Failure::Read(error)"),
            ("host/a.rs", "\"Reading takes time\""),
            ("host/a.rs", "// the tool \"Read\" is not special"),
            (
                "host/a.rs",
                "#[cfg(test)]\nmod tests { const A: &str = \"Read\"; }",
            ),
            ("host/a/tests.rs", "\"Read\""),
            ("host/policy/src/verb.rs", "\"Read\""),
        ],
    );
}
