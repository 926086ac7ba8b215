//! What is changed to fit, and what is refused.

use super::*;

/// `x` as it comes out, or `None` where it is refused.
fn shaped(x: &Value, given: &Value) -> Option<Value> {
    let done = schema(&about_x(x)).shape(json!({"x": given}));
    done.ok().map(|shaped| shaped.value["x"].clone())
}

#[test]
fn values_become_what_is_wanted_where_that_takes_no_guessing() {
    let integer = json!({"type": "integer"});
    let number = json!({"type": "number"});
    let boolean = json!({"type": "boolean"});
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    let object = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    for (x, given, wanted) in [
        (&integer, json!("5"), json!(5)),
        (&integer, json!(" -7 "), json!(-7)),
        (&integer, json!("5.0"), json!(5)),
        (&integer, json!("18446744073709551615"), json!(u64::MAX)),
        (&number, json!("5"), json!(5)),
        (&number, json!("5.0"), json!(5.0)),
        (&number, json!("-2.5e3"), json!(-2500.0)),
        (&boolean, json!("true"), json!(true)),
        (&boolean, json!("false"), json!(false)),
        (&text, json!(5), json!("5")),
        (&text, json!(2.5), json!("2.5")),
        (&text, json!(true), json!("true")),
        (&texts, json!("[\"a\",\"b\"]"), json!(["a", "b"])),
        (&texts, json!("a"), json!(["a"])),
        (&texts, json!("[1]"), json!(["1"])),
        (&texts, json!("[a"), json!(["[a"])),
        (&texts, json!([1, "b"]), json!(["1", "b"])),
        (&integers, json!("7"), json!([7])),
        (&integers, json!(7), json!([7])),
        (&integers, json!(["1", 2, "3"]), json!([1, 2, 3])),
        (&object, json!("{\"n\": \"5\"}"), json!({"n": 5})),
        (
            &object,
            json!({"n": "5", "other": "5"}),
            json!({"n": 5, "other": "5"}),
        ),
        (&json!({"type": ["integer", "null"]}), json!("5"), json!(5)),
        (&json!({"type": ["string", "null"]}), json!(5), json!("5")),
        (
            &json!({"type": ["integer", "boolean"]}),
            json!("true"),
            json!(true),
        ),
        (&json!({"enum": [1, 5]}), json!("5"), json!(5)),
        (&json!({"enum": ["1", "5"]}), json!(5), json!("5")),
        (&json!({"const": true}), json!("true"), json!(true)),
    ] {
        assert_eq!(shaped(x, &given), Some(wanted), "{x} {given}");
    }
}

#[test]
fn what_would_be_a_guess_or_a_loss_is_refused() {
    let integer = json!({"type": "integer"});
    let number = json!({"type": "number"});
    let boolean = json!({"type": "boolean"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let objects = json!({"type": "array", "items": {"type": "object"}});
    for (x, given) in [
        (&integer, json!("")),
        (&integer, json!("5 apples")),
        (&integer, json!("5.5")),
        (&integer, json!(5.5)),
        (&integer, json!("0x10")),
        (&integer, json!("+5")),
        (&integer, json!("NaN")),
        (&integer, json!("18446744073709551616")),
        (&integer, json!("1e300")),
        (&integer, json!(true)),
        (&integer, json!([5])),
        (&number, json!("1e999")),
        (&number, json!("1e-999")),
        (&number, json!("0.1234567890123456789")),
        (&number, json!("Infinity")),
        (&boolean, json!("yes")),
        (&boolean, json!(1)),
        (&boolean, json!("")),
        (&texts, json!({"a": "b"})),
        (&objects, json!("a")),
        (&json!({"type": "object"}), json!("[]")),
        (&json!({"type": "object"}), json!("{")),
        (
            &json!({"type": ["string", "array"], "items": {"type": "string"}}),
            json!({}),
        ),
        (&json!({"type": "string"}), json!({"a": 1})),
        (&json!({"type": "string"}), json!(["a"])),
        (&json!({"enum": [5, "5"]}), json!("6")),
        // Two readings fit, so neither is taken.
        (
            &json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}),
            json!("5"),
        ),
        // Mended in itself, but still not what is wanted.
        (&json!({"type": "integer", "minimum": 6}), json!("5")),
    ] {
        assert_eq!(shaped(x, &given), None, "{x} {given}");
    }
}

#[test]
fn choices_and_references_are_followed() {
    let nullable =
        json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]});
    let node = json!({"$ref": "#/properties/x/$defs/node", "$defs": {"node": {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "below": {"type": "array", "items": {"$ref": "#/properties/x/$defs/node"}},
        },
    }}});
    let shapes = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "box"}, "w": {"type": "integer"}}, "required": ["kind", "w"]},
    ]});
    let escaped =
        json!({"$ref": "#/properties/x/%24defs/a~1b%20c", "$defs": {"a/b c": {"type": "integer"}}});
    for (x, given, wanted) in [
        (&nullable, json!("[1, \"2\"]"), json!([1, 2])),
        (&nullable, json!(["1"]), json!([1])),
        (&nullable, json!(null), json!(null)),
        (&nullable, json!("3"), json!([3])),
        (
            &json!({"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]}),
            json!("5"),
            json!(5),
        ),
        (
            &node,
            json!({"n": "1", "below": [{"n": "2", "below": "[{\"n\": \"3\"}]"}]}),
            json!({"n": 1, "below": [{"n": 2, "below": [{"n": 3}]}]}),
        ),
        (
            &shapes,
            json!({"kind": "box", "w": "3"}),
            json!({"kind": "box", "w": 3}),
        ),
        (
            &shapes,
            json!("{\"kind\":\"circle\",\"r\":1}"),
            json!({"kind": "circle", "r": 1}),
        ),
        (&escaped, json!("5"), json!(5)),
        (
            &json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"a": "1", "b/c~": "2"}),
            json!({"a": 1, "b/c~": 2}),
        ),
        (
            &json!({"allOf": [{"type": "integer"}, {"minimum": 3}]}),
            json!("5"),
            json!(5),
        ),
        (
            &json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}]}),
            json!(["1", "true", "1"]),
            json!([1, true, "1"]),
        ),
    ] {
        assert_eq!(shaped(x, &given), Some(wanted), "{x} {given}");
    }
}

#[test]
fn null_for_an_optional_parameter_is_left_out() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {
            "must": {"type": "string"},
            "may": {"type": "string"},
            "choice": {"enum": ["a", "b"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "nullable": {"type": ["string", "null"]},
            "list": {"type": "array", "items": {"type": "string"}},
            "within": {"type": "object", "properties": {"may": {"type": "string"}}},
        },
        "required": ["must"],
    }));
    for (given, wanted) in [
        (
            json!({"must": "m", "may": null}),
            Some(json!({"must": "m"})),
        ),
        (
            json!({"must": "m", "choice": null}),
            Some(json!({"must": "m"})),
        ),
        (
            json!({"must": "m", "either": null}),
            Some(json!({"must": "m"})),
        ),
        (
            json!({"must": "m", "may": null, "choice": null, "either": null, "list": null}),
            Some(json!({"must": "m"})),
        ),
        (
            json!({"must": "m", "within": {"may": null}}),
            Some(json!({"must": "m", "within": {}})),
        ),
        (
            json!({"must": "m", "nullable": null}),
            Some(json!({"must": "m", "nullable": null})),
        ),
        (json!({"must": null}), None),
        (json!({"must": "m", "list": [null]}), None),
    ] {
        let done = schema.shape(given.clone()).ok();
        assert_eq!(done.map(|shaped| shaped.value), wanted, "{given}");
    }
}

#[test]
fn many_nulls_and_single_values_are_mended_together() {
    let row = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "note": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name"],
    });
    let schema = schema(&about_x(&json!({"type": "array", "items": row})));
    let given = json!({"name": "n", "note": null, "tags": "t"});
    let mut rows = vec![given; 500];
    let done = schema.shape(json!({"x": rows.clone()})).unwrap();
    assert_eq!(done.value["x"][499], json!({"name": "n", "tags": ["t"]}));
    // One that cannot be mended is the only one that is told.
    rows[7] = json!({"name": null});
    let error = schema.shape(json!({"x": rows[..20]})).unwrap_err();
    assert_eq!(error, "x[7].name: wanted a string, given null");
}
