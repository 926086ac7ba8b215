//! What one server takes on, and what one client may use of it.

use std::time::Duration;

/// The body of a request. Tools take inputs of a megabyte at most; a file to write is the largest.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// Whoever needs longer for a body of that size is not sending it.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);
/// All headers together, and their number. Clients send a dozen.
pub(super) const HEADER_BYTES: usize = 64 << 10;
pub(super) const MOST_HEADERS: usize = 64;
/// From one request to the next on the same connection, too: clients open another.
pub(super) const HEADER_TIME: Duration = Duration::from_secs(30);
/// A client that takes nothing for so long is not reading.
pub(super) const STALLED: Duration = Duration::from_secs(30);
/// Each costs a file handle and some buffers.
pub(super) const MOST_CONNECTIONS: usize = 256;
/// Sessions of all clients together.
pub(super) const MOST_SESSIONS: usize = 128;
/// A session that nothing is heard of for so long is over. People go to lunch.
pub(super) const SESSION_TIME: Duration = Duration::from_secs(2 * 3600);
/// Requests of one client that are under way, with the streams that it listens to.
pub(super) const MOST_UNDER_WAY: usize = 96;
/// Requests of one client in a second, and how many more at once.
pub(super) const PER_SECOND: f64 = 200.0;
pub(super) const AT_ONCE: f64 = 400.0;
/// Arrays and objects inside each other. Inputs of tools are a few deep.
pub(super) const DEEPEST: usize = 64;
/// What answers have to get out when the server ends.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(3);
