//! The contract explains itself: who writes a tool in another language reads nothing else.

use crate::tree::{check, files};
use crate::{assert_tidy, check_rule};

const ITEMS: [&str; 8] = [
    "interface ",
    "world ",
    "record ",
    "variant ",
    "enum ",
    "flags ",
    "resource ",
    "type ",
];

/// Whether a line starts something that people look up.
fn is_item(line: &str) -> bool {
    let is_function = line.split_once(':').is_some_and(|(name, rest)| {
        let words = ["func(", "async func(", "static func(", "static async func("];
        !name.contains('/') && words.iter().any(|word| rest.trim_start().starts_with(word))
    });
    is_function || ITEMS.iter().any(|word| line.starts_with(word))
}

fn undocumented(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut findings = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| is_item(line)) {
        // Gates such as `@since(...)` stand between a comment and its item.
        let above = lines[..index]
            .iter()
            .rev()
            .find(|line| !line.starts_with('@'));
        if !above.is_some_and(|line| line.len() > 3 && line.starts_with("///")) {
            findings.push(format!(
                "{path}:{}: no `///` directly above: {line}",
                index + 1
            ));
        }
    }
    findings
}

#[test]
fn everything_in_the_contract_is_documented() {
    assert_tidy(check(&files(&["wit/0.1"], &[".wit"]), undocumented));
}

#[test]
fn the_rule_on_documentation_wants_it_directly_above() {
    check_rule(
        undocumented,
        &[
            ("a.wit", "record a { b: u8 }"),
            ("a.wit", "/// Far away.\n\n  get: func() -> string;"),
            ("a.wit", "// No documentation.\ninterface a {"),
            ("a.wit", "///\nenum a { b }"),
            ("a.wit", "@since(version = 0.1.1)\nf: async func();"),
        ],
        &[
            ("a.wit", "/// What it is.\nrecord a { b: u8 }"),
            ("a.wit", "/// New.\n@since(version = 0.1.1)\nf: func();"),
            (
                "a.wit",
                "package a:b@0.1.0;\n/// A world.\nworld w { import a:b/c@0.1.0; export d; }",
            ),
            ("a.wit", "use types.{json};"),
        ],
    );
}
