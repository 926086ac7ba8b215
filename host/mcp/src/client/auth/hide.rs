//! Foreign text without the secrets that it may repeat.
//!
//! Whoever is sent a code, a verifier or a token can answer with it, and the answer's text is
//! shown, logged and given to programs. So the known secrets are taken out in the writings that
//! an answer has by itself, and with them everything that reads like a secret: a text for
//! people has no long words of letters and digits, and whoever encodes a whole request makes
//! nothing else. What a server hides on purpose, letter by letter, it could as well send to
//! whomever it wants to have it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

const HIDDEN: &str = "[hidden]";
/// Longer than words and parts of addresses, shorter than a verifier (43) or a token.
const LONGEST_WORD: usize = 24;

/// Takes out the secrets in every usual writing.
pub(super) fn without_secrets(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        let mut all = writings(secret);
        // The longest first: one may be a part of another.
        all.sort_by_key(|written| std::cmp::Reverse(written.len()));
        for written in all {
            text = text.replace(&written, HIDDEN);
        }
    }
    text
}

/// The same, and without anything that could be a secret in a writing that is not known here.
pub(super) fn without_opaque(text: &str, secrets: &[&str]) -> String {
    let text = without_secrets(text, secrets);
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(|c| !is_opaque(c)) {
        let end = part.trim_end_matches(|c| !is_opaque(c)).len();
        let (word, rest) = part.split_at(end);
        let is_code = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '-' | '/');
        if word.len() >= LONGEST_WORD && !word.chars().all(is_code) {
            shown.push_str(HIDDEN);
        } else {
            shown.push_str(word);
        }
        shown.push_str(rest);
    }
    shown
}

/// What encodings consist of: base64, percent signs, escapes of JSON and HTML, whole forms.
fn is_opaque(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(
            c,
            '_' | '-' | '+' | '/' | '=' | '%' | '~' | '\\' | '&' | '#' | ';'
        )
}

fn writings(secret: &str) -> Vec<String> {
    let form = form(secret);
    let each = |write: fn(u8) -> String| secret.bytes().map(write).collect::<String>();
    vec![
        secret.to_owned(),
        // Twice, as a form that repeats an address has it.
        form.replace('%', "%25"),
        form.replace('+', "%20"),
        form.to_lowercase(),
        form,
        each(|byte| format!("%{byte:02X}")),
        each(|byte| format!("%{byte:02x}")),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("{byte:02X}")),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        secret.chars().rev().collect(),
    ]
}

/// A value as forms write it.
pub(super) fn form(value: &str) -> String {
    let mut written = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                written.push(char::from(byte));
            }
            b' ' => written.push('+'),
            _ => written.push_str(&format!("%{byte:02X}")),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_every_writing() {
        let secret = "s3cr3t/+ x";
        for written in writings(secret) {
            let text = without_secrets(&format!("a {written}, b"), &["", secret]);
            assert_eq!(text, "a [hidden], b", "{written}");
        }
    }

    #[test]
    fn words_stay_and_what_is_encoded_goes() {
        let token = "eyJhbGciOiJFUzI1NiJ9eyJzdWIiOiIxIn0";
        let percents: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let escapes: String = token.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        let form = format!("grant_type=authorization_code&code={token}");
        for (text, wanted) in [
            ("The code has expired.", "The code has expired."),
            (
                "unsupported_response_type: no",
                "unsupported_response_type: no",
            ),
            (
                "for url (https://login.example.com/tenant/oauth2/v2.0/token)",
                "for url (https://login.example.com/tenant/oauth2/v2.0/token)",
            ),
            (
                "AADSTS700025: Client is public",
                "AADSTS700025: Client is public",
            ),
            (&format!("bad token {token}!"), "bad token [hidden]!"),
            (&percents, "[hidden]"),
            (&escapes, "[hidden]"),
            (&form, "[hidden]"),
            (&format!("{token}.{token}"), "[hidden].[hidden]"),
            ("", ""),
        ] {
            assert_eq!(without_opaque(text, &[]), wanted);
        }
    }
}
