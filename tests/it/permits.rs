//! A call can do exactly what was shown and permitted: a greedy component and a greedy script try
//! for more, by the real program and in generated projects.

// While another process replaces files and folders by links, nothing else is reached.
mod concurrent;
// Any permit, any rules: what works is what the specification of zones says, in both directions.
mod generated;
// What a component imports, requests and was granted.
mod grants;
// Rules that come while a call waits for its answer.
mod later;
// Rules about names that are links.
mod linked;
// Folders and files without permission bits, for an ordinary user.
mod modes;
// What a call may do, by the specification.
mod power;
// Scripts that a component runs are decided like calls of their own.
mod scripts;
// The process that replaces files and folders.
mod swaps;
// The findings about writes, one by one.
mod zones;

use std::path::PathBuf;

use serde_json::Value;
use toolbay_tests::guests;

use crate::program::{Project, Ran};

/// A guest as a file outside of the project, where no call reaches it.
fn guest(name: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join(format!("{name}.wasm"));
    std::fs::write(&file, bytes).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

/// Calls the greedy guest by the real program, and tells for each try whether it worked. None if
/// the call was refused.
fn greedy(project: &Project, flags: &[&str], input: &Value) -> Option<Vec<bool>> {
    let (_folder, file) = guest("greedy", guests::GREEDY);
    let input = input.to_string();
    let mut args = vec!["call", "--json", "--plugin", &file, "--grant", "Greedy"];
    args.extend(flags);
    args.extend(["Greedy", &input]);
    let ran: Ran = project.run(&args);
    if ran.code != Some(0) {
        return None;
    }
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let text = result["structured"].to_string();
    let worked = result["structured"]["worked"].as_array();
    let worked = worked.unwrap_or_else(|| panic!("{text}: {}", ran.out));
    Some(worked.iter().map(|one| one.as_bool().unwrap()).collect())
}
