//! A plugin's manifest: who made it and what it requests.
//!
//! A request is not a grant. It tells users, before anything runs, what the plugin needs and why;
//! what it does not request it does not get, and what it requests a user has to grant.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolbay_contract::CapabilityRequest;
use toolbay_policy::{Capability, Reach};

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
    pub requests: Vec<ManifestRequest>,
    #[serde(default)]
    pub limits: Option<Limits>,
}

/// A capability that the plugin needs, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ManifestRequest {
    pub capability: Capability,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ManifestError {
    #[error("the manifest is not UTF-8")]
    NotText,
    #[error("the manifest does not parse: {0}")]
    Parse(String),
    #[error("the manifest requests `{0}` without a reason; say what it is for")]
    NoReason(Capability),
}

impl Manifest {
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let text = std::str::from_utf8(bytes).map_err(|_| ManifestError::NotText)?;
        let manifest: Self =
            toml::from_str(text).map_err(|error| ManifestError::Parse(error.to_string()))?;
        let mut requests = manifest.requests.iter();
        match requests.find(|request| request.reason.trim().is_empty()) {
            Some(request) => Err(ManifestError::NoReason(request.capability)),
            None => Ok(manifest),
        }
    }

    /// All that it requests.
    pub fn requested(&self) -> Reach {
        self.requests.iter().map(|one| one.capability).collect()
    }

    /// Its requests for some capabilities.
    pub(crate) fn requests_for(&self, wanted: Reach) -> Vec<CapabilityRequest> {
        let wanted = self
            .requests
            .iter()
            .filter(|one| wanted.has(one.capability));
        wanted
            .map(|one| CapabilityRequest {
                capability: one.capability,
                reason: one.reason.clone(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"x\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\n";

    fn parse(rest: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(format!("{HEAD}{rest}").as_bytes())
    }

    #[test]
    fn a_manifest_requests_capabilities_with_reasons() {
        let manifest = parse(
            "[[requests]]\ncapability = \"shell\"\nreason = \"runs git\"\n\
             [limits]\nmemory-bytes = 1000\n",
        )
        .unwrap();
        assert_eq!(
            manifest.requested(),
            Reach::default().with(Capability::Shell)
        );
        assert_eq!(manifest.requests_for(Reach::ALL)[0].reason, "runs git");
        assert_eq!(manifest.requests_for(Reach::default()), []);
        assert_eq!(manifest.limits.unwrap().memory_bytes, 1000);
    }

    #[test]
    fn what_is_wrong_with_a_manifest_is_named() {
        for (rest, named) in [
            ("wishs = []\n", "wishs"),
            (
                "[[requests]]\ncapability = \"root\"\nreason = \"x\"\n",
                "root",
            ),
            (
                "[[requests]]\ncapability = \"shell\"\nreason = \" \"\n",
                "`shell` without a reason",
            ),
            ("[[requests]]\ncapability = \"shell\"\n", "reason"),
        ] {
            let error = parse(rest).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
