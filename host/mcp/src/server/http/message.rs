//! A look at a message before anybody understands it.

use serde::Deserialize;
use serde_json::Value;

/// What has to be known of a message to let it in.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) method: Option<String>,
}

/// Whether arrays and objects lie deeper inside each other than they may. Text that is no JSON
/// is not this function's business.
pub(super) fn is_too_deep(text: &[u8], deepest: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > deepest {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_strings() {
        assert!(!is_too_deep(br#"{"a":[[1]]}"#, 3));
        assert!(is_too_deep(br#"{"a":[[1]]}"#, 2));
        assert!(!is_too_deep(br#"{"a":"[[[[\"[[[["}"#, 1));
        assert!(!is_too_deep(b"[][][][]", 1));
        assert!(!is_too_deep(b"]]]]]", 1));
        assert!(is_too_deep("[".repeat(1 << 20).as_bytes(), 64));
    }
}
