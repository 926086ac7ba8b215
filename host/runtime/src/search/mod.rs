//! Native search over file trees: the engine behind the `search` power.
//!
//! It answers what ripgrep would answer, because it is built from ripgrep's own
//! crates and configured as ripgrep configures them; a differential test holds
//! it to that. What differs is what a host needs: a fixed order of results, a
//! window into them, cancellation, and confinement. The tree is walked in
//! parallel, the files found are sorted, and then searched in parallel *by
//! index*, so that the answer is the sequential one and the search can end as
//! soon as a gapless run of files has filled the window.
//!
//! Nothing here knows wasm or path rules: rules come in as a [`Fence`],
//! cancellation as a [`Stop`].
//!
//! Deliberate differences from ripgrep: a binary file named as the root is left
//! out (ripgrep says that it matches), [`files`] lets globs narrow the list but
//! never bring ignored files back, and a file whose single line (or, in a
//! multiline search, whose whole content) exceeds 64 MiB is left
//! out instead of filling the memory. Ignore-files are read within bounds
//! (`ignored/source.rs`). What a bound left out is in the notes of the answer.

mod collect;
mod confine;
mod crawl;
mod error;
mod ignored;
mod listing;
mod matching;
mod merge;
mod notes;
mod pattern;
mod read;
mod request;
mod stoppable;
mod types;
mod walk;

#[cfg(test)]
mod tests;

pub use error::SearchError;
pub use listing::files;
pub use matching::matches;
pub use request::{
    Entry, Fence, Hit, Line, Listing, Order, Page, Pattern, Request, Stop, Want, Window,
};
pub use types::type_names;

/// Threads past this many wait for the disk and for each other.
const MOST_THREADS: usize = 12;

/// As many threads as there are processors to use, at most twelve.
pub fn default_threads() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_THREADS)
}
