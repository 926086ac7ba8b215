//! A look at a message before anybody understands it.

use serde::Deserialize;
use serde_json::Value;

/// What has to be known of a message to let it in.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) method: Option<String>,
}
