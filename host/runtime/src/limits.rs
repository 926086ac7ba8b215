//! What one instance may use, and who counts it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::{MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_MEMORY, MAX_TABLES};

/// Limits of one plugin. Each has a default; settings and the plugin's manifest
/// may name others, a manifest only lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of all memories of the component together.
    pub memory_bytes: u64,
    /// Elements of all tables together.
    pub table_elements: u64,
    /// Milliseconds for each question of the inspect phase.
    pub inspect_ms: u64,
    /// Milliseconds for a call.
    pub call_ms: u64,
    /// Bytes of a result.
    pub output_bytes: u64,
    /// Bytes of log text in one call.
    pub log_bytes: u64,
    /// Bytes of progress in one call.
    pub progress_bytes: u64,
    /// Progress events in one call.
    pub progress_events: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Interpreters start at 20 to 50 MiB; an image decoder needs 100.
            memory_bytes: 256 << 20,
            table_elements: 100_000,
            // A question is answered in microseconds; a slow machine may take more.
            inspect_ms: 1_000,
            // The longest that a tool may take by the seeds' table.
            call_ms: 600_000,
            output_bytes: 16 << 20,
            log_bytes: 64 << 10,
            progress_bytes: 1 << 20,
            progress_events: 10_000,
        }
    }
}

impl Limits {
    /// The lower of each.
    pub fn at_most(self, other: Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            table_elements: self.table_elements.min(other.table_elements),
            inspect_ms: self.inspect_ms.min(other.inspect_ms),
            call_ms: self.call_ms.min(other.call_ms),
            output_bytes: self.output_bytes.min(other.output_bytes),
            log_bytes: self.log_bytes.min(other.log_bytes),
            progress_bytes: self.progress_bytes.min(other.progress_bytes),
            progress_events: self.progress_events.min(other.progress_events),
        }
    }

    pub(crate) fn inspect_time(&self) -> Duration {
        Duration::from_millis(self.inspect_ms)
    }

    pub(crate) fn call_time(&self) -> Duration {
        Duration::from_millis(self.call_ms)
    }
}

/// Counts what the instances of one store take together.
pub(crate) struct Meter {
    limits: Limits,
    memory: u64,
    elements: u64,
    /// The limit that was hit, for the sentence that explains the trap after it.
    pub(crate) hit: Option<String>,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            memory: 0,
            elements: 0,
            hit: None,
        }
    }
}

impl wasmtime::ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.memory + desired.saturating_sub(current) as u64;
        let limit = self.limits.memory_bytes.min(MAX_MEMORY as u64);
        if total > limit {
            self.hit = Some(format!(
                "it wanted {} MiB of memory and may have {} MiB",
                total >> 20,
                limit >> 20
            ));
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.elements + desired.saturating_sub(current) as u64;
        if total > self.limits.table_elements {
            self.hit = Some(format!(
                "it wanted {total} table elements and may have {}",
                self.limits.table_elements
            ));
            return Ok(false);
        }
        self.elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        MAX_CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::ResourceLimiter;

    use super::*;

    #[test]
    fn memories_are_counted_together() {
        let mut meter = Meter::new(Limits {
            memory_bytes: 10 << 20,
            ..Limits::default()
        });
        assert!(meter.memory_growing(0, 6 << 20, None).unwrap());
        assert!(!meter.memory_growing(0, 6 << 20, None).unwrap());
        assert!(meter.hit.as_deref().unwrap().contains("may have 10 MiB"));
        assert!(meter.memory_growing(6 << 20, 9 << 20, None).unwrap());
    }

    #[test]
    fn a_manifest_can_only_lower_limits() {
        let lower = Limits::default().at_most(Limits {
            memory_bytes: 1,
            call_ms: u64::MAX,
            ..Limits::default()
        });
        assert_eq!(lower.memory_bytes, 1);
        assert_eq!(lower.call_ms, Limits::default().call_ms);
    }
}
