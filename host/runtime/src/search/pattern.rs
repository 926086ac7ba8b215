//! The matcher and the searcher, configured as ripgrep configures them.

use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

use super::{Pattern, SearchError, Want};

/// How much one search may hold of one file. A longer line, or a longer file in
/// a multiline search, is left out and named; the host pays otherwise, once a thread.
pub(super) const HEAP_LIMIT: usize = 64 << 20;

/// The cache of the lazy automaton, a thread. It bounds memory, not results: a
/// full cache is emptied and refilled.
const AUTOMATON_LIMIT: usize = 64 << 20;

/// Longer patterns are made by programs. Each of a few bytes may stand for a class of some hundred
/// ranges, before any other limit looks at it.
const LONGEST: usize = 16 << 10;

/// How large a compiled pattern may be. ripgrep has three times as much; memory and time that the
/// compilation takes grow with it, and nothing can end it.
const PROGRAM_LIMIT: usize = 32 << 20;

pub(super) fn matcher(pattern: &Pattern) -> Result<RegexMatcher, SearchError> {
    if pattern.regex.len() > LONGEST {
        let why = "it is longer than 16 KiB; search for its parts one after the other";
        return Err(SearchError::BadPattern(why.to_owned()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .case_insensitive(pattern.ignore_case)
        .dot_matches_new_line(pattern.multiline)
        .size_limit(PROGRAM_LIMIT)
        .dfa_size_limit(AUTOMATON_LIMIT)
        // Files with such a byte count as binary, so a pattern that asks for it
        // could never match.
        .ban_byte(Some(0));
    if !pattern.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder
        .build_many(&[&pattern.regex])
        .map_err(|error| SearchError::BadPattern(explain(error.kind(), &error.to_string())))
}

fn explain(kind: &ErrorKind, text: &str) -> String {
    match kind {
        ErrorKind::NotAllowed(_) => {
            "it names a line end, which only a multiline search can match; \
             set multiline, or leave the line end out"
                .to_owned()
        }
        ErrorKind::Banned(_) => {
            "it names a NUL byte, but files that hold one count as binary and are not searched"
                .to_owned()
        }
        ErrorKind::Regex(_) => format!(
            "{text}\nThe syntax is that of Rust regexes; \
             put a backslash before a special character to mean it literally."
        ),
        // The kinds are another crate's and may grow.
        _ => text.to_owned(),
    }
}

pub(super) fn searcher(pattern: &Pattern, want: Want) -> Searcher {
    let (line_number, before, after) = match want {
        Want::Paths | Want::Counts => (false, 0, 0),
        Want::Lines { before, after } => (true, before, after),
    };
    SearcherBuilder::new()
        .line_terminator(LineTerminator::byte(b'\n'))
        .line_number(line_number)
        .multi_line(pattern.multiline)
        .before_context(before)
        .after_context(after)
        .heap_limit(Some(HEAP_LIMIT))
        .binary_detection(BinaryDetection::quit(0))
        .build()
}
