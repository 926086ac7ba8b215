//! The table at the end, ready for a README.

use std::fmt;
use std::time::Duration;

use crate::measure::{Times, pretty, ratio};

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// At most so many times the floor.
    AtMost(f64),
    /// At most so long, whatever the peer takes.
    Within(Duration),
    /// Told without a goal.
    None,
}

#[derive(Default)]
pub struct Table {
    rows: Vec<[String; 5]>,
}

impl Table {
    /// A row of two sides, compared by their medians.
    pub fn compare(&mut self, what: &str, ours: &Times, floor: (&str, &Times), goal: Goal) {
        let ratio = ratio(ours.p50(), floor.1.p50());
        let goal = match goal {
            Goal::AtMost(most) => judged(format!("≤ {most}×"), ratio <= most),
            Goal::Within(most) => judged(format!("≤ {}", pretty(most)), ours.p50() <= most),
            Goal::None => String::new(),
        };
        self.add([
            what.into(),
            pretty(ours.p50()),
            format!("{} ({})", pretty(floor.1.p50()), floor.0),
            format!("{ratio:.2}×"),
            goal,
        ]);
    }

    pub fn add(&mut self, row: [String; 5]) {
        self.rows.push(row);
    }
}

/// A goal, with a word when it is missed.
pub fn judged(goal: String, met: bool) -> String {
    if met {
        goal
    } else {
        format!("{goal} **missed**")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | ours | floor or peer | ratio | goal |")?;
        writeln!(f, "|---|---:|---:|---:|---|")?;
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}
