//! The path rules as they are at this moment.

use std::fmt;
use std::sync::Arc;

use toolbay_policy::PathRules;

type Look = dyn Fn() -> Arc<PathRules> + Send + Sync;

/// Where a call finds the rules about paths that are in force now. A rule that is added while a
/// call waits for an answer or runs holds for each file that it opens from then on.
#[derive(Clone)]
pub struct RulesNow(Arc<Look>);

impl RulesNow {
    /// Looked up each time. Called at every open: it must only look at memory, or seldom at more.
    pub fn looking(look: impl Fn() -> Arc<PathRules> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    /// Rules that never change.
    pub fn fixed(rules: Arc<PathRules>) -> Self {
        Self::looking(move || rules.clone())
    }

    pub fn get(&self) -> Arc<PathRules> {
        (self.0)()
    }
}

impl Default for RulesNow {
    fn default() -> Self {
        Self::fixed(Arc::default())
    }
}

impl fmt::Debug for RulesNow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("RulesNow").field(&self.get()).finish()
    }
}
