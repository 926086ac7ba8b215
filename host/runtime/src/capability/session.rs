//! `toolbay:host/session`: state that outlives a call.

use std::path::Path;

use toolbay_contract::{HostFailure, Session};

use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::session::{Host, SeenFile};
use crate::state::State;

impl Host for State {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        Ok(self
            .environment
            .as_ref()
            .and_then(|environment| environment.session.get(&self.plugin, &key)))
    }

    fn put(&mut self, key: String, value: String) -> wasmtime::Result<Result<(), HostError>> {
        let done = self.changing("session.put").and_then(|environment| {
            environment
                .session
                .put(&self.plugin, key, value)
                .map_err(|total| {
                    HostFailure::Failed(format!(
                        "the plugin would keep {total} bytes in this session; at most {} are allowed",
                        Session::MAX_BYTES_PER_PLUGIN
                    ))
                })
        });
        Ok(done.map_err(Into::into))
    }

    fn seen(&mut self, path: String) -> wasmtime::Result<Option<SeenFile>> {
        let Some(environment) = &self.environment else {
            return Ok(None);
        };
        let seen = environment.session.seen(Path::new(&path));
        Ok(seen.map(|file| SeenFile {
            digest: file.digest,
            whole: file.whole,
            shown: file.shown,
        }))
    }
}
