//! Secrets that can be told by their own form, or by what they stand in.

use std::ops::Range;

/// How a service marks its keys.
struct Prefix {
    text: &'static str,
    /// Characters behind it, at least: shorter ones are words of somebody's.
    rest: usize,
    /// What the rest is made of.
    of: fn(u8) -> bool,
}

const fn prefix(text: &'static str, rest: usize) -> Prefix {
    Prefix {
        text,
        rest,
        of: is_word,
    }
}

const fn dotted(text: &'static str, rest: usize) -> Prefix {
    Prefix {
        text,
        rest,
        of: is_dotted,
    }
}

const fn upper(text: &'static str, rest: usize) -> Prefix {
    Prefix {
        text,
        rest,
        of: is_upper,
    }
}

/// Sorted by nothing but kinship; a new one is a line.
const PREFIXES: &[Prefix] = &[
    // Code forges and registries of packages.
    prefix("ghp_", 30),
    prefix("gho_", 30),
    prefix("ghu_", 30),
    prefix("ghs_", 30),
    prefix("ghr_", 30),
    prefix("github_pat_", 30),
    dotted("glpat-", 20),
    prefix("npm_", 30),
    prefix("pypi-", 50),
    prefix("dckr_pat_", 20),
    prefix("crates_", 30),
    // Models.
    prefix("sk-", 20),
    prefix("hf_", 30),
    prefix("gsk_", 30),
    prefix("xai-", 30),
    // Clouds.
    upper("AKIA", 16),
    upper("ASIA", 16),
    prefix("AIza", 30),
    dotted("ya29.", 20),
    prefix("GOCSPX-", 20),
    prefix("dop_v1_", 30),
    dotted("hvs.", 20),
    dotted("hvb.", 20),
    prefix("tskey-", 16),
    prefix("pul-", 30),
    // Messages, mail and money.
    prefix("xoxb-", 20),
    prefix("xoxp-", 20),
    prefix("xoxa-", 20),
    prefix("xoxr-", 20),
    prefix("xoxs-", 20),
    prefix("xapp-", 20),
    dotted("SG.", 40),
    prefix("sk_live_", 16),
    prefix("sk_test_", 16),
    prefix("rk_live_", 16),
    prefix("whsec_", 20),
    prefix("shpat_", 20),
    prefix("sq0atp-", 20),
    prefix("lin_api_", 20),
    prefix("figd_", 20),
    // Forms that are nobody's own.
    dotted("eyJ", 40),
    upper("AGE-SECRET-KEY-1", 40),
];

/// The first bytes of all prefixes: most places are passed by with one look.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut at = 0;
    while at < PREFIXES.len() {
        first[PREFIXES[at].text.as_bytes()[0] as usize] = true;
        at += 1;
    }
    first
};

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_dotted(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// Keys by their prefixes.
pub(super) fn prefixes(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = key_at(bytes, at);
        if length > 0 {
            found.push(at..at + length);
        }
        at += length.max(1);
    }
}

/// How long the key is that starts here; 0 if none does.
fn key_at(bytes: &[u8], at: usize) -> usize {
    let starts = at == 0
        || !bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'_'
        // In JSON a line may end just before it.
        || bytes[..at].ends_with(b"\\n");
    if !starts || !FIRST[usize::from(bytes[at])] {
        return 0;
    }
    let here = &bytes[at..];
    let near = |prefix: &&Prefix| prefix.text.as_bytes()[0] == here[0];
    let fits = PREFIXES.iter().filter(near).find_map(|prefix| {
        let rest = here.strip_prefix(prefix.text.as_bytes())?;
        let length = rest.iter().take_while(|byte| (prefix.of)(**byte)).count();
        // Names of things have such prefixes too, but seldom a digit.
        let digit = rest[..length].iter().any(u8::is_ascii_digit);
        (length >= prefix.rest && digit).then_some(prefix.text.len() + length)
    });
    fits.unwrap_or(0)
}

/// PEM blocks of private keys, to their end or that of the text.
pub(super) fn blocks(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(start) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let label = &text[start + 11..];
        let label = label.split("-----").next().unwrap_or_default();
        from = start + 11;
        if !label.contains("PRIVATE KEY") {
            continue;
        }
        let end = text[from..].find("-----END ").map(|at| from + at + 9);
        let end = end.map(|at| {
            text[at..]
                .find("-----")
                .map_or(text.len(), |to| at + to + 5)
        });
        from = end.unwrap_or(text.len());
        found.push(start..from);
    }
}

/// `Bearer` and what it bears, in headers and in sentences.
pub(super) fn bearers(text: &str, found: &mut Vec<Range<usize>>) {
    const WORD: &[u8] = b"bearer ";
    let bytes = text.as_bytes();
    for (at, window) in bytes.windows(WORD.len()).enumerate() {
        // The blank is the quickest to miss.
        if window[WORD.len() - 1] != b' ' || !window.eq_ignore_ascii_case(WORD) {
            continue;
        }
        let start = at + WORD.len();
        let token = |byte: &&u8| is_dotted(**byte) || b"~+/=".contains(*byte);
        let length = bytes[start..].iter().take_while(token).count();
        // A sentence goes on with a word.
        if length >= 16 || bytes[start..start + length].iter().any(u8::is_ascii_digit) {
            found.push(start..start + length);
        }
    }
}

/// Passwords in URLs, and tokens in the place of a user.
pub(super) fn userinfo(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let ends = |c: char| c.is_whitespace() || "/?#\"'`\\<>,;|".contains(c);
        let length = text[start..].find(ends).unwrap_or(text.len() - start);
        let authority = &text[start..start + length];
        let Some((user, _)) = authority.rsplit_once('@') else {
            continue;
        };
        match user.split_once(':') {
            Some((name, password)) if !password.is_empty() => {
                let from = start + name.len() + 1;
                found.push(from..from + password.len());
            }
            Some(_) | None if user.len() >= 20 => found.push(start..start + user.len()),
            Some(_) | None => {}
        }
    }
}
