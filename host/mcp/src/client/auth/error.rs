//! What can go wrong with a login, told without a secret in it.

use std::path::PathBuf;

use rmcp::transport::auth::AuthError as ProtocolError;
use thiserror::Error;

use super::hide::{without_opaque, without_secrets};

/// Enough for the sentence of an authorisation server, too little to hide something in.
const MAX_FOREIGN_TEXT: usize = 300;

/// Codes (RFC 6749, 5.2) after which the same request can only be refused again.
const FINAL: [&str; 6] = [
    "invalid_client",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "unauthorized_client",
    "unsupported_grant_type",
];
/// How the library begins when a token endpoint answered with an error in the protocol's words.
const ANSWERED: &str = "Server returned error response: ";

/// Why a server cannot be used with a login, or why there is none.
#[derive(Debug, Error)]
pub enum AuthError {
    #[error("{0:?} is not the address of a server: {1}")]
    BadAddress(String, &'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a login is needed{}", reason(.0))]
    LoginNeeded(String),
    #[error(
        "the authorisation server does not say that it knows PKCE with S256, without which a stolen code is a stolen login"
    )]
    NoPkce,
    #[error("the server publishes nothing about its authorisation server")]
    NoMetadata,
    #[error("the {role} {address} is refused: {reason}")]
    BadEndpoint {
        role: &'static str,
        address: String,
        reason: &'static str,
    },
    #[error(
        "the authorisation server should call itself {expected:?} and calls itself {received:?}: the login was dropped, since somebody may have come between"
    )]
    WrongIssuer { expected: String, received: String },
    #[error("the authorisation server refused: {0}")]
    Refused(String),
    #[error("the address for the answer {0:?} cannot be used: {1}")]
    BadRedirect(String, String),
    #[error("what was pasted is not the address that the browser ended at: {0}")]
    BadPaste(&'static str),
    #[error("nobody logged in within {0} seconds")]
    TimedOut(u64),
    #[error("the address could not be shown: {0}")]
    NotShown(String),
    #[error(
        "the authorisation server gave a token of the kind {0:?}; only bearer tokens can be used"
    )]
    TokenKind(String),
    /// The network or the other side; the same may work later.
    #[error("{0}")]
    Unreachable(String),
    #[error("{0}")]
    Setup(String),
}

/// Why the place of the tokens is not used.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{0}: others can reach it; tokens are only kept where nobody else can (chmod go-rwx)")]
    Open(PathBuf),
    #[error("{0}: it belongs to another user")]
    Foreign(PathBuf),
    #[error("{0}: it is a link or no ordinary file or folder; tokens are only kept in real ones")]
    NotPlain(PathBuf),
    #[error("{0}: it is damaged near line {1}; remove it and log in again")]
    Damaged(PathBuf, usize),
    #[error("{0}: it is too large for a list of tokens; remove it and log in again")]
    TooLarge(PathBuf),
    #[error("{0}: another program has held it for too long")]
    Busy(PathBuf),
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] std::io::Error),
}

impl AuthError {
    /// Whether only a person can help, by logging in (again).
    pub fn needs_login(&self) -> bool {
        matches!(self, Self::LoginNeeded(_))
    }

    /// For a renewal: what the authorisation server has decided about will not be otherwise the
    /// next time, and only another login can help. All else may pass.
    pub(super) fn of_renewal(self) -> Self {
        let text = match &self {
            Self::Unreachable(text) | Self::Refused(text) => text,
            _ => return self,
        };
        match refusal(text) {
            Some(code) if FINAL.contains(&code) => Self::LoginNeeded(format!(
                "the authorisation server does not renew the old one ({code})"
            )),
            Some(_) | None => Self::Unreachable(text.clone()),
        }
    }

    /// The same for the transport, which knows the words of the protocol library only.
    pub(super) fn into_protocol(self) -> ProtocolError {
        match self {
            Self::LoginNeeded(_) => ProtocolError::AuthorizationRequired,
            Self::Store(error) => ProtocolError::CredentialStoreError(error.to_string()),
            Self::Unreachable(text) => ProtocolError::TokenRefreshFailed(text),
            other => ProtocolError::AuthorizationFailed(other.to_string()),
        }
    }

    /// Takes over an error of the protocol library. Its texts hold what the other side
    /// wrote, which may repeat what we sent: `secrets` are taken out.
    pub(super) fn from_protocol(error: ProtocolError, secrets: &[&str]) -> Self {
        match error {
            ProtocolError::AuthorizationRequired => Self::LoginNeeded(String::new()),
            ProtocolError::TokenRefreshRejected(_) => {
                Self::LoginNeeded("the refresh token is no longer accepted".to_owned())
            }
            ProtocolError::PkceUnsupported => Self::NoPkce,
            ProtocolError::AuthorizationServerMismatch {
                expected_issuer,
                received_issuer,
            } => Self::WrongIssuer {
                expected: harmless(&expected_issuer, secrets),
                received: harmless(&received_issuer, secrets),
            },
            ProtocolError::AuthorizationServerMissingIssuer { expected_issuer } => {
                Self::WrongIssuer {
                    expected: harmless(&expected_issuer, secrets),
                    received: String::new(),
                }
            }
            ProtocolError::MetadataError(_)
            | ProtocolError::HttpError(_)
            | ProtocolError::TokenRefreshFailed(_) => {
                Self::Unreachable(unechoed(&error.to_string(), secrets))
            }
            // Not exhaustive on their side.
            other => Self::Refused(unechoed(&other.to_string(), secrets)),
        }
    }
}

/// The code in an error of a token endpoint.
fn refusal(text: &str) -> Option<&str> {
    let (_, answer) = text.split_once(ANSWERED)?;
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    let end = answer.find(|c| !is_part(c)).unwrap_or(answer.len());
    answer.get(..end).filter(|code| !code.is_empty())
}

fn reason(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

/// Foreign text for our own: short, on one line, and without the secrets that it may repeat.
pub(super) fn harmless(text: &str, secrets: &[&str]) -> String {
    line(&without_secrets(text, secrets))
}

/// The same for what somebody wrote who was sent secrets, or gave us some: nothing that could be
/// one is left.
pub(super) fn unechoed(text: &str, secrets: &[&str]) -> String {
    line(&without_opaque(text, secrets))
}

fn line(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars() {
        if line.len() >= MAX_FOREIGN_TEXT {
            line.push('…');
            break;
        }
        line.push(if character.is_control() || is_invisible(character) {
            ' '
        } else {
            character
        });
    }
    line
}

/// What turns the direction of text or does not show at all.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_loses_secrets_lines_and_length() {
        let text = harmless(
            "bad code s3cr3t/+ and s3cr3t%2F%2B\nin\u{202e} two",
            &["s3cr3t/+", ""],
        );
        assert_eq!(text, "bad code [hidden] and [hidden] in  two");
        assert!(harmless(&"x".repeat(10_000), &[]).len() < 310);
    }

    #[test]
    fn what_was_decided_needs_a_login_and_what_passes_does_not() {
        let failed = |text: &str| {
            let error = ProtocolError::TokenRefreshFailed(text.into());
            AuthError::from_protocol(error, &[]).of_renewal()
        };
        for code in FINAL {
            let error = failed(&format!("{ANSWERED}{code}: as I said (see more)"));
            assert!(error.needs_login(), "{error}");
            assert!(error.to_string().contains(code), "{error}");
            assert!(!error.to_string().contains("as I said"), "{error}");
        }
        for text in [
            "Server returned error response: temporarily_unavailable",
            "Server returned error response: server_error: invalid_client",
            "Server returned error response: invalid_clients",
            "Server returned error response: ",
            "Failed to parse server response",
            "the words invalid_client in a page",
        ] {
            let error = failed(text);
            assert!(
                matches!(error, AuthError::Unreachable(_)),
                "{text}: {error}"
            );
        }
        let store = StoreError::Foreign("x".into());
        assert!(!AuthError::Store(store).of_renewal().needs_login());
    }

    #[test]
    fn a_rejected_refresh_token_asks_for_a_login_and_a_dead_network_does_not() {
        let rejected = ProtocolError::TokenRefreshRejected("gone".into());
        assert!(AuthError::from_protocol(rejected, &[]).needs_login());
        let dead = ProtocolError::TokenRefreshFailed("no route".into());
        assert!(!AuthError::from_protocol(dead, &[]).needs_login());
    }
}
