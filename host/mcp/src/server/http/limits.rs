//! What one server takes on. What one client may use of it is in `quotas`.

use std::time::Duration;

/// The body of a request. Tools take inputs of a megabyte at most; a file to write is the largest.
pub(in crate::server) const MOST_BYTES: usize = 4 << 20;
/// Values of a request. An input of a tool has some hundreds; a notebook some thousands.
pub(in crate::server) const MOST_VALUES: usize = 50_000;
/// What requests in work may take of the memory, as it is estimated: in all, and those of one
/// client. With all of it taken the server stays below a gigabyte.
pub(super) const MEMORY: usize = 512 << 20;
pub(super) const MEMORY_OF_ONE: usize = 256 << 20;
/// The estimate: what a byte, a value and an object of a request take beside each other in the
/// readers on the way to a tool, as measured with requests of nothing else.
pub(super) const MEMORY_OF_BYTE: usize = 8;
pub(super) const MEMORY_OF_VALUE: usize = 256;
pub(super) const MEMORY_OF_OBJECT: usize = 3 << 10;
/// Whoever needs longer for a body of that size is not sending it.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);
/// All headers together, and their number. Clients send a dozen.
pub(super) const HEADER_BYTES: usize = 64 << 10;
pub(super) const MOST_HEADERS: usize = 64;
/// From one request to the next on the same connection, too: clients open another.
pub(super) const HEADER_TIME: Duration = Duration::from_secs(30);
/// A client that takes nothing for so long is not reading.
pub(super) const STALLED: Duration = Duration::from_secs(30);
/// What somebody who connects has to show a token. A client sends it at once.
pub(super) const STRANGER_TIME: Duration = Duration::from_secs(10);
/// Connections on which no token was shown yet; each costs a file handle and some buffers.
pub(super) const STRANGERS: usize = 64;
/// What a connection that has to give way has to show a token that is on its way already, and
/// how many are looked at so. With more, whoever comes is faster than anybody can look.
pub(super) const LAST_LOOK: Duration = Duration::from_millis(100);
pub(super) const LOOKED_AT: usize = 192;
/// Connections and sessions of all clients together; more if one client may have half of it.
pub(super) const CONNECTIONS: usize = 640;
pub(super) const SESSIONS: usize = 256;
/// A session that nothing is heard of for so long is over. People go to lunch.
pub(super) const SESSION_TIME: Duration = Duration::from_secs(2 * 3600);
/// When to come back, where nobody can know: a request or a connection ends soon, a session
/// when somebody ends it.
pub(super) const AGAIN: Duration = Duration::from_secs(1);
pub(super) const SESSION_AGAIN: Duration = Duration::from_secs(10);
/// Arrays and objects inside each other. Inputs of tools are a few deep.
pub(in crate::server) const DEEPEST: usize = 64;
/// What answers have to get out when the server ends.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(3);
