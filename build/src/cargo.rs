//! The inner cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A cargo that knows nothing of the outer one.
pub(crate) fn command(root: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let kept = matches!(&*text, "CARGO_HOME" | "CARGO_NET_OFFLINE");
        let outer = text.starts_with("CARGO")
            || text.starts_with("RUSTC")
            || text.starts_with("RUSTDOC")
            || matches!(
                &*text,
                "RUSTFLAGS"
                    | "TARGET"
                    | "HOST"
                    | "OPT_LEVEL"
                    | "PROFILE"
                    | "DEBUG"
                    | "NUM_JOBS"
                    | "OUT_DIR"
                    | "LD_LIBRARY_PATH"
            );
        if outer && !kept {
            command.env_remove(&name);
        }
    }
    command
}

/// The folder in which the inner cargo builds: beside the outer one's, so that
/// cleaning takes both, and shared by all profiles of the outer one.
pub(crate) fn target_folder(root: &Path, name: &str) -> PathBuf {
    let base =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let base = if base.is_absolute() {
        base
    } else {
        root.join(base)
    };
    base.join(name)
}
