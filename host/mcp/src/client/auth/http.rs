//! HTTP for everything about logins: which cryptography, and how patient.

use std::sync::Once;
use std::time::Duration;

use reqwest::redirect::Policy;

use super::address::{Addresses, Filter};
use super::error::AuthError;
use super::server::Server;

const PATIENCE: Duration = Duration::from_secs(30);

/// Chooses the cryptography of the whole program, once. Every client for HTTPS needs it:
/// the libraries are built without a choice of their own.
pub fn choose_cryptography() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error says that somebody chose before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// For requests to a server that a token goes with. It follows no redirects: a token must
/// not travel to where the server points.
pub fn client() -> Result<reqwest::Client, AuthError> {
    choose_cryptography();
    reqwest::Client::builder()
        .redirect(Policy::none())
        .connect_timeout(PATIENCE)
        .build()
        .map_err(|error| AuthError::Setup(format!("no HTTP client: {error}")))
}

/// For our own requests to an authorisation server.
pub(super) fn filtered(
    server: &Server,
    addresses: Addresses,
) -> Result<reqwest::Client, AuthError> {
    choose_cryptography();
    reqwest::Client::builder()
        .redirect(Policy::none())
        .dns_resolver(std::sync::Arc::new(Filter::new(server.url(), addresses)))
        .timeout(PATIENCE)
        .build()
        .map_err(|error| AuthError::Setup(format!("no HTTP client: {error}")))
}
