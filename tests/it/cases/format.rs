//! The format of a case, and reading it.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

/// Stands for the case's project folder, wherever it occurs.
const ROOT: &str = "${root}";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The behaviour that the case shows.
    pub name: String,
    /// What the project holds at the start.
    #[serde(default)]
    pub files: BTreeMap<String, Entry>,
    /// Rules that deny.
    #[serde(default)]
    pub deny: Vec<String>,
    pub steps: Vec<Step>,
    /// What the project holds at the end; files that are not named may be anything.
    #[serde(default)]
    pub after: BTreeMap<String, Entry>,
}

/// What lies at a path.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Entry {
    Text(String),
    Bytes {
        base64: String,
    },
    Link {
        link: String,
    },
    /// A folder if the name ends with `/`, else nothing.
    Nothing(()),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Step {
    /// Somebody else changes files.
    Write { write: BTreeMap<String, Entry> },
    /// A call; the tool is the plugin's own if none is named.
    Call {
        #[serde(default)]
        tool: Option<String>,
        input: Value,
        #[serde(default)]
        expect: Expect,
    },
}

/// What a call's result must be like. What is not said may be anything.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub error: Option<bool>,
    /// The whole text.
    pub text: Option<String>,
    #[serde(default)]
    pub contains: Vec<String>,
    #[serde(default)]
    pub lacks: Vec<String>,
    /// A part of the structured result: objects may have more keys.
    pub structured: Option<Value>,
    /// How many images there are.
    pub images: Option<usize>,
}

/// The cases of a plugin, each with the name of its file.
pub fn cases_of(folder: &Path) -> Result<Vec<(String, Case)>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("no cases: {error}"))?;
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
        let cases: OneOrMany =
            serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        let cases = match cases {
            OneOrMany::Many(values) => values,
            OneOrMany::One(value) => vec![value],
        };
        for value in cases {
            // Named one by one, or a mistake in one case would be told of the file.
            let title = value["name"].to_string();
            let case = Case::deserialize(value)
                .map_err(|error| format!("{name}: the case {title}: {error}"))?;
            all.push((name.clone(), case));
        }
    }
    if all.is_empty() {
        return Err("no cases".into());
    }
    Ok(all)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    Many(Vec<Value>),
    One(Value),
}

impl Entry {
    pub fn write(&self, root: &Path, name: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match self {
            Self::Text(text) => std::fs::write(path, text).unwrap(),
            Self::Bytes { base64 } => std::fs::write(path, decode(base64)).unwrap(),
            Self::Link { link } => std::os::unix::fs::symlink(text(link, root), path).unwrap(),
            Self::Nothing(()) if name.ends_with('/') => std::fs::create_dir_all(path).unwrap(),
            Self::Nothing(()) => std::fs::remove_file(path).unwrap(),
        }
    }
}

pub fn decode(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap()
}

/// A text with the project's folder in place.
pub fn text(text: &str, root: &Path) -> String {
    text.replace(ROOT, root.to_str().unwrap())
}

/// A value with the project's folder in place.
pub fn with_root(value: &Value, root: &Path) -> Value {
    match value {
        Value::String(string) => text(string, root).into(),
        Value::Array(items) => items.iter().map(|item| with_root(item, root)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (text(key, root), with_root(value, root)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
