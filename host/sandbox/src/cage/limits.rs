//! How much a caged command may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bounds for one command and everything that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall time; then everything is killed.
    pub time: Duration,
    /// Processes and threads at once. Builds start one for each core and thread pools in
    /// each; more than a thousand at once is a fork bomb.
    pub processes: u64,
    /// Bytes that one process may allocate. Reserved but unused address space is free:
    /// language runtimes reserve terabytes.
    pub process_memory: u64,
    /// Bytes that all processes may hold together.
    pub memory: u64,
    /// Bytes of the largest file that may be written.
    pub file_size: u64,
    /// Files that one process may have open.
    pub open_files: u64,
    /// Bytes in the private folders for temporary files; they are kept in memory.
    pub temporary: u64,
    /// Bytes that are passed on of standard output and standard error together.
    pub output: u64,
}

const GIB: u64 = 1 << 30;

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(120),
            processes: 1024,
            process_memory: 4 * GIB,
            memory: 8 * GIB,
            file_size: 4 * GIB,
            open_files: 4096,
            temporary: 2 * GIB,
            output: 16 << 20,
        }
    }
}
