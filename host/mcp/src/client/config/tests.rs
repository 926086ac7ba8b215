#![allow(clippy::unwrap_used)]
use std::path::Path;

use serde_json::json;

use super::*;

fn resolve(entry: serde_json::Value) -> Result<ServerConfig, String> {
    let raw: RawServer = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    let variable = |name: &str| match name {
        "TOKEN" => Some("secret-1".to_owned()),
        "HOME" => Some("/home/me".to_owned()),
        _ => None,
    };
    let resolved = raw.resolve("s", Scope::User, "f.json", Path::new("/p"), &variable);
    resolved.map_err(|error| error.to_string())
}

#[test]
fn every_kind_becomes_one_of_five_links() {
    for (entry, word, place) in [
        (
            json!({"command": "node", "args": ["a.js", "${NONE:-b}"]}),
            "stdio",
            "node a.js b",
        ),
        (
            json!({"url": "https://a.example/mcp?key=${TOKEN}"}),
            "http",
            "https://a.example/mcp",
        ),
        (
            json!({"type": "sse", "url": "http://a.example/"}),
            "sse",
            "http://a.example/",
        ),
        (
            json!({"type": "ws", "url": "wss://a.example/x"}),
            "ws",
            "wss://a.example/x",
        ),
        (
            json!({"type": "sse-ide", "url": "http://127.0.0.1:9/", "ideName": "x"}),
            "sse",
            "http://127.0.0.1:9/",
        ),
        (
            json!({"type": "ws-ide", "url": "ws://localhost:9", "authToken": "t"}),
            "ws",
            "ws://localhost:9",
        ),
        (
            json!({"type": "proxy", "url": "https://g.example/mcp/", "id": "srv_1"}),
            "http",
            "https://g.example/mcp/srv_1",
        ),
    ] {
        let config = resolve(entry.clone()).unwrap();
        assert_eq!(config.link.word(), word, "{entry}");
        assert_eq!(config.link.place(), place, "{entry}");
    }
}

#[test]
fn what_is_wrong_is_named_with_file_and_server() {
    for (entry, part) in [
        (json!({}), "`command` is missing"),
        (json!({"command": " "}), "`command` is missing"),
        (json!({"type": "http"}), "`url` is missing"),
        (
            json!({"type": "htpp", "url": "http://a"}),
            "unknown variant",
        ),
        (
            json!({"command": "a", "comand": "b"}),
            "unknown field `comand`",
        ),
        (
            json!({"command": "a", "url": "http://a"}),
            "`url` is for servers",
        ),
        (
            json!({"url": "http://a", "env": {"A": "b"}}),
            "`env` does not fit",
        ),
        (
            json!({"url": "ftp://a"}),
            "must begin with http:// or https://",
        ),
        (json!({"url": "https://me:pw@a.example"}), "a password"),
        (json!({"url": "not an address"}), "no address"),
        (
            json!({"type": "ws", "url": "https://a"}),
            "must begin with ws://",
        ),
        (
            json!({"type": "ws-ide", "url": "ws://a.example"}),
            "on this machine",
        ),
        (
            json!({"type": "proxy", "url": "https://g.example", "id": "../x"}),
            "`id` is missing or has other",
        ),
        (json!({"type": "sdk"}), "given by code"),
        (
            json!({"url": "https://a", "headers": {"x": "a\nb"}}),
            "cannot be sent",
        ),
        (
            json!({"command": "a", "env": {"KEY": "${API_KEY}"}}),
            "f.json: the MCP server `s`: `env.KEY`: the variable API_KEY is not set",
        ),
        (
            json!({"command": "a", "args": ["${"]}),
            "`args`: a `${` is not",
        ),
        (
            json!({"command": "a", "sandbox": {"hosts": []}}),
            "unknown field `hosts`",
        ),
    ] {
        let error = resolve(entry.clone()).unwrap_err();
        assert!(error.contains(part), "{entry}: {error}");
    }
}

#[test]
fn paths_start_at_the_file_and_secrets_are_not_shown() {
    let config = resolve(json!({
        "command": "a", "cwd": "sub", "env": {"T": "x${TOKEN}"},
        "sandbox": {"roots": ["~/data", "/abs", "."], "allowedHosts": ["a.example"]},
    }))
    .unwrap();
    let LinkConfig::Stdio(stdio) = &config.link else {
        panic!("{config:?}");
    };
    assert_eq!(stdio.cwd.as_deref(), Some(Path::new("/p/sub")));
    let roots = stdio.sandbox.roots.clone().unwrap();
    assert_eq!(roots[0], Path::new("/home/me/data"));
    assert_eq!(roots[1], Path::new("/abs"));
    assert_eq!(stdio.env["T"].0, "xsecret-1");
    assert!(!format!("{config:?}").contains("secret-1"), "{config:?}");
    let url = resolve(json!({"url": "https://a/?k=${TOKEN}", "headers": {"a": "${TOKEN}"}}));
    let LinkConfig::Http(url) = url.unwrap().link else {
        panic!();
    };
    assert!(!url.shown().contains("secret-1"));
}
