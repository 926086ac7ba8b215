//! What servers say has changed: for whoever passes their lists on.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{Notify, broadcast, watch};

/// A list of a server that is another one now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
}

/// How often each kind of list has changed, over all servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Changes {
    pub(crate) tools: u64,
    pub(crate) prompts: u64,
    pub(crate) resources: u64,
}

type OnTools = dyn Fn() + Send + Sync;

/// Where all servers of a session tell their news.
#[derive(Clone, Default)]
pub(super) struct News(Arc<Inner>);

struct Inner {
    on_tools: OnceLock<Box<OnTools>>,
    changes: watch::Sender<Changes>,
    /// Addresses where something else stands now.
    updates: broadcast::Sender<String>,
}

/// Updates that wait for whoever is slow; who is slower than that misses some.
const MOST_WAITING: usize = 256;

impl Default for Inner {
    fn default() -> Self {
        Self {
            on_tools: OnceLock::new(),
            changes: watch::Sender::default(),
            updates: broadcast::Sender::new(MOST_WAITING),
        }
    }
}

impl News {
    /// Called whenever tools are others. The first one stays.
    pub(super) fn on_tools(&self, told: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.on_tools.set(Box::new(told));
    }

    pub(super) fn tell(&self, list: List) {
        // Whoever keeps the tools is told first: who counts changes looks at what it keeps.
        if let (List::Tools, Some(told)) = (list, self.0.on_tools.get()) {
            told();
        }
        self.0.changes.send_modify(|changes| match list {
            List::Tools => changes.tools += 1,
            List::Prompts => changes.prompts += 1,
            List::Resources => changes.resources += 1,
        });
    }

    pub(super) fn updated(&self, uri: &str) {
        // Nobody may listen.
        let _ = self.0.updates.send(uri.to_owned());
    }

    pub(super) fn updates(&self) -> broadcast::Receiver<String> {
        self.0.updates.subscribe()
    }

    pub(super) fn changes(&self) -> watch::Receiver<Changes> {
        self.0.changes.subscribe()
    }
}

/// What one connection has said of its lists, until somebody looks.
#[derive(Default)]
pub(super) struct Said {
    lists: Mutex<Vec<List>>,
    is_new: Notify,
}

impl Said {
    pub(super) fn note(&self, list: List) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        // However often it is said, it is the same news.
        if !lists.contains(&list) {
            lists.push(list);
        }
        drop(lists);
        self.is_new.notify_one();
    }

    pub(super) async fn something(&self) {
        self.is_new.notified().await;
    }

    pub(super) fn take(&self) -> Vec<List> {
        std::mem::take(&mut *self.lists.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
