//! Taking turns, and what the times come to.

use std::time::{Duration, Instant};

/// How long a benchmark may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    Quick,
    Full,
}

impl Effort {
    /// So many rounds, or a tenth of them.
    pub fn rounds(self, full: usize) -> usize {
        match self {
            Self::Quick => (full / 10).max(3),
            Self::Full => full,
        }
    }
}

/// The times of one side, sorted.
#[derive(Debug, Clone)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    fn at(&self, part: f64) -> Duration {
        self.0[((self.0.len() - 1) as f64 * part).round() as usize]
    }

    pub fn p50(&self) -> Duration {
        self.at(0.50)
    }

    pub fn p99(&self) -> Duration {
        self.at(0.99)
    }

    pub fn print(&self, what: &str) {
        println!(
            "{what:<44} p50 {:>10}  p99 {:>10}  ({} rounds)",
            pretty(self.p50()),
            pretty(self.p99()),
            self.0.len()
        );
    }
}

/// Something that is measured: does its work once and says how long that took, so
/// that what it prepares does not count.
pub type Side<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// Lets all sides do their work in turn, every second round backwards, so that none
/// always finds the machine as the same other one left it. A tenth of the rounds
/// before the first counted one warm up.
pub fn take_turns<const N: usize>(rounds: usize, mut sides: [Side<'_>; N]) -> [Times; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(rounds));
    let warming = (rounds / 10).max(1);
    for round in 0..warming + rounds {
        for turn in 0..N {
            let at = if round % 2 == 0 { turn } else { N - 1 - turn };
            let took = sides[at]();
            if round >= warming {
                times[at].push(took);
            }
        }
    }
    times.map(Times::new)
}

/// Times one piece of work.
pub fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    let done = work();
    let took = started.elapsed();
    drop(std::hint::black_box(done));
    took
}

/// How many times longer.
pub fn ratio(ours: Duration, floor: Duration) -> f64 {
    ours.as_secs_f64() / floor.as_secs_f64()
}

pub fn pretty(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..100.0 => format!("{micros:.1} µs"),
        ..1_000.0 => format!("{micros:.0} µs"),
        ..100_000.0 => format!("{:.1} ms", micros / 1e3),
        _ => format!("{:.0} ms", micros / 1e3),
    }
}
