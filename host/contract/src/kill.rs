//! One switch that ends a call, from wherever the wish comes.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Why a call was ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KillReason {
    /// It took longer than it may.
    Deadline(Duration),
    /// Somebody no longer wants it.
    Cancelled,
    /// A grant that it relied on was taken back.
    Revoked(String),
    /// The host is stopping.
    Shutdown,
}

impl KillReason {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Deadline(_) => "deadline",
            Self::Cancelled => "cancelled",
            Self::Revoked(_) => "revoked",
            Self::Shutdown => "shutdown",
        }
    }

    pub fn sentence(&self) -> String {
        match self {
            Self::Deadline(limit) => {
                format!("ended: it took longer than the {limit:?} it may take")
            }
            Self::Cancelled => "cancelled".into(),
            Self::Revoked(what) => format!("ended: {what} was revoked while it ran"),
            Self::Shutdown => "ended: the host is shutting down".into(),
        }
    }
}

/// A switch, and those hanging from it: what is thrown above falls below.
#[derive(Debug, Clone)]
pub struct KillSwitch {
    token: CancellationToken,
    own: Arc<OnceLock<KillReason>>,
    above: Option<Arc<KillSwitch>>,
}

impl Default for KillSwitch {
    fn default() -> Self {
        Self::new()
    }
}

impl KillSwitch {
    pub fn new() -> Self {
        Self {
            token: CancellationToken::new(),
            own: Arc::new(OnceLock::new()),
            above: None,
        }
    }

    /// A switch that falls with this one, and can be thrown alone.
    pub fn below(&self) -> Self {
        Self {
            token: self.token.child_token(),
            own: Arc::new(OnceLock::new()),
            above: Some(Arc::new(self.clone())),
        }
    }

    /// Ends everything that hangs from here. The first reason stays.
    pub fn throw(&self, reason: KillReason) {
        // A second throw finds the cell full, which is what we want.
        let _ = self.own.set(reason);
        self.token.cancel();
    }

    pub fn is_thrown(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Why it was thrown, if it was.
    pub fn reason(&self) -> Option<KillReason> {
        if !self.is_thrown() {
            return None;
        }
        let above = || self.above.as_ref().and_then(|above| above.reason());
        self.own
            .get()
            .cloned()
            .or_else(above)
            .or(Some(KillReason::Cancelled))
    }

    /// Waits until it is thrown.
    pub async fn thrown(&self) {
        self.token.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throw_falls_down_and_never_up() {
        let top = KillSwitch::new();
        let one = top.below();
        let two = top.below();
        one.throw(KillReason::Cancelled);
        assert!(one.is_thrown() && !two.is_thrown() && !top.is_thrown());
        top.throw(KillReason::Shutdown);
        assert_eq!(two.reason(), Some(KillReason::Shutdown));
        assert_eq!(one.reason(), Some(KillReason::Cancelled));
    }
}
