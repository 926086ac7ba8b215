//! Turns in which the rules can be read off.

use super::*;

const SHARED: Manners = Manners {
    shared: true,
    ..Manners::STRICT
};
const ALONE: Manners = Manners::STRICT;

fn turn(cap: usize, manners: &[Manners]) -> (Schedule, Vec<Action>) {
    let mut schedule = Schedule::new(cap);
    let mut actions = Vec::new();
    for (number, manners) in manners.iter().enumerate() {
        actions.extend(schedule.add());
        actions.extend(schedule.arrived(number, *manners));
    }
    (schedule, actions)
}

use Action::{Apply, End, Over, Skip, Start, Yield};

#[test]
fn calls_that_may_run_together_do_and_others_wait_in_order() {
    let (mut schedule, started) = turn(10, &[SHARED, SHARED, ALONE, SHARED, ALONE]);
    assert_eq!(started, [Start(0), Start(1)]);
    assert_eq!(schedule.ended(1, false), []);
    assert_eq!(
        schedule.ended(0, false),
        [Apply(vec![0, 1]), Start(2), Yield(0), Yield(1)]
    );
    assert_eq!(
        schedule.ended(2, false),
        [Apply(vec![2]), Start(3), Yield(2)]
    );
    assert_eq!(
        schedule.ended(3, true),
        [Apply(vec![3]), Start(4), Yield(3)]
    );
    assert_eq!(schedule.close(), []);
    assert_eq!(schedule.ended(4, false), [Apply(vec![4]), Yield(4), Over]);
}

#[test]
fn no_more_than_the_cap_run_at_once() {
    let (mut schedule, started) = turn(2, &[SHARED; 4]);
    assert_eq!(started, [Start(0), Start(1)]);
    assert_eq!(schedule.ended(1, false), [Start(2)]);
    assert_eq!(schedule.ended(0, false), [Start(3), Yield(0), Yield(1)]);
    assert_eq!(Schedule::new(0).cap, 1);
}

#[test]
fn a_call_that_is_not_known_yet_holds_up_those_behind_it() {
    let mut schedule = Schedule::new(10);
    assert_eq!(schedule.add(), []);
    assert_eq!(schedule.add(), []);
    assert_eq!(schedule.arrived(1, SHARED), []);
    assert_eq!(schedule.arrived(0, SHARED), [Start(0), Start(1)]);
    // Nothing that arrives twice, or never was, confuses it.
    assert_eq!(schedule.arrived(0, ALONE), []);
    assert_eq!(schedule.arrived(9, ALONE), []);
    assert_eq!(schedule.ended(9, true), []);
}

#[test]
fn an_interrupt_ends_what_can_be_ended_and_starts_nothing_more() {
    let cancel = Manners {
        on_interrupt: OnInterrupt::Cancel,
        ..SHARED
    };
    let (mut schedule, _) = turn(3, &[cancel, SHARED, SHARED, SHARED]);
    // The second is at work, the third has done nothing yet, the fourth waits.
    let interrupted = schedule.interrupt(|number| number == 2);
    assert_eq!(
        interrupted,
        [
            End(0, Why::Interrupted),
            End(2, Why::Interrupted),
            Skip(3, Why::Interrupted),
            Yield(0)
        ]
    );
    assert_eq!(schedule.add(), [Skip(4, Why::Interrupted)]);
    assert_eq!(schedule.close(), []);
    assert_eq!(schedule.ended(0, true), []);
    assert_eq!(schedule.ended(2, true), []);
    assert_eq!(
        schedule.ended(1, false),
        [Apply(vec![1]), Yield(1), Yield(2), Yield(3), Yield(4), Over]
    );
}

#[test]
fn a_discarded_turn_has_a_result_for_each_call() {
    let (mut schedule, _) = turn(10, &[SHARED, SHARED, ALONE]);
    assert_eq!(schedule.ended(1, false), []);
    assert_eq!(
        schedule.discard(),
        [
            End(0, Why::Discarded),
            Skip(2, Why::Discarded),
            Yield(0),
            Yield(1),
            Yield(2)
        ]
    );
    assert_eq!(schedule.close(), []);
    assert_eq!(schedule.ended(0, true), [Apply(vec![1]), Over]);
}

#[test]
fn a_failure_ends_those_of_its_kind_that_run_and_no_others() {
    let kin = Manners {
        on_error: OnError::CancelSiblings,
        ..SHARED
    };
    let (mut schedule, _) = turn(3, &[kin, SHARED, kin, kin]);
    assert_eq!(
        schedule.ended(0, true),
        [End(2, Why::Sibling(0)), Start(3), Yield(0)]
    );
    // One that was ended fails, which is no news.
    assert_eq!(schedule.ended(2, true), []);
    assert_eq!(schedule.ended(3, false), []);
    assert_eq!(
        schedule.ended(1, true),
        [Apply(vec![0, 1, 3]), Yield(1), Yield(2), Yield(3)]
    );
}
