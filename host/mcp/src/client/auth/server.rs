//! Which server a login is for.

use std::fmt;

use reqwest::Url;

use super::endpoint;
use super::error::AuthError;

/// The name and the address of a server, as configured. Tokens belong to both: another
/// server of the same name gets none of them, nor does the same server under another name,
/// which may be another account.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Server {
    name: String,
    url: Url,
}

impl Server {
    /// Refuses addresses that a token must not be sent to.
    pub fn new(name: &str, address: &str) -> Result<Self, AuthError> {
        let bad = |reason| AuthError::BadAddress(shown(address), reason);
        let mut url = Url::parse(address).map_err(|_| bad("it cannot be read"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it holds a user or a password"));
        }
        endpoint::check_server(&url).map_err(bad)?;
        url.set_fragment(None);
        Ok(Self {
            name: name.to_owned(),
            url,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn url(&self) -> &Url {
        &self.url
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, shown(self.url.as_str()))
    }
}

/// An address without what may be secret in it: some servers take keys as parameters.
pub(super) fn shown(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) => {
            // They fail for addresses that have no host, which have no user either.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            if url.query().is_some() {
                url.set_query(Some("…"));
            }
            url.to_string().replace("%E2%80%A6", "…")
        }
        Err(_) => super::error::harmless(address, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_would_show_a_token_to_others_are_refused() {
        for bad in [
            "http://example.com/mcp",
            "http://10.0.0.7/mcp",
            "http://localhost.example.com/mcp",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://user@example.com/",
            "https://user:word@example.com/",
            "example.com",
            "",
        ] {
            assert!(Server::new("s", bad).is_err(), "{bad}");
        }
        for good in [
            "https://example.com/mcp",
            "http://localhost:3000/mcp",
            "http://127.0.0.1:1/",
            "http://[::1]:9/mcp",
        ] {
            assert!(Server::new("s", good).is_ok(), "{good}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_keys() {
        let server = Server::new("s", "https://example.com/mcp?key=abc#part").unwrap();
        assert_eq!(format!("{server:?}"), "s at https://example.com/mcp?…");
        let error = Server::new("s", "https://user:hunter2@example.com/").unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
