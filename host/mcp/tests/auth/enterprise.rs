//! Tokens by an identity provider.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use toolbay_mcp::client::auth::{
    AuthError, Authority, Enterprise, EnterpriseOptions, Environment, Keys, Proof, Server, Source,
    Subject,
};

use crate::realm::{Realm, call, connect};
use crate::web::{Reply, Seen, Web};

struct Company {
    provider: Web,
    authorisation: Web,
    realm: Realm,
}

type Change = fn(&mut Value);

impl Company {
    /// A provider whose grants `change` spoils, or that answers `refusal`.
    async fn start(change: Change, refusal: Arc<Mutex<Option<Reply>>>) -> Self {
        let realm = Realm::start().await;
        let knobs = realm.knobs.clone();
        let number = AtomicUsize::new(0);
        let authorisation = Web::start(move |_, seen| {
            let form = seen.form();
            assert_eq!(
                form["grant_type"],
                "urn:ietf:params:oauth:grant-type:jwt-bearer"
            );
            let token = format!("SECRET-given-{}", number.fetch_add(1, Ordering::SeqCst));
            knobs
                .lock()
                .unwrap()
                .valid
                .insert(token.clone(), "read".into());
            Reply::json(
                200,
                &json!({ "access_token": token, "token_type": "Bearer", "expires_in": 3600 }),
            )
        })
        .await;
        let (audience, resource) = (authorisation.base.clone(), realm.server.url().to_string());
        let provider = Web::start(move |base, seen| {
            if let Some(reply) = refusal.lock().unwrap().clone() {
                return reply;
            }
            grant(base, seen, &audience, &resource, change)
        })
        .await;
        Self {
            provider,
            authorisation,
            realm,
        }
    }

    fn options(&self) -> EnterpriseOptions {
        let authority = |web: &Web, client: &str| Authority {
            issuer: web.base.clone(),
            token_endpoint: format!("{}/token", web.base),
            client: client.to_owned(),
            proof: Proof::Basic(Source::Variable("CLIENT_SECRET".into())),
        };
        EnterpriseOptions {
            identity_provider: authority(&self.provider, "at-provider"),
            authorisation: authority(&self.authorisation, "at-server"),
            subject: Subject::IdToken(Source::Variable("ID_TOKEN".into())),
            scopes: Vec::new(),
            resource: None,
        }
    }

    fn keys(&self, options: EnterpriseOptions) -> Arc<Keys> {
        let environment = Environment {
            variables: Arc::from([
                ("CLIENT_SECRET".into(), "SECRET-client".into()),
                ("ID_TOKEN".into(), "SECRET-id".into()),
            ]),
            folder: std::env::temp_dir(),
        };
        let server: Server = self.realm.server.clone();
        Arc::new(Keys::of_enterprise(
            server,
            Enterprise::new(options, environment),
        ))
    }
}

fn grant(base: &str, seen: &Seen, audience: &str, resource: &str, change: Change) -> Reply {
    let form = seen.form();
    assert_eq!(form["subject_token"], "SECRET-id");
    assert_eq!(form["audience"], audience);
    assert_eq!(form["resource"], resource);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let mut claims = json!({
        "iss": base, "aud": audience, "client_id": "at-server", "sub": "somebody", "jti": "1",
        "exp": now + 300, "iat": now, "resource": resource,
    });
    change(&mut claims);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = json!({ "alg": "RS256", "typ": "oauth-id-jag+jwt" });
    let token = format!(
        "{}.{}.{}",
        part(&header),
        part(&claims),
        URL_SAFE_NO_PAD.encode("SECRET-signature")
    );
    Reply::json(
        200,
        &json!({
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A",
            "access_token": token, "expires_in": 300,
        }),
    )
}

async fn honest() -> Company {
    Company::start(|_| {}, Arc::default()).await
}

#[tokio::test]
async fn a_server_is_used_without_a_login() {
    let company = honest().await;
    let keys = company.keys(company.options());
    let service = connect(&keys).await.unwrap();
    call(&service).await.unwrap();
    call(&service).await.unwrap();
    assert_eq!(
        company.provider.seen("/token").len(),
        1,
        "the token is kept"
    );
    assert_eq!(company.authorisation.seen("/token").len(), 1);
    assert_eq!(company.realm.stored(), "", "and kept in memory alone");
}

#[tokio::test]
async fn those_who_come_at_once_share_one_exchange() {
    let company = honest().await;
    let keys = company.keys(company.options());
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let keys = keys.clone();
        tasks.push(tokio::spawn(async move {
            keys.current().await.unwrap().unwrap()
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), "SECRET-given-0");
    }
    assert_eq!(company.provider.seen("/token").len(), 1);
}

#[tokio::test]
async fn a_server_that_refuses_every_token_does_not_make_us_ask_for_ever() {
    let company = honest().await;
    let keys = company.keys(company.options());
    let service = connect(&keys).await.unwrap();
    company.realm.knobs().valid.clear();
    for _ in 0..5 {
        assert!(call(&service).await.is_err());
    }
    assert_eq!(company.provider.seen("/token").len(), 1);
}

#[tokio::test]
async fn a_grant_for_something_else_is_not_used() {
    let changes: [Change; 6] = [
        |claims| claims["aud"] = json!("https://evil.example"),
        |claims| claims["iss"] = json!("https://evil.example"),
        |claims| claims["resource"] = json!("https://evil.example/mcp"),
        |claims| claims["client_id"] = json!("another"),
        |claims| claims["exp"] = json!(1000),
        |claims| claims["sub"] = json!(""),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let company = Company::start(change, Arc::default()).await;
        let error = company.keys(company.options()).current().await.unwrap_err();
        assert!(matches!(error, AuthError::Refused(_)), "{number}: {error}");
        assert!(company.authorisation.everything().is_empty(), "{number}");
        assert!(
            !format!("{error} {error:?}").contains("SECRET"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn what_a_person_must_do_is_told_apart_from_what_passes() {
    let refusal = Arc::new(Mutex::new(None));
    let company = Company::start(|_| {}, refusal.clone()).await;
    let keys = company.keys(company.options());
    for (status, body, needs_login) in [
        (
            400,
            json!({ "error": "invalid_grant", "error_description": "SECRET-id is old" }),
            true,
        ),
        (
            400,
            json!({ "error": "insufficient_user_authentication" }),
            true,
        ),
        (401, json!({ "error": "invalid_client" }), false),
        (500, json!({}), false),
        (200, json!({ "access_token": "SECRET-half" }), false),
    ] {
        *refusal.lock().unwrap() = Some(Reply::json(status, &body));
        let error = keys.current().await.unwrap_err();
        assert_eq!(error.needs_login(), needs_login, "{body}: {error}");
        assert!(
            !format!("{error} {error:?}").contains("SECRET"),
            "{error:?}"
        );
    }
    *refusal.lock().unwrap() = None;
    assert!(keys.current().await.unwrap().is_some());
}

#[tokio::test]
async fn a_configuration_that_would_show_secrets_to_others_is_refused() {
    let company = honest().await;
    let changes: [fn(&mut EnterpriseOptions); 4] = [
        |options| options.identity_provider.token_endpoint = "http://idp.example/token".into(),
        |options| options.authorisation.token_endpoint = "http://as.example/token".into(),
        |options| options.subject = Subject::IdToken(Source::Variable("NOT_SET".into())),
        |options| {
            options.identity_provider.proof = Proof::Post(Source::File("/nowhere/secret".into()))
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut options = company.options();
        change(&mut options);
        let error = company.keys(options).current().await.unwrap_err();
        assert!(matches!(error, AuthError::Setup(_)), "{number}: {error}");
    }
    assert!(company.provider.everything().is_empty());
}
