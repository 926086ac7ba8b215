//! `toolbay:host/files`: naming contents, and replacing files in one step.

use std::path::{Path, PathBuf};

use toolbay_contract::HostFailure;

use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::files::{Expectation, Host, ReplaceError};
use crate::filesystem::{Located, ReplaceFailure};
use crate::state::State;

impl State {
    /// The absolute path that a guest means.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        match &self.environment {
            Some(environment) => environment.working_directory.join(path),
            None => Path::new("/").join(path),
        }
    }

    fn seed(&self) -> u64 {
        self.environment
            .as_ref()
            .map_or(0, |environment| environment.session.seed())
    }
}

impl Host for State {
    fn digest(&mut self, path: String) -> wasmtime::Result<Result<String, HostError>> {
        if self.kill.is_thrown() {
            return Ok(Err(HostError::Cancelled));
        }
        let digest = Located::find(&self.fence, &self.absolute(&path))
            .map_err(HostError::Denied)
            .and_then(|located| {
                located
                    .digest(&self.fence, self.seed())
                    .map_err(HostError::Failed)
            });
        Ok(digest)
    }

    fn replace(
        &mut self,
        path: String,
        content: Vec<u8>,
        expect: Expectation,
    ) -> wasmtime::Result<Result<String, ReplaceError>> {
        if let Err(refused) = self.changing("files.replace") {
            return Ok(Err(ReplaceError::Host(refused.into())));
        }
        let located = match Located::find(&self.fence, &self.absolute(&path)) {
            Ok(located) => located,
            Err(reason) => {
                return Ok(Err(ReplaceError::Host(HostFailure::Denied(reason).into())));
            }
        };
        let expected = |current: Option<&str>| match (&expect, current) {
            (Expectation::Anything, _) | (Expectation::Absent, None) => Ok(()),
            (Expectation::Absent, Some(_)) => Err("the file exists already".into()),
            (Expectation::Digest(_), None) => Err("the file does not exist any more".into()),
            (Expectation::Digest(wanted), Some(current)) if wanted == current => Ok(()),
            (Expectation::Digest(_), Some(_)) => {
                Err("the file has changed since it was last seen".into())
            }
        };
        Ok(located
            .replace(&self.fence, &content, self.seed(), expected)
            .map_err(|failure| match failure {
                ReplaceFailure::Unexpected(how) => ReplaceError::Unexpected(how),
                ReplaceFailure::Refused(why) => ReplaceError::Host(HostError::Denied(why)),
                ReplaceFailure::Failed(why) => ReplaceError::Host(HostError::Failed(why)),
            }))
    }
}
