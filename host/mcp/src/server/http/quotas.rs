//! What one client may use of the server, as its owner's settings and flags say.

use std::ops::RangeInclusive;

/// What one client, which is one token, may use. Several agents may be behind a token: the
/// defaults are for sixteen of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpQuotas {
    /// Requests in a second, over time.
    pub requests_per_second: u32,
    /// Requests that may come faster than that, all at once.
    pub request_burst: u32,
    /// Requests under way, with the streams that are listened to.
    pub max_requests: u32,
    pub max_sessions: u32,
    pub max_connections: u32,
}

impl HttpQuotas {
    /// Of `requests_per_second` and `request_burst`. More than a server answers on any machine.
    pub const RATES: RangeInclusive<u32> = 1..=1_000_000;
    /// Of the others. Each connection is a file handle, of which a process has some thousands.
    pub const COUNTS: RangeInclusive<u32> = 1..=4096;
}

impl Default for HttpQuotas {
    fn default() -> Self {
        Self {
            // An agent that calls without a pause makes some fifty requests in a second.
            requests_per_second: 1000,
            request_burst: 2000,
            // A stream to listen to, and a dozen calls beside each other, for each of sixteen.
            max_requests: 256,
            max_sessions: 64,
            // Some more than requests, so that who has too many is told so where it asked.
            max_connections: 320,
        }
    }
}
