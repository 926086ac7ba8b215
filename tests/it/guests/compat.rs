//! Components of released contract versions load and run for ever.

use std::path::PathBuf;

use serde_json::json;

use super::{assert_no_slot_lost, own_bay};

/// The frozen components with the contract version that each speaks.
fn frozen() -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    let folder = toolbay_tests::workspace().join("tests/compat");
    for version in std::fs::read_dir(folder).unwrap() {
        let version = version.unwrap();
        for file in std::fs::read_dir(version.path()).unwrap() {
            let file = file.unwrap().path();
            if file
                .extension()
                .is_some_and(|extension| extension == "wasm")
            {
                all.push((version.file_name().into_string().unwrap(), file));
            }
        }
    }
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_components_still_load_and_answer() {
    let all = frozen();
    assert!(all.len() >= 2, "{all:?}");
    for (version, file) in all {
        let bytes = std::fs::read(&file).unwrap();
        let running = own_bay().bytes(bytes.into()).await.ready().await;
        let facts = running.tools[0].facts().await.unwrap();
        let spoken = format!("toolbay:tool/tool@{version}.");
        assert!(
            facts
                .exports
                .iter()
                .any(|export| export.starts_with(&spoken)),
            "{}: {:?}",
            file.display(),
            facts.exports
        );
        let name = running.dispatch.pool().names().remove(0);
        let result = running.call(&name, json!({"text": "kept"})).await;
        assert!(!result.is_error, "{}: {}", file.display(), result.text());
        assert!(result.text().contains("kept"), "{}", result.text());
        assert_no_slot_lost(&running);
    }
}
