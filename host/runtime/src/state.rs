//! What a store carries: the powers of one instance, visible in one struct.

use std::sync::{Arc, OnceLock};

use toolbay_contract::{AuditEvent, CallEnvironment, HostFailure, KillSwitch};
use toolbay_policy::{Access, Capability, Outside};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::capability::SearchNotes;
use crate::clock::CallClock;
use crate::filesystem::{Fence, FilesystemView};
use crate::gate::{CapabilityGate, capability_of};
use crate::limits::{Limits, Meter};
use crate::log::Log;

/// How much an instance may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    /// Answers questions.
    Inspect,
    /// Acts, after claiming to be read-only.
    ActReadOnly,
    /// Acts with a permit to change things.
    Act,
}

/// All powers of one instance.
pub(crate) struct State {
    pub(crate) wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) meter: Meter,
    /// Where the call may read and write.
    pub(crate) fence: Arc<Fence>,
    /// The same for what the component opens itself. Made when it first does: most calls never do.
    pub(crate) files: OnceLock<Arc<Fence>>,
    pub(crate) gate: Arc<CapabilityGate>,
    pub(crate) log: Arc<Log>,
    pub(crate) grade: Grade,
    pub(crate) plugin: Arc<str>,
    pub(crate) call_id: Arc<str>,
    pub(crate) kill: KillSwitch,
    pub(crate) limits: Limits,
    pub(crate) progress: Spent,
    pub(crate) logged: Spent,
    pub(crate) grant: Grant,
    /// Stands still while a user is asked.
    pub(crate) clock: Arc<CallClock>,
    /// Where the last script of this call ended.
    pub(crate) script_folder: Option<String>,
    /// What the searches of this call left out.
    pub(crate) search_notes: SearchNotes,
    /// The session around the call; none for questions that need no session.
    pub(crate) environment: Option<CallEnvironment>,
}

/// What the permit of the call says beyond files; nothing for one that is only being asked.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    pub(crate) access: Access,
    /// Scripts that were decided about with the call.
    pub(crate) scripts: Vec<String>,
    /// Those that may leave the cage.
    pub(crate) outside: Outside,
}

impl Default for Grant {
    fn default() -> Self {
        Self {
            access: Access::ReadOnly,
            scripts: Vec::new(),
            outside: Outside::Nothing,
        }
    }
}

/// What was spent of a budget.
#[derive(Default)]
pub(crate) struct Spent {
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) told: bool,
}

impl State {
    /// Says no to a power, and tells the audit log.
    pub(crate) fn refuse(&self, power: &str, detail: impl Into<String>) -> HostFailure {
        let detail = detail.into();
        if let Some(environment) = &self.environment {
            environment.audit.note(AuditEvent::PowerRefused {
                plugin: self.plugin.to_string(),
                call_id: self.call_id.to_string(),
                power: power.to_owned(),
                detail: detail.clone(),
                path: None,
            });
        }
        HostFailure::Denied(format!("{power}: {detail}"))
    }

    /// The session around the call, for what every phase that has one may look at.
    pub(crate) fn looking(&self, power: &str) -> Result<&CallEnvironment, HostFailure> {
        if self.kill.is_thrown() {
            return Err(HostFailure::Cancelled);
        }
        self.environment
            .as_ref()
            .ok_or_else(|| self.refuse(power, "this question is asked without a session"))
    }

    /// The session around the call, unless the call is ending or the power is not
    /// for this grade.
    pub(crate) fn acting(&self, power: &str) -> Result<&CallEnvironment, HostFailure> {
        if self.kill.is_thrown() {
            return Err(HostFailure::Cancelled);
        }
        if let Some(capability) = capability_of(power).filter(|one| !self.gate.lends(*one)) {
            let why = format!("the component was not granted `{capability}`");
            return Err(self.refuse(power, why));
        }
        match (self.grade, &self.environment) {
            (Grade::ActReadOnly | Grade::Act, Some(environment)) => Ok(environment),
            (Grade::Inspect | Grade::ActReadOnly | Grade::Act, _) => {
                Err(self.refuse(power, "not while the call is only being looked at"))
            }
        }
    }

    /// Like [`State::acting`], for what changes something.
    pub(crate) fn changing(&self, power: &str) -> Result<&CallEnvironment, HostFailure> {
        let environment = self.acting(power)?;
        match self.grade {
            Grade::Act => Ok(environment),
            Grade::Inspect | Grade::ActReadOnly => {
                Err(self.refuse(power, "the call claimed to be read-only"))
            }
        }
    }

    pub(crate) fn filesystem(&mut self) -> FilesystemView<'_> {
        FilesystemView {
            fence: self
                .files
                .get_or_init(|| own_files(&self.fence, &self.gate)),
            table: &mut self.table,
        }
    }

    /// Where the component itself may open files; nowhere if it was not granted files.
    pub(crate) fn own_files(&self) -> &Arc<Fence> {
        self.files
            .get_or_init(|| own_files(&self.fence, &self.gate))
    }
}

fn own_files(fence: &Arc<Fence>, gate: &Arc<CapabilityGate>) -> Arc<Fence> {
    match gate.has(Capability::Files) {
        true => fence.clone(),
        false => Arc::new(fence.closed_by(gate.clone())),
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}
