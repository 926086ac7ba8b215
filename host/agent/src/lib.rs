//! Turns of a conversation over the dispatch.

mod turn;

pub use turn::run_turn;
