//! The powers of `toolbay:host`, a file each.
//!
//! Every function starts by asking the state whether this instance may: the
//! grade (inspect, read-only, act) decides, and a refusal is an error to the
//! guest and an event in the audit log.

mod agents;
mod ask_user;
mod context;
pub(crate) use context::FROZEN_NOW_MS;
mod files;
mod resources;
mod search;
pub(crate) use search::SearchNotes;
mod session;
mod shell;
mod skills;
mod tasks;
mod tools;

use toolbay_contract::HostFailure;
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::toolbay::host;
use crate::state::State;

pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    host::context::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::session::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::files::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::search::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::shell::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::ask_user::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::tasks::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::agents::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::tools::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::resources::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    host::skills::add_to_linker::<_, HasSelf<State>>(linker, |state| state)?;
    Ok(())
}

impl host::errors::Host for State {}

impl From<HostFailure> for host::errors::HostError {
    fn from(failure: HostFailure) -> Self {
        match failure {
            HostFailure::Denied(reason) => Self::Denied(reason),
            HostFailure::Cancelled => Self::Cancelled,
            HostFailure::TimedOut => Self::TimedOut,
            HostFailure::TooLarge(bytes) => Self::TooLarge(bytes),
            HostFailure::Unavailable(what) => Self::Unavailable(what),
            HostFailure::Failed(message) => Self::Failed(message),
        }
    }
}

/// Waits for a power, and answers `cancelled` as soon as the call is ended.
async fn unless_killed<T>(
    kill: toolbay_contract::KillSwitch,
    work: impl Future<Output = Result<T, HostFailure>>,
) -> Result<T, HostFailure> {
    tokio::select! {
        biased;
        done = work => done,
        () = kill.thrown() => Err(HostFailure::Cancelled),
    }
}
