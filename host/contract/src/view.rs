//! How a call looks to people, free of any terminal.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "value")]
pub enum View {
    Plain(String),
    Markdown(String),
    /// A unified diff.
    Diff(String),
    Rows(Vec<(String, String)>),
}
