//! Schemas and inputs that want the host to hang, fetch, or break.

use super::*;

fn refused(schema: &Value) -> String {
    match Schema::compile(&schema.to_string()) {
        Ok(_) => panic!("{schema} was accepted"),
        Err(text) => text,
    }
}

#[test]
fn schemas_that_are_none_are_refused_with_the_reason() {
    let big = format!(
        "{{\"type\":\"object\",\"title\":\"{}\"}}",
        "x".repeat(300_000)
    );
    let deep = "{\"not\":".repeat(500) + "{}" + &"}".repeat(500);
    for (text, wanted) in [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "must be a JSON object"),
        ("true", "must be a JSON object"),
        ("{\"type\":\"thing\"}", "not a valid JSON Schema"),
        ("{\"properties\":5}", "not a valid JSON Schema"),
        (
            "{\"$schema\":\"http://example.com/own\"}",
            "not a valid JSON Schema",
        ),
        (&big, "bytes long"),
        (&deep, "not JSON"),
    ] {
        let error = Schema::compile(text).err().unwrap_or_default();
        assert!(error.contains(wanted), "{wanted}: {error}");
        assert!(error.len() < 400 && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn nothing_outside_the_schema_is_referred_to() {
    for reference in [
        "http://127.0.0.1:1/schema",
        "https://json-schema.org/draft/2020-12/schema",
        "file:///etc/passwd",
        "other.json#/a",
        "/etc/passwd",
        "",
        "#anchor",
        "#/$defs/none",
        "#/%zz",
        "urn:x",
    ] {
        // Wherever it hides, even where only another reference leads.
        for schema in [
            json!({"$ref": reference}),
            about_x(&json!({"items": {"anyOf": [{"$ref": reference}]}})),
            json!({"$ref": "#/hidden/place", "hidden": {"place": {"$ref": reference}}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "not": {"$ref": reference}}),
        ] {
            assert!(refused(&schema).contains("refers to"), "{schema}");
        }
    }
    for keyword in ["$dynamicRef", "$recursiveRef", "$id"] {
        let schema = about_x(&json!({(keyword): "#"}));
        assert!(refused(&schema).contains(keyword), "{schema}");
    }
    let old =
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "not": {"id": "http://x/"}});
    assert!(refused(&old).contains("`id`"));
}

#[test]
fn names_of_parameters_are_not_taken_for_keywords() {
    let properties = json!({
        "$ref": {"type": "string"},
        "$id": {"type": "integer"},
        "id": {"type": "integer"},
        "pattern": {"type": "string"},
        "default": {"default": {"$ref": "http://example.com"}},
    });
    let schema = schema(&json!({"type": "object", "properties": properties}));
    let input = json!({"$ref": "http://example.com", "$id": "5", "id": 1, "pattern": "("});
    assert_eq!(schema.shape(input).unwrap().value["$id"], 5);
}

#[test]
fn patterns_are_linear_and_bounded() {
    let many: Vec<Value> = (0..100)
        .map(|n| json!({"pattern": format!("a{n}[a-z]{{5000}}")}))
        .collect();
    for (x, wanted) in [
        (json!({"pattern": "(?=a)b"}), "look-around"),
        (json!({"pattern": "(a)\\1"}), "look-around"),
        (
            json!({"pattern": "((a{1000}){1000}){1000}"}),
            "repeat fewer times",
        ),
        (json!({"pattern": "("}), "pattern"),
        (json!({"patternProperties": {"(?<!a)b": {}}}), "look-around"),
        (json!({"anyOf": many}), "too large together"),
    ] {
        let error = refused(&about_x(&x));
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    // Linear in the text, but with thousands of states: a minute for this text.
    for pattern in ["[ab]*a[ab]{9000}c", "(?:[ab]{0,60}a){50}[^ab]"] {
        let schema = schema(&about_x(&json!({"pattern": pattern})));
        let error = schema
            .shape(json!({"x": "abaaba".repeat(50_000)}))
            .unwrap_err();
        assert!(error.contains("too large"), "{error}");
    }
    // A backtracking engine would not come back from this.
    let schema = schema(&about_x(&json!({"pattern": "^(a+)+$"})));
    let text = "a".repeat(20_000) + "b";
    assert!(schema.shape(json!({"x": text})).is_err());
}

#[test]
fn schemas_without_end_are_refused() {
    let mut doubling = json!({"type": "object", "$ref": "#/$defs/d0"});
    for n in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        doubling["$defs"][format!("d{n}")] = json!({"allOf": [next, next]});
    }
    doubling["$defs"]["d60"] = json!({});
    let mut chain = json!({"type": "object", "$ref": "#/$defs/d0"});
    for n in 0..3_000 {
        chain["$defs"][format!("d{n}")] = json!({"$ref": format!("#/$defs/d{}", n + 1)});
    }
    chain["$defs"]["d3000"] = json!({});
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        about_x(&json!({"if": {"then": {"$ref": "#/properties/x/if"}}, "then": {}})),
        about_x(&json!({"unevaluatedItems": false, "anyOf": [{"$ref": "#/properties/x"}]})),
        doubling,
        chain,
    ] {
        let error = refused(&schema);
        assert!(error.contains("without end"), "{error}");
    }
    let many: Vec<Value> = (0..20_000).map(|_| json!({})).collect();
    assert!(refused(&json!({"prefixItems": many})).contains("parts"));
}

#[test]
fn inputs_that_make_a_schema_explode_are_refused() {
    // Each level of the input doubles the work.
    let doubling = json!({
        "type": "object",
        "properties": {"x": {"anyOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]}},
        "required": ["y"],
    });
    let mut nested = json!({});
    for _ in 0..40 {
        nested = json!({"x": nested});
    }
    // Each branch's error would hold a copy of the text.
    let branches: Vec<Value> = (0..2_000).map(|n| json!({"const": n})).collect();
    for (schema, input) in [
        (doubling, nested),
        (
            about_x(&json!({"anyOf": branches})),
            json!({"x": "y".repeat(1_000_000)}),
        ),
    ] {
        let error = super::schema(&schema).shape(input).unwrap_err();
        assert!(error.contains("too large or too deeply nested"), "{error}");
    }
}

#[test]
fn a_large_honest_input_passes() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {
            "content": {"type": "string", "pattern": "^[^\\u0000]*$"},
            "rows": {"type": "array", "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["id"],
            }},
        },
    }));
    let rows: Vec<Value> = (0..5_000)
        .map(|n| json!({"id": n.to_string(), "text": "t"}))
        .collect();
    let input = json!({"content": "c".repeat(500_000), "rows": rows});
    assert_eq!(
        schema.shape(input).unwrap().value["rows"][4_999]["id"],
        4_999
    );
}

/// As deep as the walk lets it, on a stack as small as any that calls run on.
#[test]
fn the_deepest_input_fits_on_a_small_stack() {
    let tree = json!({
        "type": "object",
        "properties": {
            "below": {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
            "n": {"type": "integer"},
        },
    });
    let nested = |depth: usize| {
        let mut value = json!({"n": "5"});
        for _ in 0..depth {
            value = json!({"below": value});
        }
        value
    };
    let work = move || {
        let schema = schema(&tree);
        assert!(schema.shape(nested(60)).is_ok());
        assert!(schema.shape(nested(100)).is_err());
        // As deep as a schema can be written, again and again through references.
        let mut deep = json!({"type": "object", "$ref": "#/$defs/d0", "$defs": {"d20": {}}});
        for n in 0..20 {
            let mut inner = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            for _ in 0..100 {
                inner = json!({"unevaluatedProperties": inner});
            }
            deep["$defs"][format!("d{n}")] = inner;
        }
        assert!(super::schema(&deep).shape(json!({})).is_ok());
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.unwrap().join().unwrap();
}

#[test]
fn long_names_cannot_multiply() {
    let long = "n".repeat(100_000);
    let schema = schema(&json!({
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "integer"}},
    }));
    // Each of the errors would hold the name.
    let error = schema
        .shape(json!({(long.as_str()): vec!["a"; 10_000]}))
        .unwrap_err();
    assert!(error.contains("too large"), "{error}");
    // Each part of the compiled schema would.
    let parts: Value = (0..1_000)
        .map(|n| (n.to_string(), json!({})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let error = refused(&json!({"properties": {(long.as_str()): {"properties": parts}}}));
    assert!(error.contains("long names"), "{error}");
}

/// To look for the nearest name is work, and done for the lines that are shown.
#[test]
fn a_flood_of_unknown_names_is_counted_and_not_searched() {
    let named = |prefix: &str, count: usize| -> Value {
        let names = (0..count).map(|n| (format!("{prefix}-{n}-{}", "x".repeat(40)), json!({})));
        names.collect::<serde_json::Map<_, _>>().into()
    };
    let known = json!({
        "type": "object", "properties": named("known", 1_000), "additionalProperties": false,
    });
    let error = schema(&known).shape(named("other", 20_000)).unwrap_err();
    assert!(error.ends_with("and 19990 more problems"), "{error}");
}

/// A text in a text in a text: each round takes off one layer, and there are few.
#[test]
fn nested_texts_come_to_an_end() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {"x": {"$ref": "#"}},
    }));
    let mut text = "{}".to_owned();
    for _ in 0..12 {
        text = json!({"x": text}).to_string();
    }
    assert!(schema.shape(json!(text)).is_err());
}

/// Two demands that no value meets: mending for one breaks the other.
#[test]
fn contradictions_come_to_an_end() {
    let x = json!({"allOf": [{"type": "integer"}, {"type": "string"}]});
    for given in [json!("5"), json!(5), json!(null), json!([])] {
        let done = schema(&about_x(&x)).shape(json!({"x": given}));
        assert_eq!(done.is_ok(), given.is_null(), "{given}");
    }
}

#[test]
fn names_in_an_input_cannot_forge_lines() {
    let schema = schema(&about_x(&json!({})));
    let name = format!("a\nfile_path: missing{}", "z".repeat(10_000));
    let error = schema.shape(json!({(name): 1})).unwrap_err();
    assert!(error.lines().count() == 1 && error.len() < 300, "{error}");
}
