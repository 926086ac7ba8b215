//! Builds the built-in plugins and embeds them: one file to ship.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolbay_build::variable;

fn main() -> ExitCode {
    toolbay_build::run(build)
}

fn build() -> Result<(), String> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = here
        .ancestors()
        .nth(2)
        .ok_or("the workspace's folder is not where it should be")?;
    let mut code = String::new();
    write_table(root, "plugins", "PLUGINS", feature, &mut code)?;
    write_table(root, "demos", "DEMOS", |_| true, &mut code)?;
    let out = Path::new(&variable("OUT_DIR")?).join("plugins.rs");
    std::fs::write(&out, code).map_err(|error| format!("{}: {error}", out.display()))
}

/// Whether the cargo feature of a plugin's name is on.
fn feature(plugin: &str) -> bool {
    let name = plugin.to_uppercase().replace('-', "_");
    variable(&format!("CARGO_FEATURE_{name}")).is_ok()
}

fn write_table(
    root: &Path,
    folder: &str,
    name: &str,
    wanted: impl Fn(&str) -> bool,
    code: &mut String,
) -> Result<(), String> {
    let built = toolbay_build::components(root, folder, wanted)?;
    let mut add = |line: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(code, "{line}");
    };
    add(format!("pub static {name}: &[Builtin] = &["));
    for component in built {
        add(format!(
            "    Builtin {{ folder: {:?}, digest: {:?}, bytes: include_bytes!({:?}) }},",
            component.name, component.digest, component.path
        ));
    }
    add("];".into());
    Ok(())
}
