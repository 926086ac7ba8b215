//! Using, renewing and ending a login.

use serde_json::json;
use toolbay_mcp::client::auth::{self, Identity, LoginOptions, Logout, Secret, Server, Status};

use crate::realm::{Realm, call, connect};
use crate::web::Reply;

/// Makes the stored access token look as if it ended long ago.
pub fn age(realm: &Realm) {
    use std::os::unix::fs::PermissionsExt;
    let mut shelf: serde_json::Value = serde_json::from_str(&realm.stored()).unwrap();
    for entry in shelf["servers"].as_object_mut().unwrap().values_mut() {
        entry["credentials"]["token_received_at"] = json!(1000);
    }
    std::fs::write(realm.store.path(), shelf.to_string()).unwrap();
    let bits = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(realm.store.path(), bits).unwrap();
}

pub fn renewals(realm: &Realm) -> usize {
    let seen = realm.web.seen("/token");
    seen.iter()
        .filter(|seen| seen.form()["grant_type"] == "refresh_token")
        .count()
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    let first = realm.keys().current().await.unwrap().unwrap();
    assert_eq!(renewals(&realm), 0);
    age(&realm);
    let second = realm.keys().current().await.unwrap().unwrap();
    assert_ne!(first, second);
    assert_eq!(realm.keys().current().await.unwrap().unwrap(), second);
    assert_eq!(renewals(&realm), 1);
    let renewal = &realm.web.seen("/token")[1].form();
    assert_eq!(renewal["resource"], realm.server.url().as_str());
    assert!(!realm.stored().contains(&first));
}

#[tokio::test]
async fn a_renewal_asks_for_what_was_granted_and_no_more() {
    let realm = Realm::start().await;
    realm.knobs().metadata = json!({ "scopes_supported": ["read", "offline_access"] });
    realm.knobs().token = json!({ "scope": "read" });
    realm.login().await.unwrap();
    let asked = &realm.web.seen("/authorize")[0].query["scope"];
    assert_eq!(asked, "read offline_access");
    age(&realm);
    realm.keys().current().await.unwrap().unwrap();
    assert_eq!(realm.web.seen("/token")[1].form()["scope"], "read");
}

#[tokio::test]
async fn many_who_find_the_token_ended_renew_it_once() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    age(&realm);
    let mut tasks = Vec::new();
    for _ in 0..12 {
        // Keys of their own, as in other programs.
        let keys = realm.keys();
        tasks.push(tokio::spawn(async move { keys.current().await }));
    }
    let mut tokens = std::collections::HashSet::new();
    for task in tasks {
        tokens.insert(task.await.unwrap().unwrap().unwrap());
    }
    assert_eq!(tokens.len(), 1);
    assert_eq!(renewals(&realm), 1);
}

#[tokio::test]
async fn a_token_that_the_server_refuses_is_renewed_once_in_passing() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    let keys = realm.keys();
    let service = connect(&keys).await.unwrap();
    realm.knobs().valid.clear();
    call(&service).await.unwrap();
    assert_eq!(renewals(&realm), 1);
    assert_eq!(keys.need(), None);
}

#[tokio::test]
async fn a_revoked_login_needs_another_one() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    let keys = realm.keys();
    let service = connect(&keys).await.unwrap();
    realm.knobs().valid.clear();
    realm.knobs().renewable.clear();
    assert!(call(&service).await.is_err());
    assert!(keys.need().is_some());
    let status = auth::status(&realm.store, &realm.server).await.unwrap();
    assert!(matches!(status, Status::Needs(_)), "{status:?}");
    assert!(
        !realm.stored().contains("SECRET"),
        "dead tokens are of no use"
    );
    // No more questions about tokens that are gone.
    let asked = renewals(&realm);
    assert!(connect(&keys).await.is_err());
    assert_eq!(renewals(&realm), asked);
    realm.login().await.unwrap();
    call(&connect(&keys).await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn an_authorisation_server_that_is_down_costs_no_login() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    for reply in [
        Reply::status(503),
        Reply::json(400, &json!({ "error": "temporarily_unavailable" })),
        Reply::status(200).body("<html>"),
        Reply::status(302).with("location", "http://127.0.0.1:1/steal"),
    ] {
        age(&realm);
        realm.knobs().renewal = Some(reply);
        let error = realm.keys().current().await.unwrap_err();
        assert!(!error.needs_login(), "{error}");
        realm.knobs().renewal = None;
        assert!(realm.keys().current().await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_renewal_that_is_refused_for_good_needs_a_login_and_says_why() {
    for code in [
        "invalid_scope",
        "unauthorized_client",
        "invalid_client",
        "unsupported_grant_type",
    ] {
        let realm = Realm::start().await;
        realm.login().await.unwrap();
        age(&realm);
        let keys = realm.keys();
        let body = json!({ "error": code, "error_description": "SECRET-refresh-1 is no good" });
        realm.knobs().renewal = Some(Reply::json(400, &body));
        let error = connect(&keys).await.map(drop).unwrap_err();
        let need = keys.need().expect(&error).to_string();
        assert!(
            need.contains("a login is needed") && need.contains(code),
            "{need}"
        );
        assert!(!need.contains("SECRET"), "{need}");
        // Another program sees it as well, and asks nobody.
        let status = auth::status(&realm.store, &realm.server).await.unwrap();
        assert!(matches!(status, Status::Needs(_)), "{status:?}");
        // Whoever mends the client at the authorisation server has lost nothing.
        assert!(realm.stored().contains("SECRET-refresh-"));
        assert_eq!(renewals(&realm), 1);
        assert!(keys.current().await.unwrap_err().needs_login());
        assert_eq!(renewals(&realm), 1, "it was just asked");
        realm.knobs().renewal = None;
        assert!(realm.keys().current().await.unwrap().is_some());
        // And a login helps those who waited.
        age(&realm);
        realm.login().await.unwrap();
        call(&connect(&keys).await.unwrap()).await.unwrap();
        assert_eq!(keys.need(), None);
    }
}

#[tokio::test]
async fn a_renewal_that_failed_is_not_tried_with_every_request() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    age(&realm);
    let keys = realm.keys();
    for reply in [
        Reply::status(503),
        Reply::status(429).with("retry-after", "30"),
    ] {
        realm.knobs().renewal = Some(reply);
        let keys = realm.keys();
        let before = renewals(&realm);
        for _ in 0..20 {
            let error = keys.current().await.unwrap_err();
            assert!(!error.needs_login(), "{error}");
        }
        assert_eq!(renewals(&realm), before + 1);
        let error = keys.current().await.unwrap_err().to_string();
        assert!(error.contains("the next attempt is"), "{error}");
        assert_eq!(keys.need(), None);
    }
    realm.knobs().renewal = None;
    assert!(keys.current().await.unwrap().is_some());
}

#[tokio::test]
async fn a_client_with_a_secret_renews_with_it_in_another_program() {
    let realm = Realm::start().await;
    let options = LoginOptions {
        identity: Identity::Known {
            id: "given".into(),
            secret: Some(Secret::new("SECRET-client")),
        },
        ..LoginOptions::default()
    };
    realm.login_with(&options).await.unwrap();
    age(&realm);
    realm.keys().current().await.unwrap().unwrap();
    let renewal = &realm.web.seen("/token")[1];
    assert!(renewal.headers["authorization"].starts_with("Basic "));
}

#[tokio::test]
async fn tokens_of_one_authorisation_server_are_not_shown_to_another() {
    let (realm, other) = (Realm::start().await, Realm::start().await);
    realm.login().await.unwrap();
    let old = realm.web.seen("/authorize")[0].query["client_id"].clone();
    age(&realm);
    realm.knobs().resource = json!({ "authorization_servers": [other.web.base] });
    assert_eq!(realm.keys().current().await.unwrap(), None);
    assert!(other.web.seen("/token").is_empty());
    assert!(!realm.stored().contains("SECRET"));
    realm.login().await.unwrap();
    assert_eq!(other.web.seen("/register").len(), 1);
    let everything = format!("{:?}", other.web.everything());
    assert!(!everything.contains("SECRET-refresh-2"), "{everything}");
    assert_eq!(old, "client-1");
}

#[tokio::test]
async fn a_token_goes_to_its_own_address_only() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    for (name, path) in [
        ("other", "/mcp"),
        ("realm", "/other"),
        ("realm", "/mcp?x=1"),
    ] {
        let server = Server::new(name, &format!("{}{path}", realm.web.base)).unwrap();
        let keys = auth::Keys::of_login(server, realm.store.clone());
        assert_eq!(keys.current().await.unwrap(), None, "{name} {path}");
    }
}

#[tokio::test]
async fn a_server_that_points_elsewhere_does_not_take_the_token_there() {
    let realm = Realm::start().await;
    let thief = crate::web::Web::start(|_, _| Reply::status(200)).await;
    let stolen = format!("{}/steal", thief.base);
    let web =
        crate::web::Web::start(move |_, _| Reply::status(307).with("location", stolen.clone()))
            .await;
    let answer = auth::client()
        .unwrap()
        .post(&web.base)
        .bearer_auth("t")
        .send()
        .await;
    assert_eq!(answer.unwrap().status().as_u16(), 307);
    assert!(thief.everything().is_empty());
    drop(realm);
}

#[tokio::test]
async fn logging_out_revokes_and_forgets() {
    let realm = Realm::start().await;
    assert_eq!(
        auth::logout(&realm.store, &realm.server).await.unwrap(),
        Logout::NotLoggedIn
    );
    realm.login().await.unwrap();
    assert_eq!(
        auth::logout(&realm.store, &realm.server).await.unwrap(),
        Logout::Revoked
    );
    let asked: Vec<String> = realm
        .web
        .seen("/revoke")
        .iter()
        .map(|seen| seen.form()["token"].clone())
        .collect();
    assert_eq!(asked, ["SECRET-refresh-3", "SECRET-access-3"]);
    assert!(!realm.stored().contains("SECRET"));
    assert_eq!(realm.keys().current().await.unwrap(), None);
    assert_eq!(
        auth::status(&realm.store, &realm.server).await.unwrap(),
        Status::Unknown
    );
}

#[tokio::test]
async fn logging_out_forgets_even_if_nothing_can_be_revoked() {
    let thief = crate::web::Web::start(|_, _| Reply::status(200)).await;
    for endpoint in [
        json!(null),
        json!(format!("{}/revoke", thief.base)),
        json!("http://169.254.169.254/revoke"),
        json!("nonsense"),
    ] {
        let realm = Realm::start().await;
        realm.knobs().metadata = json!({ "revocation_endpoint": endpoint });
        realm.login().await.unwrap();
        let outcome = auth::logout(&realm.store, &realm.server).await.unwrap();
        assert!(
            matches!(outcome, Logout::Forgotten { .. }),
            "{endpoint}: {outcome:?}"
        );
        assert!(!realm.stored().contains("SECRET"));
    }
    assert!(
        thief.everything().is_empty(),
        "the token went to another host"
    );
}

#[tokio::test]
async fn a_server_cannot_fill_the_store_with_what_it_wants() {
    let realm = Realm::start().await;
    let keys = realm.keys();
    let scopes: String = (0..10_000).map(|number| format!("s{number} ")).collect();
    let scopes = format!("bad\"scope \u{202e}evil {} {scopes}", "x".repeat(5000));
    keys.too_narrow(Some(&scopes), &"é".repeat(100_000)).await;
    assert!(realm.stored().len() < 10_000);
    let shown = keys.need().unwrap().to_string();
    assert!(
        shown.contains("s0 s1") && !shown.contains("evil") && !shown.contains('"'),
        "{shown}"
    );
}

#[tokio::test]
async fn a_refusal_that_is_over_is_forgotten_and_wanted_rights_are_not() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    let status = async || auth::status(&realm.store, &realm.server).await.unwrap();
    realm.keys().refused("Bearer").await;
    assert!(matches!(status().await, Status::Needs(_)));
    // Another program, which was not refused.
    let keys = realm.keys();
    let service = connect(&keys).await.unwrap();
    call(&service).await.unwrap();
    assert!(matches!(status().await, Status::LoggedIn(_)));

    realm.keys().too_narrow(Some("write"), "Bearer").await;
    call(&service).await.unwrap();
    assert!(matches!(status().await, Status::Needs(_)));
    assert_eq!(keys.need(), None);

    // A server that needs no login after all leaves nothing behind.
    let server = Server::new("open", realm.server.url().as_str()).unwrap();
    let open = auth::Keys::of_login(server.clone(), realm.store.clone());
    open.refused("Bearer").await;
    open.accepted().await;
    assert_eq!(
        auth::status(&realm.store, &server).await.unwrap(),
        Status::Unknown
    );
}
