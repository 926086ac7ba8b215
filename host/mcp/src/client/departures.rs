//! How connections end: servers are told, all at once, and get a moment to put things in order.
//!
//! The protocol says how. The input of a process is closed, and it ends by itself; a session over
//! HTTP is given back. A server that does not care is cut off or killed, so waiting for one that
//! ignores us costs as much as waiting for ten.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// The connections that have to end before the program may. Clones speak of the same ones.
#[derive(Debug, Clone)]
pub struct Departures(Arc<Everybody>);

#[derive(Debug)]
struct Everybody {
    staying: watch::Sender<usize>,
    is_over: watch::Sender<bool>,
}

impl Departures {
    pub fn new() -> Self {
        Self(Arc::new(Everybody {
            staying: watch::Sender::new(0),
            is_over: watch::Sender::new(false),
        }))
    }

    /// Ends every connection, and answers whether all were gone in this time. No new one is made
    /// from here on. A program that ends before all are gone kills what is left.
    pub async fn all(&self, patience: Duration) -> bool {
        self.0.is_over.send_replace(true);
        let mut staying = self.0.staying.subscribe();
        let gone = staying.wait_for(|count| *count == 0);
        tokio::time::timeout(patience, gone).await.is_ok()
    }

    /// Somebody more to wait for, unless everything ends already.
    pub(super) fn arrive(&self) -> Option<Stay> {
        self.0.staying.send_modify(|count| *count += 1);
        let stay = Stay(self.0.clone());
        // Asked after it was counted: whoever ends everything sees one or the other.
        (!*self.0.is_over.borrow()).then_some(stay)
    }
}

impl Default for Departures {
    fn default() -> Self {
        Self::new()
    }
}

/// One that is waited for as long as this lives.
#[derive(Debug)]
pub(super) struct Stay(Arc<Everybody>);

impl Stay {
    /// Until everything ends.
    pub(super) fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut is_over = self.0.is_over.subscribe();
        async move {
            // Who tells is dropped after the last stay, so there is no error while one lives.
            let _ = is_over.wait_for(|is_over| *is_over).await;
        }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.0
            .staying
            .send_modify(|count| *count = count.saturating_sub(1));
    }
}
