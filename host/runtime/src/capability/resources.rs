//! `toolbay:host/resources`: what servers offer to be read.

use std::sync::Arc;

use toolbay_contract::{
    CallEnvironment, HostFailure, Resource, ResourceBody, ResourcePart, Resources,
};

use super::unless_killed;
use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::resources::{Body, Entry, Host, Part};
use crate::state::State;

fn resources_of(environment: &CallEnvironment) -> Result<Arc<dyn Resources>, HostFailure> {
    let lent = environment.powers.resources.clone();
    lent.ok_or_else(|| HostFailure::Unavailable("this session has no MCP servers".into()))
}

impl Host for State {
    async fn entries(
        &mut self,
        server: Option<String>,
    ) -> wasmtime::Result<Result<Vec<Entry>, HostError>> {
        let resources = match self.acting("resources.entries").and_then(resources_of) {
            Ok(resources) => resources,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let listed = unless_killed(self.kill.clone(), resources.list(server)).await;
        Ok(listed
            .map(|all| all.into_iter().map(entry).collect())
            .map_err(Into::into))
    }

    async fn read(
        &mut self,
        server: String,
        uri: String,
    ) -> wasmtime::Result<Result<Vec<Part>, HostError>> {
        let resources = match self.changing("resources.read").and_then(resources_of) {
            Ok(resources) => resources,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let read = unless_killed(self.kill.clone(), resources.read(server, uri)).await;
        Ok(read
            .map(|all| all.into_iter().map(part).collect())
            .map_err(Into::into))
    }
}

fn entry(resource: Resource) -> Entry {
    Entry {
        server: resource.server,
        uri: resource.uri,
        name: resource.name,
        description: resource.description,
        mime: resource.mime,
    }
}

fn part(part: ResourcePart) -> Part {
    Part {
        uri: part.uri,
        mime: part.mime,
        body: match part.body {
            ResourceBody::Text(text) => Body::Text(text),
            ResourceBody::Bytes(bytes) => Body::Bytes(bytes),
        },
    }
}
