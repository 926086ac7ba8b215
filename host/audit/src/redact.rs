//! Takes secrets out of texts before they are kept.
//!
//! It knows secrets by their own form (prefixes that services give to their keys, PEM
//! blocks, tokens of JWT), by their place (the password of a URL, an `Authorization`
//! header), and by the name before them (`API_KEY=`, `"password":`, `--token`). It guards
//! against accidents: whoever wants to get a secret past it can.
//!
//! Each finder goes over the text once or so, and answers with places. What is found too
//! much costs a reader a word; what is missed costs a secret. So in doubt it cuts.

mod named;
mod names;
mod shape;

use std::borrow::Cow;
use std::ops::Range;

/// Stands where a secret was.
pub const MARK: &str = "[redacted]";

/// Looked at beyond what is kept, so that a secret at the edge is seen whole.
const BEYOND: usize = 4096;

/// The text without what looks like a secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    shape::blocks(text, &mut found);
    shape::prefixes(text, &mut found);
    shape::bearers(text, &mut found);
    shape::userinfo(text, &mut found);
    named::values(text, &mut found);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_by_key(|range| (range.start, range.end));
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    let mut joined: Option<Range<usize>> = None;
    for range in found {
        match &mut joined {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(last) => {
                clean.push_str(&text[at..last.start]);
                clean.push_str(MARK);
                at = last.end;
                *last = range;
            }
            None => joined = Some(range),
        }
    }
    if let Some(last) = joined {
        clean.push_str(&text[at..last.start]);
        clean.push_str(MARK);
        at = last.end;
    }
    clean.push_str(&text[at..]);
    Cow::Owned(clean)
}

/// The text without secrets, and no longer than so many bytes but for a word that says
/// how much is left out.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    let seen = &text[..text.floor_char_boundary(most + BEYOND)];
    let clean = redact(seen);
    let mut kept = clean.len().min(most);
    if seen.len() < text.len() && clean.len() < most {
        // So much was taken out that the edge would be shown; the word there may be the
        // first half of a secret.
        let edge = clean.rfind(|c: char| c.is_whitespace() || "\"'".contains(c));
        kept = edge.unwrap_or(0);
    }
    kept = clean.floor_char_boundary(kept);
    if kept == clean.len() && seen.len() == text.len() {
        return clean.into_owned();
    }
    let left_out = clean.len() - kept + text.len() - seen.len();
    format!("{}…[{left_out} bytes more]", &clean[..kept])
}

#[cfg(test)]
mod tests;
