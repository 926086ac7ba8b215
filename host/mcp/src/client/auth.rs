//! Who may use a server over HTTP: OAuth, and the place where its tokens are kept.
//!
//! How the bridge uses it:
//!
//! ```no_run
//! # use std::{path::Path, sync::Arc};
//! # use toolbay_mcp::client::auth::{self, AuthorizedClient, Keys, Server, TokenStore};
//! # fn connect(state: &Path) -> Result<(), auth::AuthError> {
//! let store = TokenStore::open(state)?;
//! let server = Server::new("tracker", "https://mcp.example.com/mcp")?;
//! let keys = Arc::new(Keys::of_login(server, store));
//! let client = AuthorizedClient::new(auth::client()?, keys.clone());
//! // `StreamableHttpClientTransport::with_client(client, …)`; after any failure:
//! if let Some(need) = keys.need() {
//!     // The state is needs-auth, the reason is `need.to_string()`.
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - Tokens are looked up for each request, so a login in another program counts at once;
//!   they are renewed before they end, by one program at a time.
//! - A server that wants a login (401) or more rights (403) leaves a [`Need`] behind, in the
//!   keys and in the store. [`login`] fulfils it, in this program or in another; afterwards
//!   the connection is simply tried again. A failure without a need is like any other
//!   failure of the network.
//! - Other transports take the token from [`Keys::current`], and tell [`Keys::refused`].
//! - Servers with a header `Authorization` of their own in the configuration have no keys.
//! - [`Keys::of_enterprise`] is for companies whose identity provider decides.
//!
//! The protocol itself is rmcp's. What is ours: the place of the tokens, the port that waits
//! for the browser, and being strict where the library is lenient (`endpoint.rs`). No secret is
//! in any error, log or `Debug`; `tests/auth` looks for them.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod address;
mod client;
mod endpoint;
mod enterprise;
mod entry;
mod error;
mod hide;
mod http;
mod keys;
mod listener;
mod login;
mod logout;
mod machine;
mod page;
mod protocol;
mod secret;
mod server;
mod store;
mod vault;

use std::time::SystemTime;

pub use address::Addresses;
pub use client::AuthorizedClient;
pub use endpoint::Unpublished;
pub use enterprise::{
    Authority, Enterprise, EnterpriseOptions, Environment, Proof, Source, Subject,
};
pub use entry::Need;
pub use error::{AuthError, StoreError};
pub use http::{choose_cryptography, client};
pub use keys::Keys;
pub use login::{Identity, Login, LoginOptions, Person, login};
pub use logout::{Logout, logout};
pub use machine::login_as_client;
pub use secret::Secret;
pub use server::Server;
pub use store::TokenStore;

/// What is known of a login without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Nobody logged in, and the server did not ask for it.
    Unknown,
    /// The server wants something first.
    Needs(Need),
    LoggedIn(Login),
    /// The tokens ended, and cannot be renewed without a person.
    Ended,
}

/// Looks into the store; the network is not asked.
pub async fn status(store: &TokenStore, server: &Server) -> Result<Status, AuthError> {
    let Some(entry) = store.read(server).await? else {
        return Ok(Status::Unknown);
    };
    let login = Login::of(&entry);
    let has_token = entry.access_token().is_some();
    if let Some(need) = entry.need {
        return Ok(Status::Needs(need));
    }
    Ok(match has_token {
        false => Status::Ended,
        true if !login.renewable && login.ends.is_some_and(|ends| ends < SystemTime::now()) => {
            Status::Ended
        }
        true => Status::LoggedIn(login),
    })
}
