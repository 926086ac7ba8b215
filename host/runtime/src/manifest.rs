//! A plugin's manifest: who made it and what it wishes for.
//!
//! A wish is not a grant. It tells people, before anything runs, what the plugin
//! would like and why; policy and user decide.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::Limits;

/// The manifest, as `plugin.toml` and the embedded section have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    pub name: String,
    pub version: String,
    /// The contract generation, such as `0.1`.
    pub contract: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub wishes: Vec<Wish>,
    #[serde(default)]
    pub limits: Option<Limits>,
}

/// Something that the plugin would like, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Wish {
    pub kind: WishKind,
    /// A path pattern, a host, a command, a power's name or a secret's name.
    pub what: String,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WishKind {
    Path,
    Host,
    Command,
    Power,
    Secret,
}

impl WishKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Host => "host",
            Self::Command => "command",
            Self::Power => "power",
            Self::Secret => "secret",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ManifestError {
    #[error("the manifest is not UTF-8")]
    NotText,
    #[error("the manifest does not parse: {0}")]
    Parse(String),
}

impl Manifest {
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let text = std::str::from_utf8(bytes).map_err(|_| ManifestError::NotText)?;
        toml::from_str(text).map_err(|error| ManifestError::Parse(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_wishes_with_reasons() {
        let manifest = Manifest::parse(
            b"name = \"x\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\n\
              [[wishes]]\nkind = \"host\"\nwhat = \"example.com\"\nreason = \"to fetch\"\n\
              [limits]\nmemory-bytes = 1000\n",
        )
        .unwrap();
        assert_eq!(manifest.wishes[0].kind, WishKind::Host);
        assert_eq!(manifest.limits.unwrap().memory_bytes, 1000);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let error = Manifest::parse(b"name=\"x\"\nversion=\"1\"\ncontract=\"0.1\"\nwishs=[]\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("wishs"), "{error}");
    }
}
