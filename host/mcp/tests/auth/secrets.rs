//! No secret shows up anywhere: not in logs at their loudest, not in errors, not in `Debug`.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use toolbay_mcp::client::auth::{self, Identity, LoginOptions, Secret};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::realm::{Realm, call, connect};
use crate::web::{Reply, Seen};

/// Writes down everything that anybody in the program has to say.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<String>>);

struct Pen<'a>(&'a mut String);

impl Visit for Pen<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl Subscriber for Ear {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut heard = self.0.lock().unwrap();
        let _ = write!(heard, "\nspan {}", span.metadata().name());
        span.record(&mut Pen(&mut heard));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Pen(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut heard = self.0.lock().unwrap();
        let _ = write!(
            heard,
            "\n{} {}",
            event.metadata().level(),
            event.metadata().target()
        );
        event.record(&mut Pen(&mut heard));
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The only test that hears: a subscriber for the whole thread, and all tasks on it.
#[tokio::test]
async fn neither_logs_nor_errors_nor_debug_hold_a_secret() {
    let ear = Ear::default();
    let _listening = tracing::subscriber::set_default(ear.clone());
    let mut said = String::new();
    let realm = Realm::start().await;
    let options = LoginOptions {
        identity: Identity::Known {
            id: "given".into(),
            secret: Some(Secret::new("SECRET-client")),
        },
        ..LoginOptions::default()
    };
    let login = realm.login_with(&options).await.unwrap();
    let _ = write!(said, "{login:?} {options:?}");
    let keys = realm.keys();
    let service = connect(&keys).await.unwrap();
    call(&service).await.unwrap();
    realm.knobs().valid.clear();
    call(&service).await.unwrap();
    // Authorisation servers that repeat what they were sent.
    for renewal in [
        json!({ "error": "server_error", "error_description": "no SECRET-refresh-3, no SECRET-client" }),
        json!({ "error": "invalid_grant", "error_description": "no SECRET-refresh-3" }),
    ] {
        realm.knobs().valid.clear();
        realm.knobs().renewal = Some(Reply::json(400, &renewal));
        let _ = write!(said, "{:?}", call(&service).await);
    }
    let _ = write!(said, "{:?} {keys:?} {:?}", keys.need(), realm.store);
    let _ = write!(
        said,
        "{:?}",
        auth::status(&realm.store, &realm.server).await
    );
    realm.knobs().token =
        json!({ "access_token": null, "error": "echo", "token_type": "SECRET-code-1" });
    let failed = realm.login_with(&options).await;
    let _ = write!(said, "{failed:?}");
    realm.knobs().token = json!({});
    realm.login_with(&options).await.unwrap();
    let _ = write!(
        said,
        "{:?}",
        auth::logout(&realm.store, &realm.server).await
    );

    let heard = ear.0.lock().unwrap().clone();
    assert!(heard.contains("rmcp"), "nobody was heard: {heard}");
    for text in [&heard, &said] {
        let at = text.find("SECRET").map(|at| {
            let from = text.floor_char_boundary(at.saturating_sub(300));
            &text[from..text.ceil_char_boundary(at + 40)]
        });
        assert_eq!(at, None);
    }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

type Writing = fn(&str) -> String;
type Answer = fn(&str) -> Reply;

/// How a token endpoint writes what it was sent.
const WRITINGS: [(&str, Writing); 7] = [
    ("as it is", str::to_owned),
    ("percent", percent),
    ("percent twice", |text| percent(&percent(text))),
    ("base64", |text| STANDARD.encode(text)),
    ("base64 of addresses", |text| URL_SAFE_NO_PAD.encode(text)),
    ("hex", hex),
    ("backwards", |text| text.chars().rev().collect()),
];

/// Where it writes it.
const FIELDS: [(&str, Answer); 8] = [
    ("error", |text| Reply::json(400, &json!({ "error": text }))),
    ("description", |text| {
        Reply::json(
            400,
            &json!({ "error": "invalid_grant", "error_description": text }),
        )
    }),
    ("address", |text| {
        Reply::json(400, &json!({ "error": "server_error", "error_uri": text }))
    }),
    ("scope", |text| {
        let token = json!({ "access_token": "t", "token_type": "Bearer", "scope": text });
        Reply::json(200, &token)
    }),
    ("kind", |text| {
        Reply::json(200, &json!({ "access_token": "t", "token_type": text }))
    }),
    ("no token", |text| {
        Reply::json(
            200,
            &json!({ "access_token": [text], "token_type": "Bearer" }),
        )
    }),
    ("a page", |text| {
        Reply::status(500).body(format!("<p>{text}</p>"))
    }),
    ("text with 200", |text| Reply::status(200).body(text)),
];

/// No secret that the token endpoint was sent is in what it made us say, in any writing.
fn assert_hidden(said: &str, sent: &Seen, place: &str) {
    let form = sent.form();
    let basic = sent.headers.get("authorization").cloned();
    let secrets = ["code", "code_verifier", "client_secret", "refresh_token"];
    let secrets = secrets.iter().filter_map(|name| form.get(*name).cloned());
    for secret in secrets.chain(basic) {
        for (writing, write) in WRITINGS {
            let written = write(&secret);
            let written = written.trim_end_matches('=');
            assert!(!said.contains(written), "{place}, {writing}: {said}");
        }
    }
    // And of the whole request no piece that could hold one.
    for (writing, write) in &WRITINGS[1..6] {
        let whole = write(&sent.body);
        let pieces = whole.as_bytes().windows(30);
        let mut pieces = pieces.filter_map(|piece| std::str::from_utf8(piece).ok());
        assert!(
            !pieces.any(|piece| said.contains(piece)),
            "{place}, {writing}: {said}"
        );
    }
}

#[tokio::test]
async fn what_a_token_endpoint_repeats_is_not_shown() {
    // Each value alone, since a field may be cut, and the whole.
    for (secret, parts) in [
        (None, &["code_verifier"][..]),
        (Some(Secret::new("a secret/of+the client")), &["code", ""]),
    ] {
        let options = LoginOptions {
            identity: Identity::Known {
                id: "given".into(),
                secret,
            },
            ..LoginOptions::default()
        };
        for (field, reply) in FIELDS {
            for (writing, encode) in WRITINGS {
                for part in parts.iter().copied() {
                    let realm = Realm::start().await;
                    let sent: Arc<OnceLock<Seen>> = Arc::default();
                    let seen = sent.clone();
                    realm.knobs().echo = Some(Box::new(move |request| {
                        let _ = seen.set(request.clone());
                        let value = request.form().get(part).cloned();
                        reply(&encode(&value.unwrap_or_else(|| request.body.clone())))
                    }));
                    let login = realm.login_with(&options).await;
                    let mut said = format!("{login:?}");
                    if let Err(error) = &login {
                        let _ = write!(said, "{error} {error:#}");
                    }
                    let status = auth::status(&realm.store, &realm.server).await;
                    let _ = write!(said, "{status:?}");
                    let place = format!("{field}, {writing}, {part}");
                    assert_hidden(&said, sent.get().expect("it was asked"), &place);
                }
            }
        }
    }
}
