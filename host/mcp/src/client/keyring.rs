//! Which keys a server gets: none, those of a login, or those of the company.

use std::path::PathBuf;
use std::sync::Arc;

use super::auth::{Enterprise, Environment, Identity, Keys, LoginOptions, Server, TokenStore};
use super::config::{LinkConfig, ServerConfig, UrlConfig};

/// Where keys come from.
#[derive(Debug, Clone)]
pub struct Keyring {
    /// The folder of the tokens. Made when a server first needs one.
    pub folder: PathBuf,
    pub environment: Environment,
}

impl Keyring {
    /// The keys of a server, if it is one that can ask for some.
    pub(super) fn keys(&self, config: &ServerConfig) -> Result<Option<Arc<Keys>>, String> {
        let (LinkConfig::Http(url) | LinkConfig::Sse(url)) = &config.link else {
            return Ok(None);
        };
        if has_own(url) {
            return Ok(None);
        }
        // No token would be sent to such an address; without one it can still be used.
        let Ok(server) = Server::new(&config.name, &url.url) else {
            return Ok(None);
        };
        if let Some(options) = &config.oauth.enterprise {
            let enterprise = Enterprise::new(options.clone(), self.environment.clone());
            return Ok(Some(Arc::new(Keys::of_enterprise(server, enterprise))));
        }
        let keys = Keys::of_login(server, self.store()?);
        Ok(Some(Arc::new(keys)))
    }

    pub fn store(&self) -> Result<TokenStore, String> {
        TokenStore::open(&self.folder).map_err(|error| error.to_string())
    }

    /// Whom to log in to, and how; the error says why nobody can.
    pub async fn login(&self, config: &ServerConfig) -> Result<(Server, LoginOptions), String> {
        let name = &config.name;
        let url = match &config.link {
            LinkConfig::Http(url) | LinkConfig::Sse(url) => url,
            LinkConfig::Stdio(_) | LinkConfig::WebSocket(_) | LinkConfig::InProcess(_) => {
                let kind = config.link.word();
                return Err(format!(
                    "the MCP server `{name}` is of type {kind}: there is no login for those"
                ));
            }
        };
        let oauth = &config.oauth;
        if oauth.enterprise.is_some() {
            return Err(format!(
                "the MCP server `{name}` takes the word of your company's identity provider \
                 (`oauth.enterprise`): nobody logs in here"
            ));
        }
        if has_own(url) {
            return Err(format!(
                "the MCP server `{name}` has a header `Authorization` in its configuration, which \
                 is used instead of a login"
            ));
        }
        let server = Server::new(name, &url.url).map_err(|error| error.to_string())?;
        let identity = match (&oauth.client, &oauth.client_document) {
            (Some((id, secret)), _) => {
                let secret = match secret {
                    Some(source) => Some(self.environment.fetch(source).await?),
                    None => None,
                };
                let id = id.clone();
                Identity::Known { id, secret }
            }
            (None, Some(address)) => Identity::Document {
                address: address.clone(),
            },
            (None, None) => Identity::Register,
        };
        let options = LoginOptions {
            identity,
            scopes: oauth.scopes.clone(),
            redirect: oauth.redirect.clone(),
            addresses: oauth.addresses,
            unpublished: oauth.unpublished,
            ..LoginOptions::default()
        };
        Ok((server, options))
    }
}

fn has_own(url: &UrlConfig) -> bool {
    let mut names = url.headers.keys();
    names.any(|name| name.eq_ignore_ascii_case("authorization"))
}
