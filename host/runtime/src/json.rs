//! Is a text JSON that any of our readers can read?
//!
//! The text is only looked at, not built: a result may be megabytes long. Nesting
//! is bounded as in every reader that builds values, so that none of them meets a
//! text that would overflow its stack, and so is the number of values, which take many times their
//! text once they are built.

use std::fmt;

use toolbay_contract::{JSON_VALUES, JsonSize};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Says what is wrong with the text, if something is.
pub(crate) fn check(text: &str) -> Result<(), String> {
    JsonSize::of(text.as_bytes())
        .within(JSON_VALUES)
        .map_err(|error| error.to_string())?;
    serde_json::from_str::<Readable>(text)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Readable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_str<E>(self, _: &str) -> Result<Readable, E> {
        Ok(Readable)
    }

    // The reader that ignores does not count how deep it is; this one does.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Readable, A::Error> {
        while list.next_element::<Readable>()?.is_some() {}
        Ok(Readable)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Readable, A::Error> {
        while map.next_entry::<IgnoredAny, Readable>()?.is_some() {}
        Ok(Readable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_can_read_passes_and_nothing_else() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for good in [
            "null",
            "-1",
            "1.5e3",
            "18446744073709551615",
            r#""\u00e4\n""#,
            r#"{"a":[true,{"b":null}],"c":"d"}"#,
            &nested(120),
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["", "{", r#"{"half":"#, "[1,]", "{} {}", "nul", r#"{1:2}"#] {
            assert!(check(bad).is_err(), "{bad}");
        }
        let many = |values: usize| format!("[0{}]", ",0".repeat(values - 1));
        assert_eq!(check(&many(1_000)), Ok(()));
        for (bad, part) in [
            (nested(1_000), "recursion limit"),
            (nested(100_000), "recursion limit"),
            (nested(1_000_000), "values in one JSON text"),
            (many(JSON_VALUES + 1), "values in one JSON text"),
        ] {
            let error = check(&bad).unwrap_err();
            assert!(error.contains(part), "{:.20}: {error}", bad);
        }
    }
}
