//! `toolbay:host/files`: naming contents, and replacing files in one step.
//!
//! The work happens on a thread that may block: a file may be larger than
//! patience, and the call must still end when it is ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolbay_contract::{HostFailure, KillSwitch};

use super::unless_killed;
use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::files::{Expectation, Host, Overview, ReplaceError};
use crate::filesystem::{Fence, Located, ReplaceFailure, Sight, Survey};
use crate::state::State;

/// Work on less than this takes less time than handing it to another thread.
const AT_ONCE: u64 = 4 << 20;

impl State {
    /// The absolute path that a guest means.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        match &self.environment {
            Some(environment) => environment.working_directory.join(path),
            None => Path::new("/").join(path),
        }
    }

    async fn look_over(&mut self, path: &str) -> Result<Survey, HostError> {
        if self.kill.is_thrown() {
            return Err(HostError::Cancelled);
        }
        let Job {
            fence, path, seed, ..
        } = self.job(path);
        let sight = Sight::open(&fence, &path)?;
        let small = sight.bytes < AT_ONCE;
        let kill = self.kill.clone();
        let survey = move || sight.survey(seed, &|| kill.is_thrown());
        Ok(if small {
            survey()?
        } else {
            blocking(self.kill.clone(), survey).await?
        })
    }

    /// What the work needs, free of the store that it must not hold.
    fn job(&self, path: &str) -> Job {
        Job {
            fence: self.own_files().clone(),
            kill: self.kill.clone(),
            path: self.absolute(path),
            seed: self
                .environment
                .as_ref()
                .map_or(0, |environment| environment.session.seed()),
        }
    }
}

struct Job {
    fence: Arc<Fence>,
    kill: KillSwitch,
    path: PathBuf,
    seed: u64,
}

impl Job {
    fn replace(&self, content: &[u8], expect: &Expectation) -> Result<String, ReplaceError> {
        let located = Located::find(&self.fence, &self.path)
            .map_err(|reason| ReplaceError::Host(HostError::Denied(reason)))?;
        let expected = |current: Option<&str>| match (expect, current) {
            (Expectation::Anything, _) | (Expectation::Absent, None) => Ok(()),
            (Expectation::Absent, Some(_)) => Err("the file exists already".into()),
            (Expectation::Digest(_), None) => Err("the file does not exist any more".into()),
            (Expectation::Digest(wanted), Some(current)) if wanted == current => Ok(()),
            (Expectation::Digest(_), Some(_)) => {
                Err("the file has changed since it was last seen".into())
            }
        };
        let stopped = || self.kill.is_thrown();
        located
            .replace(&self.fence, content, self.seed, &stopped, expected)
            .map_err(|failure| match failure {
                ReplaceFailure::Unexpected(how) => ReplaceError::Unexpected(how),
                ReplaceFailure::Refused(why) => ReplaceError::Host(HostError::Denied(why)),
                ReplaceFailure::Failed(why) => ReplaceError::Host(HostError::Failed(why)),
            })
    }
}

impl Host for State {
    async fn digest(&mut self, path: String) -> wasmtime::Result<Result<String, HostError>> {
        Ok(self.look_over(&path).await.map(|survey| survey.digest))
    }

    async fn survey(&mut self, path: String) -> wasmtime::Result<Result<Overview, HostError>> {
        Ok(self.look_over(&path).await.map(|survey| Overview {
            digest: survey.digest,
            bytes: survey.bytes,
            lines: survey.lines,
        }))
    }

    async fn replace(
        &mut self,
        path: String,
        content: Vec<u8>,
        expect: Expectation,
    ) -> wasmtime::Result<Result<String, ReplaceError>> {
        if let Err(refused) = self.changing("files.replace") {
            return Ok(Err(ReplaceError::Host(refused.into())));
        }
        let job = self.job(&path);
        let work = move || Ok(job.replace(&content, &expect));
        Ok(match blocking(self.kill.clone(), work).await {
            Ok(done) => done,
            Err(failure) => Err(ReplaceError::Host(failure.into())),
        })
    }
}

/// Runs work on a thread that may block, and waits no longer than the call lives.
/// The work sees the same switch, and changes nothing once it is thrown.
async fn blocking<T: Send + 'static>(
    kill: KillSwitch,
    work: impl FnOnce() -> Result<T, HostFailure> + Send + 'static,
) -> Result<T, HostFailure> {
    let running = tokio::task::spawn_blocking(work);
    unless_killed(kill, async {
        match running.await {
            Ok(done) => done,
            Err(error) => Err(HostFailure::Failed(format!("the work broke: {error}"))),
        }
    })
    .await
}
