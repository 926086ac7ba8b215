//! A command that runs by itself: whoever waits for it may stop waiting, and it may get another
//! listener half way, without noticing either.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolbay_contract::{OnOutput, visible_line};
use toolbay_sandbox::cage::{Bounds, Leash};

use super::output::Output;
use super::runner::{Ending, Finished, Runner};

/// A command under way, or what came of it. It dies when nobody holds this any more.
pub(super) struct Job {
    heard: Arc<Heard>,
    leash: Arc<Leash>,
    started: Instant,
    end: watch::Receiver<Option<End>>,
    abort: AbortHandle,
}

/// How a job ended.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// The error says why there is nothing to tell.
    pub(super) finished: Result<Finished, String>,
    pub(super) took: Duration,
}

/// What a command says, and to whom.
struct Heard {
    listener: Mutex<Listener>,
}

/// Who listens.
pub(super) enum Listener {
    /// The call that waits for it.
    Call { output: Vec<u8>, also: OnOutput },
    /// Whoever reads later.
    Task(Output),
}

impl Listener {
    fn hear(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Call { output, also } => {
                output.extend_from_slice(bytes);
                (also.0)(bytes);
            }
            Self::Task(output) => output.add(bytes),
        }
    }

    /// What a call has heard so far.
    fn take(&mut self) -> Vec<u8> {
        match self {
            Self::Call { output, .. } => std::mem::take(output),
            Self::Task(_) => Vec::new(),
        }
    }
}

impl Heard {
    fn lock(&self) -> MutexGuard<'_, Listener> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, bytes: &[u8]) {
        self.lock().hear(bytes);
    }

    /// Nothing more comes.
    fn finish(&self, finished: &Result<Finished, String>) {
        if let Listener::Task(output) = &mut *self.lock() {
            let last = match finished {
                Ok(finished) => finished.last_words(),
                Err(error) => vec![error.clone()],
            };
            for line in last {
                // Errors name paths, too.
                let line = visible_line(&line);
                output.add(format!("[{line}]\n").as_bytes());
            }
        }
    }
}

impl Job {
    /// Starts a command. Needs a tokio runtime.
    pub(super) fn start(
        runner: Runner,
        bounds: Bounds,
        ending: Ending,
        listener: Listener,
    ) -> Self {
        let heard = Arc::new(Heard {
            listener: Mutex::new(listener),
        });
        let leash = Arc::new(Leash::with(bounds));
        let (sender, end) = watch::channel(None);
        let started = Instant::now();
        let (inside, held) = (heard.clone(), leash.clone());
        let running = tokio::spawn(async move {
            let mut sink = |bytes: &[u8]| inside.hear(bytes);
            let finished = runner.run(&held, ending, &mut sink).await;
            inside.finish(&finished);
            sender.send_replace(Some(End {
                finished,
                took: started.elapsed(),
            }));
        });
        Self {
            heard,
            leash,
            started,
            end,
            abort: running.abort_handle(),
        }
    }

    /// Waits for the end; none if it was stopped.
    pub(super) async fn ended(&self) -> Option<End> {
        let mut end = self.end.clone();
        // Who was stopped says nothing.
        let ended = end.wait_for(Option::is_some).await.ok()?;
        ended.clone()
    }

    /// How it ended, if it has.
    pub(super) fn end(&self) -> Option<End> {
        self.end.borrow().clone()
    }

    /// Kills the command and everything that it started: the future that is dropped does.
    pub(super) fn stop(&self) {
        self.abort.abort();
    }

    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// What was said to a call.
    pub(super) fn said(&self) -> Vec<u8> {
        self.heard.lock().take()
    }

    /// From now on it is a task: what it says goes there, after what it has said so far, which is
    /// the answer.
    pub(super) fn become_task(&self, mut to: Output, bounds: Bounds) -> Vec<u8> {
        let mut listener = self.heard.lock();
        let said = listener.take();
        to.add(&said);
        to.is_known();
        *listener = Listener::Task(to);
        self.leash.change(bounds);
        said
    }

    /// Looks at the output of a task.
    pub(super) fn with_output<T>(&self, look: impl FnOnce(&mut Output) -> T) -> Option<T> {
        match &mut *self.heard.lock() {
            Listener::Task(output) => Some(look(output)),
            Listener::Call { .. } => None,
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.stop();
    }
}
