//! Compiles components of others in a process that can do nothing else.
//!
//! The process is this program again, as a worker of `sandbox`: the component is all that it reads,
//! compiled code all that it writes. A call that is cancelled drops what it waits for, which ends the
//! worker. What was compiled before comes from the cache, and no process is started.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use toolbay_contract::BoxFuture;
use toolbay_runtime::{
    ComponentCompiler, MAX_COMPILED, OnCompile, RuntimeOptions, compile_component,
};
use toolbay_sandbox::cage::Helper;
use toolbay_sandbox::worker::{WorkerEnd, WorkerJob, WorkerLimits, run_worker, worker_if_asked};

use crate::places::Places;

const TASK: &str = "compile";

/// Several times what the largest known component takes (Python, 18 MB). A component that needs
/// more is refused with a sentence, and only its own tools are missing.
const LIMITS: WorkerLimits = WorkerLimits {
    // With the program's own pages it stays below one GiB.
    memory: 896 << 20,
    output: MAX_COMPILED,
    processor: Duration::from_secs(60),
    // A busy machine gives less than one processor.
    time: Duration::from_secs(120),
    // Each holds a function of its own in memory.
    threads: 4,
};

/// Workers at once: one that takes all its time holds up one other component at most.
const AT_ONCE: usize = 2;

/// Becomes the compiler if this program was started as one, and then never returns.
pub fn main_if_asked() {
    worker_if_asked(TASK, compile_component);
}

/// Starts a worker for each component.
pub struct WorkerCompiler {
    program: Helper,
    turns: Semaphore,
}

impl WorkerCompiler {
    /// The program's `main` calls `main_if_asked` first.
    pub fn new(program: Helper) -> Self {
        Self {
            program,
            turns: Semaphore::new(AT_ONCE),
        }
    }
}

impl ComponentCompiler for WorkerCompiler {
    fn compile(&self, input: File, output: File) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let turn = self.turns.acquire().await;
            let _turn = turn.map_err(|_| "the compiler is closed")?;
            let job = WorkerJob {
                program: self.program.clone(),
                task: TASK,
                input,
                output,
                limits: LIMITS,
            };
            match run_worker(job).await {
                Ok(end) => sentence(end),
                Err(error) => Err(format!(
                    "the process that compiles it does not start: {error}"
                )),
            }
        })
    }
}

fn sentence(end: WorkerEnd) -> Result<(), String> {
    const HELP: &str = "its author can split its largest functions, or build it with optimisation";
    Err(match end {
        WorkerEnd::Done => return Ok(()),
        WorkerEnd::Refused(why) => why,
        WorkerEnd::OutOfMemory => format!(
            "compiling it takes more than {} MiB of memory; {HELP}",
            LIMITS.memory >> 20
        ),
        WorkerEnd::OutOfTime => format!(
            "compiling it takes more than the {} s of processor time, or {} s in all, that it may \
             take; {HELP}",
            LIMITS.processor.as_secs(),
            LIMITS.time.as_secs()
        ),
        WorkerEnd::TooMuchOutput => format!(
            "it compiles to more than {} MiB of code; its author can split the tool in two",
            LIMITS.output >> 20
        ),
        WorkerEnd::Broke(how) => format!("the compiler broke over it: {how}"),
    })
}

/// How the program sets up its runtime.
pub fn runtime_options(
    places: &Places,
    helper: &Helper,
    on_compile: Option<OnCompile>,
) -> RuntimeOptions {
    RuntimeOptions {
        cache: Some((places.cache.join("compiled"), places.state.clone())),
        on_compile,
        compiler: Some(Arc::new(WorkerCompiler::new(helper.clone()))),
        ..RuntimeOptions::default()
    }
}
