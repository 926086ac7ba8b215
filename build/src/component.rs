//! Builds the crates of a folder as components.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::{Error, cargo, target};

/// Flags for every component. Each engine that runs them has vectors, with which
/// searching and checking text takes half the time; and memory that is there from
/// the start need not be grown, call after call, by asking the kernel.
const FLAGS: &str = r#"target.wasm32-wasip2.rustflags = [
    "-Ctarget-feature=+simd128", "-Clink-arg=--initial-memory=3145728",
]"#;

/// A component that was built.
pub struct Component {
    /// The crate's folder, such as `todo-write`.
    pub name: String,
    pub path: PathBuf,
    /// `sha256:` and 64 hexadecimal digits.
    pub digest: String,
}

/// Builds every crate in `root/folder` for which `wanted` says yes, and says which
/// files the build script must watch.
pub fn components(
    root: &Path,
    folder: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Component>, Error> {
    for watched in ["sdk/rust/src", "sdk/rust/Cargo.toml", "wit/0.1"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    watch(&root.join(folder))?;
    println!(
        "cargo::rerun-if-changed={}",
        root.join("Cargo.lock").display()
    );
    let mut names = crates(&root.join(folder))?;
    names.retain(|name| wanted(name));
    if names.is_empty() {
        return Ok(Vec::new());
    }
    target::ensure(root)?;

    let target_folder = cargo::target_folder(root, "wasm");
    let mut command = cargo::command(root);
    command
        .args(["build", "--profile", "plugin", "--target", target::TARGET])
        .args(["--config", FLAGS])
        .arg("--target-dir")
        .arg(&target_folder);
    for name in &names {
        command.args(["-p", &package(&root.join(folder).join(name))?]);
    }
    let output = command
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "the components in {folder}/ do not build:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    names
        .into_iter()
        .map(|name| {
            let package = package(&root.join(folder).join(&name))?;
            let path = target_folder
                .join(target::TARGET)
                .join("plugin")
                .join(format!("{}.wasm", package.replace('-', "_")));
            let bytes =
                std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(Component {
                name,
                path,
                digest: digest(&bytes),
            })
        })
        .collect()
}

/// Watches what the components are built from: all but the cases, which are read
/// when the tests run. A new crate changes the lock file, which is watched too.
fn watch(folder: &Path) -> Result<(), Error> {
    for name in crates(folder)? {
        let entries = std::fs::read_dir(folder.join(&name))
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.flatten() {
            if entry.file_name() != "cases" {
                println!("cargo::rerun-if-changed={}", entry.path().display());
            }
        }
    }
    Ok(())
}

fn crates(folder: &Path) -> Result<Vec<String>, Error> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// The package's name, read off its manifest.
fn package(folder: &Path) -> Result<String, Error> {
    let path = folder.join("Cargo.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .map(str::to_owned)
        .ok_or_else(|| format!("{}: no line `name = \"…\"`", path.display()))
}

fn digest(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
