//! The crate graph: a new edge is a decision, so it is a line here.
//!
//! Manifests may have fewer edges than are allowed, never more. Dependencies of tests
//! and build scripts count too: they cost the same minutes.

use std::collections::BTreeSet;

use toml::Table;

use crate::assert_tidy;
use crate::tree::{entries, read};

/// Each crate of the host by its folder, and the crates of this project that it may know.
/// `runtime` and `dispatch` do not know each other: they meet in `toolbay`.
const ALLOWED: &[(&str, &[&str])] = &[
    ("shell", &[]),
    ("sandbox", &[]),
    ("policy", &["toolbay-shell"]),
    ("contract", &["toolbay-policy"]),
    ("audit", &["toolbay-contract"]),
    (
        "runtime",
        &["toolbay-contract", "toolbay-policy", "toolbay-shell"],
    ),
    (
        "dispatch",
        &["toolbay-contract", "toolbay-policy", "toolbay-sandbox"],
    ),
    (
        "mcp",
        // The policy for tests alone: only it can make the permit of a call.
        &[
            "toolbay-contract",
            "toolbay-dispatch",
            "toolbay-policy",
            "toolbay-sandbox",
        ],
    ),
    ("agent", &["toolbay-contract", "toolbay-dispatch"]),
    (
        "toolbay",
        &[
            "toolbay-agent",
            "toolbay-audit",
            "toolbay-build",
            "toolbay-contract",
            "toolbay-dispatch",
            "toolbay-mcp",
            "toolbay-policy",
            "toolbay-runtime",
            "toolbay-sandbox",
            "toolbay-shell",
        ],
    ),
    ("cli", &["toolbay"]),
];

/// The crates that pay for wasmtime. All others build and test in seconds.
const KNOWS_WASMTIME: [&str; 3] = ["runtime", "toolbay", "cli"];

/// Crates that only compute: they must not even be able to wait.
const PURE: [&str; 2] = ["shell", "policy"];

/// The names of all dependencies in a manifest, of every kind and for every platform,
/// under the name that the package has in its registry.
fn dependencies(manifest: &str, workspace: &str) -> BTreeSet<String> {
    let manifest: Table = manifest.parse().expect("a manifest is TOML");
    let workspace: Table = workspace.parse().expect("the root manifest is TOML");
    let shared = workspace
        .get("workspace")
        .and_then(|table| table.get("dependencies"));
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables = std::iter::once(&manifest).chain(
        platforms
            .into_iter()
            .flat_map(Table::values)
            .filter_map(toml::Value::as_table),
    );
    let mut names = BTreeSet::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(list) = table.get(kind).and_then(toml::Value::as_table) else {
                continue;
            };
            for (key, value) in list {
                // A dependency may be renamed here, or where the workspace shares it.
                let renamed = value
                    .get("package")
                    .or_else(|| shared?.get(key)?.get("package"))
                    .and_then(toml::Value::as_str);
                names.insert(renamed.unwrap_or(key).to_owned());
            }
        }
    }
    names
}

/// What a crate of the host depends on and should not.
fn forbidden_edges(folder: &str, manifest: &str, workspace: &str) -> Vec<String> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == folder) else {
        return vec![format!(
            "host/{folder}: a new crate needs its line in the crate graph"
        )];
    };
    let is_allowed = |name: &str| {
        let ours = name == "toolbay" || name.starts_with("toolbay-");
        let waits = PURE.contains(&folder) && name.starts_with("tokio");
        let compiles = is_wasmtime(name) && !KNOWS_WASMTIME.contains(&folder);
        !(ours && !allowed.contains(&name) || waits || compiles)
    };
    dependencies(manifest, workspace)
        .into_iter()
        .filter(|name| !is_allowed(name))
        .map(|name| format!("host/{folder} must not depend on {name}"))
        .collect()
}

/// What a crate outside the host depends on and should not: it knows the SDK alone.
fn beyond_the_sdk(path: &str, manifest: &str, workspace: &str) -> Vec<String> {
    let is_foreign =
        |name: &str| name.starts_with("toolbay") && name != "toolbay-sdk" || is_wasmtime(name);
    dependencies(manifest, workspace)
        .into_iter()
        .filter(|name| is_foreign(name))
        .map(|name| format!("{path} must not depend on {name}: a tool knows the SDK alone"))
        .collect()
}

/// Every package that the lock file puts behind a package, directly or not.
fn closure(lock: &Table, package: &str) -> BTreeSet<String> {
    let packages = lock
        .get("package")
        .and_then(toml::Value::as_array)
        .expect("a lock file");
    let mut found = BTreeSet::new();
    let mut open = vec![package.to_owned()];
    while let Some(name) = open.pop() {
        let same_name = packages
            .iter()
            .filter(|entry| field(entry, "name") == Some(&name));
        for entry in same_name {
            let list = entry.get("dependencies").and_then(toml::Value::as_array);
            for text in list.into_iter().flatten().filter_map(toml::Value::as_str) {
                // `name`, or `name version` where several versions are locked.
                let name = text.split(' ').next().unwrap_or(text);
                if found.insert(name.to_owned()) {
                    open.push(name.to_owned());
                }
            }
        }
    }
    found
}

/// What a package drags in although its crate promises not to.
fn dragged_in(lock: &str, folder: &str) -> Vec<String> {
    let lock: Table = lock.parse().expect("the lock file is TOML");
    let unwanted = |name: &String| {
        is_wasmtime(name) && !KNOWS_WASMTIME.contains(&folder)
            || name == "tokio" && PURE.contains(&folder)
    };
    let package = match folder {
        "toolbay" => folder.to_owned(),
        folder => format!("toolbay-{folder}"),
    };
    closure(&lock, &package)
        .into_iter()
        .filter(unwanted)
        .map(|name| {
            format!("host/{folder} drags in {name}; see `cargo tree -p toolbay-{folder} -i {name}`")
        })
        .collect()
}

fn is_wasmtime(name: &str) -> bool {
    name.starts_with("wasmtime") || name.starts_with("cranelift")
}

fn field<'a>(value: &'a toml::Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

#[test]
fn no_crate_of_the_host_knows_more_crates_than_the_graph_allows() {
    let workspace = read("Cargo.toml");
    let found: Vec<String> = entries("host")
        .into_iter()
        .filter_map(|name| name.strip_suffix('/').map(str::to_owned))
        .collect();
    let missing = ALLOWED
        .iter()
        .filter(|(name, _)| !found.iter().any(|folder| folder == name));
    let mut findings: Vec<String> = missing
        .map(|(name, _)| format!("host/{name} is in the crate graph and not in the tree"))
        .collect();
    for folder in &found {
        findings.extend(forbidden_edges(
            folder,
            &read(&format!("host/{folder}/Cargo.toml")),
            &workspace,
        ));
    }
    assert_tidy(findings);
}

#[test]
fn only_the_runtime_and_the_program_drag_in_wasmtime() {
    let lock = read("Cargo.lock");
    assert_tidy(
        ALLOWED
            .iter()
            .flat_map(|(folder, _)| dragged_in(&lock, folder))
            .collect(),
    );
}

#[test]
fn plugins_and_guests_know_no_crate_but_the_sdk() {
    let workspace = read("Cargo.toml");
    let mut findings = Vec::new();
    for folder in ["plugins", "demos", "tests/guests"] {
        for name in entries(folder).iter().filter(|name| name.ends_with('/')) {
            let path = format!("{folder}/{name}Cargo.toml");
            findings.extend(beyond_the_sdk(&path, &read(&path), &workspace));
        }
    }
    assert_tidy(findings);
}

#[test]
fn the_graph_rule_catches_edges_of_every_kind() {
    let workspace =
        "[workspace.dependencies]\nhidden = { path = \"x\", package = \"toolbay-mcp\" }";
    for (folder, manifest, count) in [
        (
            "policy",
            "[dependencies]\ntoolbay-shell = { workspace = true }\nserde = \"1\"",
            0,
        ),
        ("policy", "[dependencies]\ntokio = \"1\"", 1),
        ("contract", "[dependencies]\ntokio = \"1\"", 0),
        (
            "shell",
            "[dev-dependencies]\ntoolbay-policy = { workspace = true }",
            1,
        ),
        (
            "dispatch",
            "[build-dependencies]\nwasmtime-wasi = \"48\"",
            1,
        ),
        (
            "dispatch",
            "[target.'cfg(unix)'.dependencies]\ntoolbay-runtime = { workspace = true }",
            1,
        ),
        (
            "dispatch",
            "[dependencies]\nhidden = { workspace = true }",
            1,
        ),
        (
            "dispatch",
            "[dependencies]\nx = { path = \"../agent\", package = \"toolbay-agent\" }",
            1,
        ),
        ("runtime", "[dependencies]\nwasmtime = \"48\"", 0),
        (
            "runtime",
            "[dependencies]\ntoolbay-dispatch = { workspace = true }",
            1,
        ),
        (
            "sandbox",
            "[dependencies]\ntoolbay = { workspace = true }",
            1,
        ),
        ("newcomer", "", 1),
    ] {
        let found = forbidden_edges(folder, manifest, workspace);
        assert_eq!(found.len(), count, "{folder}: {manifest}: {found:?}");
    }
    for (manifest, count) in [
        (
            "[dependencies]\ntoolbay-sdk = { workspace = true }\nserde = \"1\"",
            0,
        ),
        ("[dependencies]\ntoolbay-policy = { workspace = true }", 1),
    ] {
        assert_eq!(
            beyond_the_sdk("plugins/x", manifest, workspace).len(),
            count,
            "{manifest}"
        );
    }
}

#[test]
fn the_lock_rule_follows_indirect_dependencies() {
    let lock = "[[package]]\nname = \"toolbay-policy\"\ndependencies = [\"a 1.0.0\"]\n\
                [[package]]\nname = \"a\"\ndependencies = [\"tokio\", \"wasmtime-environ\"]\n\
                [[package]]\nname = \"toolbay-runtime\"\ndependencies = [\"a 1.0.0\"]\n";
    assert_eq!(dragged_in(lock, "policy").len(), 2);
    assert_eq!(dragged_in(lock, "runtime").len(), 0);
}
