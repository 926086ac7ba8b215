//! The open connections, and whose they are.
//!
//! A connection belongs to nobody until a request on it shows a token. Such strangers have a
//! few places of their own, and the one that has been a stranger for longest gives way to the
//! next: whoever opens connections and says nothing loses them to those who come to speak. From
//! its first token on a connection counts as its client's, whatever it does from then on, and
//! of those of one client the one that has been idle for longest gives way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::super::house::Principal;
use super::shares::{Share, Shares};

pub(super) struct Connections {
    shares: Shares,
    most_strangers: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Numbers connections, and what happens on them.
    next: u64,
    open: BTreeMap<u64, Entry>,
}

struct Entry {
    owner: Option<Share>,
    requests: usize,
    /// When a request last ended, as a number.
    last: u64,
    way: Arc<Notify>,
}

/// One connection. It is forgotten when this is dropped.
pub(super) struct Connection {
    table: Arc<Connections>,
    number: u64,
    way: Arc<Notify>,
    /// A request on it has shown a token.
    is_known: AtomicBool,
}

/// A request under way on a connection.
pub(super) struct OnConnection {
    connection: Arc<Connection>,
}

/// All connections of a client are busy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Crowded;

impl Connections {
    pub(super) fn new(shares: Shares, most_strangers: usize) -> Arc<Self> {
        Arc::new(Self {
            shares,
            most_strangers,
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection, of a stranger.
    pub(super) fn admit(self: &Arc<Self>) -> Arc<Connection> {
        let mut state = self.lock();
        let strangers = state.open.values().filter(|entry| entry.owner.is_none());
        if strangers.count() >= self.most_strangers {
            state.give_way(|entry| {
                // One that is being answered is about to end or to be somebody's.
                let order = (entry.requests > 0, 0);
                entry.owner.is_none().then_some(order)
            });
        }
        state.next += 1;
        let number = state.next;
        let way = Arc::new(Notify::new());
        let entry = Entry {
            owner: None,
            requests: 0,
            last: number,
            way: way.clone(),
        };
        state.open.insert(number, entry);
        Arc::new(Connection {
            table: self.clone(),
            number,
            way,
            is_known: AtomicBool::new(false),
        })
    }
}

impl State {
    /// Ends the connection that comes first in this order, the oldest of several.
    fn give_way<O: Ord>(&mut self, order: impl Fn(&Entry) -> Option<O>) -> bool {
        let all = self.open.iter();
        let ordered = all.filter_map(|(number, entry)| Some((order(entry)?, *number)));
        let Some((_, number)) = ordered.min() else {
            return false;
        };
        if let Some(entry) = self.open.remove(&number) {
            entry.way.notify_one();
        }
        true
    }
}

impl Connection {
    /// Whether nobody has shown a token here.
    pub(super) fn is_strangers(&self) -> bool {
        !self.is_known.load(Ordering::Acquire)
    }

    /// Comes back when the connection has to end to make room for another.
    pub(super) async fn gives_way(&self) {
        self.way.notified().await;
    }

    /// A request of this client begins. One that had to give way, and shows a token before it is
    /// gone, is no stranger: it has its place among those of its client, if there is one.
    pub(super) fn begin(self: &Arc<Self>, whose: Principal) -> Result<OnConnection, Crowded> {
        let mut state = self.table.lock();
        let entry = state.open.entry(self.number).or_insert_with(|| Entry {
            owner: None,
            requests: 0,
            last: self.number,
            way: self.way.clone(),
        });
        entry.requests += 1;
        let request = OnConnection {
            connection: self.clone(),
        };
        let owner = entry.owner.as_ref().map(Share::whose);
        if owner == Some(whose) {
            return Ok(request);
        }
        let taken = match self.table.shares.take(whose) {
            Some(taken) => Some(taken),
            None => {
                let is_idle = |entry: &Entry| {
                    let owner = entry.owner.as_ref().map(Share::whose);
                    (owner == Some(whose) && entry.requests == 0).then_some(entry.last)
                };
                state.give_way(is_idle);
                self.table.shares.take(whose)
            }
        };
        let entry = state.open.get_mut(&self.number);
        match (entry, taken) {
            (Some(entry), Some(taken)) => {
                entry.owner = Some(taken);
                self.is_known.store(true, Ordering::Release);
            }
            (Some(_) | None, _) => {
                // Dropping the request takes the lock.
                drop(state);
                return Err(Crowded);
            }
        }
        drop(state);
        Ok(request)
    }
}

impl Drop for OnConnection {
    fn drop(&mut self) {
        let mut state = self.connection.table.lock();
        state.next += 1;
        let now = state.next;
        if let Some(entry) = state.open.get_mut(&self.connection.number) {
            entry.requests = entry.requests.saturating_sub(1);
            entry.last = now;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.table.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn table(clients: usize, most_of_one: u32, strangers: usize) -> Arc<Connections> {
        Connections::new(Shares::new(clients, most_of_one, 0), strangers)
    }

    fn has_to_go(connection: &Connection) -> bool {
        connection.gives_way().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_stranger_gives_way_and_no_client_does() {
        let table = table(1, 8, 2);
        let known = table.admit();
        drop(known.begin(Principal(0)).unwrap());
        assert!(!known.is_strangers());
        let strangers: Vec<_> = (0..5).map(|_| table.admit()).collect();
        let gone: Vec<bool> = strangers.iter().map(|one| has_to_go(one)).collect();
        assert_eq!(gone, [true, true, true, false, false]);
        assert!(!has_to_go(&known));
        // Who shows a token is a client from then on, even if it had to go meanwhile.
        for one in [0, 4] {
            assert!(strangers[one].begin(Principal(0)).is_ok());
            assert!(!strangers[one].is_strangers());
        }
        assert!(strangers[3].is_strangers());
        // That is no way to more connections than a client may have.
        let busy: Vec<_> = (0..8)
            .filter_map(|_| table.admit().begin(Principal(0)).ok())
            .collect();
        assert_eq!(strangers[1].begin(Principal(0)).err(), Some(Crowded));
        drop(busy);
    }

    #[test]
    fn the_connection_that_was_idle_for_longest_gives_way_to_its_own_client() {
        let table = table(2, 3, 8);
        let all: Vec<_> = (0..3).map(|_| table.admit()).collect();
        let first = all[0].begin(Principal(0)).unwrap();
        drop(all[1].begin(Principal(0)).unwrap());
        let third = all[2].begin(Principal(0)).unwrap();
        drop(first);
        let more = table.admit();
        let fourth = more.begin(Principal(0)).unwrap();
        let gone: Vec<bool> = all.iter().map(|one| has_to_go(one)).collect();
        assert_eq!(gone, [false, true, false]);
        // Where all are busy nobody gives way, and the other client has its own.
        let first = all[0].begin(Principal(0)).unwrap();
        assert_eq!(table.admit().begin(Principal(0)).err(), Some(Crowded));
        assert!(table.admit().begin(Principal(1)).is_ok());
        drop((first, third, fourth));
    }

    #[test]
    fn a_connection_counts_for_whoever_spoke_last() {
        let table = table(2, 1, 8);
        let one = table.admit();
        drop(one.begin(Principal(0)).unwrap());
        drop(one.begin(Principal(1)).unwrap());
        // The first client has its place back, the second has none left but that.
        let other = table.admit();
        let request = other.begin(Principal(0)).unwrap();
        let busy = one.begin(Principal(1)).unwrap();
        assert_eq!(table.admit().begin(Principal(1)).err(), Some(Crowded));
        drop((request, busy));
        drop((one, other));
        assert!(table.lock().open.is_empty());
    }
}
