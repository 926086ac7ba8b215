//! From a `tool_use` block to a `tool_result`.
//!
//! One way down for every call, whatever tool it names: look the tool up, ask for
//! its claims, let it validate the input, decide, run, map. `run` never fails: a
//! failure is a result that says so. Nothing here knows a tool by name.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod approve;
mod lifecycle;
mod registry;
mod result;
mod subjects;

pub use approve::{Answer, Approver, Nobody, PermissionQuestion};
pub use lifecycle::{Dispatch, Setting};
pub use registry::{Found, Registry, RegistryError};
pub use result::ToolResult;
pub use subjects::real_path;
