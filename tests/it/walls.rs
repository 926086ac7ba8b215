//! What a repository and a tool bring along starts nothing unasked, in a cage or outside.

mod guards;
mod hooks;
mod pipes;
mod repositories;
mod trust;
