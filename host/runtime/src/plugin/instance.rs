//! A fresh instance for one phase of one call.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::SemaphorePermit;
use toolbay_contract::{CallEnvironment, Failure, KillReason, KillSwitch, Phase};
use toolbay_policy::Reach;
use wasmtime::component::{ResourceTable, ResourceTableError};
use wasmtime::{Store, Trap};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, I32Exit, WasiCtx, WasiCtxBuilder};

use crate::bindings::toolbay::tool::types;
use crate::capability::FROZEN_NOW_MS;
use crate::clock::CallClock;
use crate::filesystem::Fence;
use crate::gate::CapabilityGate;
use crate::limits::{Limits, Meter};
use crate::load::Linked;
use crate::log::{Log, Print};
use crate::runtime::Inner;
use crate::state::{Grade, Grant, Spent, State};
use crate::supervise::{End, supervise};
use crate::ticker::Awake;

/// What the engine says when a guest hands over more than the limit; its error has
/// no public type.
const TOO_MUCH_AT_ONCE: &str = "fuel allocated for hostcalls has been exhausted";

/// How much of a guest's last words goes into an error.
const LAST_WORDS: usize = 400;

/// What an instance is made for.
pub(super) struct Purpose {
    pub(super) grade: Grade,
    pub(super) plugin: Arc<str>,
    pub(super) call_id: Arc<str>,
    pub(super) limits: Limits,
    pub(super) fence: Fence,
    /// What the component was granted.
    pub(super) power: Reach,
    pub(super) environment: Option<CallEnvironment>,
    pub(super) grant: Grant,
    pub(super) kill: KillSwitch,
    /// The plugin's own switch, which falls with the runtime's.
    pub(super) plugin_kill: KillSwitch,
}

/// A slot, a store and the powers in it. Gone when it is dropped.
pub(super) struct Seat<'a> {
    pub(super) store: Store<State>,
    plugin: Arc<str>,
    kill: KillSwitch,
    _awake: Awake<'a>,
    _slot: SemaphorePermit<'a>,
}

impl<'a> Seat<'a> {
    /// Waits for a slot and makes a store with the powers of the purpose.
    pub(super) async fn take(inner: &'a Inner, purpose: Purpose) -> Result<Self, Failure> {
        let killed =
            |kill: &KillSwitch| Failure::Killed(kill.reason().unwrap_or(KillReason::Cancelled));
        for kill in [&purpose.kill, &purpose.plugin_kill] {
            if kill.is_thrown() {
                return Err(killed(kill));
            }
        }
        let slot = match inner.slots.try_acquire() {
            Ok(slot) => slot,
            Err(_) => tokio::select! {
                slot = inner.slots.acquire() => {
                    slot.map_err(|_| Failure::Host("the runtime is closed".into()))?
                }
                () = purpose.kill.thrown() => return Err(killed(&purpose.kill)),
                () = purpose.plugin_kill.thrown() => return Err(killed(&purpose.plugin_kill)),
            },
        };
        let log = Log::new(purpose.limits.log_bytes);
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        let gate = CapabilityGate::new(purpose.power);
        let state = State {
            wasi: wasi(purpose.grade, &log),
            table,
            meter: Meter::new(purpose.limits),
            fence: Arc::new(purpose.fence),
            files: OnceLock::new(),
            gate,
            log,
            grade: purpose.grade,
            plugin: purpose.plugin.clone(),
            call_id: purpose.call_id,
            kill: purpose.kill.clone(),
            limits: purpose.limits,
            progress: Spent::default(),
            logged: Spent::default(),
            grant: purpose.grant,
            clock: CallClock::start(),
            script_folder: None,
            search_notes: Default::default(),
            environment: purpose.environment,
        };
        let awake = inner.ticker.awake();
        let mut store = Store::new(&inner.engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        // The guest's largest answer, and a little for what is around it.
        let fuel = usize::try_from(purpose.limits.output_bytes).unwrap_or(usize::MAX);
        store.set_hostcall_fuel(fuel.saturating_add(64 << 10));
        Ok(Self {
            store,
            plugin: purpose.plugin,
            kill: purpose.kill,
            _awake: awake,
            _slot: slot,
        })
    }

    pub(super) fn clock(&self) -> Arc<CallClock> {
        self.store.data().clock.clone()
    }

    /// What went wrong, in words: a limit that was hit explains the trap after it,
    /// and a guest's last words often explain the rest.
    pub(super) fn explain(&mut self, phase: Phase, error: &wasmtime::Error) -> Failure {
        let hit = self.store.data_mut().meter.hit.take();
        let words = self.store.data().log.take();
        let words = last_words(&words);
        let mut reason = match (
            &hit,
            error.downcast_ref::<Trap>(),
            error.downcast_ref::<I32Exit>(),
        ) {
            (Some(hit), _, _) => hit.clone(),
            (None, Some(Trap::StackOverflow), _) => {
                "its call stack overflowed (endless recursion?)".into()
            }
            (None, Some(Trap::MemoryOutOfBounds), _) => {
                // Many languages keep a stack of their own inside the memory.
                "it reached outside its memory (endless recursion?)".into()
            }
            (None, Some(Trap::UnreachableCodeReached), _) => "it panicked or aborted".into(),
            (None, Some(trap), _) => format!("it trapped: {trap}"),
            (None, None, Some(exit)) => format!("it called exit({})", exit.0),
            (None, None, None) => {
                let cause = format!("{:#}", error.root_cause());
                if cause.contains(TOO_MUCH_AT_ONCE) {
                    let limit = self.store.data().limits.output_bytes;
                    format!("it handed over too many bytes at once; at most {limit} are accepted")
                } else if let Some(ResourceTableError::Full) = error.downcast_ref() {
                    format!("it held more than {MAX_HANDLES} handles at once")
                } else {
                    shorten(&cause)
                }
            }
        };
        if !words.is_empty() {
            reason = format!("{reason}; its last words: {words}");
        }
        Failure::Broke {
            plugin: self.plugin.to_string(),
            phase,
            reason,
        }
    }

    /// Turns how waiting ended into a result.
    pub(super) fn finish<T>(
        &mut self,
        phase: Phase,
        end: End<wasmtime::Result<T>>,
    ) -> Result<T, Failure> {
        match end {
            End::Done(Ok(answer)) => Ok(answer),
            End::Done(Err(error)) => match self.kill.reason() {
                Some(reason) => Err(self.killed(phase, reason)),
                None => Err(self.explain(phase, &error)),
            },
            End::Killed(reason) => Err(self.killed(phase, reason)),
        }
    }

    /// A question that takes too long is a broken tool, not a call that was ended.
    fn killed(&self, phase: Phase, reason: KillReason) -> Failure {
        match (phase, reason) {
            (phase, KillReason::Deadline(limit)) if phase != Phase::Call => Failure::Broke {
                plugin: self.plugin.to_string(),
                phase,
                reason: format!("it took longer than the {limit:?} it may take"),
            },
            (_, reason) => Failure::Killed(reason),
        }
    }
}

/// Handles that a guest may hold at once. Each open file is one of the process's
/// own, of which there may be as few as a thousand.
const MAX_HANDLES: usize = 256;

/// The base WASI: no arguments, no environment, no input. A guest that is only
/// being asked sees a stopped clock and predictable randomness, so that the same
/// question has the same answer.
fn wasi(grade: Grade, log: &Arc<Log>) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder
        .allow_blocking_current_thread(true)
        .stdout(Print(log.clone()))
        .stderr(Print(log.clone()));
    match grade {
        Grade::Inspect => {
            builder
                .wall_clock(Frozen)
                .monotonic_clock(Frozen)
                .secure_random(wasmtime_wasi::random::Deterministic::new(vec![0x5a; 64]))
                .insecure_random(wasmtime_wasi::random::Deterministic::new(vec![0x5a; 64]))
                .insecure_random_seed(0);
        }
        Grade::ActReadOnly | Grade::Act => {}
    }
    builder.build()
}

/// A clock that stands still.
struct Frozen;

impl HostWallClock for Frozen {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        Duration::from_millis(FROZEN_NOW_MS)
    }
}

impl HostMonotonicClock for Frozen {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}

/// Asks a component who it is.
pub(super) async fn ask_info(
    inner: &Inner,
    linked: &Linked,
    label: &str,
    limits: Limits,
    kill: &KillSwitch,
) -> Result<types::ToolInfo, Failure> {
    let purpose = Purpose {
        grade: Grade::Inspect,
        plugin: label.into(),
        call_id: "info".into(),
        limits,
        fence: Fence::closed(),
        power: Reach::default(),
        environment: None,
        grant: Grant::default(),
        kill: kill.below(),
        plugin_kill: kill.clone(),
    };
    let call = purpose.kill.clone();
    let mut seat = Seat::take(inner, purpose).await?;
    let store = &mut seat.store;
    let work = async {
        let instance = linked.pre.instantiate_async(&mut *store).await?;
        let tool = linked.tool.load(&mut *store, &instance)?;
        tool.call_info(&mut *store).await
    };
    let end = supervise(
        work,
        (&CallClock::start(), limits.inspect_time()),
        &call,
        kill,
    )
    .await;
    seat.finish(Phase::Info, end)
}

fn last_words(log: &str) -> String {
    let lines: Vec<&str> = log
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("note: "))
        .collect();
    let from = lines.len().saturating_sub(3);
    shorten(&lines[from..].join(" | "))
}

fn shorten(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LAST_WORDS)
        .collect();
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_short_and_clean() {
        assert_eq!(
            last_words("a\n\nb\u{1b}[0m\nthread panicked at x:\nboom\nnote: run with\n"),
            "b [0m | thread panicked at x: | boom"
        );
        assert!(last_words(&"x".repeat(10_000)).len() <= LAST_WORDS);
    }
}
