//! Which call starts when: the rules of a turn as a machine without time, threads
//! or tools.
//!
//! Events go in, actions come out, so that every order of events can be tried (see
//! `explore.rs`). The rules:
//!
//! - Calls start in the order in which the model made them. The first that waits
//!   starts if nothing runs, or if it and all that run may run beside others and
//!   fewer than the cap run. Nothing overtakes it.
//! - Results come out in the same order, each exactly once.
//! - What calls ask of the session is done when nothing runs any more, in call
//!   order: at once after a call that ran alone, together after calls that ran
//!   beside each other.
//! - An interrupted or discarded turn starts nothing more. A call whose result was
//!   made up because it was ended keeps its place until it has really ended.

use toolbay_contract::{OnError, OnInterrupt};

/// What decides how a call is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Manners {
    /// May run beside others that may.
    pub(crate) shared: bool,
    pub(crate) on_interrupt: OnInterrupt,
    pub(crate) on_error: OnError,
}

impl Manners {
    /// What counts for a call about which nothing is known.
    pub(crate) const STRICT: Self = Self {
        shared: false,
        on_interrupt: OnInterrupt::Finish,
        on_error: OnError::Isolate,
    };
}

/// Why a result is made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    Interrupted,
    Discarded,
    /// The call with this number failed, and this one is of its kind.
    Sibling(usize),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    Start(usize),
    /// Ends a running call; its result is made up, whatever it still says.
    End(usize, Why),
    /// Makes up the result of a call that never started.
    Skip(usize, Why),
    /// Does what these calls asked of the session, in this order.
    Apply(Vec<usize>),
    /// Hands out the result.
    Yield(usize),
    /// Nothing will come any more.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// Its manners are not known yet.
    Arriving,
    Waiting(Manners),
    Running(Manners),
    Left,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Call {
    place: Place,
    /// It has a result, its own or one made up.
    answered: bool,
    /// Its own result counts, and what it asked of the session is still to be done.
    pending: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Schedule {
    cap: usize,
    calls: Vec<Call>,
    /// The first call whose result was not handed out.
    next: usize,
    /// All calls before this one have left, and nothing of theirs is to be done: a
    /// long turn does not grow slower.
    settled: usize,
    /// Why nothing starts any more.
    halted: Option<Why>,
    closed: bool,
    over: bool,
}

impl Schedule {
    /// `cap` calls at most run at once.
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap: cap.max(1),
            calls: Vec::new(),
            next: 0,
            settled: 0,
            halted: None,
            closed: false,
            over: false,
        }
    }

    /// The model made another call. Its number is how many there were before.
    pub(crate) fn add(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.calls.push(Call {
            place: Place::Arriving,
            answered: false,
            pending: false,
        });
        if let Some(why) = self.halted {
            self.skip_waiting(why, &mut actions);
        }
        self.advance(actions)
    }

    /// It is known how a call wants to be treated.
    pub(crate) fn arrived(&mut self, number: usize, manners: Manners) -> Vec<Action> {
        if let Some(call) = self.calls.get_mut(number)
            && call.place == Place::Arriving
        {
            call.place = Place::Waiting(manners);
        }
        self.advance(Vec::new())
    }

    /// A call that was started has come to its end. `failed` says that it ran and
    /// brought bad news.
    pub(crate) fn ended(&mut self, number: usize, failed: bool) -> Vec<Action> {
        let mut actions = Vec::new();
        let Some(call) = self.calls.get_mut(number) else {
            return actions;
        };
        let Place::Running(manners) = call.place else {
            return actions;
        };
        call.place = Place::Left;
        if !call.answered {
            call.answered = true;
            call.pending = true;
            if failed && manners.on_error == OnError::CancelSiblings {
                self.end_running(Why::Sibling(number), &mut actions, |_, manners| {
                    manners.on_error == OnError::CancelSiblings
                });
            }
        }
        self.advance(actions)
    }

    /// The person wants it to stop. `may_end` is asked about calls that would rather
    /// finish, and says whether one has done nothing yet.
    pub(crate) fn interrupt(&mut self, mut may_end: impl FnMut(usize) -> bool) -> Vec<Action> {
        self.halt(Why::Interrupted, |number, manners| {
            manners.on_interrupt == OnInterrupt::Cancel || may_end(number)
        })
    }

    /// Nobody wants the results any more.
    pub(crate) fn discard(&mut self) -> Vec<Action> {
        self.halt(Why::Discarded, |_, _| true)
    }

    /// The model has made its last call.
    pub(crate) fn close(&mut self) -> Vec<Action> {
        self.closed = true;
        self.advance(Vec::new())
    }

    fn halt(&mut self, why: Why, ends: impl FnMut(usize, Manners) -> bool) -> Vec<Action> {
        let mut actions = Vec::new();
        self.halted.get_or_insert(why);
        self.end_running(why, &mut actions, ends);
        self.skip_waiting(why, &mut actions);
        self.advance(actions)
    }

    fn end_running(
        &mut self,
        why: Why,
        actions: &mut Vec<Action>,
        mut ends: impl FnMut(usize, Manners) -> bool,
    ) {
        for (number, call) in self.unsettled() {
            if let Place::Running(manners) = call.place
                && !call.answered
                && ends(number, manners)
            {
                call.answered = true;
                actions.push(Action::End(number, why));
            }
        }
    }

    fn skip_waiting(&mut self, why: Why, actions: &mut Vec<Action>) {
        for (number, call) in self.unsettled() {
            if matches!(call.place, Place::Arriving | Place::Waiting(_)) {
                call.place = Place::Left;
                call.answered = true;
                actions.push(Action::Skip(number, why));
            }
        }
    }

    /// Whatever has become possible: doing what ended calls asked for, then starting,
    /// then handing out.
    fn advance(&mut self, mut actions: Vec<Action>) -> Vec<Action> {
        if self.running().next().is_none() {
            let mut pending = Vec::new();
            for (number, call) in self.unsettled() {
                if std::mem::take(&mut call.pending) {
                    pending.push(number);
                }
            }
            if !pending.is_empty() {
                actions.push(Action::Apply(pending));
            }
        }
        while let Some(number) = self.may_start() {
            if let Place::Waiting(manners) = self.calls[number].place {
                self.calls[number].place = Place::Running(manners);
                actions.push(Action::Start(number));
            }
        }
        while self.calls.get(self.next).is_some_and(|call| call.answered) {
            actions.push(Action::Yield(self.next));
            self.next += 1;
        }
        while let Some(call) = self.calls.get(self.settled)
            && call.place == Place::Left
            && !call.pending
        {
            self.settled += 1;
        }
        let idle = self.next == self.calls.len() && self.running().next().is_none();
        if self.closed && idle && !self.over {
            self.over = true;
            actions.push(Action::Over);
        }
        actions
    }

    /// The first call that waits, if it may start now.
    fn may_start(&self) -> Option<usize> {
        let first = self.calls[self.settled..]
            .iter()
            .position(|call| matches!(call.place, Place::Arriving | Place::Waiting(_)))?;
        let number = self.settled + first;
        let Place::Waiting(manners) = self.calls[number].place else {
            return None;
        };
        let mut running = 0;
        for other in self.running() {
            if !(manners.shared && other.shared) {
                return None;
            }
            running += 1;
        }
        (running < self.cap).then_some(number)
    }

    fn running(&self) -> impl Iterator<Item = Manners> {
        self.calls[self.settled..]
            .iter()
            .filter_map(|call| match call.place {
                Place::Running(manners) => Some(manners),
                Place::Arriving | Place::Waiting(_) | Place::Left => None,
            })
    }

    fn unsettled(&mut self) -> impl Iterator<Item = (usize, &mut Call)> {
        self.calls.iter_mut().enumerate().skip(self.settled)
    }
}

#[cfg(test)]
mod explore;
#[cfg(test)]
mod tests;
