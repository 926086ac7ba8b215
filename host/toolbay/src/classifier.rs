//! Asks a command or an address whether a call is one of those that somebody has described.
//!
//! The case goes out as one JSON object: `tool_name`, `tool_input`, `cwd`, `reason` (why a person
//! would be asked), `allow` and `deny` (the descriptions). The answer is `{"decision": "allow" |
//! "deny" | "ask", "reason": "…"}`; whatever else comes, or nothing in time, means `ask`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use toolbay_contract::BoxFuture;
use toolbay_dispatch::{Classifier, Judgement, Situation};
use toolbay_sandbox::process::{self, How, Script};

use crate::settings::{Asker, ClassifierSettings};

/// An answer is a word and a sentence.
const MOST_ANSWER: usize = 64 * 1024;

/// Asks whoever the settings name.
pub struct Described {
    settings: ClassifierSettings,
    project: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Described {
    pub fn new(
        settings: ClassifierSettings,
        project: PathBuf,
        environment: Vec<(OsString, OsString)>,
    ) -> Self {
        Self {
            settings,
            project,
            environment,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Answer {
    decision: Word,
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Allow,
    Deny,
    Ask,
}

impl Classifier for Described {
    fn judge(&self, situation: Situation) -> BoxFuture<'static, Judgement> {
        let case: Arc<[u8]> = json!({
            "tool_name": situation.tool,
            "tool_use_id": situation.call_id,
            "tool_input": situation.input,
            "cwd": situation.working_directory,
            "reason": situation.reason,
            "allow": self.settings.allow,
            "deny": self.settings.deny,
        })
        .to_string()
        .into_bytes()
        .into();
        let time = self.settings.timeout;
        match &self.settings.asker {
            Asker::Command(text) => {
                let script = Script {
                    text: text.clone(),
                    // Not where the model's last command went: a relative name stays the same file.
                    cwd: self.project.clone(),
                    env: self.environment.clone(),
                    stdin: case,
                    time,
                    max_output: MOST_ANSWER,
                };
                Box::pin(command(script))
            }
            Asker::Url(url) => {
                let url = url.clone();
                Box::pin(async move {
                    let asked = tokio::task::spawn_blocking(move || post(&url, &case, time));
                    match asked.await {
                        Ok(Ok(bytes)) => read(&bytes),
                        Ok(Err(error)) => Judgement::Unsure(error),
                        Err(error) => Judgement::Unsure(error.to_string()),
                    }
                })
            }
        }
    }
}

async fn command(script: Script) -> Judgement {
    match process::run(script).await {
        Ok(ended) => match ended.how {
            How::Exit(0) if !ended.truncated => read(&ended.stdout),
            how => Judgement::Unsure(format!("the classifier ended with {how:?}")),
        },
        Err(error) => Judgement::Unsure(error.to_string()),
    }
}

fn post(url: &str, case: &[u8], time: Duration) -> Result<Vec<u8>, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(time))
        // Where the case goes is what the settings say, and nowhere else.
        .max_redirects(0)
        .build()
        .into();
    let sent = agent
        .post(url)
        .header("content-type", "application/json")
        .send(case);
    let mut response = sent.map_err(|error| error.to_string())?;
    let body = response.body_mut().with_config().limit(MOST_ANSWER as u64);
    body.read_to_vec().map_err(|error| error.to_string())
}

fn read(bytes: &[u8]) -> Judgement {
    match serde_json::from_slice::<Answer>(bytes) {
        Ok(Answer { decision, reason }) => match decision {
            Word::Allow => Judgement::Allow(reason),
            Word::Deny => Judgement::Deny(reason),
            Word::Ask => Judgement::Unsure(reason),
        },
        Err(error) => Judgement::Unsure(format!("the classifier's answer is none: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    fn judge(asker: Asker, timeout: Duration) -> Judgement {
        let described = Described::new(
            ClassifierSettings {
                asker,
                allow: vec!["builds".into()],
                deny: vec!["secrets".into()],
                timeout,
            },
            std::env::temp_dir(),
            vec![("PATH".into(), "/usr/bin:/bin".into())],
        );
        let waiting = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        waiting.block_on(described.judge(Situation {
            tool: "T".into(),
            call_id: "1".into(),
            input: json!({"command": "make"}),
            working_directory: "/".into(),
            reason: "it may change things".into(),
        }))
    }

    fn says(text: &str) -> Judgement {
        let asker = Asker::Command(format!("cat >/dev/null; {text}"));
        judge(asker, Duration::from_secs(20))
    }

    #[test]
    fn a_command_judges_and_whatever_is_no_answer_is_unsure() {
        let allow = says(r#"echo '{"decision": "allow", "reason": "a build"}'"#);
        assert_eq!(allow, Judgement::Allow("a build".into()));
        let deny = says(r#"echo '{"decision": "deny"}'"#);
        assert_eq!(deny, Judgement::Deny(String::new()));
        for unsure in [
            r#"echo '{"decision": "ask"}'"#,
            r#"echo '{"decision": "yes"}'"#,
            r#"echo allow"#,
            r#"echo '{"decision": "allow"}'; exit 1"#,
            r#"echo '{"decision": "allow"}{"decision": "deny"}'"#,
            r#"yes | head -c 100000"#,
            r#"true"#,
        ] {
            assert!(matches!(says(unsure), Judgement::Unsure(_)), "{unsure}");
        }
        let slow = Asker::Command("sleep 60".into());
        let late = judge(slow, Duration::from_millis(50));
        assert!(matches!(late, Judgement::Unsure(_)));
    }

    #[test]
    fn the_case_goes_in_whole() {
        let checks = r#"grep -q '"builds"' && echo '{"decision": "allow"}'"#;
        let asker = Asker::Command(checks.into());
        let judged = judge(asker, Duration::from_secs(20));
        assert_eq!(judged, Judgement::Allow(String::new()));
    }

    /// Answers one request with this, and gives back what came.
    fn server(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/judge", listener.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            let mut part = [0; 4096];
            loop {
                let read = stream.read(&mut part).unwrap();
                seen.extend(&part[..read]);
                if read == 0 || seen.ends_with(b"}") {
                    break;
                }
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(seen).unwrap()
        });
        (url, serving)
    }

    #[test]
    fn an_address_judges_and_does_not_send_the_case_on() {
        let ok = "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{\"decision\":\"allow\"}";
        let (url, serving) = server(ok);
        let judged = judge(Asker::Url(url), Duration::from_secs(20));
        assert_eq!(judged, Judgement::Allow(String::new()));
        let seen = serving.join().unwrap();
        assert!(
            seen.starts_with("POST /judge") && seen.contains("\"secrets\""),
            "{seen}"
        );
        for answer in [
            "HTTP/1.1 500 No\r\ncontent-length: 20\r\n\r\n{\"decision\":\"allow\"}",
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        ] {
            let (url, serving) = server(answer);
            let judged = judge(Asker::Url(url), Duration::from_secs(20));
            assert!(matches!(judged, Judgement::Unsure(_)), "{judged:?}");
            serving.join().unwrap();
        }
        let nobody = Asker::Url("http://127.0.0.1:1/".into());
        let judged = judge(nobody, Duration::from_secs(20));
        assert!(matches!(judged, Judgement::Unsure(_)));
    }
}
