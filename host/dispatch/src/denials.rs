//! Notices when a model keeps asking for what it is denied.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// After so many denials of the same thing in a row a model is told to try something else.
const PATIENCE: u32 = 3;
/// After so many it is not going to.
const LAST: u32 = 10;
/// So many denials without anything permitted in between mean the same, whatever they were of.
const LAST_OF_ALL: u32 = 25;
/// Things that are counted; a model that is denied more than that stops for another reason.
const MOST_THINGS: usize = 1_000;

/// How often each thing was denied since a call of the same tool was permitted.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    of: HashMap<Thing, u32>,
    in_a_row: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Thing {
    tool: String,
    /// What the call is about, as text.
    about: String,
}

/// What else to say with a denial.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Counsel {
    Nothing,
    /// To the model.
    Advice(String),
    /// To whoever runs the conversation: it should end here.
    Stop(String),
}

impl Denials {
    /// Counts a denial.
    pub(crate) fn denied(&self, tool: &str, about: &str) -> Counsel {
        let mut counts = self.counts();
        if counts.of.len() >= MOST_THINGS {
            counts.of.clear();
        }
        counts.in_a_row = counts.in_a_row.saturating_add(1);
        let thing = Thing {
            tool: tool.to_owned(),
            about: about.to_owned(),
        };
        let count = counts.of.entry(thing).or_default();
        *count = count.saturating_add(1);
        let count = *count;
        if count >= LAST {
            return Counsel::Stop(format!("the same call of {tool} was denied {count} times"));
        }
        if counts.in_a_row >= LAST_OF_ALL {
            let in_a_row = counts.in_a_row;
            return Counsel::Stop(format!("{in_a_row} calls in a row were denied"));
        }
        if count >= PATIENCE {
            return Counsel::Advice(format!(
                "This was denied {count} times in a row; asking again will not help. Go another \
                 way, or ask the person what they would allow"
            ));
        }
        Counsel::Nothing
    }

    pub(crate) fn permitted(&self, tool: &str) {
        let mut counts = self.counts();
        counts.of.retain(|thing, _| thing.tool != tool);
        counts.in_a_row = 0;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_advice(counsel: &Counsel, part: &str) -> bool {
        matches!(counsel, Counsel::Advice(text) if text.contains(part))
    }

    #[test]
    fn advice_comes_after_the_third_denial_of_the_same_thing() {
        let denials = Denials::default();
        assert_eq!(denials.denied("a", "x"), Counsel::Nothing);
        assert_eq!(denials.denied("a", "x"), Counsel::Nothing);
        assert_eq!(denials.denied("a", "y"), Counsel::Nothing);
        assert_eq!(denials.denied("b", "x"), Counsel::Nothing);
        assert!(is_advice(&denials.denied("a", "x"), "3 times"));
        denials.permitted("a");
        assert_eq!(denials.denied("a", "x"), Counsel::Nothing);
        assert_eq!(denials.denied("b", "x"), Counsel::Nothing);
        assert!(is_advice(&denials.denied("b", "x"), "3 times"));
    }

    #[test]
    fn a_model_that_does_not_listen_is_stopped() {
        let denials = Denials::default();
        for _ in 1..LAST {
            assert!(!matches!(denials.denied("a", "x"), Counsel::Stop(_)));
        }
        let last = denials.denied("a", "x");
        assert!(matches!(last, Counsel::Stop(why) if why.contains("10 times")));
        denials.permitted("a");
        for count in 1..LAST_OF_ALL {
            let counsel = denials.denied("a", &count.to_string());
            assert_eq!(counsel, Counsel::Nothing);
        }
        let last = denials.denied("a", "one more");
        assert!(matches!(last, Counsel::Stop(why) if why.contains("25 calls")));
    }

    #[test]
    fn memory_does_not_grow_with_denials() {
        let denials = Denials::default();
        for count in 0..10 * MOST_THINGS {
            denials.denied("a", &count.to_string());
            assert!(denials.counts().of.len() <= MOST_THINGS);
        }
    }
}
