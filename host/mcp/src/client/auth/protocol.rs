//! The protocol library's state machine, set up for one server.

use rmcp::transport::auth::{AuthorizationManager, AuthorizationMetadata};

use super::address::Addresses;
use super::endpoint::{self, Unpublished};
use super::error::AuthError;
use super::http::choose_cryptography;
use super::server::Server;

/// A machine that looks names up with the library's own filter.
pub(super) async fn manager(
    server: &Server,
    addresses: Addresses,
) -> Result<AuthorizationManager, AuthError> {
    choose_cryptography();
    let url = server.url().clone();
    let made = match addresses {
        Addresses::Public => AuthorizationManager::new(url).await,
        Addresses::Private => AuthorizationManager::new_allowing_private_addresses(url).await,
    };
    made.map_err(|error| AuthError::from_protocol(error, &[]))
}

/// Finds the authorisation server, by the server's own words if it said any. Returns what
/// it publishes, checked, and whether it had to be guessed.
pub(super) async fn discover(
    manager: &mut AuthorizationManager,
    server: &Server,
    challenge: Option<&str>,
    unpublished: Unpublished,
) -> Result<(AuthorizationMetadata, bool), AuthError> {
    let challenge = challenge.filter(|challenge| !challenge.is_empty());
    let found = manager
        .resolve_metadata_from_challenge(challenge)
        .await
        .map_err(|error| AuthError::from_protocol(error, &[]))?;
    endpoint::check(server, &found, unpublished)?;
    let guessed = !found.source.is_discovered();
    manager.set_metadata(found.metadata.clone());
    Ok((found.metadata, guessed))
}

/// Where tokens are revoked, if anywhere.
pub(super) fn revocation_endpoint(metadata: &AuthorizationMetadata) -> Option<String> {
    let address = metadata.additional_fields.get("revocation_endpoint")?;
    Some(address.as_str()?.to_owned())
}

/// A list of words in the part of the metadata that the library does not read.
pub(super) fn words<'a>(metadata: &'a AuthorizationMetadata, name: &str) -> Option<Vec<&'a str>> {
    let list = metadata.additional_fields.get(name)?.as_array()?;
    Some(list.iter().filter_map(|word| word.as_str()).collect())
}
