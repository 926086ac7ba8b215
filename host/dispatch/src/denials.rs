//! Notices when a model keeps asking for what it is denied.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// After so many denials in a row a model is told to try something else.
const PATIENCE: u32 = 3;

/// How often each tool was denied since it was last permitted.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<HashMap<String, u32>>);

impl Denials {
    /// Counts a denial, and says what to tell the model besides.
    pub(crate) fn denied(&self, tool: &str) -> Option<String> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(tool.to_owned()).or_default();
        *count = count.saturating_add(1);
        (*count >= PATIENCE).then(|| {
            format!(
                "This was denied {count} times in a row; asking again will not help. Go \
                 another way, or ask the person what they would allow"
            )
        })
    }

    pub(crate) fn permitted(&self, tool: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.remove(tool);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_comes_after_the_third_denial_in_a_row() {
        let denials = Denials::default();
        assert_eq!(denials.denied("a"), None);
        assert_eq!(denials.denied("a"), None);
        assert_eq!(denials.denied("b"), None);
        assert!(
            denials
                .denied("a")
                .is_some_and(|text| text.contains("3 times"))
        );
        denials.permitted("a");
        assert_eq!(denials.denied("a"), None);
    }
}
