//! Numbers in texts, and integers written with a point. Nothing here loses a digit.

use serde_json::{Number, Value};

/// Up to here every integer is a number that a float can hold exactly.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
/// Decimals of so many digits survive the way into a float and back.
const EXACT_DIGITS: usize = 15;
/// No honest number is longer, and a longer text is not worth a look.
const LONGEST: usize = 40;

/// The integer that a number such as `5.0` stands for.
pub(super) fn without_point(value: &Value) -> Option<i64> {
    let number = value.as_number().filter(|number| number.is_f64())?;
    let float = number.as_f64()?;
    let whole = float.fract() == 0.0 && float.abs() <= MOST_EXACT;
    // In this range the cast is exact.
    #[allow(clippy::cast_possible_truncation)]
    whole.then_some(float as i64)
}

/// The number that a text spells as JSON does, unless reading it would change it.
pub(super) fn spelled(text: &str) -> Option<Number> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let number: Number = serde_json::from_str(text).ok()?;
    let digits = text
        .split(['e', 'E'])
        .next()
        .unwrap_or_default()
        .bytes()
        .filter(u8::is_ascii_digit)
        .skip_while(|digit| *digit == b'0')
        .count();
    let vanished = digits > 0 && number.as_f64() == Some(0.0);
    let exact = !number.is_f64() || (digits <= EXACT_DIGITS && !vanished);
    exact.then_some(number)
}

/// As `spelled`, but an integer.
pub(super) fn spelled_integer(text: &str) -> Option<Number> {
    let number = spelled(text)?;
    if number.is_f64() {
        without_point(&Value::Number(number)).map(Number::from)
    } else {
        Some(number)
    }
}
