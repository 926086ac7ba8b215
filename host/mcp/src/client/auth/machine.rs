//! A program logs in on its own account, with a secret and without a person.
//!
//! For machines that nobody sits at. There is nothing to renew: when the token ends, the
//! secret gets another one.

use rmcp::transport::auth::{ClientCredentialsConfig, CredentialStore, InMemoryCredentialStore};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::endpoint;
use super::entry::{Entry, Need};
use super::error::AuthError;
use super::login::{Identity, Login, LoginOptions, keep_granted};
use super::protocol;
use super::secret::Secret;
use super::server::Server;
use super::store::TokenStore;

/// Logs in with the id and the secret of [`Identity::Known`].
pub async fn login_as_client(
    store: &TokenStore,
    server: &Server,
    options: &LoginOptions,
) -> Result<Login, AuthError> {
    let Identity::Known {
        id,
        secret: Some(secret),
    } = &options.identity
    else {
        return Err(AuthError::Setup(
            "a login without a person needs the id and the secret of a client".to_owned(),
        ));
    };
    let before = store.read(server).await?.unwrap_or_default();
    let blank = Entry {
        addresses: options.addresses,
        need: before.need,
        ..Entry::default()
    };
    let entry = obtain(server, id, secret, &options.scopes, &blank).await?;
    let login = Login::of(&entry);
    store.update(server, |place| *place = Some(entry)).await?;
    Ok(login)
}

/// Another token for an account that logged in before.
pub(super) async fn again(server: &Server, entry: &Entry) -> Result<Entry, AuthError> {
    let (Some(credentials), Some(secret)) = (&entry.credentials, &entry.client_secret) else {
        return Err(AuthError::LoginNeeded(String::new()));
    };
    let scopes = &credentials.granted_scopes;
    obtain(server, &credentials.client_id, secret, scopes, entry).await
}

async fn obtain(
    server: &Server,
    id: &str,
    secret: &Secret,
    scopes: &[String],
    before: &Entry,
) -> Result<Entry, AuthError> {
    let mut manager = protocol::manager(server, before.addresses).await?;
    let kept = InMemoryCredentialStore::new();
    manager.set_credential_store(kept.clone());
    let explain = |error| AuthError::from_protocol(error, &[secret.reveal()]);
    let challenge = before.need.as_ref().map(Need::challenge);
    let found = manager
        .resolve_metadata_from_challenge(challenge.filter(|challenge| !challenge.is_empty()))
        .await
        .map_err(explain)?;
    // No code travels through a browser, so there is nothing for PKCE to protect; but a
    // secret is not sent to where one has to guess.
    if !found.source.is_discovered() {
        return Err(AuthError::NoMetadata);
    }
    endpoint::check_reach(server, &found.metadata)?;
    if let Some(credentials) = &before.credentials
        && credentials.issuer != found.metadata.issuer
    {
        return Err(AuthError::LoginNeeded(
            "the server names another authorisation server now".to_owned(),
        ));
    }
    manager.set_metadata(found.metadata.clone());
    let scopes = if scopes.is_empty() {
        manager.select_initial_scopes(&[]).await
    } else {
        scopes.to_vec()
    };
    let asked = scopes.clone();
    let account = ClientCredentialsConfig::ClientSecret {
        client_id: id.to_owned(),
        client_secret: secret.reveal().to_owned(),
        scopes,
        resource: Some(server.url().to_string()),
    };
    manager
        .validate_client_credentials_metadata(&account)
        .and_then(|()| manager.configure_client_credentials(&account))
        .map_err(explain)?;
    // The library tells its log what it got.
    manager
        .exchange_client_credentials(&account)
        .with_subscriber(NoSubscriber::default())
        .await
        .map_err(explain)?;
    let mut credentials = kept.load().await.map_err(explain)?;
    if let Some(credentials) = &mut credentials {
        keep_granted(&mut credentials.granted_scopes, &asked, &[secret.reveal()]);
    }
    Ok(Entry {
        credentials,
        client_secret: Some(secret.clone()),
        token_endpoint: Some(found.metadata.token_endpoint.clone()),
        revocation_endpoint: protocol::revocation_endpoint(&found.metadata),
        addresses: before.addresses,
        alone: true,
        ..Entry::default()
    })
}
