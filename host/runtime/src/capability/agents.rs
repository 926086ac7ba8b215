//! `toolbay:host/agents`: agents below this one.

use std::sync::Arc;

use toolbay_contract::{AgentBrief, Agents, CallEnvironment, HostFailure};

use super::unless_killed;
use crate::bindings::toolbay::host::agents::{Brief, Host};
use crate::bindings::toolbay::host::errors::HostError;
use crate::state::{Grade, State};

fn agents_of(environment: &CallEnvironment) -> Result<Arc<dyn Agents>, HostFailure> {
    environment
        .powers
        .agents
        .clone()
        .ok_or_else(|| HostFailure::Unavailable("this session has no agents".into()))
}

impl Host for State {
    async fn spawn(&mut self, brief: Brief) -> wasmtime::Result<Result<String, HostError>> {
        let agents = match self.acting("agents.spawn").and_then(agents_of) {
            Ok(agents) => agents,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let brief = AgentBrief {
            kind: brief.kind,
            prompt: brief.prompt,
            model: brief.model,
            tools: brief.tools,
            max_turns: brief.max_turns,
            read_only: self.grade == Grade::ActReadOnly,
        };
        let id = unless_killed(self.kill.clone(), agents.spawn(brief)).await;
        Ok(id.map_err(Into::into))
    }

    async fn wait(&mut self, id: String) -> wasmtime::Result<Result<String, HostError>> {
        let agents = match self.acting("agents.wait").and_then(agents_of) {
            Ok(agents) => agents,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let last = unless_killed(self.kill.clone(), agents.wait(id)).await;
        Ok(last.map_err(Into::into))
    }
}
