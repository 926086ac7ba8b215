use super::*;

/// A text and the secret in it that must go; the rest must stay.
const HITS: &[(&str, &str)] = &[
    // By its own form.
    (
        "git clone https://x/ghp_0123456789abcdefghijABCDEFGHIJ012345 .",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    ),
    (
        "export K=github_pat_11ABCDEFG0123456789_abcdefghijklmnop",
        "github_pat_11ABCDEFG0123456789_abcdefghijklmnop",
    ),
    (
        "key is sk-ant-api03-abcdefghijklmnopqrstu0123",
        "sk-ant-api03-abcdefghijklmnopqrstu0123",
    ),
    ("(AKIAIOSFODNN7EXAMPLE)", "AKIAIOSFODNN7EXAMPLE"),
    (
        "slack xoxb-123456789012-abcdefghijkl end",
        "xoxb-123456789012-abcdefghijkl",
    ),
    (
        "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P end",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    ),
    (
        r#"{"content":"a\nAIzaSyA0123456789abcdefghijklmnopqrstuv"}"#,
        "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    ),
    (
        "a -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY----- b",
        "MIIE\nabc",
    ),
    (
        "cut -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
        "b3BlbnNzaC1rZXk",
    ),
    // By its place.
    (
        "curl -H 'Authorization: Bearer abc.def-123' https://x",
        "abc.def-123",
    ),
    (
        r#"{"command":"curl -H \"Authorization: Basic dXNlcjpwYXNz\" u"}"#,
        "dXNlcjpwYXNz",
    ),
    (
        r#"{"headers":{"authorization":"abc def"},"a":1}"#,
        "abc def",
    ),
    (
        "say bearer abcdefghijklmnopqrst to it",
        "abcdefghijklmnopqrst",
    ),
    ("Cookie: sid=abc; other=def\nnext", "sid=abc; other=def"),
    ("psql postgres://anna:hunter2@db:5432/x", "hunter2"),
    (
        "https://0123456789abcdef01234567@git.example.com/r",
        "0123456789abcdef01234567",
    ),
    ("ftp://u:p@ss:w@h/x", "p@ss:w"),
    // By the name before it.
    ("PASSWORD=hunter2 make", "hunter2"),
    ("env GITHUB_TOKEN=abc123 gh", "abc123"),
    ("mysql --password hunter2 -e x", "hunter2"),
    ("tool --api-key=abc", "=abc"),
    ("https://x/y?access_token=abc123&z=1", "abc123"),
    (
        r#"{"password":"a \"quoted\" one","user":"anna"}"#,
        r#"a \"quoted\" one"#,
    ),
    (r#"{"apiKey" : "abc","b":1}"#, "abc\""),
    (
        r#"{"body":"{\"client_secret\":\"abc\",\"d\":2}"}"#,
        r#"abc\""#,
    ),
    ("password: hunter2\nuser: anna", "hunter2"),
    ("DB_PASS='hunter two' x", "hunter two"),
    (r#"{"content":"A=1\nPASSWORD=hunter2\nB=2"}"#, "hunter2"),
    (r#"{"tokens":1,"token":["ab","cd"]}"#, "\"ab\",\"cd\""),
    ("secret = s3cr3t, next", "s3cr3t"),
    ("config[\"token\"] = \"abc\"", "abc"),
    // By the name and by how it looks.
    (
        "key: 9f86d081884c7d659a2feaa0c55ad015",
        "9f86d081884c7d659a2feaa0c55ad015",
    ),
    (
        "https://x?sig=aGVsbG8gd29ybGQgMTIzNDU2Nzg5&a=b",
        "aGVsbG8gd29ybGQgMTIzNDU2Nzg5",
    ),
];

/// Texts that must stay as they are.
const MISSES: &[&str] = &[
    "",
    "ls -la /home/me/project",
    r#"{"file_path":"/home/me/src/token.rs","limit":100}"#,
    "grep -rn 'password' src",
    "sort --key=2 --field-separator=: file",
    "echo $API_KEY; curl -u user:$TOKEN",
    "TOKEN=$(cat file) make",
    "PASSWORD=${PASSWORD} make",
    "max_tokens=4096 token_count: 12",
    "PASSWORD_FILE=/run/secrets/db make",
    "https://example.com:8080/path?x=1",
    "git@github.com:owner/repo.git",
    "https://anna@example.com/x",
    "the bearer of bad news",
    "sk-learn-and-other-packages-of-that-kind",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    r#"{"key":"value","auth":true,"token":null,"password":""}"#,
    "monkey=banana keyboard: qwerty",
    "\u{e4}\u{f6} = \u{fc}: \u{1f600}",
    "cargo test --test it -- --nocapture",
];

#[test]
fn secrets_go_and_the_rest_stays() {
    for (text, secret) in HITS {
        let (before, after) = text.split_once(secret).unwrap();
        let clean = redact(text);
        let kept = secret.trim_matches(['=', '"', '\\']);
        assert!(!clean.contains(kept), "{text}\n{clean}");
        assert!(clean.contains(MARK), "{text}\n{clean}");
        // A block goes with its borders.
        if !text.contains("-----") {
            let before = before.trim_end_matches('=');
            assert!(clean.starts_with(before), "{text}\n{clean}");
            assert!(clean.ends_with(after), "{text}\n{clean}");
        }
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in MISSES {
        assert_eq!(redact(text), *text);
    }
}

#[test]
fn redacting_twice_changes_nothing_more() {
    for (text, _) in HITS {
        let once = redact(text);
        assert_eq!(redact(&once), once, "{text}");
    }
}

#[test]
fn any_text_is_survived_wherever_it_is_cut() {
    let all: String = HITS
        .iter()
        .map(|(text, _)| *text)
        .chain(MISSES.iter().copied())
        .collect();
    for (at, _) in all.char_indices() {
        let end = all.ceil_char_boundary(at + 90);
        redact(&all[at..end]);
        bounded(&all[at..], 50);
    }
}

#[test]
fn long_texts_are_cut_and_say_so() {
    assert_eq!(bounded("short", 10), "short");
    assert_eq!(bounded("0123456789abc", 10), "0123456789…[3 bytes more]");
    assert_eq!(bounded("ääää", 5), "ää…[4 bytes more]");
    let long = "x ".repeat(10_000);
    let cut = bounded(&long, 100);
    assert!(cut.ends_with("…[19900 bytes more]"), "{cut}");
}

#[test]
fn a_secret_at_the_edge_is_not_halved() {
    let secret = "hunter2".repeat(30);
    for at in 0..120 {
        let text = format!("{} PASSWORD={secret} {}", "y".repeat(at), "z ".repeat(9000));
        let cut = bounded(&text, 100);
        assert!(!cut.contains("hunter"), "{cut}");
    }
    // A block that fills all that is looked at leaves only its mark and what is before it.
    let block = format!("a -----BEGIN PRIVATE KEY-----{}", "A1b2".repeat(5000));
    assert!(!bounded(&block, 100).contains("A1b2"));
}
