//! Something of which there is so much, shared so that no client takes all of it.
//!
//! Half of it is reserved, in equal parts for every client there can be: the tokens are known
//! from the start. The other half goes to whoever comes first, up to what one client may have.
//! So each client gets its part whatever others do, and one alone is not held to its part.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::house::Principal;

#[derive(Clone)]
pub(super) struct Shares {
    inner: Arc<Inner>,
}

struct Inner {
    most_of_one: usize,
    reserved: usize,
    common: usize,
    used: Mutex<Vec<usize>>,
}

/// What a client has taken. Given back when it is dropped.
pub(super) struct Share {
    inner: Arc<Inner>,
    whose: Principal,
    amount: usize,
}

impl Shares {
    /// At least `total` of it, and enough that each of two clients can have all that one may.
    pub(super) fn new(clients: usize, most_of_one: u32, total: usize) -> Self {
        let clients = clients.max(1);
        let most_of_one = most_of_one as usize;
        let total = total.max(most_of_one.saturating_mul(2));
        // Somebody who shares with more than there is gets one nevertheless.
        let reserved = (total / 2 / clients).max(1).min(most_of_one);
        Self {
            inner: Arc::new(Inner {
                most_of_one,
                reserved,
                common: total.saturating_sub(reserved * clients),
                used: Mutex::new(vec![0; clients]),
            }),
        }
    }

    /// One of it.
    pub(super) fn take(&self, whose: Principal) -> Option<Share> {
        self.take_some(whose, 1)
    }

    /// So much of it, or nothing.
    pub(super) fn take_some(&self, whose: Principal, amount: usize) -> Option<Share> {
        let mut share = Share {
            inner: self.inner.clone(),
            whose,
            amount: 0,
        };
        share.grow_to(amount).then_some(share)
    }

    /// The most that one client can have.
    pub(super) fn most_of_one(&self) -> usize {
        self.inner.most_of_one
    }
}

impl Share {
    /// Takes more, up to so much in all. Says whether there was enough; nothing changes if not.
    pub(super) fn grow_to(&mut self, amount: usize) -> bool {
        let more = amount.saturating_sub(self.amount);
        let inner = &self.inner;
        let mut used = inner.used.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = used.get(self.whose.0).copied() else {
            return false;
        };
        let mine = before.saturating_add(more);
        let borrowed = |used: usize| used.saturating_sub(inner.reserved);
        let all: usize = used.iter().copied().map(borrowed).sum();
        let common = (all - borrowed(before)).saturating_add(borrowed(mine));
        let is_free = more == 0
            || mine <= inner.reserved
            || mine <= inner.most_of_one && common <= inner.common;
        if is_free && let Some(used) = used.get_mut(self.whose.0) {
            *used = mine;
            self.amount += more;
        }
        is_free
    }

    pub(super) fn whose(&self) -> Principal {
        self.whose
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let used = self.inner.used.lock();
        let mut used = used.unwrap_or_else(PoisonError::into_inner);
        if let Some(mine) = used.get_mut(self.whose.0) {
            *mine = mine.saturating_sub(self.amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes until nothing is left for this client.
    fn all(shares: &Shares, client: usize) -> Vec<Share> {
        std::iter::from_fn(|| shares.take(Principal(client))).collect()
    }

    #[test]
    fn nobody_takes_what_is_reserved_for_another() {
        // Clients, most of one, total; what the first gets, and what each other gets then.
        for (clients, most, total, first, others) in [
            (1, 64, 256, 64, 0),
            (1, 64, 10, 64, 0),
            (2, 64, 256, 64, 64),
            (2, 8, 16, 8, 8),
            (4, 64, 128, 64, 16),
            (64, 64, 256, 64, 2),
            // More clients than there are places: one for each.
            (64, 4, 16, 1, 1),
        ] {
            let shares = Shares::new(clients, most, total);
            let mut kept = vec![all(&shares, 0)];
            assert_eq!(kept[0].len(), first, "{clients} {most} {total}");
            for client in (1..clients).rev() {
                let taken = all(&shares, client);
                assert!(taken.len() >= others, "{client}: {}", taken.len());
                kept.push(taken);
            }
            // What is given back can be taken again, and no more than that.
            kept[0].truncate(first - 1);
            assert_eq!(all(&shares, 0).len(), 1);
            assert!(shares.take(Principal(clients)).is_none());
        }
    }

    #[test]
    fn much_is_taken_whole_or_not_at_all() {
        let shares = Shares::new(2, 60, 100);
        let mut first = shares.take_some(Principal(0), 10).unwrap();
        assert!(first.grow_to(60) && first.grow_to(5));
        assert!(!first.grow_to(61));
        // What is left is what the other has for itself, and the rest of what is common.
        assert!(shares.take_some(Principal(1), 61).is_none());
        let second = shares.take_some(Principal(1), 60).unwrap();
        assert!(shares.take(Principal(0)).is_none());
        drop(first);
        drop(second);
        assert!(shares.take_some(Principal(1), 60).is_some());
        // Many clients: the last one has its part, whatever the others took.
        let shares = Shares::new(3, 60, 120);
        let kept = [0, 1].map(|client| {
            let mut share = shares.take_some(Principal(client), 20).unwrap();
            while share.grow_to(share.amount + 1) {}
            share
        });
        assert!(shares.take_some(Principal(2), 20).is_some());
        assert!(shares.take_some(Principal(2), 21).is_none());
        drop(kept);
    }
}
