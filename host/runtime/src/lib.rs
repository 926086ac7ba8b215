//! The only crate that knows wasmtime.
//!
//! It makes tools of components: finds out who they are without compiling them,
//! compiles each once, runs every phase of every call in a fresh instance that
//! holds exactly the powers that phase, claim and permit give it, and ends what
//! does not end by itself.
//!
//! What is deliberately absent: instances that live longer than their call,
//! ambient file or network access, and any knowledge of what a tool is called.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bindings;
mod bounds;
mod cache;
mod capability;
mod clock;
mod compiler;
mod convert;
pub mod engine;
mod filesystem;
mod gate;
mod json;
mod limits;
mod link;
mod load;
mod log;
mod manifest;
mod plugin;
mod reach;
mod refuse;
mod runtime;
pub mod search;
pub mod sections;
mod state;
mod supervise;
mod ticker;

pub use bounds::BoundsError;
pub use cache::{Cache, CacheError, DEFAULT_MAX_BYTES};
pub use compiler::{ComponentCompiler, MAX_COMPILED, compile_component};
pub use limits::Limits;
pub use load::{MAX_COMPONENT, Source, digest};
pub use manifest::{Manifest, ManifestError, ManifestRequest};
pub use plugin::{Facts, Plugin};
pub use reach::ruled_out;
pub use runtime::{CompileNotice, OnCompile, Runtime, RuntimeOptions};
