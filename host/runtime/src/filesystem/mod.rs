//! `wasi:filesystem` of our own, on cap-std.
//!
//! The stock implementation cannot do three things that Toolbay promises: check
//! path rules on the *opened* file (so that no symlink, rename or race slips
//! past), decide reading and writing by where a file really lies (instead of by
//! the preopen through which it was reached), and tell the audit log of every
//! refusal. It also moves at most 64 KiB a call.
//!
//! How it holds: cap-std keeps every path below the directory handle it starts
//! from. What is opened is then asked for its real path, and the [`Fence`] says
//! whether this call may have it. Changes go through a handle of the *parent*
//! folder and a single name, so that what was checked is what is changed.
//!
//! Descriptors live in the store's resource table under the type names of the
//! stock bindings; only the payload is ours.

mod change;
mod descriptor;
mod fence;
mod host;
mod links;
mod moved;
mod native;
mod open;
mod real;
mod stat;
mod streams;
#[cfg(test)]
mod tests;

use wasmtime::component::{HasData, ResourceTable};

pub(crate) use fence::Fence;
pub(crate) use native::{Located, ReplaceFailure, Sight, Survey};
pub(crate) use real::path_of;

/// Marks the view through which the linker reaches this implementation.
pub(crate) struct Filesystem;

impl HasData for Filesystem {
    type Data<'a> = FilesystemView<'a>;
}

/// What the interface works on: the call's fence and the resource table.
pub(crate) struct FilesystemView<'a> {
    pub(crate) fence: &'a Fence,
    pub(crate) table: &'a mut ResourceTable,
}
