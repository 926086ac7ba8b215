//! Settings of the cage, and of how commands run in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use toolbay_policy::Source;

use super::Settings;
use super::raw::RawSandbox;

impl Settings {
    /// Takes over what a file says that may loosen. Paths in it start from its folder.
    pub(super) fn take_sandbox(
        &mut self,
        raw: RawSandbox,
        source: Source,
        folder: &Path,
    ) -> anyhow::Result<()> {
        self.take_exits(&raw, source)?;
        if let (Some(shell), None) = (raw.shell, self.shell) {
            self.shell = Some(shell);
            self.sandbox.shell = shell;
        }
        let home = self.home.clone();
        let real = |path: PathBuf| match (path.strip_prefix("~"), &home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => folder.join(path),
        };
        let all = |paths: Vec<PathBuf>| paths.into_iter().map(real).collect::<Vec<_>>();
        // The owner's forced cage is a full one, whatever others would accept.
        self.sandbox.degraded_will_do |= raw.degraded && !self.managed.forced_sandbox;
        self.sandbox.git_writes |= raw.git_writes;
        self.sandbox.denied_hosts.extend(raw.denied_hosts);
        for host in raw.allowed_hosts {
            self.allow_host(host);
        }
        self.sandbox.allow_write.extend(all(raw.allow_write));
        self.sandbox.allow_read.extend(all(raw.allow_read));
        self.sandbox.deny_read.extend(all(raw.deny_read));
        if let (Some(seconds), None) = (raw.background_after, self.sandbox.background_after) {
            let after = Duration::try_from_secs_f64(seconds).with_context(|| {
                format!(
                    "`sandbox.backgroundAfter` is a number of seconds, 0 for never; got {seconds}"
                )
            })?;
            self.sandbox.background_after = Some(after);
        }
        Ok(())
    }

    /// What lets commands out of the cage. Not even a project that is trusted has a say: it is
    /// trusted with its own files, and outside there is everything else.
    fn take_exits(&mut self, raw: &RawSandbox, source: Source) -> anyhow::Result<()> {
        if raw.allow_unsandboxed.is_none() && raw.excluded_commands.is_empty() {
            return Ok(());
        }
        let file = self.sources.last().map(|file| file.display().to_string());
        let file = file.unwrap_or_default();
        let why_not = match source {
            Source::Local | Source::Project => Some(
                "what leaves the cage is not for a project to say; write it into your own settings",
            ),
            Source::Managed if self.managed.forced_sandbox => None,
            _ if self.managed.forced_sandbox => {
                Some("the managed policy runs commands in a cage or not at all")
            }
            Source::Managed
            | Source::Flags
            | Source::Session
            | Source::CommandLine
            | Source::User => None,
        };
        if let Some(why) = why_not {
            // To forbid is everybody's right.
            if source == Source::Local || source == Source::Project {
                let wish = raw.allow_unsandboxed.filter(|allowed| !allowed);
                self.unsandboxed = self.unsandboxed.or(wish);
            }
            let loosens = raw.allow_unsandboxed == Some(true) || !raw.excluded_commands.is_empty();
            if loosens {
                self.problems.push(format!(
                    "{file}: its `sandbox.allowUnsandboxed` and `sandbox.excludedCommands` do not \
                     count: {why}"
                ));
            }
            return Ok(());
        }
        self.unsandboxed = self.unsandboxed.or(raw.allow_unsandboxed);
        for pattern in &raw.excluded_commands {
            self.exits
                .exclude(pattern)
                .context("`sandbox.excludedCommands`")?;
        }
        Ok(())
    }

    /// A host that the owner of the machine has not on its list stays out of reach.
    fn allow_host(&mut self, host: String) {
        match self.managed.permits_host_line(&host) {
            Ok(()) => self.sandbox.allowed_hosts.push(host),
            Err(refusal) => {
                let file = self.sources.last().map(|file| file.display().to_string());
                let file = file.unwrap_or_default();
                self.problems.push(format!("{file}: {refusal}"));
            }
        }
    }
}
