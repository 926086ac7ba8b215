//! What the commands of a call do, looked into before it is decided about.
//!
//! A value of its own, because looking may take longer than deciding and can be
//! done while hooks run.

use toolbay_shell::{Place, Report};

use crate::claims::Subject;

/// The shell validator's reports on a call's commands, each with its script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Study {
    reports: Vec<(String, Report)>,
}

impl Study {
    /// Looks at every command among the subjects, as if run in this place.
    pub fn of(subjects: &[Subject], place: &Place) -> Self {
        let reports = subjects
            .iter()
            .filter_map(|subject| match subject {
                Subject::Command(text) => Some((text.clone(), toolbay_shell::inspect(text, place))),
                Subject::Path(_) | Subject::Url(_) | Subject::Text(_) => None,
            })
            .collect();
        Self { reports }
    }

    /// The report on a script that is among the subjects.
    pub(crate) fn on(&self, script: &str) -> Option<&Report> {
        self.reports
            .iter()
            .find(|(text, _)| text == script)
            .map(|(_, report)| report)
    }

    /// Whether all commands of the subjects were looked at.
    pub(crate) fn covers(&self, subjects: &[Subject]) -> bool {
        subjects.iter().all(|subject| match subject {
            Subject::Command(text) => self.on(text).is_some(),
            Subject::Path(_) | Subject::Url(_) | Subject::Text(_) => true,
        })
    }

    /// Why a command of the call may change something or look outside, if one may.
    pub(crate) fn doubt(&self) -> Option<&str> {
        let (_, doubtful) = self
            .reports
            .iter()
            .find(|(_, report)| !report.read_only())?;
        Some(
            doubtful
                .findings
                .first()
                .map_or("it is not known to only read", |finding| &finding.message),
        )
    }

    /// Why a person must be asked whatever the rules say.
    pub(crate) fn always_asks(&self) -> Option<&str> {
        self.reports
            .iter()
            .find_map(|(_, report)| report.always_asks())
            .map(|finding| finding.message.as_str())
    }

    /// Whether something runs that no rule can name.
    pub(crate) fn is_opaque(&self) -> bool {
        self.reports.iter().any(|(_, report)| report.is_opaque)
    }
}
