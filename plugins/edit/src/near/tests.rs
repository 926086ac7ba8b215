#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

const CODE: &str = "fn main() {\n\tlet total = compute(first, second);\n\tprintln!(\"{total}\");\n}\n\nfn other() {\n    let name = \"x\"; \n    name.len()\n}\n";

#[test]
fn the_closest_place_and_its_first_difference_are_named() {
    for (case, old, wanted) in [
        (
            "tabs for spaces",
            "fn main() {\n    let total = compute(first, second);",
            vec![
                "starts at line 1;",
                "line 2 is indented with 1 tab, in old_string with 4 spaces",
                "     2\t\tlet total",
            ],
        ),
        (
            "trailing whitespace",
            "    let name = \"x\";\n    name.len()\n",
            vec![
                "starts at line 7;",
                "line 7 ends with 1 space, in old_string with no whitespace",
            ],
        ),
        (
            "another word",
            "\tlet total = compute(first, third);\n\tprintln!(\"{total}\");",
            vec!["line 2 differs at column 29: the file has `second);`, old_string has `third);`"],
        ),
        (
            "one line, a part of it",
            "compute(first,second)",
            vec!["starts at line 2;"],
        ),
        (
            "case only",
            "    Name.Len()",
            vec![
                "starts at line 8;",
                "line 8 is the first to differ only in upper and lower case",
            ],
        ),
        (
            "whitespace inside",
            "    let name =  \"x\"; ",
            vec![
                "line 7 differs only in whitespace at column 16: the file has `\"x\";`, old_string has ` \"x\";`",
            ],
        ),
        (
            "the file ends",
            "    name.len()\n}\n\nfn third() {}\n",
            vec![
                "starts at line 8;",
                "the file ends before line 3 of old_string",
            ],
        ),
        (
            "line numbers",
            "     8\t    name.len()\n     9\t}",
            vec!["line numbers from a listing"],
        ),
        (
            "an invisible character",
            "    let\u{a0}name = \"x\"; ",
            vec![
                "only in whitespace at column 8: the file has ` name",
                "old_string has `U+00A0name",
            ],
        ),
    ] {
        let text = describe(CODE, old).unwrap_or_else(|| panic!("{case}: nothing close"));
        for part in wanted {
            assert!(text.contains(part), "{case}: {part:?} is not in\n{text}");
        }
    }
}

#[test]
fn nothing_is_said_when_nothing_is_close() {
    for old in [
        "zebra crossing ahead",
        "}",
        "\n\n\n",
        " ",
        "if (condition) {\n  doSomething();\n}\n",
    ] {
        let text = describe("alpha\nbeta\ngamma\n", old);
        assert_eq!(text, None, "{old:?}");
    }
}

#[test]
fn a_long_region_is_cut_around_the_difference() {
    let file: String = (1..=60)
        .map(|line| format!("line number {line}\n"))
        .collect();
    let old = file.replace("number 40", "numeral 40");
    let text = describe(&file, &old).unwrap();
    assert!(text.contains("line 40 differs"), "{text}");
    assert!(text.contains("\n    40\tline number 40"), "{text}");
    assert_eq!(text.lines().count(), 1 + MAX_SHOWN, "{text}");
}

#[test]
fn a_large_file_is_searched_in_bounded_time() {
    let file = "    }\n".repeat(300_000);
    let old = format!("{}needle here\n", "    }\n".repeat(2_000));
    describe(&file, &old);
    describe(&"x".repeat(2_000_000), &"y".repeat(100_000));
}
