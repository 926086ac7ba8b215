//! What a model reads about an input that does not fit.

use super::*;

fn complaint(schema: &Schema, input: Value) -> String {
    match schema.shape(input.clone()) {
        Ok(shaped) => panic!("{input} fits as {shaped:?}"),
        Err(text) => text,
    }
}

#[test]
fn a_line_says_where_what_was_wanted_and_what_was_given() {
    let long = "y".repeat(1_000);
    for (x, given, wanted) in [
        (
            json!({"type": "integer"}),
            json!("abc"),
            "wanted an integer, given \"abc\"",
        ),
        (
            json!({"type": "string"}),
            json!(["a"]),
            "wanted a string, given [\"a\"]",
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"a": 1}),
            "wanted null or a string, given {\"a\":1}",
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!("0"),
            "wanted at least 1, given 0",
        ),
        (
            json!({"maximum": 2.5}),
            json!(3),
            "wanted at most 2.5, given 3",
        ),
        (
            json!({"exclusiveMinimum": 0}),
            json!(0),
            "wanted more than 0, given 0",
        ),
        (
            json!({"exclusiveMaximum": 9}),
            json!(9),
            "wanted less than 9, given 9",
        ),
        (
            json!({"multipleOf": 3}),
            json!(4),
            "wanted a multiple of 3, given 4",
        ),
        (
            json!({"minLength": 1}),
            json!(""),
            "wanted at least 1 character, given \"\"",
        ),
        (
            json!({"maxLength": 2}),
            json!("abc"),
            "wanted at most 2 characters, given \"abc\"",
        ),
        (
            json!({"minItems": 2}),
            json!([1]),
            "wanted at least 2 items, given [1]",
        ),
        (
            json!({"maxItems": 0}),
            json!([1]),
            "wanted at most 0 items, given [1]",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, 1]),
            "wanted no item twice, given [1,1]",
        ),
        (
            json!({"minProperties": 1}),
            json!({}),
            "wanted at least 1 property, given {}",
        ),
        (
            json!({"pattern": "^[a-z]+$"}),
            json!("A"),
            "wanted a text that matches the pattern ^[a-z]+$, given \"A\"",
        ),
        (
            json!({"const": "a"}),
            json!("b"),
            "wanted \"a\", given \"b\"",
        ),
        (
            json!({"type": "string", "enum": ["content", "count"]}),
            json!("contents"),
            "wanted one of \"content\", \"count\", given \"contents\"; did you mean \"content\"?",
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!([1]),
            "wanted one of \"a\", \"b\", given [1]",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
            json!({}),
            "wanted a string or an array, given {}",
        ),
        (
            json!({"oneOf": [{"const": "a"}, {"type": "integer"}]}),
            json!("b"),
            "wanted \"a\" or an integer, given \"b\"",
        ),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            json!(5),
            "wanted exactly one of the allowed forms, not several, given 5",
        ),
        (
            json!({"not": {"type": "string"}}),
            json!("a"),
            "wanted another form: this one is ruled out, given \"a\"",
        ),
        (
            json!({"contains": {"const": 1}}),
            json!([2]),
            "wanted an item of the required form, which none is, given [2]",
        ),
        (json!(false), json!(5), "wanted nothing here, given 5"),
        (
            json!({"propertyNames": {"maxLength": 1}}),
            json!({"ab": 1}),
            "the name \"ab\" is not allowed: wanted at most 1 character, given \"ab\"",
        ),
        (
            json!({"type": "integer"}),
            json!(long),
            &format!("wanted an integer, given \"{}\"…", "y".repeat(60)),
        ),
        (
            json!({"type": "integer"}),
            json!(vec![0; 1_000]),
            "wanted an integer, given an array of 1000 items",
        ),
    ] {
        let text = complaint(&schema(&about_x(&x)), json!({"x": given}));
        assert_eq!(text, format!("x: {wanted}"), "{x}");
    }
}

#[test]
fn what_is_missing_comes_first_and_what_is_unknown_gets_a_suggestion() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
            "mode": {"$ref": "#/$defs/mode"},
        },
        "required": ["file_path", "mode"],
        "additionalProperties": false,
        "$defs": {"mode": {"enum": ["fast", "slow"]}},
    }));
    let text = complaint(&schema, json!({"limit": "0", "filePath": "/a", "zzz": 1}));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "file_path: missing; wanted a string",
            "mode: missing; wanted one of \"fast\", \"slow\"",
            "filePath: no such parameter; did you mean file_path?",
            "zzz: no such parameter; known are file_path, limit, mode",
            "limit: wanted at least 1, given 0",
        ]
    );
}

#[test]
fn places_are_dotted_and_odd_names_are_quoted() {
    let items = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"content": {"type": "string", "minLength": 1}},
            "required": ["content"],
            "additionalProperties": {"type": "integer"},
        },
    });
    let schema = schema(&about_x(&items));
    for (given, wanted) in [
        (json!([{"content": ""}]), "x[0].content: wanted at least"),
        (json!([{"content": "a"}, {}]), "x[1].content: missing"),
        (
            json!([{"content": "a", "b\nc": {}}]),
            "x[0].\"b\\nc\": wanted",
        ),
        (
            json!([{"content": "a", "a/b~c.d": {}}]),
            "x[0].\"a/b~c.d\": wanted",
        ),
        (json!([{"content": "a", "": {}}]), "x[0].\"\": wanted"),
    ] {
        let text = complaint(&schema, json!({"x": given}));
        assert!(
            text.starts_with(wanted) && text.lines().count() == 1,
            "{text}"
        );
    }
    assert!(complaint(&schema, json!(5)).starts_with("the input: wanted an object, given 5"));
}

#[test]
fn the_branch_that_was_meant_is_the_one_explained() {
    let branch = |kind: &str, name: &str| {
        json!({
            "type": "object",
            "properties": {"kind": {"const": kind}, (name): {"type": "integer"}},
            "required": ["kind", name],
        })
    };
    let x = json!({"anyOf": [{"type": "null"}, branch("circle", "r"), branch("box", "w")]});
    for (given, wanted) in [
        (json!({"kind": "box"}), "x.w: missing; wanted an integer"),
        (json!({"kind": "circle"}), "x.r: missing; wanted an integer"),
        (
            json!({"kind": "box", "w": "wide"}),
            "x.w: wanted an integer, given \"wide\"",
        ),
        (json!(5), "x: wanted null or an object, given 5"),
    ] {
        let text = complaint(&schema(&about_x(&x)), json!({"x": given}));
        assert_eq!(text, wanted);
    }
}

#[test]
fn a_mended_value_does_not_hide_what_else_is_wrong() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "must": {"type": "string"}},
        "required": ["must"],
    }));
    for (input, wanted) in [
        (json!({"n": "5"}), "must: missing; wanted a string"),
        (json!({"must": null}), "must: wanted a string, given null"),
    ] {
        assert_eq!(complaint(&schema, input), wanted);
    }
}

#[test]
fn ten_lines_are_shown_and_the_rest_counted() {
    let x = json!({"type": "array", "items": {"type": "integer"}});
    let text = complaint(&schema(&about_x(&x)), json!({"x": vec!["a"; 500]}));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 11);
    assert_eq!(lines[0], "x[0]: wanted an integer, given \"a\"");
    assert_eq!(lines[10], "and 490 more problems");
}

#[test]
fn one_missing_beside_many_wrong_is_still_shown() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {"x": {"type": "array", "items": {"type": "integer"}}, "z": {}},
        "required": ["z"],
    }));
    let text = complaint(&schema, json!({"x": vec!["a"; 500]}));
    assert!(text.starts_with("z: missing; wanted a value\n"), "{text}");
    assert!(text.ends_with("and 491 more problems"), "{text}");
}

#[test]
fn long_lists_of_options_are_cut() {
    let options: Vec<String> = (0..1_000).map(|n| format!("option-{n}")).collect();
    let text = complaint(
        &schema(&about_x(&json!({"enum": options}))),
        json!({"x": {}}),
    );
    assert!(
        text.contains("\"option-11\" and 988 more, given {}"),
        "{text}"
    );
}
