//! The plugins that are part of the program.

/// A component in the program's own file.
pub struct Builtin {
    /// The folder it was built from.
    pub folder: &'static str,
    pub digest: &'static str,
    pub bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/plugins.rs"));
