//! What the commands of a call do, looked into before it is decided about.
//!
//! A value of its own, because looking may take longer than deciding and can be
//! done while hooks run.

use crate::claims::Subject;

/// The shell validator's reports on a call's commands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Study {
    reports: Vec<toolbay_shell::Report>,
}

impl Study {
    /// Looks at every command among the subjects.
    pub fn of(subjects: &[Subject]) -> Self {
        let reports = subjects
            .iter()
            .filter_map(|subject| match subject {
                Subject::Command(text) => Some(toolbay_shell::inspect(text)),
                Subject::Path(_) | Subject::Url(_) | Subject::Text(_) => None,
            })
            .collect();
        Self { reports }
    }

    /// Why a command of the call may change something, if one may.
    pub(crate) fn doubt(&self) -> Option<&str> {
        let doubtful = self.reports.iter().find(|report| !report.read_only)?;
        Some(
            doubtful
                .findings
                .first()
                .map_or("it is not known to only read", |finding| &finding.message),
        )
    }

    /// How many commands were looked at.
    pub(crate) fn len(&self) -> usize {
        self.reports.len()
    }
}
