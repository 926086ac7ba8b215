//! Somebody who may answer a question before a person has to.
//!
//! It judges by descriptions of what is fine and what is not, and only what would be asked
//! anyway. It is asked while hooks run, and cannot answer what a rule or a hard limit wants a
//! person to decide.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinHandle;
use toolbay_contract::BoxFuture;

/// What is to be judged.
#[derive(Debug, Clone)]
pub struct Situation {
    pub tool: String,
    pub call_id: String,
    pub input: Value,
    pub working_directory: PathBuf,
    /// Why somebody must be asked.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    Allow(String),
    Deny(String),
    /// Not covered, or no answer in time; a person decides.
    Unsure(String),
}

/// Whoever judges. Bounded in time by itself.
pub trait Classifier: Send + Sync {
    fn judge(&self, situation: Situation) -> BoxFuture<'static, Judgement>;
}

/// A judgement under way. Dropping it ends it.
pub(crate) struct Judging {
    /// The input that it is about.
    pub(crate) input: Arc<str>,
    task: JoinHandle<Judgement>,
}

impl Judging {
    pub(crate) fn start(
        classifier: &dyn Classifier,
        input: Arc<str>,
        situation: Situation,
    ) -> Self {
        Self {
            input,
            task: tokio::spawn(classifier.judge(situation)),
        }
    }

    pub(crate) async fn judgement(mut self) -> Judgement {
        match (&mut self.task).await {
            Ok(judgement) => judgement,
            Err(error) => Judgement::Unsure(format!("the classifier broke: {error}")),
        }
    }
}

impl Drop for Judging {
    fn drop(&mut self) {
        self.task.abort();
    }
}
