//! Which addresses a token, a code or a browser may be sent to.
//!
//! A server names its authorisation server, and that one its endpoints: strangers' words.
//! What is checked here is the text of an address. Where its name leads is checked when
//! it is looked up (`address.rs`, and the protocol library's own resolver).

use reqwest::Url;
use rmcp::transport::auth::{AuthorizationMetadata, AuthorizationMetadataResolution};

use super::error::AuthError;
use super::server::{Server, shown};

/// What to do with a server that publishes nothing about its authorisation server, as
/// was allowed until the specification of 2025-06-18.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unpublished {
    #[default]
    Refuse,
    /// `/authorize`, `/token` and `/register` beside the server.
    GuessEndpoints,
}

/// The part of the metadata that we act on, checked.
pub(super) fn check(
    server: &Server,
    resolution: &AuthorizationMetadataResolution,
    unpublished: Unpublished,
) -> Result<(), AuthError> {
    let metadata = &resolution.metadata;
    if resolution.source.is_discovered() {
        // Silence means no: so says the specification, and so it must be, or else whoever
        // comes between could take the list away.
        let methods = metadata.code_challenge_methods_supported.as_deref();
        if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
            return Err(AuthError::NoPkce);
        }
    } else if unpublished == Unpublished::Refuse {
        return Err(AuthError::NoMetadata);
    }
    check_reach(server, metadata)
}

/// Every address of the metadata that we would send something to.
pub(super) fn check_reach(
    server: &Server,
    metadata: &AuthorizationMetadata,
) -> Result<(), AuthError> {
    let mut endpoints = vec![
        (
            "authorization endpoint",
            metadata.authorization_endpoint.as_str(),
        ),
        ("token endpoint", metadata.token_endpoint.as_str()),
    ];
    if let Some(address) = &metadata.registration_endpoint {
        endpoints.push(("registration endpoint", address));
    }
    for (role, address) in endpoints {
        check_address(server, address).map_err(|reason| AuthError::BadEndpoint {
            role,
            address: shown(address),
            reason,
        })?;
    }
    Ok(())
}

/// Encrypted, or on this machine if the server is. No other scheme: the browser would
/// start whatever program it belongs to.
pub(super) fn check_address(server: &Server, address: &str) -> Result<Url, &'static str> {
    let url = Url::parse(address).map_err(|_| "it cannot be read")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user or a password");
    }
    match url.scheme() {
        "https" if is_loopback(&url) && !is_loopback(server.url()) => {
            Err("it lies on this machine, the server does not")
        }
        "https" => Ok(url),
        "http" if is_loopback(&url) && is_loopback(server.url()) => Ok(url),
        "http" => Err("it is not encrypted (https)"),
        _ => Err("it is no web address (https)"),
    }
}

/// The server itself: encrypted, or on this machine.
pub(super) fn check_server(url: &Url) -> Result<(), &'static str> {
    match url.scheme() {
        "https" if url.host().is_some() => Ok(()),
        "http" if is_loopback(url) => Ok(()),
        "http" => Err("a login needs https, since everybody on the way could take the token"),
        _ => Err("a login needs https"),
    }
}

/// By its text alone: names other than `localhost` may lead anywhere.
pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => {
            let name = host.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: &str) -> Server {
        Server::new("s", address).unwrap()
    }

    #[test]
    fn endpoints_that_are_not_encrypted_or_no_web_addresses_are_refused() {
        let far = server("https://mcp.example.com/mcp");
        for bad in [
            "http://auth.example.com/authorize",
            "http://127.0.0.1:80/authorize",
            "https://127.0.0.1/authorize",
            "https://localhost/authorize",
            "https://[::1]/authorize",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "vscode://run/this",
            "https://user:word@auth.example.com/",
            "/authorize",
            "",
        ] {
            assert!(check_address(&far, bad).is_err(), "{bad}");
        }
        assert!(check_address(&far, "https://auth.example.com/authorize").is_ok());
    }

    #[test]
    fn a_server_on_this_machine_may_have_its_authorisation_there_too() {
        let near = server("http://127.0.0.1:4000/mcp");
        assert!(check_address(&near, "http://localhost:5000/authorize").is_ok());
        assert!(check_address(&near, "http://192.168.0.1/authorize").is_err());
        assert!(check_address(&near, "http://localhost.evil.example/authorize").is_err());
    }
}
