//! All decisions of a session: which there are is in memory, what they say is in the log.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolbay_contract::Content;

use super::decision::Decision;
use super::digest::Digest;
use super::error::StoreError;
use super::folder::Folder;
use super::log::{Log, Place, Record};
use super::recent::Recent;

/// Some hundred bytes each. A session that replaces more results than this has lost its
/// way, and sees further ones cut.
const MOST_DECISIONS: usize = 50_000;
/// Decisions that could not be written down.
const MOST_UNWRITTEN: usize = 2_000;
/// A longer call id is shortened in the log.
const LONGEST_CALL: usize = 200;

#[derive(Debug)]
pub(super) struct Decisions {
    log: Option<Log>,
    places: HashMap<Digest, Place>,
    /// By what is shown: what it was decided about.
    shown: HashMap<Digest, Digest>,
    unwritten: Recent<Digest, Decision>,
}

/// A decision that is to be kept.
pub(super) struct Decided<'a> {
    pub(super) call_id: &'a str,
    /// Call and original content.
    pub(super) key: Digest,
    pub(super) content: &'a [Content],
    pub(super) decision: Decision,
}

impl Decisions {
    /// Decisions that end with the process.
    pub(super) fn in_memory() -> Self {
        Self {
            log: None,
            places: HashMap::new(),
            shown: HashMap::new(),
            unwritten: Recent::new(MOST_UNWRITTEN),
        }
    }

    /// The decisions that a folder knows, and what is wrong with it.
    pub(super) fn read(folder: Folder) -> (Self, Vec<String>) {
        let mut decisions = Self::in_memory();
        let mut too_many = 0_usize;
        let (log, mut problems) = Log::read(folder, |record, place| {
            let is_full = decisions.places.len() >= MOST_DECISIONS;
            match decisions.places.entry(record.key) {
                // The first one was acted on first.
                Entry::Occupied(_) => {}
                Entry::Vacant(_) if is_full => too_many += 1,
                Entry::Vacant(free) => {
                    free.insert(place);
                    decisions.shown.insert(record.shown, record.key);
                }
            }
        });
        if too_many > 0 {
            problems.push(format!(
                "{too_many} replacements of results are ignored: a session may have {MOST_DECISIONS}"
            ));
        }
        decisions.log = Some(log);
        (decisions, problems)
    }

    /// What was decided about this content.
    pub(super) fn find(&self, key: Digest, content: &[Content]) -> Option<Decision> {
        self.recorded(key)
            .filter(|decision| decision.suits(content))
    }

    /// Which blocks of what is shown are the host's own words.
    pub(super) fn own_blocks(&self, shown: Digest) -> Vec<usize> {
        let decision = self.shown.get(&shown).and_then(|key| self.recorded(*key));
        decision.map_or_else(Vec::new, |decision| decision.own_blocks())
    }

    fn recorded(&self, key: Digest) -> Option<Decision> {
        let written = || {
            let place = self.places.get(&key)?;
            let record = self.log.as_ref()?.fetch(*place);
            if record.is_none() {
                tracing::warn!("the list of replacements has changed under our hands");
            }
            record.filter(|record| record.key == key)
        };
        self.unwritten
            .get(&key)
            .cloned()
            .or_else(|| Some(written()?.decision))
    }

    /// Writes a decision down, after which it may be used. If somebody decided the same
    /// question meanwhile, that decision holds.
    pub(super) fn record(&mut self, decided: Decided<'_>) -> Result<Decision, StoreError> {
        if let Some(earlier) = self.find(decided.key, decided.content) {
            return Ok(earlier);
        }
        let shown = decided.decision.shown(decided.content);
        let record = Record {
            call: decided.call_id.chars().take(LONGEST_CALL).collect(),
            key: decided.key,
            shown: shown.in_call(decided.call_id),
            decision: decided.decision,
        };
        match (self.write(&record), &record.decision) {
            (Ok(()), _) => {}
            // There is nowhere to write: this process at least is to be consistent.
            (Err(StoreError::NoFolder), _) | (Err(_), Decision::Cut { .. }) => {
                self.unwritten.insert(record.key, record.decision.clone());
            }
            (Err(error), Decision::Replaced { .. }) => return Err(error),
        }
        Ok(record.decision)
    }

    fn write(&mut self, record: &Record) -> Result<(), StoreError> {
        let log = self.log.as_mut().ok_or(StoreError::NoFolder)?;
        if self.places.len() >= MOST_DECISIONS {
            return Err(log.full());
        }
        let place = log.append(record)?;
        self.places.insert(record.key, place);
        self.shown.insert(record.shown, record.key);
        Ok(())
    }
}
