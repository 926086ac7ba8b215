//! How a server behind an address knows who asks: `oauth` of its entry. Most need none.

use std::path::Path;

use serde::Deserialize;

use crate::client::auth::{
    Addresses, Authority, EnterpriseOptions, Proof, Source, Subject, Unpublished,
};

/// As it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RawOauth {
    /// Who this program is, if somebody registered it.
    pub client_id: Option<String>,
    pub client_secret: Option<RawSource>,
    /// Where this program describes itself, for servers that look there.
    pub client_document: Option<String>,
    /// The program logs in on its own account; nobody needs a browser.
    pub as_program: bool,
    /// Asked for beside what the server names.
    pub scopes: Vec<String>,
    /// Where the browser comes back to, if the registration says so.
    pub redirect: Option<String>,
    /// The authorisation server is in the company's network.
    pub private_addresses: bool,
    /// The server is older than the rule to publish its endpoints.
    pub guess_endpoints: bool,
    /// The company's identity provider decides; nobody logs in.
    pub enterprise: Option<RawEnterprise>,
}

/// Where a secret comes from: never from the file itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RawSource {
    Env(String),
    File(String),
    Command(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawEnterprise {
    pub identity_provider: RawAuthority,
    pub authorisation: RawAuthority,
    pub id_token: Option<RawSource>,
    pub refresh_token: Option<RawSource>,
    #[serde(default)]
    pub scopes: Vec<String>,
    pub resource: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawAuthority {
    pub issuer: String,
    pub token_endpoint: String,
    pub client_id: String,
    pub client_secret: Option<RawSource>,
    /// How the secret is shown: in the header, unless it says otherwise.
    #[serde(default)]
    pub secret_in: SecretIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SecretIn {
    #[default]
    Header,
    Body,
}

/// What counts.
#[derive(Debug, Clone, Default)]
pub struct OauthConfig {
    pub client: Option<(String, Option<Source>)>,
    pub client_document: Option<String>,
    pub as_program: bool,
    pub scopes: Vec<String>,
    pub redirect: Option<String>,
    pub addresses: Addresses,
    pub unpublished: Unpublished,
    pub enterprise: Option<EnterpriseOptions>,
}

impl RawOauth {
    /// Whether it asks for what only this machine knows.
    pub fn names_secrets(&self) -> bool {
        self.client_secret.is_some() || self.enterprise.is_some()
    }

    pub(super) fn resolve(&self, folder: &Path) -> Result<OauthConfig, String> {
        let source = |raw: &RawSource| raw.resolve(folder);
        let client = match (&self.client_id, &self.client_secret) {
            (None, Some(_)) => {
                return Err("`oauth.clientSecret` needs an `oauth.clientId`".into());
            }
            (None, None) => None,
            (Some(id), secret) => Some((id.clone(), secret.as_ref().map(source))),
        };
        if client.is_some() && self.client_document.is_some() {
            return Err(
                "of `oauth.clientId` and `oauth.clientDocument` only one can be there".into(),
            );
        }
        if self.as_program && self.client_secret.is_none() {
            return Err(
                "`oauth.asProgram` needs `oauth.clientId` and `oauth.clientSecret`: by which the \
                 program is known"
                    .into(),
            );
        }
        let enterprise = self.enterprise.as_ref();
        Ok(OauthConfig {
            client,
            client_document: self.client_document.clone(),
            as_program: self.as_program,
            scopes: self.scopes.clone(),
            redirect: self.redirect.clone(),
            addresses: match self.private_addresses {
                true => Addresses::Private,
                false => Addresses::Public,
            },
            unpublished: match self.guess_endpoints {
                true => Unpublished::GuessEndpoints,
                false => Unpublished::Refuse,
            },
            enterprise: enterprise.map(|raw| raw.resolve(folder)).transpose()?,
        })
    }
}

impl RawSource {
    fn resolve(&self, folder: &Path) -> Source {
        match self {
            Self::Env(name) => Source::Variable(name.clone()),
            Self::File(path) => Source::File(folder.join(path)),
            Self::Command(text) => Source::Command(text.clone()),
        }
    }
}

impl RawEnterprise {
    fn resolve(&self, folder: &Path) -> Result<EnterpriseOptions, String> {
        let subject = match (&self.id_token, &self.refresh_token) {
            (Some(id), None) => Subject::IdToken(id.resolve(folder)),
            (None, Some(refresh)) => Subject::RefreshToken(refresh.resolve(folder)),
            _ => {
                return Err(
                    "`oauth.enterprise` needs one of `idToken` and `refreshToken`: by which the \
                     identity provider knows the user"
                        .into(),
                );
            }
        };
        Ok(EnterpriseOptions {
            identity_provider: self.identity_provider.resolve(folder),
            authorisation: self.authorisation.resolve(folder),
            subject,
            scopes: self.scopes.clone(),
            resource: self.resource.clone(),
        })
    }
}

impl RawAuthority {
    fn resolve(&self, folder: &Path) -> Authority {
        let proof = match (&self.client_secret, self.secret_in) {
            (None, _) => Proof::None,
            (Some(secret), SecretIn::Header) => Proof::Basic(secret.resolve(folder)),
            (Some(secret), SecretIn::Body) => Proof::Post(secret.resolve(folder)),
        };
        Authority {
            issuer: self.issuer.clone(),
            token_endpoint: self.token_endpoint.clone(),
            client: self.client_id.clone(),
            proof,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resolve(value: serde_json::Value) -> Result<OauthConfig, String> {
        let raw: RawOauth = serde_json::from_value(value).map_err(|error| error.to_string())?;
        raw.resolve(Path::new("/p"))
    }

    #[test]
    fn secrets_come_from_elsewhere() {
        let config = resolve(json!({
            "clientId": "tb", "clientSecret": {"file": "key"}, "scopes": ["a"],
            "privateAddresses": true,
        }))
        .unwrap();
        let (id, secret) = config.client.unwrap();
        assert_eq!(id, "tb");
        assert_eq!(secret, Some(Source::File("/p/key".into())));
        assert_eq!(config.addresses, Addresses::Private);
        let authority = json!({
            "issuer": "https://idp.example", "tokenEndpoint": "https://idp.example/token",
            "clientId": "tb", "clientSecret": {"env": "IDP_SECRET"}, "secretIn": "body",
        });
        let config = resolve(json!({"enterprise": {
            "identityProvider": authority, "authorisation": authority,
            "idToken": {"command": "show-token"},
        }}));
        let enterprise = config.unwrap().enterprise.unwrap();
        assert!(matches!(
            enterprise.subject,
            Subject::IdToken(Source::Command(_))
        ));
        assert!(matches!(enterprise.authorisation.proof, Proof::Post(_)));
    }

    #[test]
    fn mistakes_are_told() {
        for (value, wanted) in [
            (
                json!({"clientSecret": {"env": "X"}}),
                "needs an `oauth.clientId`",
            ),
            (
                json!({"clientId": "a", "clientDocument": "https://a.example"}),
                "only one",
            ),
            (json!({"clientID": "a"}), "unknown field"),
            (json!({"clientId": "a", "clientSecret": "sesame"}), "sesame"),
            (
                json!({"clientId": "a", "asProgram": true}),
                "`oauth.clientSecret`",
            ),
            (json!({"enterprise": {}}), "missing field"),
        ] {
            let problem = resolve(value).unwrap_err();
            assert!(problem.contains(wanted), "{problem}");
        }
    }
}
