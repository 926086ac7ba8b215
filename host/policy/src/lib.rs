//! May this call run?
//!
//! Pure: it reads no file, asks nobody and knows no clock; whoever calls it
//! brings rules, claims and answers. It is the only place that mints a
//! [`Permit`], and without a permit nothing in Toolbay acts.
//!
//! What is here decides honestly with little: deny, ask and allow rules, the
//! tool's claims and what its component could reach at all.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod claims;
mod command;
mod decide;
mod paths;
mod permit;
mod rule;
mod study;
mod verb;

pub use claims::{Claims, HookWord, Opinion, Reach, Subject, SubjectKind, Trust};
pub use decide::{Decision, Policy, Question, Request};
pub use paths::{Closed, PathAccess, PathRules};
pub use permit::{Access, Permit};
pub use rule::{Anchors, Rule, RuleError, Rules};
pub use study::Study;
pub use toolbay_shell::Place;
