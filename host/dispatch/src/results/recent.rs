//! A map that forgets its oldest entries, so that a session of any length needs the same
//! memory.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

#[derive(Debug)]
pub(super) struct Recent<K, V> {
    most: usize,
    entries: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            entries: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    pub(super) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.entries.get(key)
    }

    /// Sets a value. An entry that is set again keeps its age.
    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.entries.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > self.most {
            if let Some(oldest) = self.order.pop_front() {
                self.entries.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_goes_first_and_the_size_stays() {
        let mut recent = Recent::new(3);
        for number in 0..10 {
            recent.insert(number, number);
            recent.insert(number, number + 100);
        }
        assert_eq!(recent.entries.len(), 3);
        assert_eq!(recent.order, [7, 8, 9]);
        assert_eq!(recent.get(&6), None);
        assert_eq!(recent.get(&7), Some(&107));
    }
}
