//! Which results the model has already seen, to name the call instead of showing the same
//! again. A result counts as seen when it went into a message as it was kept: one that a
//! discarded stream or a hook put something else in place of does not.

use super::digest::Digest;
use super::recent::Recent;

/// Results that are remembered, at some hundred bytes each.
const MOST_RESULTS: usize = 4_000;
/// A shorter text costs hardly more than the reference to it.
const SHORTEST_TEXT: usize = 1_000;
/// An id that is longer is no id that a model could find again.
const LONGEST_CALL: usize = 256;

#[derive(Debug)]
pub(super) struct Repeats {
    /// By call: what it gave, and what was kept of that.
    kept: Recent<String, Expected>,
    /// By content: the first call that gave it.
    seen: Recent<Digest, String>,
}

#[derive(Debug, Clone, Copy)]
struct Expected {
    original: Digest,
    shown: Digest,
}

impl Repeats {
    pub(super) fn new() -> Self {
        Self {
            kept: Recent::new(MOST_RESULTS),
            seen: Recent::new(MOST_RESULTS),
        }
    }

    /// Whether a result is long enough to be worth it.
    pub(super) fn is_worthwhile(chars: usize, call_id: &str) -> bool {
        chars > SHORTEST_TEXT && call_id.len() <= LONGEST_CALL
    }

    /// An earlier call that gave this content, and whose result was seen. None for a call
    /// that has had its answer: it is asked for again, and gets the same one.
    pub(super) fn earlier(&self, original: Digest, call_id: &str) -> Option<String> {
        let is_answered = self
            .kept
            .get(call_id)
            .is_some_and(|expected| expected.original == original);
        if is_answered {
            return None;
        }
        self.seen
            .get(&original)
            .filter(|earlier| *earlier != call_id)
            .cloned()
    }

    /// Notes a result that will be seen if nothing gets in its way.
    pub(super) fn kept(&mut self, call_id: &str, original: Digest, shown: Digest) {
        self.kept
            .insert(call_id.to_owned(), Expected { original, shown });
    }

    /// Notes what goes into a message.
    pub(super) fn seen(&mut self, call_id: &str, shown: Digest) {
        let Some(expected) = self.kept.get(call_id) else {
            return;
        };
        if expected.shown == shown && self.seen.get(&expected.original).is_none() {
            self.seen.insert(expected.original, call_id.to_owned());
        }
    }
}
