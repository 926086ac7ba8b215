//! The README's way from nothing to a third-party tool, walked as it is written.

use std::path::Path;
use std::process::Command;

use toolbay_tests::workspace;

/// The code between ```` ```rust ```` and the next fence.
fn example_of(readme: &str) -> &str {
    let (_, rest) = readme.split_once("```rust\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_in_the_readme_is_the_template() {
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let template =
        std::fs::read_to_string(workspace().join("sdk/rust/template/src/lib.rs")).unwrap();
    let (_, code) = template.split_once("\n\n").unwrap();
    assert_eq!(code, example_of(&readme));
    assert!(
        code.lines().count() < 30,
        "a minimal tool is under 30 lines"
    );
}

// The walk is made of commands.
#[allow(clippy::disallowed_methods)]
#[test]
fn a_plugin_author_gets_from_nothing_to_a_working_tool() {
    let place = tempfile::tempdir().unwrap();
    let greet = place.path().join("greet");
    std::os::unix::fs::symlink(workspace(), place.path().join("toolbay")).unwrap();
    copy(&workspace().join("sdk/rust/template"), &greet);

    // A target folder that stays, so that only the first run builds the SDK.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("template");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(&greet)
        .args(["build", "--release", "--target", "wasm32-wasip2"]);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // The author's cargo knows nothing of the one that runs the tests; which
        // toolchain rustup takes is the machine's affair.
        let inherited = text.starts_with("CARGO") && text != "CARGO_HOME";
        if inherited || text.starts_with("RUSTC") || text == "RUSTFLAGS" {
            cargo.env_remove(&name);
        }
    }
    let built = cargo.env("CARGO_TARGET_DIR", &target).output().unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let component = target.join("wasm32-wasip2/release/greet.wasm");

    let toolbay = toolbay_tests::program();
    let run = |args: &[&str]| {
        let output = Command::new(&toolbay)
            .current_dir(&greet)
            .env("XDG_CACHE_HOME", place.path().join("cache"))
            .env("XDG_STATE_HOME", place.path().join("state"))
            .args(args)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {text}{errors}");
        text
    };
    let component = component.to_str().unwrap();
    let inspected = run(&["inspect", component]);
    assert!(
        inspected.contains("can never use the network"),
        "{inspected}"
    );
    let greeting = run(&[
        "call",
        "--plugin",
        component,
        "Greet",
        r#"{"name": "world"}"#,
    ]);
    assert_eq!(greeting.trim(), "Hello, world!");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
