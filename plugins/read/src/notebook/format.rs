//! The parts of notebook format 4 that are shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{kind, picture};

#[derive(Deserialize)]
pub struct Notebook {
    pub cells: Vec<Cell>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

impl Notebook {
    /// The language of the code cells.
    pub fn language(&self) -> &str {
        let at = |outer: &str, inner: &str| self.metadata.get(outer)?.get(inner)?.as_str();
        at("language_info", "name")
            .or_else(|| at("kernelspec", "language"))
            .unwrap_or("unknown language")
    }
}

#[derive(Deserialize)]
pub struct Cell {
    pub id: Option<String>,
    pub cell_type: String,
    #[serde(default)]
    pub source: Lines,
    pub execution_count: Option<u64>,
    #[serde(default)]
    pub outputs: Vec<Output>,
}

/// A text, in one piece or as the list of its lines.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Lines {
    Whole(String),
    Parts(Vec<String>),
}

impl Default for Lines {
    fn default() -> Self {
        Self::Whole(String::new())
    }
}

impl Lines {
    pub fn text(&self) -> String {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Parts(parts) => parts.concat(),
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "output_type", rename_all = "snake_case")]
pub enum Output {
    Stream {
        #[serde(default)]
        name: String,
        #[serde(default)]
        text: Lines,
    },
    Error {
        #[serde(default)]
        ename: String,
        #[serde(default)]
        evalue: String,
        #[serde(default)]
        traceback: Vec<String>,
    },
    #[serde(
        alias = "execute_result",
        alias = "display_data",
        alias = "update_display_data"
    )]
    Data {
        #[serde(default)]
        data: Bundle,
    },
    #[serde(other)]
    Unknown,
}

/// One result in several media types, of which the reader picks the best.
#[derive(Deserialize, Default)]
pub struct Bundle(Map<String, Value>);

impl Bundle {
    /// Media type and base64 of the picture, if there is one to show.
    pub fn picture(&self) -> Option<(&str, &str)> {
        ["image/png", "image/jpeg", "image/gif", "image/webp"]
            .into_iter()
            .find_map(|mime| Some((mime, self.0.get(mime)?.as_str()?)))
    }

    /// The most readable text.
    pub fn text(&self) -> Option<String> {
        [
            "text/markdown",
            "text/plain",
            "text/latex",
            "text/html",
            "application/json",
            "image/svg+xml",
        ]
        .into_iter()
        .find_map(|mime| match self.0.get(mime)? {
            Value::String(text) => Some(text.clone()),
            Value::Array(parts) => Some(parts.iter().filter_map(Value::as_str).collect()),
            other => Some(other.to_string()),
        })
    }
}

/// The picture of an output, or why it cannot be shown.
pub fn decode_picture(encoded: &str) -> Result<picture::Picture, String> {
    let compact: String = encoded.split_ascii_whitespace().collect();
    let data = STANDARD
        .decode(compact)
        .map_err(|error| format!("not base64: {error}"))?;
    // The declared type is ignored: it may be wrong, and the bytes know better.
    let format = kind::picture(&data).ok_or("not a picture")?;
    picture::prepare(data, format).map_err(|error| error.sentence())
}
