//! Hooks that run in a cage: those of a project, and those of which the user wants it so.
//!
//! They write in the project and nowhere else, and what rules close is closed to them, as it is to the
//! commands of the session.

use std::fmt;
use std::sync::Arc;

use toolbay_contract::{BoxFuture, CommandRun, OnOutput, visible_line};
use toolbay_dispatch::hooks::HookCage;
use toolbay_policy::{Access, PathRules, Zone, Zones};
use toolbay_sandbox::cage::{
    Command, GitAccess, How as CagedHow, Limits, Profile, Programs, Stream, Streams,
};
use toolbay_sandbox::process::{Ended, How, Script};

use super::Caged;

/// Runs them in the cage of the session's commands.
pub struct CagedHooks(Arc<Caged>);

impl CagedHooks {
    pub fn new(caged: Arc<Caged>) -> Self {
        Self(caged)
    }

    async fn ended(&self, script: Script, rules: Arc<PathRules>) -> Result<Ended, String> {
        let caged = &self.0;
        let enclosure = caged.enclosure().await;
        let enclosure = enclosure.map_err(|error| error.to_string())?;
        let roots = caged.setting.roots.iter().cloned().map(Zone::Folder);
        let run = CommandRun {
            script: script.text.clone(),
            cwd: Some(script.cwd.clone()),
            timeout: None,
            sandboxed: true,
            access: Access::ReadWrite {
                zones: Zones::new(roots.collect()),
            },
            path_rules: rules,
            on_output: OnOutput(Arc::new(|_| {})),
        };
        let enclosure = caged.closing(enclosure, &run).await;
        let enclosure = enclosure.map_err(|error| error.to_string())?;
        let hosts = caged.hosts(false).map_err(|error| error.to_string())?;
        let command = Command {
            arguments: ["/bin/sh", "-c", &script.text].map(Into::into).into(),
            folder: script.cwd,
            environment: script.env,
            profile: Profile::Workspace {
                git: GitAccess::ReadOnly,
            },
            programs: Programs::Any,
            hosts,
            limits: Limits {
                time: script.time,
                // Both outputs together.
                output: 2 * script.max_output as u64,
                ..Limits::default()
            },
            streams: Streams::Apart,
        };
        let (mut stdout, mut stderr, mut is_cut) = (Vec::new(), Vec::new(), false);
        let mut take = |stream, bytes: &[u8]| {
            let kept = match stream {
                Stream::Output => &mut stdout,
                Stream::Errors => &mut stderr,
            };
            let room = script.max_output - kept.len();
            is_cut |= bytes.len() > room;
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        };
        let ended = enclosure.run_fed(&command, &script.stdin, &mut take).await;
        let ended = ended.map_err(|error| error.to_string())?;
        let refused = ended.refused.iter().take(3);
        let refused: Vec<String> = refused
            .map(|one| format!("\nthe cage refused: {}", visible_line(one)))
            .collect();
        stderr.extend_from_slice(refused.concat().as_bytes());
        Ok(Ended {
            how: match ended.how {
                CagedHow::Exit(code) => How::Exit(code),
                CagedHow::Signal(signal) => How::Signal(signal),
                CagedHow::TimedOut => How::TimedOut,
                CagedHow::Flooded => How::Flooded,
                CagedHow::OutOfMemory => return Err("it used too much memory".into()),
                CagedHow::TooManyProcesses => return Err("it started too many processes".into()),
            },
            stdout,
            stderr,
            truncated: ended.truncated || is_cut,
            // Whatever it started ends with it, so that there is nothing more to come.
            held_open: false,
        })
    }
}

impl fmt::Debug for CagedHooks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("CagedHooks")
    }
}

impl HookCage for CagedHooks {
    fn run(&self, script: Script, rules: Arc<PathRules>) -> BoxFuture<'_, Result<Ended, String>> {
        Box::pin(self.ended(script, rules))
    }
}
