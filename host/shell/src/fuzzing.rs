//! The inner readings, for proofs: the oracle tests and the fuzz targets look at each of them
//! alone. No part of the library's promise.

pub use crate::reading::{Assignment, Command as ReadCommand, Join, Operator, Redirection, Word};

use crate::{gate, lexer, syntax};

/// What our own lexer reads; `None` if it refuses.
pub fn lexer(script: &str) -> Option<Vec<ReadCommand>> {
    lexer::read(script).ok().map(|reading| reading.commands)
}

/// What the grammar's tree says; `None` if it is refused, or takes too long.
pub fn grammar(script: &str) -> Option<Vec<ReadCommand>> {
    let tree = syntax::parse(script)?;
    syntax::read(script, &tree)
        .ok()
        .map(|reading| reading.commands)
}

/// What both say behind the byte gate; `None` if anything refuses, or they differ.
pub fn agreed(script: &str) -> Option<Vec<ReadCommand>> {
    if !gate::check(script).is_empty() {
        return None;
    }
    let ours = lexer(script)?;
    (grammar(script)? == ours).then_some(ours)
}
