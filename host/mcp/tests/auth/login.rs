//! Logging in, and everything that can come between.

use std::time::Duration;

use serde_json::{Value, json};
use toolbay_mcp::client::auth::{
    self, AuthError, Identity, LoginOptions, Person, Secret, Server, Status, Unpublished,
};

use crate::realm::{Browser, Paster, Realm, call, connect};
use crate::web::{Reply, Web};

#[tokio::test]
async fn a_person_logs_in_and_the_server_can_be_used() {
    let realm = Realm::start().await;
    let keys = realm.keys();
    assert!(connect(&keys).await.is_err());
    assert_eq!(keys.need().unwrap().to_string(), "a login is needed");
    let needed = auth::status(&realm.store, &realm.server).await.unwrap();
    assert!(matches!(needed, Status::Needs(_)), "{needed:?}");

    let browser = Browser::default();
    let options = LoginOptions::default();
    let login = auth::login(&realm.store, &realm.server, &options, &browser);
    let login = login.await.unwrap();
    assert_eq!(login.scopes, ["read"]);
    assert!(login.renewable);
    let status = auth::status(&realm.store, &realm.server).await.unwrap();
    assert_eq!(status, Status::LoggedIn(login));

    // The same keys: a login of another program would count as well.
    let service = connect(&keys).await.unwrap();
    call(&service).await.unwrap();
    assert_eq!(keys.need(), None);

    let question = &realm.web.seen("/authorize")[0].query;
    assert_eq!(question["resource"], realm.server.url().as_str());
    assert_eq!(question["scope"], "read");
    let exchange = realm.web.seen("/token")[0].form();
    assert_eq!(exchange["resource"], realm.server.url().as_str());
    let registered = realm.web.seen("/register")[0].json();
    assert_eq!(registered["redirect_uris"][0], question["redirect_uri"]);
    assert_eq!(registered["application_type"], "native");
}

/// Turns one knob and expects a login to fail, with nothing stored.
async fn refuses(turn: impl FnOnce(&mut crate::realm::Knobs)) -> (AuthError, Realm) {
    let realm = Realm::start().await;
    turn(&mut realm.knobs());
    let error = realm.login().await.unwrap_err();
    assert_eq!(realm.stored(), "", "{error}");
    (error, realm)
}

#[tokio::test]
async fn an_authorisation_server_without_pkce_is_refused() {
    for methods in [Value::Null, json!([]), json!(["plain"]), json!(["s256"])] {
        let (error, realm) = refuses(|knobs| {
            knobs.metadata = json!({ "code_challenge_methods_supported": methods })
        })
        .await;
        assert!(matches!(error, AuthError::NoPkce), "{error}");
        assert!(realm.web.seen("/register").is_empty());
        assert!(realm.web.seen("/authorize").is_empty());
    }
}

#[tokio::test]
async fn endpoints_that_lead_astray_are_refused_before_anything_is_sent() {
    for (name, address) in [
        ("authorization_endpoint", "file:///etc/passwd"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "http://example.com/authorize"),
        ("token_endpoint", "http://169.254.169.254/latest/meta-data"),
        ("token_endpoint", "http://192.168.1.1/token"),
        ("registration_endpoint", "http://10.0.0.1/register"),
        ("token_endpoint", "not an address"),
    ] {
        let (error, realm) = refuses(|knobs| knobs.metadata = json!({ (name): address })).await;
        assert!(
            matches!(error, AuthError::BadEndpoint { .. }),
            "{address}: {error}"
        );
        assert!(realm.web.seen("/register").is_empty(), "{address}");
    }
    // Parameters that are ours to set, brought along by the endpoint.
    let realm = Realm::start().await;
    let trap = format!(
        "{}/authorize?state=known&code_challenge_method=plain",
        realm.web.base
    );
    realm.knobs().metadata = json!({ "authorization_endpoint": trap });
    let error = realm.login().await.unwrap_err();
    assert!(error.to_string().contains("ours to set"), "{error}");
    assert!(realm.web.seen("/authorize").is_empty());
}

#[tokio::test]
async fn an_answer_of_another_authorisation_server_is_refused() {
    let (error, realm) = refuses(|knobs| {
        knobs.callback = |_, pairs| pairs.push(("iss".into(), "https://evil.example".into()))
    })
    .await;
    assert!(matches!(error, AuthError::WrongIssuer { .. }), "{error}");
    assert!(realm.web.seen("/token").is_empty(), "the code went out");
    let (error, realm) = refuses(|knobs| knobs.callback = |_, _| {}).await;
    assert!(matches!(error, AuthError::WrongIssuer { .. }), "{error}");
    assert!(realm.web.seen("/token").is_empty());
    let (error, _) =
        refuses(|knobs| knobs.metadata = json!({ "issuer": "https://evil.example" })).await;
    assert!(matches!(error, AuthError::WrongIssuer { .. }), "{error}");
}

#[tokio::test]
async fn a_description_of_another_resource_is_refused() {
    let (error, realm) =
        refuses(|knobs| knobs.resource = json!({ "resource": "https://evil.example/mcp" })).await;
    assert!(realm.web.seen("/authorize").is_empty(), "{error}");
}

#[tokio::test]
async fn an_authorisation_server_in_the_network_is_not_asked() {
    for address in [
        "http://169.254.169.254",
        "http://10.0.0.1",
        "http://metadata.google.internal",
    ] {
        let (error, _) =
            refuses(|knobs| knobs.resource = json!({ "authorization_servers": [address] })).await;
        assert!(
            error.to_string().contains("none published usable metadata"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_refusal_is_told_and_cannot_bring_markup_or_lines() {
    let callback = |base: &str, pairs: &mut Vec<(String, String)>| {
        pairs.retain(|(name, _)| name == "state");
        pairs.push(("error".into(), "access_denied".into()));
        pairs.push(("error_description".into(), "no\r\n<b>way\u{1b}[31m".into()));
        pairs.push(("iss".into(), base.into()));
    };
    let realm = Realm::start().await;
    realm.knobs().callback = callback;
    let browser = Browser::default();
    let options = LoginOptions::default();
    let error = auth::login(&realm.store, &realm.server, &options, &browser);
    let error = error.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the authorisation server refused: access_denied (no  <b>way [31m)"
    );
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if !browser.pages.lock().unwrap().is_empty() {
            break;
        }
    }
    let pages = browser.pages.lock().unwrap();
    assert!(pages[0].1.contains("The login failed"), "{pages:?}");
    assert!(!pages[0].1.contains("way"), "{pages:?}");
}

#[tokio::test]
async fn a_token_that_is_not_for_bearers_is_refused() {
    let (error, _) = refuses(|knobs| knobs.token = json!({ "token_type": "DPoP" })).await;
    assert!(matches!(error, AuthError::TokenKind(_)), "{error}");
}

#[tokio::test]
async fn nobody_waits_for_good() {
    struct Nobody;
    impl Person for Nobody {
        fn visit(&self, _: &str) -> Result<(), String> {
            Ok(())
        }
    }
    struct Blind;
    impl Person for Blind {
        fn visit(&self, _: &str) -> Result<(), String> {
            Err("no browser".into())
        }
    }
    let realm = Realm::start().await;
    let options = LoginOptions {
        patience: Duration::from_secs(2),
        ..LoginOptions::default()
    };
    let error = auth::login(&realm.store, &realm.server, &options, &Nobody).await;
    assert!(matches!(error, Err(AuthError::TimedOut(2))), "{error:?}");
    let error = auth::login(&realm.store, &realm.server, &options, &Blind).await;
    assert!(matches!(error, Err(AuthError::NotShown(_))), "{error:?}");
}

#[tokio::test]
async fn the_address_can_be_pasted_from_another_machine() {
    let realm = Realm::start().await;
    let options = LoginOptions::default();
    let login = |edit| {
        let (realm, options) = (&realm, &options);
        async move { auth::login(&realm.store, &realm.server, options, &Paster::new(edit)).await }
    };
    for edit in [
        (|_| "nonsense".to_owned()) as fn(String) -> String,
        |address| address.replace("state=", "state=x"),
        |address| address.replace("state=", "stale="),
        |_| String::new(),
    ] {
        let error = login(edit).await.unwrap_err();
        assert!(matches!(error, AuthError::BadPaste(_)), "{error}");
    }
    assert!(realm.web.seen("/token").is_empty());
    assert!(
        login(|address| format!("  {address}\n"))
            .await
            .unwrap()
            .renewable
    );
}

#[tokio::test]
async fn a_known_client_keeps_its_id_its_secret_and_its_address() {
    let realm = Realm::start().await;
    let options = LoginOptions {
        identity: Identity::Known {
            id: "given".into(),
            secret: Some(Secret::new("SECRET-client")),
        },
        redirect: Some("http://localhost/oauth/back".into()),
        scopes: vec!["write".into()],
        ..LoginOptions::default()
    };
    realm.login_with(&options).await.unwrap();
    assert!(realm.web.seen("/register").is_empty());
    let question = &realm.web.seen("/authorize")[0].query;
    assert_eq!(question["client_id"], "given");
    assert_eq!(question["scope"], "write");
    assert!(question["redirect_uri"].starts_with("http://localhost:"));
    assert!(question["redirect_uri"].ends_with("/oauth/back"));
    let exchange = &realm.web.seen("/token")[0];
    assert!(exchange.headers["authorization"].starts_with("Basic "));
    assert!(!question.contains_key("client_secret"));
}

#[tokio::test]
async fn a_client_with_a_document_registers_only_where_documents_are_not_read() {
    let document = "https://toolbay.example/client.json";
    let options = LoginOptions {
        identity: Identity::Document {
            address: document.into(),
        },
        ..LoginOptions::default()
    };
    let realm = Realm::start().await;
    realm.login_with(&options).await.unwrap();
    assert_eq!(realm.web.seen("/register").len(), 1);
    realm.knobs().metadata = json!({ "client_id_metadata_document_supported": true });
    realm.login_with(&options).await.unwrap();
    assert_eq!(realm.web.seen("/register").len(), 1);
    assert_eq!(realm.web.seen("/authorize")[1].query["client_id"], document);
    let bad = LoginOptions {
        identity: Identity::Document {
            address: "http://toolbay.example/client.json".into(),
        },
        ..LoginOptions::default()
    };
    assert!(realm.login_with(&bad).await.is_err());
}

#[tokio::test]
async fn more_rights_are_asked_for_together_with_the_old_ones() {
    let realm = Realm::start().await;
    realm.knobs().scope = "write";
    let first = realm.login().await.unwrap();
    assert_eq!(first.scopes, ["read"]);
    let keys = realm.keys();
    let service = connect(&keys).await.unwrap();
    assert!(call(&service).await.is_err());
    assert_eq!(
        keys.need().unwrap().to_string(),
        "a login with more rights is needed: write"
    );
    let second = realm.login().await.unwrap();
    assert_eq!(second.scopes, ["read", "write"]);
    let registered = &realm.web.seen("/register")[1].json();
    assert_eq!(registered["scope"], "read write");
    let service = connect(&keys).await.unwrap();
    call(&service).await.unwrap();
    assert_eq!(keys.need(), None);
}

#[tokio::test]
async fn a_server_without_metadata_needs_the_users_word() {
    // As before 2025-06-18: nothing published, everything beside the server.
    let web = Web::start(|_, seen| match seen.path.as_str() {
        "/register" => Reply::json(
            201,
            &json!({
                "client_id": "c", "redirect_uris": seen.json()["redirect_uris"],
            }),
        ),
        "/authorize" => {
            let back = format!(
                "{}?code=c&state={}",
                seen.query["redirect_uri"], seen.query["state"]
            );
            Reply::status(302).with("location", back)
        }
        "/token" => Reply::json(200, &json!({ "access_token": "t", "token_type": "Bearer" })),
        _ => Reply::status(404),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let store = auth::TokenStore::open(&folder.path().join("s")).unwrap();
    let server = Server::new("old", &format!("{}/mcp", web.base)).unwrap();
    let mut options = LoginOptions::default();
    let error = auth::login(&store, &server, &options, &Browser::default()).await;
    assert!(matches!(error, Err(AuthError::NoMetadata)), "{error:?}");
    options.unpublished = Unpublished::GuessEndpoints;
    auth::login(&store, &server, &options, &Browser::default())
        .await
        .unwrap();
    assert_eq!(
        web.seen("/authorize")[0].query["code_challenge_method"],
        "S256"
    );
}

#[tokio::test]
async fn answers_that_are_huge_or_nonsense_end_the_login() {
    for body in [
        "x".repeat(3 << 20),
        "[".repeat(100_000),
        "{}".into(),
        String::new(),
    ] {
        let (error, _) = refuses(|knobs| {
            knobs.registration = json!({ "client_id": null });
            knobs.resource = json!({ "scopes_supported": [body] });
        })
        .await;
        assert!(error.to_string().len() < 500, "{error}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_used_says_so_before_anybody_logs_in() {
    use std::os::unix::fs::PermissionsExt;
    let realm = Realm::start().await;
    let place = realm.store.path();
    let folder = place.parent().unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = realm.login().await.unwrap_err();
    assert!(matches!(error, AuthError::Store(_)), "{error}");
    assert!(realm.web.everything().is_empty());
}
