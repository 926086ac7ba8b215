use super::*;

fn parse(json: &str) -> Managed {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_key_that_nobody_knows_is_an_error() {
    for bad in [
        r#"{"onlyManagedRule": true}"#,
        r#"{"allowedHosts": ["https://example.com"]}"#,
        r#"{"allowedPlugins": ["abc"]}"#,
        r#"{"allowedPlugins": ["signer:"]}"#,
        r#"{"allowedPlugins": ["sha256:12"]}"#,
    ] {
        assert!(serde_json::from_str::<Managed>(bad).is_err(), "{bad}");
    }
    let whole = r#"{"onlyManagedRules":true,"noBypass":true,"allowedPlugins":["signer:a"],"allowedMcpServers":["s"],"deniedMcpServers":["t"],"forcedSandbox":true,"allowedHosts":["*.example.com"]}"#;
    assert_eq!(serde_json::to_string(&parse(whole)).unwrap(), whole);
}

#[test]
fn plugins_are_permitted_by_digest_or_signer() {
    let digest = "ab".repeat(32);
    let managed = parse(&format!(
        r#"{{"allowedPlugins": ["sha256:{digest}", "signer:acme"]}}"#
    ));
    for (digest, signer, wanted) in [
        (digest.clone(), None, true),
        (digest.to_uppercase(), None, true),
        (format!("sha256:{digest}"), None, true),
        ("cd".repeat(32), None, false),
        ("cd".repeat(32), Some("acme"), true),
        ("cd".repeat(32), Some("Acme"), false),
        ("signer:acme".into(), None, false),
        (String::new(), None, false),
    ] {
        let answer = managed.permits_plugin(&digest, signer);
        assert_eq!(answer.is_ok(), wanted, "{digest} {signer:?}");
    }
    assert!(Managed::default().permits_plugin("", None).is_ok());
    let none = parse(r#"{"allowedPlugins": []}"#);
    assert!(none.permits_plugin(&digest, Some("acme")).is_err());
}

#[test]
fn servers_are_denied_before_they_are_allowed() {
    let managed = parse(r#"{"allowedMcpServers": ["a", "b"], "deniedMcpServers": ["b"]}"#);
    for (name, wanted) in [("a", true), ("b", false), ("c", false), ("A", false)] {
        assert_eq!(managed.permits_server(name).is_ok(), wanted, "{name}");
    }
    for (tool, wanted) in [
        ("T", true),
        ("mcp__a__t", true),
        ("mcp__a", true),
        ("mcp__b__t", false),
        ("mcp__c__t", false),
        // Denied by one reading of the name.
        ("mcp__b__a__t", false),
        // Allowed by one reading.
        ("mcp__a__x__t", true),
        ("mcp__x__a__t", false),
    ] {
        assert_eq!(managed.permits_tool(tool).is_ok(), wanted, "{tool}");
    }
    assert!(Managed::default().permits_tool("mcp__x__y").is_ok());
    // A part of a server's name is another server.
    let part = parse(r#"{"deniedMcpServers": ["gi", "git_"]}"#);
    assert!(part.permits_tool("mcp__git__t").is_ok());
    // No server has an empty name.
    let nameless = parse(r#"{"allowedMcpServers": ["__t"]}"#);
    assert!(nameless.permits_tool("mcp____t").is_ok());
}

#[test]
fn hosts_must_be_readable_to_be_permitted() {
    let managed = parse(r#"{"allowedHosts": ["example.com", "*.example.org"]}"#);
    for (url, wanted) in [
        ("https://example.com/x", true),
        ("https://EXAMPLE.com./", true),
        ("https://a.example.org", true),
        ("https://example.org", false),
        ("https://evil.example", false),
        ("https://example.com\\@evil.example", false),
        ("example.com", false),
    ] {
        assert_eq!(managed.permits_url(url).is_ok(), wanted, "{url}");
    }
    assert!(Managed::default().permits_url("whatever").is_ok());
}

#[test]
fn a_line_of_hosts_needs_all_that_it_means() {
    let managed = parse(r#"{"allowedHosts": ["a.example", "*.b.example"]}"#);
    for (line, wanted) in [
        ("a.example", true),
        ("A.example:8443", true),
        ("a.example@10.0.0.0/8", true),
        ("a.example:443@10.0.0.0/8", true),
        ("*.a.example", false),
        ("*.b.example", true),
        ("*.c.b.example:80", true),
        ("x.b.example", true),
        ("other.example@10.0.0.0/8", false),
        ("other.example@a.example", false),
        ("[::1]:80", false),
        ("a.example:https", false),
        ("", false),
    ] {
        assert_eq!(managed.permits_host_line(line).is_ok(), wanted, "{line}");
    }
}

#[test]
fn servers_are_meant_by_name_or_by_what_they_are() {
    let managed = |allowed: Option<&[&str]>, denied: &[&str]| Managed {
        allowed_mcp_servers: allowed.map(|list| list.iter().map(|one| (*one).into()).collect()),
        denied_mcp_servers: denied.iter().map(|one| (*one).into()).collect(),
        ..Managed::default()
    };
    let npx = ("git", Some("npx -y git-server"), None);
    let far = ("docs", None, Some("https://a.b.example/mcp"));
    for (managed, (name, command, url), wanted) in [
        (managed(None, &[]), npx, true),
        (managed(Some(&[]), &[]), npx, false),
        (managed(Some(&["git"]), &[]), npx, true),
        (managed(Some(&["command:npx -y *"]), &[]), npx, true),
        (managed(Some(&["command:npx -y"]), &[]), npx, false),
        (managed(Some(&["url:https://*.example/*"]), &[]), npx, false),
        (managed(Some(&["url:https://*.example/*"]), &[]), far, true),
        (managed(Some(&["url:https://*.example"]), &[]), far, false),
        (managed(None, &["command:npx *"]), npx, false),
        (
            managed(Some(&["git"]), &["command:*git-server"]),
            npx,
            false,
        ),
        (managed(None, &["url:*"]), far, false),
        (managed(None, &["url:*"]), npx, true),
    ] {
        let found = managed.permits_server_at(name, command, url).is_ok();
        assert_eq!(found, wanted, "{managed:?} {name}");
    }
    // A list of marks alone says nothing about names.
    let marks = managed(Some(&["url:https://*"]), &["bad"]);
    assert!(marks.permits_tool("mcp__docs__x").is_ok());
    assert!(marks.permits_tool("mcp__bad__x").is_err());
}
