//! A matcher that finds nothing more once the search is stopped.
//!
//! The searcher calls the sink only when it is through with a line, or with all
//! lines that touch a match. One long line with many matches keeps it busy for as
//! long as the pattern's author likes, so the flag is looked at with every match.

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoError};
use grep_regex::{RegexCaptures, RegexMatcher};

use super::Stop;

#[derive(Clone)]
pub(super) struct Stoppable {
    matcher: RegexMatcher,
    stop: Stop,
}

impl Stoppable {
    pub(super) fn new(matcher: RegexMatcher, stop: Stop) -> Self {
        Self { matcher, stop }
    }

    /// What the matcher says, unless the search is stopped.
    fn unless_stopped<T>(
        &self,
        find: impl FnOnce(&RegexMatcher) -> Result<Option<T>, NoError>,
    ) -> Result<Option<T>, NoError> {
        if self.stop.is_stopped() {
            Ok(None)
        } else {
            find(&self.matcher)
        }
    }
}

impl Matcher for Stoppable {
    type Captures = RegexCaptures;
    type Error = NoError;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        self.unless_stopped(|matcher| matcher.find_at(haystack, at))
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        self.unless_stopped(|matcher| matcher.shortest_match_at(haystack, at))
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        self.unless_stopped(|matcher| matcher.find_candidate_line(haystack))
    }

    fn new_captures(&self) -> Result<RegexCaptures, NoError> {
        self.matcher.new_captures()
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }
}
