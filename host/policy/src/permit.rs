//! The paper without which nothing acts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::outside::Outside;

/// What a permitted call may do to files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// No write reaches the disk, whatever the tool tries.
    ReadOnly,
    /// Writes reach only what lies in these folders.
    ReadWrite { zones: Vec<PathBuf> },
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
    extra_reads: Vec<PathBuf>,
    reason: String,
    outside: Outside,
}

impl Permit {
    pub(crate) fn mint(
        call_id: Arc<str>,
        tool: Arc<str>,
        input: Arc<str>,
        access: Access,
        extra_reads: Vec<PathBuf>,
        reason: String,
    ) -> Self {
        Self {
            call_id,
            tool,
            input,
            access,
            extra_reads,
            reason,
            outside: Outside::Nothing,
        }
    }

    pub(crate) fn letting_out(self, outside: Outside) -> Self {
        Self { outside, ..self }
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

    /// Paths outside the roots that this call may read.
    pub fn extra_reads(&self) -> &[PathBuf] {
        &self.extra_reads
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

/// The folders in which a call that names these paths may write: a file's
/// folder, or the roots when it names none.
pub(crate) fn zones(paths: &[&Path], roots: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() {
        return roots.to_vec();
    }
    let mut zones: Vec<PathBuf> = paths
        .iter()
        .map(|path| path.parent().unwrap_or(path).to_path_buf())
        .collect();
    zones.sort();
    zones.dedup();
    zones
}
