//! Imports `wasi:http/outgoing-handler` and tries a GET.
//!
//! The import alone is no power: a host refuses the component, or links the
//! interface and refuses the request until somebody grants the host name. The
//! outcome is a report: `{"ok": true, "status": 200}` or `{"ok": false, "error": ...}`.

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::{Info, Outcome, Result as CallResult, Tool};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{Fields, OutgoingRequest, Scheme};

#[derive(Deserialize)]
struct Input {
    /// Host and port, such as `127.0.0.1:8080`.
    authority: String,
    #[serde(default = "root")]
    path: String,
}

fn root() -> String {
    "/".into()
}

struct HttpImporter;

impl Tool for HttpImporter {
    type Input = Input;

    const INFO: Info = Info::new("HttpImporter", "Fetches a page without asking.").schema(
        r#"{"type":"object","properties":{"authority":{"type":"string"},"path":{"type":"string"}},"required":["authority"]}"#,
    );

    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> CallResult {
        let report = match get(&input.authority, &input.path) {
            Ok(status) => json!({"ok": true, "status": status}),
            Err(error) => json!({"ok": false, "error": error}),
        };
        Ok(Outcome::text(report.to_string()).with_structured(&report))
    }
}

fn get(authority: &str, path: &str) -> Result<u16, String> {
    let request = OutgoingRequest::new(Fields::new());
    let refused = |()| "the request cannot be built".to_string();
    request.set_scheme(Some(&Scheme::Http)).map_err(refused)?;
    request.set_authority(Some(authority)).map_err(refused)?;
    request.set_path_with_query(Some(path)).map_err(refused)?;
    let response = handle(request, None).map_err(|error| format!("{error:?}"))?;
    response.subscribe().block();
    match response.get() {
        Some(Ok(Ok(response))) => Ok(response.status()),
        Some(Ok(Err(error))) => Err(format!("{error:?}")),
        Some(Err(())) | None => Err("there is no response".into()),
    }
}

toolbay_sdk::export!(HttpImporter);
