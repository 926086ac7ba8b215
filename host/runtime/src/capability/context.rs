//! `toolbay:host/context`: the call in hand.

use std::time::SystemTime;

use toolbay_contract::{LogLevel, Progress};

use crate::bindings::toolbay::host::context::{Host, Level, Update};
use crate::state::{Grade, State};

/// The time that a component sees while it is being asked: always the same, so
/// that the same question has the same answer.
pub(crate) const FROZEN_NOW_MS: u64 = 1_700_000_000_000;

const MAX_RANDOM: u32 = 4096;

impl Host for State {
    fn call_id(&mut self) -> wasmtime::Result<String> {
        Ok(self.call_id.to_string())
    }

    fn working_directory(&mut self) -> wasmtime::Result<String> {
        Ok(match &self.environment {
            Some(environment) => environment.working_directory.to_string_lossy().into_owned(),
            None => "/".into(),
        })
    }

    fn roots(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self
            .fence
            .roots()
            .iter()
            .map(|root| root.to_string_lossy().into_owned())
            .collect())
    }

    fn report(&mut self, update: Update) -> wasmtime::Result<()> {
        if self.grade == Grade::Inspect {
            return Ok(());
        }
        let progress = match update {
            Update::Text(text) => Progress::Text(text),
            Update::Output(bytes) => Progress::Output(bytes),
            Update::Percent(percent) => Progress::Percent(percent.min(100)),
            Update::Custom((kind, json)) => Progress::Custom { kind, json },
        };
        self.show(progress);
        Ok(())
    }

    fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        let (word, level) = match level {
            Level::Debug => ("debug", LogLevel::Debug),
            Level::Info => ("info", LogLevel::Info),
            Level::Warn => ("warn", LogLevel::Warn),
            Level::Error => ("error", LogLevel::Error),
        };
        self.log.append(format!("{word}: {message}\n").as_bytes());
        if self.grade != Grade::Inspect {
            let text = message;
            self.show(Progress::Log { level, text });
        }
        Ok(())
    }

    fn is_cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.kill.is_thrown())
    }

    fn now_ms(&mut self) -> wasmtime::Result<u64> {
        if self.grade == Grade::Inspect {
            return Ok(FROZEN_NOW_MS);
        }
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn random_bytes(&mut self, count: u32) -> wasmtime::Result<Vec<u8>> {
        let mut bytes = vec![0; count.min(MAX_RANDOM) as usize];
        if self.grade != Grade::Inspect {
            getrandom::fill(&mut bytes)
                .map_err(|error| wasmtime::format_err!("no randomness: {error}"))?;
        }
        Ok(bytes)
    }
}

impl State {
    /// Shows something while the call runs, within what one call may show. Its log has a budget
    /// of its own: a tool that logs much still shows how far it is.
    fn show(&mut self, progress: Progress) {
        let Some(environment) = &self.environment else {
            return;
        };
        let is_log = matches!(progress, Progress::Log { .. });
        let (spent, most_bytes) = match is_log {
            true => (&mut self.logged, self.limits.log_bytes),
            false => (&mut self.progress, self.limits.progress_bytes),
        };
        spent.events += 1;
        spent.bytes += size(&progress);
        let over = spent.events > self.limits.progress_events || spent.bytes > most_bytes;
        if !over {
            (environment.progress)(&self.call_id, progress);
        } else if !spent.told && !is_log {
            spent.told = true;
            (environment.progress)(&self.call_id, Progress::Dropped);
        }
    }
}

fn size(progress: &Progress) -> u64 {
    let size = match progress {
        Progress::Text(text) => text.len(),
        Progress::Output(bytes) => bytes.len(),
        Progress::Percent(_) | Progress::Dropped => 1,
        Progress::Custom { kind, json } => kind.len() + json.len(),
        Progress::Log { text, .. } => text.len(),
    };
    size as u64
}
