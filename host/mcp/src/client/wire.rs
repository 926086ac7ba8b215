//! The ways to a server: each turns bytes into messages and bounds what comes.

mod events;
mod guard;
mod http;
mod lines;
mod sse;
mod websocket;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::ServerJsonRpcMessage;
use thiserror::Error;
use toolbay_contract::JsonSize;

pub(super) use self::guard::Guarded;
pub(super) use self::http::{BoundedClient, streamable};
pub(super) use self::lines::Lines;
pub(super) use self::sse::LegacySse;
pub(super) use self::websocket::WebSocket;
use super::bounds;
use super::config::Hidden;

/// Why something could not be sent or a connection not be made.
#[derive(Debug, Error)]
pub(super) enum WireError {
    #[error("it wants to know who asks (HTTP {0})")]
    NeedsAuth(u16),
    #[error("it answered with HTTP {0}")]
    Status(u16),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Other(String),
}

/// Why a connection ended, told by whoever saw it. The first word counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    pub(super) fn note(&self, what: impl Into<String>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| what.into());
    }

    pub(super) fn told(&self) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }
}

/// The part of a text that is worth showing: one line, no control characters.
pub(super) fn excerpt(bytes: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(most * 4)]);
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let short: String = plain.take(most).collect();
    short.trim().to_owned()
}

/// A message, if it is one and can be read without filling the memory.
pub(super) fn message(bytes: &[u8]) -> Result<ServerJsonRpcMessage, String> {
    let shown = || excerpt(bytes, 120);
    JsonSize::of(bytes)
        .within(bounds::VALUES)
        .map_err(|error| format!("it sent {error}: `{}`", shown()))?;
    serde_json::from_slice(bytes)
        .map_err(|error| format!("it sent what is no message ({error}): `{}`", shown()))
}

/// Headers as a request takes them. They were checked when they were read.
pub(super) fn header_map(headers: &BTreeMap<String, Hidden>) -> HeaderMap {
    let pair = |(name, value): (&String, &Hidden)| {
        let name = HeaderName::try_from(name.as_str()).ok()?;
        let mut value = HeaderValue::try_from(value.0.as_str()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    headers.iter().filter_map(pair).collect()
}

pub(super) use super::auth::choose_cryptography;
