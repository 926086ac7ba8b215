//! Made-up schemas and inputs by the thousand: whatever they are, what comes out fits,
//! stays as it is from then on, and was not touched if it fitted before.

use super::*;

/// A xorshift generator: the same cases on every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick(&mut self, from: &[Value]) -> Value {
        from[self.throw(from.len())].clone()
    }
}

const KEYWORDS: &[&str] = &[
    "type",
    "type",
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "required",
    "enum",
    "const",
    "pattern",
    "minimum",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "prefixItems",
    "contains",
    "propertyNames",
    "dependentSchemas",
    "$ref",
];

fn a_schema(dice: &mut Dice, depth: usize) -> Value {
    let types = ["integer", "number", "string", "boolean", "object", "array"];
    let mut schema = json!({});
    for _ in 0..=dice.throw(3) {
        let keyword = KEYWORDS[dice.throw(KEYWORDS.len())];
        let inner = |dice: &mut Dice| match depth {
            0 => json!({"type": types[dice.throw(types.len())]}),
            _ => a_schema(dice, depth - 1),
        };
        schema[keyword] = match keyword {
            "type" => match dice.throw(3) {
                0 => json!([types[dice.throw(3)], "null"]),
                _ => json!(types[dice.throw(types.len())]),
            },
            "properties" | "dependentSchemas" => json!({"a": inner(dice), "b": inner(dice)}),
            "patternProperties" => json!({"^[ab]": inner(dice)}),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => json!([inner(dice), inner(dice)]),
            "required" => json!(["a"]),
            "enum" => json!([1, "2", true, null, [1]]),
            "const" => json!("1"),
            "pattern" => json!("^[0-9]+$"),
            "minimum" | "minItems" => json!(1),
            "uniqueItems" => json!(true),
            "multipleOf" => json!(0.5),
            "$ref" => dice.pick(&[json!("#"), json!("#/$defs/a")]),
            _ => inner(dice),
        };
    }
    schema
}

fn a_value(dice: &mut Dice, depth: usize) -> Value {
    let inner = |dice: &mut Dice| match depth {
        0 => json!(null),
        _ => a_value(dice, depth - 1),
    };
    match dice.throw(4) {
        0 => json!([inner(dice), inner(dice)]),
        1 => json!({"a": inner(dice), "b": inner(dice), "c": inner(dice)}),
        _ => dice.pick(&[
            json!(null),
            json!(true),
            json!(5),
            json!(5.0),
            json!("5"),
            json!("true"),
            json!("x"),
            json!("[\"1\", 2.0]"),
            json!("{\"a\": \"1\", \"b\": null}"),
        ]),
    }
}

#[test]
fn what_comes_out_fits_and_what_fitted_is_untouched() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut kept, mut mended, mut refused) = (0, 0, 0);
    for _ in 0..400 {
        let mut document = a_schema(&mut dice, 2);
        document["$defs"] = json!({"a": a_schema(&mut dice, 1)});
        let Ok(schema) = Schema::compile(&document.to_string()) else {
            continue;
        };
        for _ in 0..5 {
            let input = a_value(&mut dice, 2);
            let about = format!("{document} {input}");
            let fitted = schema.validator.is_valid(&input);
            match schema.shape(input.clone()) {
                Ok(shaped) => {
                    assert!(schema.validator.is_valid(&shaped.value), "{about}");
                    let again = schema.shape(shaped.value.clone()).unwrap();
                    assert_eq!(again.changed, [""; 0], "{about}");
                    // But for needless points, which do not count.
                    let plain = |value: &Value| value.to_string().replace(".0", "");
                    let untouched = plain(&shaped.value) == plain(&input);
                    assert_eq!(untouched, fitted, "{about}");
                    *if fitted { &mut kept } else { &mut mended } += 1;
                }
                Err(text) => {
                    assert!(!fitted, "{about}: {text}");
                    assert!((1..=11).contains(&text.lines().count()), "{about}: {text}");
                    refused += 1;
                }
            }
        }
    }
    // Each kind of case occurs, so that the test says something.
    assert!(
        kept > 50 && mended > 50 && refused > 50,
        "{kept} {mended} {refused}"
    );
}
