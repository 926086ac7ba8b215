//! How much a server may say. It belongs to somebody else: what it sends is kept in our memory
//! and shown to a model, so every part of it has an end.

use std::time::Duration;

/// Bytes of one message. A result of 10 MB is 13.4 MB in base64; more than twice that is a file.
pub(super) const MESSAGE: usize = 32 << 20;
/// Values of one message, whatever they are. See [`toolbay_contract::JSON_VALUES`].
pub(super) const VALUES: usize = toolbay_contract::JSON_VALUES;
/// Tools of one server. Models lose their way among far fewer.
pub(super) const TOOLS: usize = 512;
/// From so many tools on, a server's tools are found by search instead of being listed.
pub(super) const LISTED_TOOLS: usize = 64;
/// Pages of one list: a server whose pages do not end would be asked forever.
pub(super) const PAGES: usize = 64;
/// Resources that one server may list.
pub(super) const RESOURCES: usize = 2_000;
/// Prompts that one server may list, and what one prompt may want filled in.
pub(super) const PROMPTS: usize = 512;
pub(super) const ARGUMENTS: usize = 32;
/// Characters of a description.
pub(super) const DESCRIPTION: usize = 4_096;
/// Bytes, nesting and values of a schema.
pub(super) const SCHEMA_BYTES: usize = 64 << 10;
pub(super) const SCHEMA_DEPTH: usize = 32;
pub(super) const SCHEMA_VALUES: usize = 4_096;
/// Lines that are no messages: some servers print their log where the protocol is.
pub(super) const STRAY_LINES: usize = 1_000;
/// Bytes of standard error that are kept for the message about a failure.
pub(super) const ERRORS: usize = 4 << 10;
/// Notifications and requests that a server may send at once, and in each second after that.
pub(super) const BURST: u32 = 500;
pub(super) const PER_SECOND: u32 = 100;
/// One that has sent so many more than it may is not slow to notice, it floods.
pub(super) const FLOOD: u32 = 20_000;
/// Questions of a server that wait for an answer at the same time.
pub(super) const QUESTIONS: usize = 8;
/// Texts that one call may have the model write, and the longest of them in tokens: each costs
/// whoever pays for the model.
pub(super) const SAMPLES: usize = 16;
pub(super) const SAMPLE_TOKENS: u32 = 16_384;
/// Rounds in which one call may ask for more input.
pub(super) const ROUNDS: usize = 8;
/// From the start of a process to its list of tools. Package runners download on first use.
pub(super) const CONNECT: Duration = Duration::from_secs(30);
/// A call ends after this time, whatever progress it tells of.
pub(super) const LONGEST_CALL: Duration = Duration::from_secs(3600);
/// The pause after the first failure; each further one doubles it, up to the longest.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(1);
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// What a server has to put things in order after it was told to end. Shorter than the two seconds
/// that clients commonly give us, so that servers behind us are not killed together with us.
pub(super) const FAREWELL: Duration = Duration::from_millis(1500);
/// What the end of a connection may take. The library gives a session over HTTP back within five
/// seconds, and waits for ever where a server sends without end.
pub(super) const CLOSING: Duration = Duration::from_secs(6);
/// How long news about a server's tools are gathered before they are asked for.
pub(super) const GATHER: Duration = Duration::from_millis(200);
