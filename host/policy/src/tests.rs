//! Laws of the whole.

mod laws;
mod random;
