//! How much a JSON text will hold once it is read, counted before it is.
//!
//! A value in memory takes far more than its text: seven bytes of an object with one key become
//! two thousand on the way through the readers. So a bound in bytes alone bounds nothing, and
//! texts of servers, clients, models and plugins are counted by this first. What is no JSON is
//! counted too, never as less than what a reader builds of it before it notices.

use thiserror::Error;

/// Values of a text from elsewhere. What a tool, a server or a hook says has some thousands; as
/// many as this take about a quarter of a gigabyte at worst.
pub const JSON_VALUES: usize = 200_000;

/// A text holds more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("more than {most} values in one JSON text")]
pub struct TooManyValues {
    pub most: usize,
}

/// What a text holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JsonSize {
    /// Signs that begin or part values: at least one for each value but the outermost.
    pub values: usize,
    /// Those among them that begin an object, which takes the most memory.
    pub objects: usize,
    /// How deep arrays and objects lie inside each other.
    pub depth: usize,
}

/// Counts a text that comes in pieces.
#[derive(Debug, Clone, Default)]
pub struct JsonCount {
    size: JsonSize,
    open: usize,
    in_string: bool,
    escaped: bool,
}

impl JsonSize {
    pub fn of(text: &[u8]) -> Self {
        let mut count = JsonCount::default();
        count.add(text);
        count.size
    }

    /// Whether there are no more values than so many.
    pub fn within(self, most: usize) -> Result<Self, TooManyValues> {
        if self.values > most {
            return Err(TooManyValues { most });
        }
        Ok(self)
    }
}

impl JsonCount {
    pub fn add(&mut self, text: &[u8]) {
        for byte in text {
            match byte {
                // No string of JSON has an end of line in it, and no reader gets past one.
                b'\n' | b'\r' => (self.in_string, self.escaped) = (false, false),
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'[' | b'{' => {
                    self.size.values += 1;
                    self.size.objects += usize::from(*byte == b'{');
                    self.open += 1;
                    self.size.depth = self.size.depth.max(self.open);
                }
                b',' | b':' => self.size.values += 1,
                b']' | b'}' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// What was counted so far.
    pub fn size(&self) -> JsonSize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_depth_are_counted_outside_of_strings() {
        let deep = "[".repeat(1 << 20);
        for (text, values, objects, depth) in [
            ("", 0, 0, 0),
            ("1", 0, 0, 0),
            (r#"{"a":[[1]]}"#, 4, 1, 3),
            (r#"{"a":"[[[[\"[[,,:"}"#, 2, 1, 1),
            (r#"["\\",{},"\\\"{"]"#, 4, 1, 2),
            ("[][][][]", 4, 0, 1),
            ("]]]]][", 1, 0, 1),
            // A quote that nothing closes hides nothing behind the end of its line.
            (": \"\n[[]]", 3, 0, 2),
            (": \"\\\r[[]]", 3, 0, 2),
            (&deep, 1 << 20, 0, 1 << 20),
        ] {
            let wanted = JsonSize {
                values,
                objects,
                depth,
            };
            let mut pieces = JsonCount::default();
            text.as_bytes()
                .chunks(3)
                .for_each(|piece| pieces.add(piece));
            assert_eq!(JsonSize::of(text.as_bytes()), wanted);
            assert_eq!(pieces.size(), wanted);
        }
    }

    #[test]
    fn each_value_that_a_reader_builds_is_counted() {
        fn built(value: &serde_json::Value) -> usize {
            match value {
                serde_json::Value::Array(all) => 1 + all.iter().map(built).sum::<usize>(),
                serde_json::Value::Object(all) => 1 + all.values().map(built).sum::<usize>(),
                _ => 1,
            }
        }
        for text in [
            "[1,2,[],{},{\"a\":{\"b\":[1]}}]",
            "[[[[[]]]]]",
            "{\"\":{\"\":0}}",
            "[\n\"a\",\n\"b\"]",
        ] {
            let value = serde_json::from_str(text).unwrap();
            let counted = JsonSize::of(text.as_bytes()).values;
            assert!(counted + 1 >= built(&value), "{text}: {counted}");
        }
        let size = JsonSize::of(b"[1,2]");
        assert_eq!(size.within(2), Ok(size));
        assert_eq!(size.within(1), Err(TooManyValues { most: 1 }));
    }
}
