//! What is kept of one server: its tokens, and what is needed to renew and to revoke them.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};

use super::address::Addresses;
use super::secret::Secret;

/// A token is renewed this long before its end, so that none ends on its way to the server.
const MARGIN: Duration = Duration::from_secs(30);

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Entry {
    /// The protocol library's own record.
    pub(super) credentials: Option<StoredCredentials>,
    /// It keeps no secret of the client, without which such a client cannot renew.
    pub(super) client_secret: Option<Secret>,
    /// Where the browser was sent back to.
    pub(super) redirect: Option<String>,
    pub(super) token_endpoint: Option<String>,
    pub(super) revocation_endpoint: Option<String>,
    pub(super) addresses: Addresses,
    /// Whether the endpoints had to be guessed, as the user allowed.
    pub(super) guessed: bool,
    /// Whether a program logged in on its own account, and can do so again.
    pub(super) alone: bool,
    /// What the server asked for when it last refused.
    pub(super) need: Option<Need>,
}

/// What a server wants before it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Somebody has to log in.
    Login {
        /// The server's own words (`WWW-Authenticate`), for the login to begin with.
        challenge: String,
        /// Why the login that there was does not do any more, if that is known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The login does not reach far enough.
    Scopes {
        scopes: Vec<String>,
        challenge: String,
    },
}

impl Need {
    pub(super) fn challenge(&self) -> &str {
        match self {
            Self::Login { challenge, .. } | Self::Scopes { challenge, .. } => challenge,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Login { reason, .. } if reason.is_empty() => f.write_str("a login is needed"),
            Self::Login { reason, .. } => write!(f, "a login is needed, since {reason}"),
            Self::Scopes { scopes, .. } => {
                write!(
                    f,
                    "a login with more rights is needed: {}",
                    scopes.join(" ")
                )
            }
        }
    }
}

impl Entry {
    pub(super) fn access_token(&self) -> Option<&str> {
        let token = self.credentials.as_ref()?.token_response.as_ref()?;
        Some(token.access_token().secret())
    }

    pub(super) fn refresh_token(&self) -> Option<&str> {
        let token = self.credentials.as_ref()?.token_response.as_ref()?;
        Some(token.refresh_token()?.secret())
    }

    pub(super) fn scopes(&self) -> &[String] {
        match &self.credentials {
            Some(credentials) => &credentials.granted_scopes,
            None => &[],
        }
    }

    /// When the access token ends, if the authorisation server said so.
    pub(super) fn ends(&self) -> Option<SystemTime> {
        let credentials = self.credentials.as_ref()?;
        let lifetime = credentials.token_response.as_ref()?.expires_in()?;
        let received =
            UNIX_EPOCH.checked_add(Duration::from_secs(credentials.token_received_at?))?;
        received.checked_add(lifetime)
    }

    /// Whether the access token will do for another request. One without an end does until
    /// the server refuses it; so does one with so far an end that no clock holds it.
    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        let Some(ends) = self.ends() else {
            return true;
        };
        // Of a token that lives for seconds, the margin must leave something.
        let lifetime = self
            .credentials
            .as_ref()
            .and_then(|credentials| credentials.token_response.as_ref()?.expires_in())
            .unwrap_or_default();
        now + MARGIN.min(lifetime / 5) < ends
    }

    /// All that must not appear anywhere.
    pub(super) fn secrets(&self) -> Vec<&str> {
        let client = self.client_secret.as_ref().map(Secret::reveal);
        [self.access_token(), self.refresh_token(), client]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Forgets the tokens and keeps what the server asked for.
    pub(super) fn forget_tokens(&mut self) {
        self.credentials = None;
        self.client_secret = None;
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("logged_in", &self.access_token().is_some())
            .field("need", &self.need)
            .finish_non_exhaustive()
    }
}
