//! What goes along with a connection to a process: its last words, and tasks that end with it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::AbortHandle;

use crate::client::bounds;
use crate::client::wire::excerpt;

/// Tasks that end with whoever holds this.
#[derive(Default)]
pub(super) struct Tasks(Vec<AbortHandle>);

impl Tasks {
    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.push(tokio::spawn(task).abort_handle());
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

/// The end of what a process says on its standard error.
#[derive(Default)]
pub(super) struct Tail(Mutex<Vec<u8>>);

impl Tail {
    pub(super) async fn read(self: Arc<Self>, mut errors: Box<dyn AsyncRead + Send + Unpin>) {
        let mut chunk = vec![0; 4096];
        while let Ok(read @ 1..) = errors.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..read]);
            let over = kept.len().saturating_sub(bounds::ERRORS);
            kept.drain(..over);
        }
    }

    /// The text, followed by the process's last words.
    pub(super) fn after(&self, text: String) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = kept.len().saturating_sub(600);
        match excerpt(&kept[begin..], 600) {
            said if said.is_empty() => text,
            said => format!("{text}; its last words: {said}"),
        }
    }
}
