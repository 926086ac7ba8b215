//! Runs the hooks of one event, all at once.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::join_all;
use tokio::sync::Semaphore;
use toolbay_contract::KillReason;
use toolbay_sandbox::process::{self, Script};

use super::HookedCall;
use super::answer::{self, Answer};
use super::event::HookEvent;
use super::files::missing_script;
use super::message::name;
use super::pins;
use super::settings::{Hook, OnError, Sandboxed};

/// How much a hook may write to each of its outputs. Answers are a few lines; a changed
/// input with a large file in it still fits.
pub(super) const MOST_OUTPUT: usize = 2 * 1024 * 1024;

/// How many hooks run at once in this program. Each takes a few file handles, and one
/// that finds none left would break, which denies its call.
const MOST_AT_ONCE: usize = 48;

static TURNS: Semaphore = Semaphore::const_new(MOST_AT_ONCE);

/// The project's folder, under the names that scripts look for.
const PROJECT_NAMES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "TOOLBAY_PROJECT_DIR"];

/// A hook that is to run.
pub(super) struct Planned<'a> {
    pub(super) hook: &'a Hook,
    pub(super) on_error: OnError,
}

/// What came of it.
pub(super) struct Reply<'a> {
    pub(super) hook: &'a Hook,
    pub(super) on_error: OnError,
    pub(super) answer: Answer,
}

/// The hooks that want to know of this tool by any of its names, in the order of their settings. The same
/// command runs once; it fails closed if one of its entries does.
pub(super) fn plan<'a>(
    hooks: &'a [Hook],
    event: HookEvent,
    (tool, aliases): (&str, &[String]),
) -> Vec<Planned<'a>> {
    let mut plan: Vec<Planned<'a>> = Vec::new();
    let wanted = hooks
        .iter()
        .filter(|hook| hook.event == event && hook.matcher.matches(tool, aliases));
    for hook in wanted {
        let same = plan
            .iter_mut()
            .find(|planned| planned.hook.command == hook.command);
        match (same, hook.on_error) {
            (None, on_error) => plan.push(Planned { hook, on_error }),
            (Some(same), on_error) => {
                same.on_error = same.on_error.max(on_error);
                // A project that repeats the user's hook does not change how it runs.
                if same.hook.sandboxed == Sandboxed::Yes {
                    same.hook = hook;
                }
            }
        }
    }
    plan
}

/// Runs them and waits for all; they are ended when the call is.
pub(super) async fn all<'a>(
    plan: &[Planned<'a>],
    call: &HookedCall,
    told: Arc<[u8]>,
) -> Vec<Reply<'a>> {
    let runs = plan.iter().map(async |planned| Reply {
        hook: planned.hook,
        on_error: planned.on_error,
        answer: one(planned.hook, call, told.clone()).await,
    });
    join_all(runs).await
}

async fn one(hook: &Hook, call: &HookedCall, told: Arc<[u8]>) -> Answer {
    // First the switch: nothing starts for a call that is over. Dropping the other arm
    // kills what it started.
    tokio::select! {
        biased;
        () = call.kill.thrown() => {
            Answer::Cancelled(call.kill.reason().unwrap_or(KillReason::Cancelled).sentence())
        }
        answer = run(hook, call, told) => answer,
    }
}

async fn run(hook: &Hook, call: &HookedCall, told: Arc<[u8]>) -> Answer {
    // Nobody closes it, so there always is a turn.
    let _turn = TURNS.acquire().await;
    let project = |name| (OsString::from(name), call.project.clone().into_os_string());
    let mut env = call.environment.clone();
    env.extend(PROJECT_NAMES.map(project));
    let script = Script {
        text: hook.command.to_string(),
        // Not where the model's last command went: a relative name means the same in every call.
        cwd: call.project.clone(),
        env,
        stdin: told,
        time: hook.time,
        max_output: MOST_OUTPUT,
    };
    // As late as can be: what was asked about may have taken a while.
    if let Err(what) = pins::check(hook).await {
        return Answer::Changed(what);
    }
    let ended = match (hook.sandboxed, &call.cage) {
        (Sandboxed::Usual | Sandboxed::No, _) => process::run(script)
            .await
            .map_err(|error| error.to_string()),
        (Sandboxed::Yes, Some(cage)) => cage.run(script, call.path_rules.clone()).await,
        (Sandboxed::Yes, None) => Err("it is to run in a cage, and this session has none".into()),
    };
    match ended {
        Ok(ended) => match answer::read(hook, &ended) {
            Answer::Failed(why) => failed(hook, call, why),
            answer => answer,
        },
        Err(error) => Answer::Broken(error),
    }
}

/// A hook whose script is not there never had its say, whatever the interpreter's exit code.
fn failed(hook: &Hook, call: &HookedCall, why: String) -> Answer {
    let home = call.environment.iter().find(|(name, _)| name == "HOME");
    let home = home.map(|(_, home)| Path::new(home));
    match missing_script(&hook.command, &call.project, home) {
        Some(script) => Answer::Broken(format!(
            "{why}; its script `{}` was not found",
            name(&script)
        )),
        None => Answer::Failed(why),
    }
}
