//! What the owner of a machine forbids, tried from below.

use super::*;

#[test]
fn levers_hold_against_every_lower_word() {
    let hosts = serde_json::from_str(r#"{"allowedHosts": ["example.com"]}"#).unwrap();
    let servers = serde_json::from_str(r#"{"deniedMcpServers": ["bad"]}"#).unwrap();
    let url = |url: &str| Request {
        reach: Reach::ALL,
        ..request(vec![Subject::Url(url.into())], true)
    };
    let tool = |name: &str| Request {
        tool: name.into(),
        ..request(vec![], false)
    };
    let loosest = |request: Request| Request {
        hooks: HookWord::Allow("x".into()),
        opinion: Opinion::Allow("x".into()),
        ..request
    };
    let cases: [(Managed, Request, &str); 6] = [
        (hosts, url("https://evil.example"), "deny"),
        (servers, tool("mcp__bad__t"), "deny"),
        (Managed::default(), tool("mcp__bad__t"), "allow"),
        (
            Managed {
                only_managed_rules: true,
                ..Managed::default()
            },
            edit("/p/a"),
            "ask",
        ),
        (
            Managed {
                no_bypass: true,
                only_managed_rules: true,
                ..Managed::default()
            },
            command("touch x"),
            "ask",
        ),
        (Managed::default(), edit("/p/a"), "allow"),
    ];
    for (managed, request, wanted) in cases {
        for source in [
            Source::Session,
            Source::CommandLine,
            Source::Local,
            Source::User,
        ] {
            let mut rules = Rules::default();
            for text in ["*", "T", "T(*)", "mcp__bad"] {
                rules.allow.push(rule(text, source));
            }
            for mode in [Mode::Default, Mode::AcceptEdits, Mode::Bypass] {
                let policy = policy(rules.clone(), managed.clone()).with_mode(mode);
                let found = word(&policy, loosest(request.clone()));
                let is_mode =
                    managed.only_managed_rules && !managed.no_bypass && mode != Mode::Default;
                let wanted = if is_mode { "allow" } else { wanted };
                assert_eq!(found, wanted, "{source:?} {mode} {:?}", request.tool);
            }
        }
    }
    let managed = Managed {
        denied_mcp_servers: vec!["bad".into()],
        ..Managed::default()
    };
    assert!(policy(Rules::default(), managed).removes("mcp__bad__t"));
}
