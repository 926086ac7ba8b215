use super::*;

#[test]
fn a_host_is_certain_only_where_all_readers_agree() {
    for (url, wanted) in [
        ("https://example.com/x", Some("example.com")),
        ("https://EXAMPLE.com:8080", Some("example.com")),
        ("https://example.com./x", Some("example.com")),
        ("https://user@example.com/", Some("example.com")),
        ("https://example.com@evil.example/", Some("evil.example")),
        ("http://127.0.0.1/", Some("127.0.0.1")),
        ("http://[::1]:80/", Some("[::1]")),
        ("https://evil.example\\@example.com/", None),
        ("https://example.com/a\\b", None),
        ("https://a@b@example.com/", None),
        ("https:/example.com", None),
        ("https:example.com", None),
        ("//example.com", None),
        ("example.com", None),
        ("https://exa\tmple.com", None),
        ("https://ex%61mple.com", None),
        ("https://ｅxample.com", None),
        ("http://2130706433/", None),
        ("http://0x7f.1/", None),
        ("https:///x", None),
        ("https://example.com/a b", None),
        ("https://example.com/\u{e4}", None),
        ("https://example.com:x/", None),
        ("http://[]/", None),
        ("http://[::g]/", None),
        ("", None),
    ] {
        assert_eq!(plain_host(url).as_deref(), wanted, "{url}");
    }
}

#[test]
fn a_rule_that_forbids_hears_every_spelling() {
    let pattern = HostPattern::parse("evil.example").unwrap();
    for (url, wanted) in [
        ("https://evil.example/", true),
        ("https:evil.example", true),
        ("https:/evil.example/x", true),
        ("https:\\\\evil.example\\x", true),
        ("//evil.example", true),
        ("evil.example/x", true),
        ("https://evil.example\\@example.com/", true),
        ("https://example.com\\@evil.example/", true),
        ("https://ev\nil.example/", true),
        ("https://evi%6c.example", true),
        ("http://2130706433/", true),
        ("https://example.com/", false),
        ("https://example.com/?x=evil.example", false),
        ("example.com/x", false),
        ("example.com:80/x", false),
        ("evil.example:80/x", true),
        ("https://notevil.example/", false),
    ] {
        assert_eq!(pattern.may_cover_url(url), wanted, "{url}");
    }
}

#[test]
fn patterns_are_hosts_and_nothing_else() {
    for (pattern, host, wanted) in [
        ("*.example.com", "a.example.com", true),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "badexample.com", false),
        ("*.example.com", ".example.com", false),
        ("Example.COM", "example.com", true),
        ("*", "anything.example", true),
    ] {
        let pattern = HostPattern::parse(pattern).unwrap();
        assert_eq!(pattern.covers(host), wanted, "{pattern:?} {host}");
    }
    for bad in [
        "",
        "https://example.com",
        "example.com/x",
        "example.com:80",
        "a.*.com",
        "*example.com",
        "exa mple.com",
        "*.",
    ] {
        assert!(HostPattern::parse(bad).is_err(), "{bad}");
    }
}
