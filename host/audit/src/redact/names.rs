//! Which names announce a secret.

/// What a name says about the value behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Nothing,
    /// A secret, if it looks like one.
    Perhaps,
    Secret,
    /// A secret to the end of the line, the first word of which may be a scheme.
    Header,
}

/// A part of a name that is enough by itself.
const SECRET: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "apikey",
    "authtoken",
    "accesstoken",
    "privatekey",
    "secretkey",
    "pwd",
];
/// Before `key` they make it one that opens something.
const OPENING: [&str; 24] = [
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "ssh",
    "master",
    "account",
    "storage",
    "app",
    "application",
    "service",
    "client",
    "session",
    "shared",
    "deploy",
    "license",
    "webhook",
    "host",
    "hmac",
    "aes",
    "rsa",
];
/// Behind or before a secret's name they make it something about the secret.
const ABOUT: [&str; 29] = [
    "file", "path", "dir", "url", "uri", "endpoint", "count", "type", "name", "id", "limit",
    "length", "len", "size", "max", "min", "num", "budget", "expiry", "expires", "ttl", "usage",
    "index", "public", "prompt", "policy", "field", "store", "manager",
];
/// Names of many things; a value that looks random is one of those that must go.
const PERHAPS: [&str; 14] = [
    "key",
    "auth",
    "sig",
    "signature",
    "code",
    "session",
    "sid",
    "jwt",
    "pat",
    "pass",
    "bearer",
    "nonce",
    "otp",
    "state",
];
const HEADERS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

pub(super) fn judge(name: &str) -> Says {
    if HEADERS
        .iter()
        .any(|header| name.eq_ignore_ascii_case(header))
    {
        return Says::Header;
    }
    let parts = parts(name);
    let has = |list: &[&str], part: &String| list.contains(&part.as_str());
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return Says::Nothing;
    };
    let about = parts.len() > 1 && (has(&ABOUT, first) || has(&ABOUT, last));
    // `PWD` alone is where somebody works, and `secrets` alone a folder.
    let alone = parts.len() == 1 && matches!(first.as_str(), "pwd" | "secrets");
    let opens = parts
        .windows(2)
        .any(|pair| pair[1] == "key" && has(&OPENING, &pair[0]));
    // Of a variable of the environment that ends so, whatever comes before.
    let shouts = name.bytes().all(|byte| !byte.is_ascii_lowercase());
    let ends = parts.len() > 1 && (last == "pass" || last == "key" && shouts);
    if !about && !alone && (opens || ends || parts.iter().any(|part| has(&SECRET, part))) {
        return Says::Secret;
    }
    if !about && (has(&PERHAPS, last) || alone) {
        return Says::Perhaps;
    }
    Says::Nothing
}

/// The words of a name: `apiKey`, `API_KEY` and `api-key` have the same two.
fn parts(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut parts = Vec::new();
    let mut word = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let hump = at > 0
            && byte.is_ascii_uppercase()
            && (bytes[at - 1].is_ascii_lowercase()
                || bytes[at - 1].is_ascii_uppercase()
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if (hump || !byte.is_ascii_alphabetic()) && !word.is_empty() {
            parts.push(std::mem::take(&mut word));
        }
        if byte.is_ascii_alphabetic() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    if !word.is_empty() {
        parts.push(word);
    }
    parts
}

/// Whether a value looks random rather than written.
pub(super) fn looks_random(value: &str) -> bool {
    const SHORTEST: usize = 20;
    /// Bits a character. English has two or three, random hexadecimal digits near four.
    const LEAST: f64 = 3.4;

    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    if value.len() < SHORTEST || !letters || !digits || value.contains(' ') {
        return false;
    }
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0);
    let bits: f64 = shares
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum();
    bits >= LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_by_their_words() {
        for (says, names) in [
            (
                Says::Secret,
                "password PASSWORD db_password DB_PASS smtpPass api_key apiKey APIKey API-KEY \
                 GITHUB_TOKEN accessToken client_secret clientSecret AWS_SECRET_ACCESS_KEY \
                 STRIPE_KEY MY_KEY x-api-key token passphrase DB_PWD SECRET_KEY_BASE \
                 private_key auth.token",
            ),
            (
                Says::Header,
                "Authorization authorization Proxy-Authorization Cookie Set-Cookie",
            ),
            (
                Says::Perhaps,
                "key auth signature sort_key partitionKey session secrets PWD",
            ),
            (
                Says::Nothing,
                "keyboard monkey max_tokens tokens token_count TOKEN_URL PASSWORD_FILE key_id \
                 AWS_ACCESS_KEY_ID public_key PUBLIC_KEY tokenizer author OLDPWD command path \
                 secretary file_path",
            ),
        ] {
            for name in names.split_whitespace() {
                assert_eq!(judge(name), says, "{name}");
            }
        }
    }

    #[test]
    fn random_is_told_from_written() {
        for (value, random) in [
            ("9f86d081884c7d659a2feaa0c55ad015", true),
            ("aGVsbG8gd29ybGQgMTIzNDU2Nzg5", true),
            ("src/components/button-list.tsx", false),
            ("short1", false),
            ("aaaaaaaaaaaaaaaaaaaaaaaa1", false),
            ("a sentence with 12 words in it", false),
        ] {
            assert_eq!(looks_random(value), random, "{value}");
        }
    }
}
