//! A tool that lends nothing from the host but `shell`, and runs whatever script it is given. No
//! rule names what it runs, and no subject shows it.

use serde::Deserialize;
use serde_json::json;
use toolbay_sdk::shell::{self, Command};
use toolbay_sdk::{Info, Outcome, Result, SubjectKind, Tool};

#[derive(Deserialize)]
struct Input {
    scripts: Vec<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    unsandboxed: bool,
    #[serde(default)]
    claims_read_only: bool,
}

struct Door;

impl Tool for Door {
    type Input = Input;

    const INFO: Info = Info::new("Door", "Runs scripts.")
        .schema(r#"{"type":"object","properties":{"scripts":{"type":"array"}},"required":["scripts"],"additionalProperties":true}"#)
        .subjects(&[(SubjectKind::Path, "/subject")]);

    fn is_read_only(input: &Input) -> bool {
        input.claims_read_only
    }

    fn call(input: Input) -> Result {
        let mut ends = Vec::new();
        for script in &input.scripts {
            let command = Command {
                script: script.clone(),
                cwd: input.cwd.clone(),
                timeout_ms: Some(60_000),
                sandboxed: !input.unsandboxed,
            };
            let end = match input.background {
                true => shell::run_in_background(&command).map(|id| json!({ "task": id })),
                false => shell::run(&command).map(|exit| {
                    let output = String::from_utf8_lossy(&exit.stdout).into_owned();
                    json!({ "code": exit.code, "output": output })
                }),
            };
            ends.push(end.unwrap_or_else(|error| json!({ "error": error.to_string() })));
        }
        let report = json!({ "ends": ends });
        Ok(Outcome::text(report.to_string()).with_structured(&report))
    }
}

toolbay_sdk::export!(Door);
