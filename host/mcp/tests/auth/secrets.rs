//! No secret shows up anywhere: not in logs at their loudest, not in errors, not in `Debug`.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::json;
use toolbay_mcp::client::auth::{self, Identity, LoginOptions, Secret};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::realm::{Realm, call, connect};
use crate::web::Reply;

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
