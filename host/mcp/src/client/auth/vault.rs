//! The store as the protocol library sees it: the tokens of one server.

use async_trait::async_trait;
use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthError as ProtocolError, CredentialStore, StoredCredentials};

use super::entry::Entry;
use super::error::StoreError;
use super::server::Server;
use super::store::TokenStore;

/// Whoever renews through it holds [`TokenStore::renewing`], so that the library need not lock:
/// it could not see that another program was faster.
///
/// The state of a login under way is not kept here but in memory: it ends with the program
/// that listens for the answer, and half a secret on the disk would outlive it.
pub(super) struct Vault {
    store: TokenStore,
    server: Server,
}

impl Vault {
    pub(super) fn new(store: &TokenStore, server: &Server) -> Self {
        Self {
            store: store.clone(),
            server: server.clone(),
        }
    }
}

#[async_trait]
impl CredentialStore for Vault {
    async fn load(&self) -> Result<Option<StoredCredentials>, ProtocolError> {
        let entry = self.store.read(&self.server).await.map_err(unusable)?;
        Ok(entry.and_then(|entry| entry.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), ProtocolError> {
        let change = move |place: &mut Option<Entry>| {
            place.get_or_insert_with(Entry::default).credentials = Some(credentials);
        };
        self.store
            .update(&self.server, change)
            .await
            .map_err(unusable)
    }

    async fn clear(&self) -> Result<(), ProtocolError> {
        let change = |place: &mut Option<Entry>| {
            if let Some(entry) = place {
                entry.forget_tokens();
            }
        };
        self.store
            .update(&self.server, change)
            .await
            .map_err(unusable)
    }

    /// A token that was refused for good is of no use to anybody; one that somebody else
    /// put in its place meanwhile is.
    async fn on_refresh_token_rejected(
        &self,
        rejected: &StoredCredentials,
    ) -> Result<(), ProtocolError> {
        let rejected = rejected
            .token_response
            .as_ref()
            .and_then(|token| Some(token.refresh_token()?.secret().clone()));
        let change = move |place: &mut Option<Entry>| {
            if let Some(entry) = place
                && entry.refresh_token() == rejected.as_deref()
            {
                entry.forget_tokens();
            }
        };
        self.store
            .update(&self.server, change)
            .await
            .map_err(unusable)
    }
}

fn unusable(error: StoreError) -> ProtocolError {
    ProtocolError::CredentialStoreError(error.to_string())
}
