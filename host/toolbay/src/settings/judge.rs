//! Settings of the classifier: who judges, and by which descriptions.

use std::time::Duration;

use serde::Deserialize;

/// What a person waits for a judgement at most; a question is better than silence.
const DEFAULT_MS: u64 = 10_000;
const MOST_MS: u64 = 120_000;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawClassifier {
    /// A shell command that reads the case as JSON and answers with JSON.
    #[serde(default)]
    command: Option<String>,
    /// An address that takes the same by POST.
    #[serde(default)]
    url: Option<String>,
    /// What is fine, in words.
    #[serde(default)]
    allow: Vec<String>,
    /// What is not.
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// A classifier that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassifierSettings {
    pub asker: Asker,
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub timeout: Duration,
}

/// Who is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    Command(String),
    Url(String),
}

impl RawClassifier {
    pub(super) fn resolve(self) -> anyhow::Result<ClassifierSettings> {
        let asker = match (self.command, self.url) {
            (Some(command), None) => Asker::Command(command),
            (None, Some(url)) => Asker::Url(url),
            _ => anyhow::bail!(
                "`permissions.classifier` needs either `command` or `url`, to say who judges"
            ),
        };
        anyhow::ensure!(
            !(self.allow.is_empty() && self.deny.is_empty()),
            "`permissions.classifier` has no descriptions: write what is fine into `allow` and \
             what is not into `deny`"
        );
        let ms = self.timeout_ms.unwrap_or(DEFAULT_MS).clamp(1, MOST_MS);
        Ok(ClassifierSettings {
            asker,
            allow: self.allow,
            deny: self.deny,
            timeout: Duration::from_millis(ms),
        })
    }
}
