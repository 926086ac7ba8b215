//! Runs the cases that lie beside the plugins, `plugins/*/cases/*.json`, through the
//! real host: real components, real rules, a real folder.
//!
//! A case is data, so that a tool's behaviour can be read, added to and argued about
//! without Rust. The format is in `cases/format.rs`; an unknown key is an error, because
//! a misspelt expectation would otherwise hold for ever.

mod check;
mod format;

use std::path::Path;
use std::time::Instant;

use toolbay::PLUGINS;
use toolbay_contract::Tool;
use toolbay_tests::bay::{Running, TestBay, snapshot};
use toolbay_tests::workspace;

use check::{after, expected};
use format::{Case, Step, cases_of, with_root};

#[tokio::test(flavor = "multi_thread")]
async fn every_case_of_every_plugin_holds() {
    let started = Instant::now();
    let folders = folders(&workspace().join("plugins"));
    let (mut ran, mut failures) = (0, Vec::new());
    for folder in &folders {
        let cases = match cases_of(&workspace().join("plugins").join(folder).join("cases")) {
            Ok(cases) => cases,
            Err(problem) => {
                failures.push(format!("{folder}: {problem}"));
                continue;
            }
        };
        println!("{folder}: {} cases", cases.len());
        for (file, case) in cases {
            ran += 1;
            let problems = run(folder, &case).await;
            if !problems.is_empty() {
                let title = format!("plugins/{folder}/cases/{file}: {}", case.name);
                failures.push(format!("{title}\n{}", problems.join("\n")));
            }
        }
    }
    println!("{ran} cases ran in {:.1?}", started.elapsed());
    assert!(!folders.is_empty(), "there are no plugins");
    assert!(
        failures.is_empty(),
        "{} of {ran} cases fail:\n\n{}\n",
        failures.len(),
        failures.join("\n\n")
    );
}

/// Runs one case and says what did not come out as expected.
async fn run(folder: &str, case: &Case) -> Vec<String> {
    let mut bay = TestBay::new().builtins().await.says_yes().with_cages();
    for rule in &case.deny {
        bay = bay.deny(rule);
    }
    let root = bay.root();
    for (name, content) in &case.files {
        content.write(&root, name);
    }
    let running = bay.start();
    let Some(own) = own_tool(&running, folder) else {
        return vec!["  the plugin is not part of the program".into()];
    };
    let mut problems = Vec::new();
    for (index, step) in case.steps.iter().enumerate() {
        match step {
            Step::Write { write } => {
                for (name, content) in write {
                    content.write(&root, name);
                }
            }
            Step::Call {
                tool,
                input,
                expect,
            } => {
                let tool = tool.as_deref().unwrap_or(&own);
                let result = running.call(tool, with_root(input, &root)).await;
                for problem in expected(expect, &result, &root) {
                    problems.push(format!("  step {} ({tool}): {problem}", index + 1));
                }
            }
        }
    }
    for (name, content) in &case.after {
        if let Some(problem) = after(&root, name, content) {
            problems.push(format!("  afterwards: {problem}"));
        }
    }
    for (path, _) in snapshot(&root) {
        if path.to_string_lossy().contains(".toolbay-") {
            problems.push(format!("  a temporary file is left: {}", path.display()));
        }
    }
    problems
}

/// The name of the tool that was built from a folder.
fn own_tool(running: &Running, folder: &str) -> Option<String> {
    let index = PLUGINS.iter().position(|plugin| plugin.folder == folder)?;
    Some(running.tools.get(index)?.info().name.clone())
}

fn folders(plugins: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(plugins)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
