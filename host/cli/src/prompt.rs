//! Asks a person at the terminal whether a call may run.
//!
//! What is shown (`card`) and what an answer means (`choices`) is computed; only `terminal` and
//! `line` touch the terminal. It stays in its ordinary mode all the time, so there is nothing to
//! put right again, however the program ends.

mod card;
mod choices;
mod line;
mod saved;
mod terminal;
mod wrap;

use std::io::IsTerminal;

pub use self::saved::SavedIn;
pub use self::terminal::Terminal;

/// Whether there is a person to ask.
pub fn somebody_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests;
