//! The real ripgrep, for tests and benchmarks that compare with it.

use std::path::{Path, PathBuf};

use crate::{Error, cargo};

/// The version that results are compared with.
const VERSION: &str = "15.2.0";

/// Builds ripgrep once and answers with its path. `TOOLBAY_RG` names one that is
/// there already.
pub fn ripgrep(root: &Path) -> Result<PathBuf, Error> {
    println!("cargo::rerun-if-env-changed=TOOLBAY_RG");
    if let Some(path) = std::env::var_os("TOOLBAY_RG") {
        return Ok(path.into());
    }
    let folder = cargo::target_folder(root, "tools");
    let binary = folder.join(format!("rg-{VERSION}/bin/rg"));
    if binary.is_file() {
        return Ok(binary);
    }
    let output = cargo::command(&std::env::temp_dir())
        .args([
            "install",
            "ripgrep",
            "--locked",
            "--version",
            VERSION,
            "--root",
        ])
        .arg(folder.join(format!("rg-{VERSION}")))
        .arg("--target-dir")
        .arg(folder.join("build"))
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if output.status.success() && binary.is_file() {
        Ok(binary)
    } else {
        Err(format!(
            "ripgrep {VERSION}, with which search results are compared, does not build; \
             install it and set TOOLBAY_RG to its path:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}
