//! Servers that behave and servers that do not, over streams of this program.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod attacks;
mod calls;
mod departures;
mod fake;
mod floods;
mod network;
mod offers;
