//! Whose session is whose, and which one ends to make room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::house::Principal;
use super::shares::{Share, Shares};

#[derive(Clone)]
pub(super) struct Sessions {
    shares: Shares,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    open: HashMap<String, Entry>,
    /// Numbers what happens, so that it has an order.
    next: u64,
}

struct Entry {
    owner: Share,
    requests: usize,
    /// Something was asked in it after its beginning.
    is_used: bool,
    last: u64,
}

/// What a request means for its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It belongs to the beginning.
    Beginning,
    Work,
}

/// A request under way in a session.
pub(super) struct InSession {
    sessions: Sessions,
    id: String,
}

impl Sessions {
    pub(super) fn new(shares: Shares) -> Self {
        Self {
            shares,
            state: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this session is another client's.
    pub(super) fn is_anothers(&self, id: &str, whose: Principal) -> bool {
        let state = self.lock();
        let entry = state.open.get(id);
        entry.is_some_and(|entry| entry.owner.whose() != whose)
    }

    /// Forgets those that are over.
    pub(super) fn retain(&self, is_open: impl Fn(&str) -> bool) {
        self.lock().open.retain(|id, _| is_open(id));
    }

    /// A place for one more session.
    pub(super) fn place(&self, whose: Principal) -> Option<Share> {
        self.shares.take(whose)
    }

    /// Takes out a session of this client in which nothing is under way: one that was begun and
    /// never used rather than one that was, and of those the one that rested for longest.
    pub(super) fn give_way(&self, whose: Principal) -> Option<String> {
        let mut state = self.lock();
        let idle = state.open.iter().filter(|(_, entry)| {
            // An entry that is being judged is nobody's to end.
            entry.owner.whose() == whose && entry.requests == 0
        });
        let first = idle.min_by_key(|(_, entry)| (entry.is_used, entry.last));
        let id = first.map(|(id, _)| id.clone())?;
        state.open.remove(&id);
        Some(id)
    }

    pub(super) fn insert(&self, id: String, owner: Share) {
        let mut state = self.lock();
        state.next += 1;
        let entry = Entry {
            owner,
            requests: 0,
            is_used: false,
            last: state.next,
        };
        state.open.insert(id, entry);
    }

    /// A request in a session begins. None where there is no such session.
    pub(super) fn begin(&self, id: &str, what: Use) -> Option<InSession> {
        let mut state = self.lock();
        let entry = state.open.get_mut(id)?;
        entry.requests += 1;
        entry.is_used |= what == Use::Work;
        Some(InSession {
            sessions: self.clone(),
            id: id.to_owned(),
        })
    }
}

impl Drop for InSession {
    fn drop(&mut self) {
        let mut state = self.sessions.lock();
        state.next += 1;
        let now = state.next;
        if let Some(entry) = state.open.get_mut(&self.id) {
            entry.requests = entry.requests.saturating_sub(1);
            entry.last = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_sessions_of_the_same_client_give_way_in_a_fair_order() {
        let sessions = Sessions::new(Shares::new(2, 8, 16));
        let (one, two) = (Principal(0), Principal(1));
        for (id, whose) in [("a", one), ("b", one), ("c", one), ("d", one), ("x", two)] {
            sessions.insert(id.into(), sessions.place(whose).unwrap());
        }
        let work = |id: &str| sessions.begin(id, Use::Work).unwrap();
        drop(work("a"));
        drop(work("b"));
        drop(sessions.begin("c", Use::Beginning).unwrap());
        let busy = work("d");
        drop(work("a"));
        // Never used, then the one that rested for longest; never one that works, nor another's.
        let gone: Vec<_> = std::iter::from_fn(|| sessions.give_way(one)).collect();
        assert_eq!(gone, ["c", "b", "a"]);
        drop(busy);
        assert_eq!(sessions.give_way(one).as_deref(), Some("d"));
        assert!(sessions.is_anothers("x", one) && !sessions.is_anothers("x", two));
        assert!(sessions.begin("a", Use::Work).is_none());
        // Their places are free again.
        let places: Vec<_> = std::iter::from_fn(|| sessions.place(one)).collect();
        assert_eq!(places.len(), 8);
        sessions.retain(|_| false);
        assert_eq!(sessions.give_way(two), None);
    }
}
