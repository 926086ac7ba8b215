//! Where the rules of an answer would be kept, as people are told.

use std::path::{Path, PathBuf};

use toolbay::dispatch::RuleScope;

use toolbay::Places;
use toolbay::settings_file::settings_file_of;

/// The settings file of each scope that has one.
#[derive(Debug, Clone, Default)]
pub struct SavedIn {
    files: Vec<(RuleScope, PathBuf)>,
}

impl SavedIn {
    pub fn of(project: &Path, places: &Places) -> Self {
        let file = |scope| Some((scope, settings_file_of(scope, project, places)?));
        Self {
            files: RuleScope::ALL.into_iter().filter_map(file).collect(),
        }
    }

    /// Where, and for how long or whom.
    pub(super) fn place(&self, scope: RuleScope) -> String {
        let file = self.files.iter().find(|(known, _)| *known == scope);
        match (scope, file) {
            (RuleScope::Session, _) => "no file: until toolbay ends".into(),
            (_, Some((_, file))) => file.display().to_string(),
            (RuleScope::Local, None) => "your settings for this project".into(),
            (RuleScope::Project, None) => "the settings of this project".into(),
            (RuleScope::User, None) => "your settings for all projects".into(),
        }
    }
}
