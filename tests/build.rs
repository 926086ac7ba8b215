//! Builds the guests into constants, and the ripgrep that results are compared
//! with.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolbay_build::variable;

fn main() -> ExitCode {
    toolbay_build::run(build)
}

fn build() -> Result<(), String> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = here.parent().ok_or("the workspace has no folder")?;
    let mut code = String::new();
    for component in toolbay_build::components(root, "tests/guests", |_| true)? {
        let name = component.name.to_uppercase().replace('-', "_");
        // Writing to a string cannot fail.
        let _ = writeln!(
            code,
            "pub static {name}: &[u8] = include_bytes!({:?});",
            component.path
        );
    }
    let out = Path::new(&variable("OUT_DIR")?).join("guests.rs");
    std::fs::write(&out, code).map_err(|error| format!("{}: {error}", out.display()))?;
    let rg = toolbay_build::ripgrep(root)?;
    println!("cargo::rustc-env=TOOLBAY_TEST_RG={}", rg.display());
    Ok(())
}
