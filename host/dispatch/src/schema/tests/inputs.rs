//! What stays as it is, and inputs as a whole.

use super::*;

#[test]
fn an_input_that_fits_is_never_changed() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "number"},
            "any": {},
            "list_or_text": {"type": ["array", "string"], "items": {"type": "integer"}},
            "choice": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
    }));
    for input in [
        json!({}),
        json!({"text": "5"}),
        json!({"text": "true"}),
        json!({"text": "{\"a\": 1}"}),
        json!({"text": "null"}),
        json!({"number": 5.0}),
        json!({"any": "5"}),
        json!({"any": {"n": 5.0, "t": "[1]"}}),
        json!({"any": null}),
        json!({"list_or_text": "[1]"}),
        json!({"choice": "5"}),
        json!({"unknown": "5"}),
    ] {
        let wanted = Shaped {
            value: input.clone(),
            changed: Vec::new(),
        };
        let done = schema.shape(input.clone()).unwrap();
        assert_eq!(done, wanted, "{input}");
        // Equality does not tell 5.0 from 5, the text does.
        assert_eq!(done.value.to_string(), input.to_string());
    }
}

#[test]
fn a_text_that_fits_stays_when_something_else_is_mended() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    }));
    let done = schema.shape(json!({"text": "5", "n": "5"})).unwrap();
    assert_eq!(done.value, json!({"text": "5", "n": 5}));
    assert_eq!(done.changed, ["n: \"5\" became 5"]);
}

#[test]
fn a_needless_point_goes_where_an_integer_is_wanted() {
    for (x, given, wanted) in [
        (json!({"type": "integer"}), json!(5.0), "5"),
        (json!({"type": "integer"}), json!(-0.0), "0"),
        (json!({"type": ["integer", "null"]}), json!(5.0), "5"),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!(5.0),
            "5",
        ),
        (json!({"type": ["integer", "number"]}), json!(5.0), "5.0"),
        (json!({"type": "number"}), json!(5.0), "5.0"),
        (json!({"type": "integer"}), json!(1e300), "1e+300"),
    ] {
        let done = schema(&about_x(&x)).shape(json!({"x": given})).unwrap();
        assert_eq!(done.value["x"].to_string(), wanted, "{x} {given}");
    }
}

#[test]
fn a_whole_input_may_come_as_a_text() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    }));
    let done = schema.shape(json!("{\"n\": \"5\"}")).unwrap();
    assert_eq!(done.value, json!({"n": 5}));
    assert_eq!(
        done.changed,
        [
            r#"the input: "{\"n\": \"5\"}" became {"n":"5"}"#,
            "n: \"5\" became 5"
        ]
    );
    let pointed = schema.shape(json!("{\"n\": 5.0}")).unwrap();
    assert_eq!(pointed.value.to_string(), "{\"n\":5}");
    for text in ["", "5", "[]", "{\"n\": 5", "null"] {
        assert!(schema.shape(json!(text)).is_err(), "{text}");
    }
}

#[test]
fn older_dialects_work_too() {
    for (dialect, given, wanted) in [
        (
            "http://json-schema.org/draft-07/schema#",
            json!({"n": "5"}),
            "{\"n\":5}",
        ),
        (
            "http://json-schema.org/draft-04/schema#",
            json!({"n": 5.0}),
            "{\"n\":5}",
        ),
        (
            "https://json-schema.org/draft/2019-09/schema",
            json!({"n": "5"}),
            "{\"n\":5}",
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            json!({"n": "5"}),
            "{\"n\":5}",
        ),
    ] {
        let schema = schema(&json!({
            "$schema": dialect,
            "$id": "https://example.com/tool.json",
            "type": "object",
            "properties": {"n": {"$ref": "#/definitions/n"}},
            "definitions": {"n": {"type": "integer"}},
        }));
        let done = schema.shape(given).unwrap();
        assert_eq!(done.value.to_string(), wanted, "{dialect}");
    }
}

#[test]
fn many_changes_are_told_in_few_sentences() {
    let x = json!({"type": "array", "items": {"type": "integer"}});
    let given: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let done = schema(&about_x(&x)).shape(json!({"x": given})).unwrap();
    assert_eq!(done.value["x"][999], 999);
    assert_eq!(done.changed.len(), 21);
    assert_eq!(done.changed[20], "and 980 more values were changed alike");
}
