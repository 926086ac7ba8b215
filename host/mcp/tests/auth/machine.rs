//! A program on its own account.

use serde_json::json;
use toolbay_mcp::client::auth::{self, AuthError, Identity, LoginOptions, Secret};

use crate::keys::age;
use crate::realm::{Realm, call, connect};
use crate::web::Reply;

fn account() -> LoginOptions {
    LoginOptions {
        identity: Identity::Known {
            id: "robot".into(),
            secret: Some(Secret::new("SECRET-robot")),
        },
        ..LoginOptions::default()
    }
}

#[tokio::test]
async fn a_program_logs_in_with_its_secret_and_again_when_the_token_ends() {
    let realm = Realm::start().await;
    realm.knobs().token = json!({ "refresh_token": null });
    let login = auth::login_as_client(&realm.store, &realm.server, &account()).await;
    assert!(login.unwrap().renewable);
    let keys = realm.keys();
    let service = connect(&keys).await.unwrap();
    call(&service).await.unwrap();
    realm.knobs().valid.clear();
    call(&service).await.unwrap();
    let asked = realm.web.seen("/token");
    assert_eq!(asked.len(), 2);
    for asked in asked {
        assert_eq!(asked.form()["grant_type"], "client_credentials");
        assert_eq!(asked.form()["resource"], realm.server.url().as_str());
    }
    assert!(realm.web.seen("/authorize").is_empty());
}

#[tokio::test]
async fn a_program_whose_secret_is_no_longer_good_needs_another_login() {
    let realm = Realm::start().await;
    let login = auth::login_as_client(&realm.store, &realm.server, &account()).await;
    login.unwrap();
    for (status, body, is_final) in [
        (401, json!({ "error": "invalid_client" }), true),
        (503, json!({ "error": "temporarily_unavailable" }), false),
        (503, json!({}), false),
    ] {
        realm.knobs().valid.clear();
        age(&realm);
        realm.knobs().renewal = Some(Reply::json(status, &body));
        let keys = realm.keys();
        let error = keys.current().await.unwrap_err();
        assert_eq!(error.needs_login(), is_final, "{body}: {error}");
        assert_eq!(keys.need().is_some(), is_final, "{body}");
        realm.knobs().renewal = None;
        assert!(realm.keys().current().await.unwrap().is_some());
    }
}

#[tokio::test]
async fn the_secret_goes_to_one_authorisation_server_only() {
    let (realm, other) = (Realm::start().await, Realm::start().await);
    auth::login_as_client(&realm.store, &realm.server, &account())
        .await
        .unwrap();
    realm.knobs().valid.clear();
    realm.knobs().resource = json!({ "authorization_servers": [other.web.base] });
    let token = realm.keys().current().await.unwrap().unwrap();
    let error = realm.keys().instead_of(&token).await.unwrap_err();
    assert!(error.needs_login(), "{error}");
    assert!(other.web.seen("/token").is_empty());
}

#[tokio::test]
async fn without_a_secret_or_metadata_nothing_is_sent() {
    let realm = Realm::start().await;
    let nobody = LoginOptions::default();
    let error = auth::login_as_client(&realm.store, &realm.server, &nobody).await;
    assert!(matches!(error, Err(AuthError::Setup(_))), "{error:?}");
    realm.knobs().metadata = json!({ "token_endpoint": "http://192.168.0.1/token" });
    let error = auth::login_as_client(&realm.store, &realm.server, &account()).await;
    assert!(
        matches!(error, Err(AuthError::BadEndpoint { .. })),
        "{error:?}"
    );
    assert!(realm.web.seen("/token").is_empty());
}
