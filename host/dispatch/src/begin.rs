//! Who came first: a call that begins to act, or somebody who ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const PREPARING: u8 = 0;
const ACTING: u8 = 1;
const ENDED: u8 = 2;

/// One decision, shared by a call and whoever may end it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Begin(Arc<AtomicU8>);

impl Begin {
    /// The call wants to act. No, if it was ended before.
    pub(crate) fn act(&self) -> bool {
        self.decide(ACTING)
    }

    /// Somebody wants to end the call before it acts. No, if it does already.
    pub(crate) fn end(&self) -> bool {
        self.decide(ENDED)
    }

    fn decide(&self, wish: u8) -> bool {
        self.0
            .compare_exchange(PREPARING, wish, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}
