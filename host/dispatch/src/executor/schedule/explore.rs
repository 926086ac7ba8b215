//! Every order of events, for small turns.
//!
//! A breadth-first search over all states that the machine and the world around it
//! can reach together. The world knows the rules in their simplest form and checks
//! each action against them; at the end of each path it checks that nothing is left.

use std::collections::HashSet;

use super::*;

/// What can happen from outside.
#[derive(Debug, Clone, Copy)]
enum Event {
    Add,
    Arrive(usize),
    /// The call begins to change things.
    Act(usize),
    End(usize, bool),
    Interrupt,
    Discard,
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Seen {
    arrived: bool,
    started: bool,
    acting: bool,
    ended: bool,
    made_up: bool,
    applied: bool,
    yielded: bool,
}

impl Seen {
    fn runs(&self) -> bool {
        self.started && !self.ended
    }
}

/// The machine, and all that an onlooker knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    machine: Schedule,
    calls: Vec<Seen>,
    halted: bool,
    discarded: bool,
    closed: bool,
    over: bool,
}

struct Turn {
    manners: Vec<Manners>,
    cap: usize,
}

impl Turn {
    fn events(&self, world: &World) -> Vec<Event> {
        let mut events = Vec::new();
        if !world.closed {
            if world.calls.len() < self.manners.len() {
                events.push(Event::Add);
            }
            events.push(Event::Close);
        }
        if !world.halted {
            events.push(Event::Interrupt);
        }
        if !world.discarded {
            events.push(Event::Discard);
        }
        for (number, call) in world.calls.iter().enumerate() {
            if !call.arrived {
                events.push(Event::Arrive(number));
            }
            if call.runs() {
                if !call.acting {
                    events.push(Event::Act(number));
                }
                events.push(Event::End(number, false));
                events.push(Event::End(number, true));
            }
        }
        events
    }

    fn step(&self, before: &World, event: Event) -> World {
        let mut world = before.clone();
        let actions = match event {
            Event::Add => {
                world.calls.push(Seen::default());
                world.machine.add()
            }
            Event::Arrive(number) => {
                world.calls[number].arrived = true;
                world.machine.arrived(number, self.manners[number])
            }
            Event::Act(number) => {
                world.calls[number].acting = true;
                Vec::new()
            }
            Event::End(number, failed) => {
                world.calls[number].ended = true;
                world.machine.ended(number, failed)
            }
            Event::Interrupt => {
                world.halted = true;
                let calls = world.calls.clone();
                world.machine.interrupt(|number| !calls[number].acting)
            }
            Event::Discard => {
                world.halted = true;
                world.discarded = true;
                world.machine.discard()
            }
            Event::Close => {
                world.closed = true;
                world.machine.close()
            }
        };
        for action in actions {
            self.check(&mut world, event, action);
        }
        self.check_that_nothing_waits_for_nothing(&world);
        world
    }

    fn check(&self, world: &mut World, event: Event, action: Action) {
        assert!(!world.over, "{action:?} after the end");
        match action {
            Action::Start(number) => {
                let call = world.calls[number];
                assert!(call.arrived && !call.started && !call.made_up);
                assert!(!world.halted, "started after a halt");
                let earlier = &world.calls[..number];
                assert!(earlier.iter().all(|call| call.started), "overtaken");
                world.calls[number].started = true;
                let running: Vec<usize> = self.running(world);
                assert!(running.len() <= self.cap, "more than the cap");
                assert!(
                    running.len() == 1 || running.iter().all(|at| self.manners[*at].shared),
                    "one that runs alone does not"
                );
            }
            Action::End(number, why) => {
                let call = world.calls[number];
                assert!(call.runs() && !call.made_up);
                let manners = self.manners[number];
                match (why, event) {
                    (Why::Interrupted, Event::Interrupt) => assert!(
                        manners.on_interrupt == OnInterrupt::Cancel || !call.acting,
                        "one that finishes was interrupted at work"
                    ),
                    (Why::Discarded, Event::Discard) => {}
                    (Why::Sibling(other), Event::End(ended, true)) => {
                        assert_eq!(other, ended);
                        for kin in [number, other] {
                            assert_eq!(self.manners[kin].on_error, OnError::CancelSiblings);
                        }
                    }
                    (why, event) => panic!("{why:?} after {event:?}"),
                }
                world.calls[number].made_up = true;
            }
            Action::Skip(number, _) => {
                let call = world.calls[number];
                assert!(world.halted && !call.started && !call.made_up);
                world.calls[number].made_up = true;
            }
            Action::Apply(numbers) => {
                assert!(self.running(world).is_empty(), "applied while others run");
                assert!(numbers.is_sorted());
                for number in numbers {
                    let call = world.calls[number];
                    assert!(call.ended && !call.made_up && !call.applied);
                    world.calls[number].applied = true;
                }
            }
            Action::Yield(number) => {
                let call = world.calls[number];
                assert!(!call.yielded && (call.ended || call.made_up));
                let earlier = &world.calls[..number];
                assert!(earlier.iter().all(|call| call.yielded), "out of order");
                world.calls[number].yielded = true;
            }
            Action::Over => {
                assert!(world.closed && self.running(world).is_empty());
                assert!(world.calls.iter().all(|call| call.yielded));
                world.over = true;
            }
        }
    }

    /// No lost wake-up: after each event, whatever could happen has happened.
    fn check_that_nothing_waits_for_nothing(&self, world: &World) {
        let running = self.running(world);
        let waiting = |call: &Seen| !call.started && !call.made_up;
        if let Some(first) = world.calls.iter().position(waiting)
            && world.calls[first].arrived
        {
            assert!(!world.halted, "one waits after a halt");
            let together = running.iter().chain([&first]);
            let fits =
                running.len() < self.cap && together.clone().all(|n| self.manners[*n].shared);
            assert!(!running.is_empty() && !fits, "{first} could run");
        }
        if let Some(next) = world.calls.iter().find(|call| !call.yielded) {
            assert!(!next.ended && !next.made_up, "a result is held back");
        }
        for call in &world.calls {
            let owed = call.ended && !call.made_up && !call.applied;
            assert!(!owed || !running.is_empty(), "a wish is held back");
        }
        let all = world.calls.iter().all(|call| call.yielded);
        let done = world.closed && running.is_empty() && all;
        assert_eq!(world.over, done, "the end is not told");
    }

    fn running(&self, world: &World) -> Vec<usize> {
        (0..world.calls.len())
            .filter(|number| world.calls[*number].runs())
            .collect()
    }

    /// Visits every reachable state, and says how many there are.
    fn explore(&self) -> usize {
        let start = World {
            machine: Schedule::new(self.cap),
            calls: Vec::new(),
            halted: false,
            discarded: false,
            closed: false,
            over: false,
        };
        let mut known = HashSet::from([start.clone()]);
        let mut frontier = vec![start];
        while let Some(world) = frontier.pop() {
            let events = self.events(&world);
            let stuck = events
                .iter()
                .all(|event| matches!(event, Event::Interrupt | Event::Discard));
            assert!(!stuck || world.over, "a dead end: {world:?}");
            for event in events {
                let next = self.step(&world, event);
                if known.insert(next.clone()) {
                    frontier.push(next);
                }
            }
        }
        known.len()
    }
}

fn all_manners() -> Vec<Manners> {
    let mut all = Vec::new();
    for shared in [true, false] {
        for on_interrupt in [OnInterrupt::Finish, OnInterrupt::Cancel] {
            for on_error in [OnError::Isolate, OnError::CancelSiblings] {
                all.push(Manners {
                    shared,
                    on_interrupt,
                    on_error,
                });
            }
        }
    }
    all
}

/// Every turn of so many calls, with manners out of a set.
fn turns(length: usize, set: &[Manners]) -> Vec<Vec<Manners>> {
    (0..length).fold(vec![Vec::new()], |turns, _| {
        turns
            .iter()
            .flat_map(|turn| set.iter().map(|manners| [&turn[..], &[*manners]].concat()))
            .collect()
    })
}

fn explore_all(length: usize, set: &[Manners], caps: &[usize]) -> usize {
    let mut states = 0;
    for manners in turns(length, set) {
        for cap in caps {
            let manners = manners.clone();
            states += Turn { manners, cap: *cap }.explore();
        }
    }
    states
}

#[test]
fn two_calls_of_every_kind() {
    let states = explore_all(2, &all_manners(), &[1, 2]);
    assert!(states > 10_000, "{states}");
}

#[test]
fn three_calls_of_every_kind() {
    let states = explore_all(3, &all_manners(), &[2]);
    assert!(states > 500_000, "{states}");
}

#[test]
fn four_calls_shared_or_alone() {
    let alone = Manners::STRICT;
    let shared = Manners {
        shared: true,
        ..alone
    };
    let states = explore_all(4, &[shared, alone], &[1, 2, 3]);
    assert!(states > 100_000, "{states}");
}
