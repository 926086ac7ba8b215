//! Shared by the integration tests and benchmarks: guests, and a bay to put them
//! in.
// Tests fail by panicking, and benchmarks print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

pub mod bay;

/// The guests of `tests/guests/*/`, built by this crate's build script.
pub mod guests {
    include!(concat!(env!("OUT_DIR"), "/guests.rs"));
}

/// The ripgrep that search results are compared with.
pub const RG: &str = env!("TOOLBAY_TEST_RG");

/// The workspace's folder.
pub fn workspace() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests lie in the workspace")
}

/// The program that was built along with the tests.
pub fn program() -> std::path::PathBuf {
    let here = std::env::current_exe().expect("a test knows its own file");
    let program = here
        .ancestors()
        .nth(2)
        .expect("test binaries lie in target/<profile>/deps")
        .join("toolbay");
    assert!(
        program.is_file(),
        "{} is not built; run `cargo build -p toolbay-cli`",
        program.display()
    );
    program
}
