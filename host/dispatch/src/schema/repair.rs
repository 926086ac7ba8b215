//! Makes an input fit where the validator's own errors say how.
//!
//! Only what failed is touched, so a value that the schema accepts stays as it is. A
//! change that may be wrong is tried on a copy first and kept if it settles the matter.

use std::collections::HashSet;

use serde_json::Value;

use super::effort::{Effort, TooMuch};
use super::propose::{Change, Proposal, propose};
use super::{Schema, Shaped, explain, number, words};

/// One round uncovers the next: a text turns out to be a list, its items texts.
const MOST_ROUNDS: usize = 8;
/// Rounds to settle what a try has uncovered.
const ROUNDS_OF_A_TRY: usize = 3;
/// Who wants to know of more changes than these compares the inputs.
const MOST_SENTENCES: usize = 20;

/// The input, changed as far as that takes no guessing.
pub(super) enum Repaired {
    Fits(Shaped),
    Fails(Value),
}

pub(super) fn repair(
    schema: &Schema,
    input: Value,
    effort: &mut Effort,
) -> Result<Repaired, TooMuch> {
    let mut work = Work {
        value: input,
        changed: Vec::new(),
        unsaid: 0,
    };
    let mut rounds = 0;
    loop {
        for at in effort.find_pointed(&schema.document, &work.value)? {
            let integer = work.value.pointer(&at).and_then(number::without_point);
            if let Some(integer) = integer {
                work.apply(&Change::to(&at, Value::from(integer)));
            }
        }
        if schema.validator.is_valid(&work.value) {
            return Ok(Repaired::Fits(work.finish()));
        }
        if rounds == MOST_ROUNDS || !work.round(schema, effort)? {
            return Ok(Repaired::Fails(work.value));
        }
        rounds += 1;
    }
}

/// A value in the making.
#[derive(Clone)]
struct Work {
    value: Value,
    changed: Vec<String>,
    unsaid: usize,
}

impl Work {
    /// Does all that one look at the errors suggests. Says whether anything changed.
    fn round(&mut self, schema: &Schema, effort: &mut Effort) -> Result<bool, TooMuch> {
        let (sure, doubtful): (Vec<_>, Vec<_>) = self
            .proposals(schema, effort)?
            .into_iter()
            .partition(|proposal| proposal.sure);
        let mut changed = self.apply_all(&sure);
        // Mostly all doubts are of one kind and turn out well, so all are tried at once
        // before each is tried alone.
        if doubtful.len() > 1 && doubtful.iter().all(|proposal| proposal.ways.len() == 1) {
            let together = |work: &mut Self| work.apply_all(&doubtful);
            let places = doubtful.iter().map(|proposal| proposal.at.as_str());
            if let Some(better) = self.tried(together, places.collect(), schema, effort)? {
                *self = better;
                return Ok(true);
            }
        }
        for proposal in doubtful {
            changed |= self.attempt(&proposal, schema, effort)?;
        }
        Ok(changed)
    }

    fn proposals(&self, schema: &Schema, effort: &mut Effort) -> Result<Vec<Proposal>, TooMuch> {
        let errors = schema.errors(&self.value, effort)?;
        Ok(errors.filter_map(|error| propose(&error)).collect())
    }

    /// Tries each way. One that alone turns out well is taken.
    fn attempt(
        &mut self,
        proposal: &Proposal,
        schema: &Schema,
        effort: &mut Effort,
    ) -> Result<bool, TooMuch> {
        let mut fitting: Vec<Self> = Vec::new();
        for way in &proposal.ways {
            let one_way = |work: &mut Self| work.apply_way(way);
            let places = HashSet::from([proposal.at.as_str()]);
            if let Some(better) = self.tried(one_way, places, schema, effort)?
                && fitting.iter().all(|other| other.value != better.value)
            {
                fitting.push(better);
            }
        }
        let only = fitting.pop().filter(|_| fitting.is_empty());
        Ok(only.map(|only| *self = only).is_some())
    }

    /// A copy that is changed so, if that leaves nothing to say about the places.
    fn tried(
        &self,
        change: impl FnOnce(&mut Self) -> bool,
        places: HashSet<&str>,
        schema: &Schema,
        effort: &mut Effort,
    ) -> Result<Option<Self>, TooMuch> {
        effort.spend_copy(&self.value)?;
        let mut candidate = self.clone();
        if !change(&mut candidate) {
            return Ok(None);
        }
        for _ in 0..ROUNDS_OF_A_TRY {
            let mut proposals = candidate.proposals(schema, effort)?;
            proposals.retain(|proposal| proposal.sure);
            if !candidate.apply_all(&proposals) {
                break;
            }
        }
        let settled = !schema
            .errors(&candidate.value, effort)?
            .any(|error| is_within(&explain::pointer_of(&error), &places));
        Ok(settled.then_some(candidate))
    }

    fn apply_all(&mut self, proposals: &[Proposal]) -> bool {
        let mut changed = false;
        for way in proposals.iter().flat_map(|proposal| &proposal.ways) {
            changed |= self.apply_way(way);
        }
        changed
    }

    fn apply_way(&mut self, way: &[Change]) -> bool {
        let mut changed = false;
        for change in way {
            changed |= self.apply(change);
        }
        changed
    }

    /// Says whether the change changed anything.
    fn apply(&mut self, change: &Change) -> bool {
        let old = match &change.to {
            Some(new) => {
                let Some(old) = self.value.pointer_mut(&change.at) else {
                    return false;
                };
                if old == new && old.is_f64() == new.is_f64() {
                    return false;
                }
                std::mem::replace(old, new.clone())
            }
            None => {
                let Some((above, step)) = change.at.rsplit_once('/') else {
                    return false;
                };
                let above = self.value.pointer_mut(above).and_then(Value::as_object_mut);
                match above.and_then(|map| map.remove(&words::unescaped(step))) {
                    Some(old) => old,
                    None => return false,
                }
            }
        };
        if self.changed.len() < MOST_SENTENCES {
            self.changed.push(change.sentence(&old));
        } else {
            self.unsaid += 1;
        }
        true
    }

    fn finish(mut self) -> Shaped {
        if self.unsaid > 0 {
            self.changed.push(format!(
                "and {} more values were changed alike",
                self.unsaid
            ));
        }
        Shaped {
            value: self.value,
            changed: self.changed,
        }
    }
}

/// Whether the pointer leads to one of the places, or beneath one.
fn is_within(pointer: &str, places: &HashSet<&str>) -> bool {
    let ends = pointer.match_indices('/').map(|(end, _)| end);
    ends.chain([pointer.len()])
        .any(|end| places.contains(&pointer[..end]))
}
