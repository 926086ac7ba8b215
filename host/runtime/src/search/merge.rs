//! Puts the results of files into their order and cuts the window out.
//!
//! Threads take files in order but finish them in any order. A result waits here
//! until all before it are in; what is in without a gap is the page. That makes
//! the answer independent of timing, and lets the search end once the page is
//! full.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::collect::Kept;
use super::{Hit, Line, Page, Stop, Want, Window};

/// How often a waiting thread looks at the stop flag.
const WAKE: Duration = Duration::from_millis(5);

/// Results that wait for earlier ones may weigh this much beyond what a page
/// holds; then threads wait too.
const PARKED_BYTES: usize = 4 << 20;

/// What one file came to.
pub(super) struct Found {
    pub hit: Hit,
    /// Lines to put into the hit, from the first not counted in `skipped` on.
    pub lines: Vec<Kept>,
    pub skipped: u64,
    pub bytes: usize,
}

/// What is left of the window.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub skip: u64,
    pub limit: u64,
    pub bytes: usize,
}

pub(super) struct Merge {
    entries: Entries,
    whole: Room,
    count: usize,
    next_to_take: AtomicUsize,
    full: AtomicBool,
    parked_bytes: AtomicUsize,
    state: Mutex<State>,
    moved: Condvar,
}

/// What the window counts.
#[derive(Clone, Copy)]
enum Entries {
    Files,
    Lines,
}

struct State {
    room: Room,
    next: usize,
    parked: Vec<Slot>,
    page: Page,
}

enum Slot {
    Searching,
    Done(Option<Box<Found>>),
}

impl Merge {
    pub(super) fn new(count: usize, want: Want, window: Window) -> Self {
        let room = Room {
            skip: window.skip,
            limit: match window.limit {
                0 => u64::MAX,
                limit => limit,
            },
            bytes: window.max_bytes,
        };
        Self {
            entries: match want {
                Want::Paths | Want::Counts => Entries::Files,
                Want::Lines { .. } => Entries::Lines,
            },
            whole: room,
            count,
            next_to_take: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            parked_bytes: AtomicUsize::new(0),
            state: Mutex::new(State {
                room,
                next: 0,
                parked: (0..count).map(|_| Slot::Searching).collect(),
                page: Page::default(),
            }),
            moved: Condvar::new(),
        }
    }

    /// The window before anything went into it.
    pub(super) fn whole_room(&self) -> Room {
        self.whole
    }

    /// Whether the page needs no further file.
    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// The next file to search, if one is needed.
    pub(super) fn take(&self, stop: &Stop) -> Option<usize> {
        // Whoever waits here holds no file, so the file that all wait for is
        // being searched by somebody else.
        let most = self.whole.bytes.saturating_add(PARKED_BYTES);
        if self.parked_bytes.load(Ordering::Relaxed) > most {
            let mut state = self.lock();
            while self.parked_bytes.load(Ordering::Relaxed) > most
                && !stop.is_stopped()
                && !self.is_full()
            {
                state = self.wait(state);
            }
        }
        if stop.is_stopped() || self.is_full() {
            return None;
        }
        let index = self.next_to_take.fetch_add(1, Ordering::Relaxed);
        (index < self.count).then_some(index)
    }

    /// Waits until all files before this one are in, and tells what is left of
    /// the window then. None when nothing is needed any more.
    pub(super) fn wait_for_turn(&self, index: usize, stop: &Stop) -> Option<Room> {
        let mut state = self.lock();
        while state.next != index {
            if stop.is_stopped() || self.is_full() {
                return None;
            }
            state = self.wait(state);
        }
        Some(state.room)
    }

    /// Hands in what a file came to; none when it does not match.
    pub(super) fn hand_in(&self, index: usize, found: Option<Found>) {
        let mut state = self.lock();
        if let Some(found) = &found {
            self.parked_bytes.fetch_add(found.bytes, Ordering::Relaxed);
        }
        if let Some(slot) = state.parked.get_mut(index) {
            *slot = Slot::Done(found.map(Box::new));
        }
        let before = state.next;
        while let Some(Slot::Done(found)) = next_slot(&mut state) {
            state.next += 1;
            let Some(found) = found else { continue };
            self.parked_bytes.fetch_sub(found.bytes, Ordering::Relaxed);
            if !self.is_full() {
                let full = match self.entries {
                    Entries::Files => state.add_file(*found),
                    Entries::Lines => state.add_lines(*found),
                };
                self.full.store(full, Ordering::Relaxed);
            }
        }
        if state.next != before {
            self.moved.notify_all();
        }
    }

    pub(super) fn into_page(self) -> Page {
        self.state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .page
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.moved
            .wait_timeout(state, WAKE)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

/// Takes the slot whose turn it is, if it is done.
fn next_slot(state: &mut State) -> Option<Slot> {
    let next = state.next;
    match state.parked.get_mut(next) {
        Some(slot @ Slot::Done(_)) => Some(std::mem::replace(slot, Slot::Searching)),
        Some(Slot::Searching) | None => None,
    }
}

impl State {
    /// Adds a file; `true` when the page is full.
    fn add_file(&mut self, found: Found) -> bool {
        if self.room.skip > 0 {
            self.room.skip -= 1;
            return false;
        }
        let weight = found.hit.path.len();
        let fits = weight <= self.room.bytes || self.page.hits.is_empty();
        if self.room.limit == 0 || !fits {
            self.page.truncated = true;
            return true;
        }
        self.room.limit -= 1;
        self.room.bytes = self.room.bytes.saturating_sub(weight);
        self.page.hits.push(found.hit);
        false
    }

    /// Adds the lines of a file; `true` when the page is full.
    fn add_lines(&mut self, found: Found) -> bool {
        let Found {
            mut hit,
            lines,
            skipped,
            ..
        } = found;
        self.room.skip -= skipped.min(self.room.skip);
        let mut full = false;
        for kept in lines {
            if self.room.skip > 0 {
                self.room.skip -= 1;
                continue;
            }
            let is_first = self.page.hits.is_empty() && hit.lines.is_empty();
            let path = if hit.lines.is_empty() {
                hit.path.len()
            } else {
                0
            };
            let weight = path + kept.bytes;
            let fits = weight <= self.room.bytes;
            if self.room.limit == 0 || !fits && !is_first {
                full = true;
                break;
            }
            self.room.limit -= 1;
            let line = if fits {
                kept.line
            } else {
                self.page.truncated = true;
                cut(kept.line, self.room.bytes.saturating_sub(path))
            };
            self.room.bytes = self.room.bytes.saturating_sub(weight);
            hit.count += u64::from(line.is_match);
            hit.lines.push(line);
        }
        if !hit.lines.is_empty() {
            self.page.hits.push(hit);
        }
        self.page.truncated |= full;
        full
    }
}

fn cut(mut line: Line, most: usize) -> Line {
    line.text.truncate(line.text.floor_char_boundary(most));
    line
}
