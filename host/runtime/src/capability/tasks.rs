//! `toolbay:host/tasks`: background work.

use std::sync::Arc;
use std::time::Duration;

use toolbay_contract::{CallEnvironment, HostFailure, TaskEntry, TaskState, Tasks};

use super::unless_killed;
use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::tasks::{Entry, Host, Snapshot, State as WireState};
use crate::state::State;

fn tasks_of(environment: &CallEnvironment) -> Result<Arc<dyn Tasks>, HostFailure> {
    environment
        .powers
        .tasks
        .clone()
        .ok_or_else(|| HostFailure::Unavailable("this session has no background tasks".into()))
}

fn wire(state: TaskState) -> WireState {
    match state {
        TaskState::Running => WireState::Running,
        TaskState::Done => WireState::Done,
        TaskState::Failed => WireState::Failed,
        TaskState::Stopped => WireState::Stopped,
    }
}

fn entry(task: TaskEntry) -> Entry {
    Entry {
        id: task.id,
        title: task.title,
        state: wire(task.state),
        age_ms: u64::try_from(task.age.as_millis()).unwrap_or(u64::MAX),
        bytes: task.bytes,
        // What is no text no guest could name.
        file: task
            .file
            .and_then(|path| path.into_os_string().into_string().ok()),
    }
}

impl Host for State {
    fn list(&mut self) -> wasmtime::Result<Result<Vec<Entry>, HostError>> {
        let found = self.acting("tasks.list").and_then(tasks_of);
        let listed = found.and_then(|tasks| tasks.list());
        Ok(listed
            .map(|tasks| tasks.into_iter().map(entry).collect())
            .map_err(Into::into))
    }

    async fn read(
        &mut self,
        id: String,
        wait_ms: u32,
    ) -> wasmtime::Result<Result<Snapshot, HostError>> {
        let tasks = match self.acting("tasks.read").and_then(tasks_of) {
            Ok(tasks) => tasks,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let wait = Duration::from_millis(wait_ms.into());
        let snapshot = unless_killed(self.kill.clone(), tasks.read(id, wait)).await;
        Ok(snapshot
            .map(|snapshot| Snapshot {
                id: snapshot.id,
                state: wire(snapshot.state),
                output: snapshot.output,
            })
            .map_err(Into::into))
    }

    async fn stop(&mut self, id: String) -> wasmtime::Result<Result<(), HostError>> {
        let tasks = match self.changing("tasks.stop").and_then(tasks_of) {
            Ok(tasks) => tasks,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let done = unless_killed(self.kill.clone(), tasks.stop(id)).await;
        Ok(done.map_err(Into::into))
    }
}
