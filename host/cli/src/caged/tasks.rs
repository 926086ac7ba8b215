//! Commands in the background: they outlive the call that started them, never the session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolbay_contract::{HostFailure, PowerFuture, TaskSnapshot, TaskState, Tasks};
use toolbay_sandbox::cage::{Command, Enclosure, How};

/// What runs at once; a session that has more has forgotten some.
const MOST_RUNNING: usize = 32;
/// What is kept of those that have ended.
const MOST_KEPT: usize = 256;
/// What is kept of output that nobody has read yet.
const MOST_UNREAD: usize = 1 << 20;

/// All background commands of a session.
#[derive(Default)]
pub struct TaskTable {
    tasks: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    tasks: HashMap<String, Task>,
}

struct Task {
    number: u64,
    shared: Arc<Shared>,
    state: watch::Receiver<TaskState>,
    abort: AbortHandle,
}

struct Shared {
    unread: Mutex<Unread>,
}

#[derive(Default)]
struct Unread {
    bytes: Vec<u8>,
    lost: usize,
}

impl Unread {
    /// Keeps the newest: what a task said last is what one wants to know.
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let over = self.bytes.len().saturating_sub(MOST_UNREAD);
        if over > 0 {
            self.bytes.drain(..over);
            self.lost += over;
        }
    }

    fn take(&mut self) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.bytes);
        let lost = std::mem::take(&mut self.lost);
        if lost == 0 {
            return bytes;
        }
        let mut all = format!("[{lost} bytes before this were dropped]\n").into_bytes();
        all.extend(bytes);
        all
    }
}

impl TaskTable {
    /// Starts a command and answers with its id.
    pub(super) fn start(
        &self,
        enclosure: Enclosure,
        command: Command,
    ) -> Result<String, HostFailure> {
        let mut table = self.table();
        let is_running = |task: &Task| *task.state.borrow() == TaskState::Running;
        if table.tasks.values().filter(|task| is_running(task)).count() >= MOST_RUNNING {
            return Err(HostFailure::Failed(format!(
                "{MOST_RUNNING} commands run in the background already; end one first"
            )));
        }
        table.forget_the_oldest();
        table.next += 1;
        let number = table.next;
        let id = format!("task_{number}");
        let shared = Arc::new(Shared {
            unread: Mutex::default(),
        });
        let (sender, state) = watch::channel(TaskState::Running);
        let for_task = shared.clone();
        let running = tokio::spawn(async move {
            let ended = enclosure
                .run(&command, &mut |_, bytes| for_task.unread().add(bytes))
                .await;
            let (state, last) = match ended {
                Ok(ended) => match ended.how {
                    How::Exit(0) => (TaskState::Done, None),
                    How::Exit(code) => (TaskState::Failed, Some(format!("exit code {code}"))),
                    how => (TaskState::Failed, Some(format!("it was ended: {how:?}"))),
                },
                Err(error) => (TaskState::Failed, Some(error.to_string())),
            };
            if let Some(last) = last {
                for_task.unread().add(format!("[{last}]\n").as_bytes());
            }
            // Whoever waits may be gone.
            let _ = sender.send(state);
        });
        let task = Task {
            number,
            shared,
            state,
            abort: running.abort_handle(),
        };
        table.tasks.insert(id.clone(), task);
        Ok(id)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn forget_the_oldest(&mut self) {
        if self.tasks.len() < MOST_KEPT {
            return;
        }
        let ended = self.tasks.iter().filter(|(_, task)| task.has_ended());
        let oldest = ended.min_by_key(|(_, task)| task.number);
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.tasks.remove(&id);
        }
    }
}

impl Task {
    fn has_ended(&self) -> bool {
        *self.state.borrow() != TaskState::Running
    }
}

impl Shared {
    fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown(id: &str) -> HostFailure {
    HostFailure::Failed(format!("there is no background task {id:?}"))
}

impl Tasks for TaskTable {
    fn read(&self, id: String, wait: Duration) -> PowerFuture<'_, TaskSnapshot> {
        Box::pin(async move {
            let (shared, mut state, was_stopped) = {
                let table = self.table();
                let task = table.tasks.get(&id).ok_or_else(|| unknown(&id))?;
                (task.shared.clone(), task.state.clone(), task.abort.clone())
            };
            // Time that passes without an end is no failure; nor is a task that was stopped.
            let _ =
                tokio::time::timeout(wait, state.wait_for(|state| *state != TaskState::Running))
                    .await;
            let now = match *state.borrow() {
                TaskState::Running if was_stopped.is_finished() => TaskState::Stopped,
                now => now,
            };
            Ok(TaskSnapshot {
                id,
                state: now,
                output: shared.unread().take(),
            })
        })
    }

    fn stop(&self, id: String) -> PowerFuture<'_, ()> {
        Box::pin(async move {
            let table = self.table();
            let task = table.tasks.get(&id).ok_or_else(|| unknown(&id))?;
            // The future that is dropped kills the cage and all that is in it.
            task.abort.abort();
            Ok(())
        })
    }
}

impl Drop for TaskTable {
    fn drop(&mut self) {
        for task in self.table().tasks.values() {
            task.abort.abort();
        }
    }
}
