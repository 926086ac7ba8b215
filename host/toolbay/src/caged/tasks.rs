//! Commands in the background: they outlive the call that started them, never the session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use toolbay_contract::{HostFailure, PowerFuture, TaskEntry, TaskSnapshot, TaskState, Tasks};
use toolbay_sandbox::cage::{Bounds, How};

use super::job::{Job, Listener};
use super::output::{self, Output};
use super::runner::{Ending, Runner};

/// What runs at once; a session that has more has forgotten some.
const MOST_RUNNING: usize = 32;
/// What is kept of those that have ended, each with its output.
const MOST_ENDED: usize = 64;
/// A task ends with its session; this is for one that nobody ends.
const MOST_TIME: Duration = Duration::from_secs(24 * 3600);
/// Bytes a second. No build says as much; one that floods must not keep this program busy.
const PACE: u64 = 8 << 20;

/// All background commands of a session.
#[derive(Default)]
pub struct TaskTable {
    /// Where their output is kept.
    folder: Option<PathBuf>,
    swept: OnceLock<()>,
    tasks: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    tasks: HashMap<String, Arc<Task>>,
}

struct Task {
    number: u64,
    title: String,
    job: Job,
    was_stopped: AtomicBool,
}

/// What a task may use, or less if it said so itself.
pub(super) fn bounds(time: Option<Duration>) -> Bounds {
    Bounds {
        time: time.unwrap_or(MOST_TIME),
        output: u64::MAX,
        pace: Some(PACE),
    }
}

impl TaskTable {
    /// One that keeps output in files of this folder, which is made when it is needed.
    pub fn in_folder(folder: PathBuf) -> Self {
        let mut table = Self::default();
        table.folder = Some(folder);
        table
    }

    /// Starts a command and answers with its id.
    pub(super) fn start(&self, title: String, runner: Runner) -> Result<String, HostFailure> {
        let mut table = self.table();
        let id = table.make_room()?;
        let output = self.output(&id)?;
        let listener = Listener::Task(output);
        let job = Job::start(runner, bounds(None), Ending::Silent, listener);
        table.add(&id, title, job);
        Ok(id)
    }

    /// Takes over a command that a call waited for; answers with its id and with what it has
    /// written so far. Where there is no room it is given back.
    pub(super) fn adopt(
        &self,
        title: String,
        job: Job,
        time: Option<Duration>,
    ) -> Result<(String, Vec<u8>), Job> {
        let mut table = self.table();
        let Ok((id, output)) = table
            .make_room()
            .and_then(|id| Ok((id.clone(), self.output(&id)?)))
        else {
            return Err(job);
        };
        let said = job.become_task(output, bounds(time));
        table.add(&id, title, job);
        Ok((id, said))
    }

    fn output(&self, id: &str) -> Result<Output, HostFailure> {
        if let Some(folder) = &self.folder {
            self.swept.get_or_init(|| output::sweep(folder));
        }
        Output::new(self.folder.as_deref(), id).map_err(|error| {
            HostFailure::Failed(format!("there is no file for the task's output: {error}"))
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Result<Arc<Task>, HostFailure> {
        let found = self.table().tasks.get(id).cloned();
        found.ok_or_else(|| HostFailure::Failed(format!("there is no background task {id:?}")))
    }
}

impl Table {
    /// The id of the next task, if there may be one.
    fn make_room(&mut self) -> Result<String, HostFailure> {
        let running = |task: &&Arc<Task>| task.state() == TaskState::Running;
        if self.tasks.values().filter(running).count() >= MOST_RUNNING {
            return Err(HostFailure::Failed(format!(
                "{MOST_RUNNING} commands run in the background already; end one first"
            )));
        }
        let mut ended: Vec<(u64, String)> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.state() != TaskState::Running)
            .map(|(id, task)| (task.number, id.clone()))
            .collect();
        ended.sort_unstable();
        let over = (ended.len() + 1).saturating_sub(MOST_ENDED);
        for (_, id) in &ended[..over] {
            self.tasks.remove(id);
        }
        self.next += 1;
        Ok(format!("task_{}", self.next))
    }

    fn add(&mut self, id: &str, title: String, job: Job) {
        let task = Task {
            number: self.next,
            title,
            job,
            was_stopped: AtomicBool::new(false),
        };
        self.tasks.insert(id.to_owned(), Arc::new(task));
    }
}

impl Task {
    fn state(&self) -> TaskState {
        match self.job.end() {
            Some(end) => match end.finished {
                Ok(finished) if finished.how == How::Exit(0) => TaskState::Done,
                Ok(_) | Err(_) => TaskState::Failed,
            },
            None if self.was_stopped.load(Ordering::Relaxed) => TaskState::Stopped,
            None => TaskState::Running,
        }
    }

    fn entry(&self, id: &str) -> TaskEntry {
        let (bytes, file) = self
            .job
            .with_output(|output| (output.bytes(), output.path().map(PathBuf::from)))
            .unwrap_or_default();
        TaskEntry {
            id: id.to_owned(),
            title: self.title.clone(),
            state: self.state(),
            age: self.job.end().map_or(self.job.age(), |end| end.took),
            bytes,
            file,
        }
    }
}

impl Tasks for TaskTable {
    fn list(&self) -> Result<Vec<TaskEntry>, HostFailure> {
        let table = self.table();
        let mut all: Vec<(&String, &Arc<Task>)> = table.tasks.iter().collect();
        all.sort_unstable_by_key(|(_, task)| task.number);
        Ok(all.into_iter().map(|(id, task)| task.entry(id)).collect())
    }

    fn read(&self, id: String, wait: Duration) -> PowerFuture<'_, TaskSnapshot> {
        Box::pin(async move {
            let task = self.find(&id)?;
            // Time that passes without an end is no failure; nor is a task that was stopped.
            let _ = tokio::time::timeout(wait, task.job.ended()).await;
            let state = task.state();
            let goes_on = state == TaskState::Running;
            let output = task.job.with_output(|output| output.take(goes_on));
            Ok(TaskSnapshot {
                id,
                state,
                output: output.unwrap_or_default(),
            })
        })
    }

    fn stop(&self, id: String) -> PowerFuture<'_, ()> {
        Box::pin(async move {
            let task = self.find(&id)?;
            task.was_stopped.store(true, Ordering::Relaxed);
            task.job.stop();
            Ok(())
        })
    }
}

impl Drop for TaskTable {
    fn drop(&mut self) {
        for task in self.table().tasks.values() {
            task.job.stop();
            // Whoever still writes writes into a file without a name.
            task.job.with_output(Output::remove);
        }
        if let Some(folder) = &self.folder {
            output::leave(folder);
        }
    }
}
