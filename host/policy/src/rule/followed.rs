//! Rules about paths that are reached over links.

use std::path::{Path, PathBuf};

use super::content::PathContent;
use super::{Rule, Rules};

impl Rules {
    /// These, and each deny and ask rule about a path that leads elsewhere once more for where it leads.
    /// A rule that allows is about what it names alone.
    #[must_use]
    pub fn followed(mut self, real: &dyn Fn(&Path) -> PathBuf) -> Self {
        for list in [&mut self.deny, &mut self.ask] {
            let more: Vec<Rule> = list.iter().filter_map(|rule| rule.followed(real)).collect();
            list.extend(more);
        }
        self
    }
}

impl Rule {
    fn followed(&self, real: &dyn Fn(&Path) -> PathBuf) -> Option<Self> {
        let pattern = self.content()?.path.pattern()?.followed(real)?;
        let mut rule = self.clone();
        rule.content.as_mut()?.path = PathContent::Pattern(Box::new(pattern));
        Some(rule)
    }
}
