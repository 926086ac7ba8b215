//! Ends a login: tells the authorisation server, and forgets the tokens.

use oauth2::TokenResponse;

use super::address::Filter;
use super::endpoint;
use super::entry::Entry;
use super::error::AuthError;
use super::hide::form;
use super::http;
use super::secret::Secret;
use super::server::Server;
use super::store::TokenStore;

/// What became of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logout {
    /// There was none.
    NotLoggedIn,
    /// The authorisation server knows that the tokens are void.
    Revoked,
    /// They are forgotten here; until they end, the authorisation server takes them still.
    Forgotten { reason: String },
}

/// The tokens are removed whatever the authorisation server says. It is asked first: what
/// is removed cannot be revoked any more.
pub async fn logout(store: &TokenStore, server: &Server) -> Result<Logout, AuthError> {
    // Otherwise a renewal under way could put new tokens in the place of the removed ones.
    let _alone = store.renewing(server).await?;
    let Some(entry) = store.read(server).await? else {
        return Ok(Logout::NotLoggedIn);
    };
    let outcome = match (entry.access_token(), revoke(server, &entry).await) {
        (None, _) => Logout::NotLoggedIn,
        (Some(_), Ok(())) => Logout::Revoked,
        (Some(_), Err(reason)) => Logout::Forgotten { reason },
    };
    store.update(server, |place| *place = None).await?;
    Ok(outcome)
}

async fn revoke(server: &Server, entry: &Entry) -> Result<(), String> {
    let Some(address) = &entry.revocation_endpoint else {
        return Err("the authorisation server offers no revocation".to_owned());
    };
    let refuse = |reason: &str| format!("its revocation endpoint is not used: {reason}");
    let url = endpoint::check_address(server, address).map_err(refuse)?;
    // The token was issued at one host; there is no reason to show it to another.
    let home = entry.token_endpoint.as_deref().map(reqwest::Url::parse);
    if !home.is_some_and(|home| home.is_ok_and(|home| home.origin() == url.origin())) {
        return Err(refuse("it lies elsewhere than its token endpoint"));
    }
    if !Filter::new(server.url(), entry.addresses).allows_host(&url) {
        return Err(refuse("its address may not be used"));
    }
    let Some(credentials) = &entry.credentials else {
        return Ok(());
    };
    let Some(token) = &credentials.token_response else {
        return Ok(());
    };
    let client = http::filtered(server, entry.addresses).map_err(|error| error.to_string())?;
    let tokens = [
        (
            "refresh_token",
            token.refresh_token().map(|token| token.secret()),
        ),
        ("access_token", Some(token.access_token().secret())),
    ];
    for (hint, token) in tokens {
        let Some(token) = token else { continue };
        let mut body = format!("token={}&token_type_hint={hint}", form(token));
        let mut request = client.post(url.clone());
        match &entry.client_secret {
            Some(secret) => {
                let (id, secret) = (form(&credentials.client_id), form(Secret::reveal(secret)));
                request = request.basic_auth(id, Some(secret));
            }
            None => body.push_str(&format!("&client_id={}", form(&credentials.client_id))),
        }
        let answer = request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body)
            .send()
            .await
            // Its text would hold the address alone, but who knows.
            .map_err(|error| explain(&error.without_url()))?;
        if !answer.status().is_success() {
            return Err(format!(
                "the authorisation server answered {} to the revocation",
                answer.status().as_u16()
            ));
        }
    }
    Ok(())
}

fn explain(error: &reqwest::Error) -> String {
    format!("the authorisation server could not be reached: {error}")
}
