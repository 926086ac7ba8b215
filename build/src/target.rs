//! Makes sure that the wasm target is there.

use std::path::Path;
use std::process::Command;

use crate::Error;

pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Installs the target if it is missing. The build cannot do without it.
pub(crate) fn ensure(root: &Path) -> Result<(), Error> {
    if is_installed(root) {
        return Ok(());
    }
    let toolchain = std::env::var("RUSTUP_TOOLCHAIN").ok();
    let mut command = Command::new("rustup");
    command.current_dir(root).args(["target", "add", TARGET]);
    if let Some(toolchain) = &toolchain {
        command.args(["--toolchain", toolchain]);
    }
    let by_hand = "run `rustup target add wasm32-wasip2` in the project's folder and build again";
    match command.output() {
        Ok(output) if output.status.success() && is_installed(root) => Ok(()),
        Ok(output) => Err(format!(
            "the target {TARGET} is not installed, and rustup could not add it:\n{}\n{by_hand}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
        Err(error) => Err(format!(
            "the target {TARGET} is not installed, and rustup could not be started ({error}); {by_hand}"
        )),
    }
}

fn is_installed(root: &Path) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .current_dir(root)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    output.is_ok_and(|output| {
        output.status.success()
            && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    })
}
