//! The budget of a message: results that fit one by one may be too much together.

use std::cmp::Reverse;

use toolbay_contract::{Content, Keep, ResultLimit};

use super::Results;
use super::blocks::TextSize;
use super::decision::Decision;
use super::digest::Digest;
use super::plan::{MESSAGE_CHARS, Plan, TextPlan};

/// One of the results that go to the model together.
#[derive(Debug)]
pub struct MessagePart<'a> {
    pub call_id: &'a str,
    pub limit: ResultLimit,
    /// The part that its tool wants to be kept.
    pub keep: Option<Keep>,
    pub content: &'a mut Vec<Content>,
}

/// A part while the message is made to fit.
struct Fitting<'a, 'b> {
    part: &'b mut MessagePart<'a>,
    /// What the part came as.
    given: Digest,
    /// The host's own lines in it, which are not replaced again.
    own_blocks: Vec<usize>,
    /// Characters of all text, and of what is not the host's own.
    chars: usize,
    foreign_chars: usize,
    is_cut: bool,
}

impl Results {
    /// Brings the results of one message within what a message may have: the largest are
    /// replaced first, those of tools that manage their own size last. What is in here
    /// counts as seen by the model.
    pub fn fit_message(&self, results: &mut [MessagePart<'_>]) {
        self.fit_rest(0, results);
    }

    /// The same for the rest of a message of which so many characters are out already.
    pub fn fit_rest(&self, spent: usize, results: &mut [MessagePart<'_>]) {
        let plan = Plan::for_message(results.len());
        let mut parts: Vec<Fitting<'_, '_>> =
            results.iter_mut().map(|part| self.replay(part)).collect();
        let mut total = spent + parts.iter().map(|part| part.chars).sum::<usize>();

        // A stable sort: equals stay in the order of their calls.
        parts.sort_by_key(|part| (part.manages_itself(), Reverse(part.foreign_chars)));
        for part in &mut parts {
            if total > MESSAGE_CHARS && plan.shortens(part.foreign_chars) {
                total -= part.chars;
                self.replace(part, &plan);
                total += part.chars;
            }
        }
        let mut repeats = self.repeats();
        for part in parts.iter().filter(|part| !part.is_cut) {
            repeats.seen(part.part.call_id, part.given);
        }
    }

    /// Does again what was decided before.
    fn replay<'a, 'b>(&self, part: &'b mut MessagePart<'a>) -> Fitting<'a, 'b> {
        let given = Digest::of_content(&*part.content);
        let known = self
            .decisions()
            .find(given.in_call(part.call_id), part.content);
        let mut fitting = Fitting {
            part,
            given,
            own_blocks: Vec::new(),
            chars: 0,
            foreign_chars: 0,
            is_cut: false,
        };
        if let Some(decision) = &known {
            fitting.apply(decision);
        }
        fitting.own_blocks = self.decisions().own_blocks(fitting.key());
        fitting.measure();
        fitting
    }

    fn replace(&self, fitting: &mut Fitting<'_, '_>, plan: &Plan) {
        let part = &fitting.part;
        let keep = part.keep;
        let plan = Plan {
            text: plan.text.map(|text| TextPlan { keep, ..text }),
            stays: fitting.own_blocks.clone(),
            ..plan.clone()
        };
        let decision = self.carry_out(part.call_id, fitting.key(), part.content, plan);
        fitting.apply(&decision);
        fitting.measure();
    }
}

impl Fitting<'_, '_> {
    /// The call and what is shown of it now.
    fn key(&self) -> Digest {
        Digest::of_content(&*self.part.content).in_call(self.part.call_id)
    }

    fn manages_itself(&self) -> bool {
        match self.part.limit {
            ResultLimit::SelfManaged => true,
            ResultLimit::Standard | ResultLimit::Chars(_) => false,
        }
    }

    fn apply(&mut self, decision: &Decision) {
        let content = std::mem::take(self.part.content);
        *self.part.content = decision.apply(content);
        self.is_cut |= match decision {
            Decision::Replaced { .. } => false,
            Decision::Cut { .. } => true,
        };
    }

    fn measure(&mut self) {
        self.chars = TextSize::of(self.part.content).chars;
        self.foreign_chars = TextSize::without(self.part.content, &self.own_blocks).chars;
    }
}
