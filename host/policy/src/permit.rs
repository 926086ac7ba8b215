//! The paper without which nothing acts.

use std::path::PathBuf;
use std::sync::Arc;

use crate::claims::Subject;
use crate::outside::Outside;
use crate::zones::{Zone, Zones};

/// What a permitted call may do to files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// No write reaches the disk, whatever the tool tries.
    ReadOnly,
    /// Writes reach only these files, and what lies in these folders.
    ReadWrite { zones: Zones },
}

/// Leave to run one call, once, with one input.
///
/// It carries the input it was given for, so that it cannot serve for another;
/// it is not `Clone`, and a call consumes it. Only this crate makes one.
#[derive(Debug)]
pub struct Permit {
    call_id: Arc<str>,
    tool: Arc<str>,
    input: Arc<str>,
    access: Access,
    extra_reads: Zones,
    scripts: Vec<String>,
    reason: String,
    outside: Outside,
}

impl Permit {
    pub(crate) fn mint(
        call_id: Arc<str>,
        tool: Arc<str>,
        input: Arc<str>,
        access: Access,
        extra_reads: Zones,
        scripts: Vec<String>,
        reason: String,
    ) -> Self {
        Self {
            call_id,
            tool,
            input,
            access,
            extra_reads,
            scripts,
            reason,
            outside: Outside::Nothing,
        }
    }

    pub(crate) fn letting_out(self, outside: Outside) -> Self {
        Self { outside, ..self }
    }

    pub(crate) fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    pub(crate) fn because(self, reason: String) -> Self {
        Self { reason, ..self }
    }

    pub fn call_id(&self) -> &Arc<str> {
        &self.call_id
    }

    pub fn tool(&self) -> &Arc<str> {
        &self.tool
    }

    /// The JSON text that was decided about.
    pub fn input(&self) -> &Arc<str> {
        &self.input
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// What this call may read outside the roots.
    pub fn extra_reads(&self) -> &Zones {
        &self.extra_reads
    }

    /// The scripts that were decided about with the call: these run without another decision.
    pub fn scripts(&self) -> &[String] {
        &self.scripts
    }

    /// What it may run outside the cage.
    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// Why the call may run, for people and the audit log.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Where a call with these subjects may write: the files and folders that it names, or the roots
/// if it names none.
pub(crate) fn zones(subjects: &[Subject], roots: &[PathBuf]) -> Zones {
    let named: Zones = named_zones(subjects).collect();
    match named.is_empty() {
        true => roots.iter().cloned().map(Zone::Folder).collect(),
        false => named,
    }
}

/// The paths that a call names, as zones.
pub(crate) fn named_zones(subjects: &[Subject]) -> impl Iterator<Item = Zone> {
    subjects.iter().filter_map(|subject| match subject {
        Subject::Path(path) => Some(Zone::File(path.clone())),
        Subject::Folder(path) => Some(Zone::Folder(path.clone())),
        Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => None,
    })
}
