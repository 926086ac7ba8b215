//! Whose turn it is among all calls of a session: those that may run beside others share it, the
//! rest have it alone.
//!
//! A call that waits for an answer which may never come gives its turn away meanwhile, and
//! waits for the next one when the answer is there. Somebody who leaves a question open would
//! otherwise stop everybody.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// How a call wants to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    Beside,
    Alone,
}

#[derive(Default)]
pub(crate) struct Gate {
    lock: Arc<RwLock<()>>,
    inside: Mutex<Vec<Inside>>,
}

struct Inside {
    call_id: String,
    /// Ids are the caller's; two calls may have the same.
    number: u64,
    company: Company,
    /// Nothing while the turn is given away.
    guard: Option<Guard>,
}

/// Held for what it does when it is dropped.
enum Guard {
    Beside(#[allow(dead_code)] OwnedRwLockReadGuard<()>),
    Alone(#[allow(dead_code)] OwnedRwLockWriteGuard<()>),
}

/// A call's turn, until this is dropped.
pub(crate) struct Turn<'a> {
    gate: &'a Gate,
    number: u64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut inside = self.gate.inside();
        inside.retain(|one| one.number != self.number);
    }
}

impl Gate {
    pub(crate) async fn enter(&self, call_id: &str, company: Company) -> Turn<'_> {
        let guard = self.guard(company).await;
        let mut inside = self.inside();
        let number = inside.iter().map(|one| one.number + 1).max().unwrap_or(0);
        inside.push(Inside {
            call_id: call_id.to_owned(),
            number,
            company,
            guard: Some(guard),
        });
        Turn { gate: self, number }
    }

    /// Gives the turn of a call away. One that has none loses nothing.
    pub(crate) fn pause(&self, call_id: &str) {
        let mut inside = self.inside();
        let found = inside.iter_mut().find(|one| one.call_id == call_id);
        let guard = found.and_then(|one| one.guard.take());
        // Whoever waits for it is woken after this is free.
        drop(inside);
        drop(guard);
    }

    /// Waits until a call that gave its turn away has one again.
    pub(crate) async fn resume(&self, call_id: &str) {
        let is_it = |one: &&mut Inside| one.call_id == call_id && one.guard.is_none();
        let company = self.inside().iter_mut().find(is_it).map(|one| one.company);
        let Some(company) = company else {
            return;
        };
        let guard = self.guard(company).await;
        // A call that has ended meanwhile needs no turn.
        if let Some(one) = self.inside().iter_mut().find(is_it) {
            one.guard = Some(guard);
        }
    }

    async fn guard(&self, company: Company) -> Guard {
        match company {
            Company::Beside => Guard::Beside(self.lock.clone().read_owned().await),
            Company::Alone => Guard::Alone(self.lock.clone().write_owned().await),
        }
    }

    fn inside(&self) -> MutexGuard<'_, Vec<Inside>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_turn_that_is_given_away_comes_back_when_it_is_free() {
        let gate = Gate::default();
        let first = gate.enter("a", Company::Alone).await;
        assert!(gate.enter("b", Company::Beside).now_or_never().is_none());
        gate.pause("a");
        let second = gate.enter("b", Company::Alone).await;
        assert!(gate.resume("a").now_or_never().is_none());
        drop(second);
        gate.resume("a").await;
        assert!(gate.enter("c", Company::Beside).now_or_never().is_none());
        drop(first);
        drop(gate.enter("c", Company::Alone).await);
    }

    #[tokio::test]
    async fn what_has_no_turn_neither_loses_nor_gets_one() {
        let gate = Gate::default();
        gate.pause("nobody");
        gate.resume("nobody").await;
        // Two of one name, of which one gives its turn away.
        let one = gate.enter("a", Company::Beside).await;
        let other = gate.enter("a", Company::Beside).await;
        gate.pause("a");
        assert!(gate.enter("b", Company::Alone).now_or_never().is_none());
        drop(one);
        drop(other);
        // One that ended while its turn was away leaves nothing behind.
        let gone = gate.enter("c", Company::Alone).await;
        gate.pause("c");
        drop(gone);
        gate.resume("c").await;
        drop(gate.enter("d", Company::Alone).await);
    }
}
