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

    pub(super) fn take(&self, whose: Principal) -> Option<Share> {
        let inner = &self.inner;
        let mut used = inner.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = *used.get(whose.0)?;
        let borrowed = |used: &usize| used.saturating_sub(inner.reserved);
        let is_free = mine < inner.reserved
            || mine < inner.most_of_one && used.iter().map(borrowed).sum::<usize>() < inner.common;
        if !is_free {
            return None;
        }
        *used.get_mut(whose.0)? += 1;
        Some(Share {
            inner: inner.clone(),
            whose,
        })
    }
}

impl Share {
    pub(super) fn whose(&self) -> Principal {
        self.whose
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let used = self.inner.used.lock();
        let mut used = used.unwrap_or_else(PoisonError::into_inner);
        if let Some(mine) = used.get_mut(self.whose.0) {
            *mine = mine.saturating_sub(1);
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
}
