//! A server of the bridge that wants to know who asks.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolbay_mcp::client::auth::{Environment, Identity};
use toolbay_mcp::client::config::{RawServer, Scope, ServerConfig};
use toolbay_mcp::client::{
    Departures, InMemory, Keyring, NoLauncher, Servers, State, Surroundings,
};

use crate::keys::age;
use crate::realm::Realm;
use crate::web::Reply;

fn keyring(realm: &Realm) -> Keyring {
    Keyring {
        folder: realm.folder.path().join("tokens"),
        environment: Environment {
            variables: Arc::from([("APP_SECRET".into(), "SECRET-app".into())]),
            folder: realm.folder.path().to_owned(),
        },
    }
}

fn config(raw: Value) -> ServerConfig {
    let raw: RawServer = serde_json::from_value(raw).unwrap();
    let resolved = raw.resolve("realm", Scope::User, "settings", Path::new("/"), &|_| None);
    resolved.unwrap()
}

fn servers(realm: &Realm, raw: Value) -> Servers {
    Servers::new(
        vec![config(raw)],
        Surroundings {
            launcher: Arc::new(NoLauncher),
            memory: Arc::new(InMemory::default()),
            asker: None,
            roots: Vec::new(),
            keyring: Some(keyring(realm)),
            departures: Departures::default(),
            sampler: None,
        },
    )
}

fn state(servers: &Servers) -> State {
    servers.statuses()[0].state.clone()
}

#[tokio::test]
async fn a_server_says_what_it_needs_and_is_connected_after_the_login() {
    for kind in ["http", "sse"] {
        let realm = Realm::start().await;
        let url = realm.server.url().to_string();
        let servers = servers(&realm, json!({"type": kind, "url": url}));
        let why = servers.connect("realm").await.unwrap_err();
        assert!(why.contains("`toolbay mcp login realm`"), "{kind}: {why}");
        let now = state(&servers);
        assert!(matches!(now, State::NeedsAuth { .. }), "{kind}: {now:?}");
        // The login may happen in another program; here it is the next thing.
        realm.login().await.unwrap();
        let connected = servers.connect("realm").await;
        if kind == "sse" {
            // It has a token now, and the realm has no stream of events.
            let now = state(&servers);
            assert!(matches!(now, State::Failed { .. }), "{now:?}");
            continue;
        }
        connected.unwrap();
        assert!(matches!(state(&servers), State::Connected { tools: 1, .. }));
    }
}

#[tokio::test]
async fn a_renewal_that_is_refused_for_good_is_a_state_with_its_reason_and_the_way_out() {
    for kind in ["http", "sse"] {
        let realm = Realm::start().await;
        realm.login().await.unwrap();
        age(&realm);
        let body = json!({ "error": "invalid_client" });
        realm.knobs().renewal = Some(Reply::json(401, &body));
        let url = realm.server.url().to_string();
        let servers = servers(&realm, json!({"type": kind, "url": url}));
        servers.connect("realm").await.unwrap_err();
        let State::NeedsAuth { reason } = state(&servers) else {
            panic!("{kind}: {:?}", state(&servers));
        };
        for part in ["invalid_client", "`toolbay mcp login realm`"] {
            assert!(reason.contains(part), "{kind}: {reason}");
        }
        // One that is down is another matter.
        age(&realm);
        realm.knobs().renewal = Some(Reply::status(503));
        servers.connect("realm").await.unwrap_err();
        let now = state(&servers);
        assert!(matches!(now, State::Failed { .. }), "{kind}: {now:?}");
    }
}

#[tokio::test]
async fn a_header_of_ones_own_is_used_instead() {
    let realm = Realm::start().await;
    realm.knobs().valid.insert("mine".into(), "read".into());
    let url = realm.server.url().to_string();
    let raw = json!({"url": url, "headers": {"authorization": "Bearer mine"}});
    let with_header = servers(&realm, raw.clone());
    with_header.connect("realm").await.unwrap();
    let why = keyring(&realm).login(&config(raw)).await.unwrap_err();
    assert!(why.contains("instead of a login"), "{why}");
    assert_eq!(realm.web.seen("/token").len(), 0);
}

#[tokio::test]
async fn the_configuration_says_how_to_log_in_and_where_nobody_can() {
    let realm = Realm::start().await;
    let url = realm.server.url().to_string();
    let known = json!({"url": url, "oauth": {
        "clientId": "app", "clientSecret": {"env": "APP_SECRET"}, "scopes": ["more"],
    }});
    let (server, options) = keyring(&realm).login(&config(known)).await.unwrap();
    assert_eq!(server, realm.server);
    assert_eq!(options.scopes, ["more"]);
    let Identity::Known { id, secret } = options.identity else {
        panic!("{:?}", options.identity);
    };
    assert_eq!(id, "app");
    assert!(!format!("{secret:?}").contains("SECRET"));

    let missing = json!({"url": url, "oauth": {"clientId": "app", "clientSecret": {"env": "NO"}}});
    let why = keyring(&realm).login(&config(missing)).await.unwrap_err();
    assert!(why.contains("NO is not set"), "{why}");
    for (raw, wanted) in [
        (json!({"command": "x"}), "type stdio"),
        (json!({"type": "ws", "url": "wss://a.example"}), "type ws"),
        (json!({"url": "http://a.example/mcp"}), "a.example"),
    ] {
        let why = keyring(&realm).login(&config(raw)).await.unwrap_err();
        assert!(why.contains(wanted), "{why}");
    }
}
