//! May this call run?
//!
//! Pure: it reads no file, asks nobody and knows no clock; whoever calls it
//! brings rules, claims and answers. It is the only place that mints a
//! [`Permit`], and without a permit nothing in Toolbay acts.
//!
//! The way of a decision is in `chain.rs`; what a rule can say in `rule.rs`; which rules count
//! in `effective.rs`; how thousands of them stay fast in `index.rs`.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod behavior;
mod capability;
mod chain;
mod check_line;
mod claims;
mod command;
mod decide;
mod effective;
mod explain;
mod host;
mod index;
mod lines;
mod lint;
mod managed;
mod mode;
mod nested;
mod outside;
mod path_index;
mod path_pattern;
mod paths;
mod permit;
mod protected;
mod rule;
mod source;
mod study;
mod subjects;
mod test_file;
mod verb;
mod zones;

pub use behavior::Behavior;
pub use capability::Capability;
pub use chain::Stage;
pub use check_line::{CheckAnswer, CheckError, CheckLine, Checker, KnownTool, RuleTexts};
pub use claims::{Claims, HookWord, Opinion, Reach, Subject, SubjectKind, Trust};
pub use decide::{Decision, Policy, Question, Request, Ruling, Winner};
pub use effective::{Ignored, Trusting, Why};
pub use explain::{Explanation, LookedAt, RuleAdvice, Step};
pub use host::HostPattern;
pub use lines::lines_of;
pub use lint::{Lint, LintKind, lint};
pub use managed::{Managed, PluginMark, Refusal};
pub use mode::{Mode, Standing};
pub use outside::{CageWish, Exits, Outside, TooWide};
pub use path_pattern::{GlobTooComplex, check_glob};
pub use paths::{Closed, PathAccess, PathRules};
pub use permit::{Access, Permit};
pub use protected::{ci_names, is_protected, protected_names};
pub use rule::{Anchors, Rule, RuleError, Rules};
pub use source::{Provenance, Source};
pub use study::{Part, Study};
pub use subjects::{CallSubjects, ReachedPath, subjects_in};
pub use test_file::{TestCase, TestFile, TestOutcome, TestPermissions, TestSettings};
pub use toolbay_shell::{FileLinks, LinkResolver, Place};
pub use zones::{WriteGrant, Zone, Zones};

#[cfg(test)]
mod tests;
