//! Components that come from outside, and looking at them.

use serde_json::Value;
use toolbay::PLUGINS;
use toolbay_tests::guests;

use crate::program::Project;

#[test]
fn a_third_party_tool_is_listed_as_such_and_can_be_called() {
    let project = Project::new();
    let file = project.file("trivial.wasm", guests::TRIVIAL);
    let plugin = ["--plugin", file.to_str().unwrap()];
    let listed = project.run(&[&["tools"], &plugin[..]].concat()).exits(0);
    let line = listed.out.lines().find(|line| line.contains("Trivial"));
    assert!(line.unwrap().contains("third-party"), "{listed:?}");
    let call = ["call", "Trivial", "{\"text\": \"hello\"}"];
    let ran = project.run(&[&call, &plugin[..]].concat()).exits(0);
    assert_eq!(ran.quietly().out, "hello\n");
}

#[test]
fn a_folder_of_plugins_and_settings_name_plugins_too() {
    let project = Project::new();
    project.file("tools/trivial.wasm", guests::TRIVIAL);
    project.file("tools/notes.txt", "not a plugin");
    project
        .run(&["tools", "--plugin", "tools"])
        .exits(0)
        .quietly()
        .prints(&["Trivial"]);
    project.file(
        ".toolbay/settings.json",
        "{\"plugins\": [\"tools/trivial.wasm\"]}",
    );
    project
        .run(&["tools", "--trust-project"])
        .exits(0)
        .quietly()
        .prints(&["Trivial"]);
}

#[test]
fn what_is_no_component_is_told_and_does_not_stop_the_others() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let cut = &guests::TRIVIAL[..guests::TRIVIAL.len() / 2];
    for (name, bytes, part) in [
        (
            "garbage.wasm",
            &b"this is no WebAssembly"[..],
            "not WebAssembly",
        ),
        ("empty.wasm", b"", "empty.wasm"),
        ("module.wasm", b"\0asm\x01\0\0\0", "module"),
        ("cut.wasm", cut, "cut.wasm"),
    ] {
        let file = project.file(name, bytes);
        let plugin = file.to_str().unwrap();
        project
            .run(&[
                "call",
                "Read",
                "{\"file_path\": \"a.txt\"}",
                "--plugin",
                plugin,
            ])
            .exits(0)
            .prints(&["one"])
            .complains(&["warning:", name, part]);
        let listed = project
            .run(&["tools", "--json", "--plugin", plugin])
            .exits(0);
        let problem = listed.json()["problems"][0].to_string();
        assert!(problem.contains(name), "{problem}");
        project
            .run(&["inspect", plugin])
            .exits(2)
            .complains(&[name, part]);
    }
    project
        .run(&["tools", "--plugin", "missing.wasm"])
        .exits(0)
        .complains(&["missing.wasm", "No such file"]);
}

#[test]
fn no_plugin_takes_the_place_of_a_built_in() {
    let project = Project::new();
    project.file("a.txt", "one\n");
    let read = PLUGINS
        .iter()
        .find(|plugin| plugin.folder == "read")
        .unwrap();
    let file = project.file("read.wasm", read.bytes);
    let plugin = file.to_str().unwrap();
    let listed = project
        .run(&["tools", "--json", "--plugin", plugin])
        .exits(0)
        .complains(&["two tools are called Read", "read.wasm"])
        .json();
    let called_read: Vec<&Value> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["name"] == "Read")
        .collect();
    assert_eq!(called_read.len(), 1);
    assert_eq!(called_read[0]["origin"], "built-in");
}

#[test]
fn inspecting_says_what_a_component_can_never_do() {
    let project = Project::new();
    let file = project.file("trivial.wasm", guests::TRIVIAL);
    let inspect = ["inspect", file.to_str().unwrap()];
    project.run(&inspect).exits(0).quietly().prints(&[
        "Trivial",
        "contract",
        "sha256:",
        "can never use the network",
        "can never see or touch a file",
        "nothing but its own computation",
        "no manifest",
    ]);
    let facts = project
        .run(&[&inspect[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(facts["info"]["name"], "Trivial");
    assert_eq!(facts["contract"], "0.1.0");
    assert_eq!(facts["reach"]["network"], false);
    assert_eq!(facts["info_section"], true);
    assert_eq!(facts["size"], guests::TRIVIAL.len());
}

#[test]
fn inspecting_names_the_network_where_it_is_imported() {
    let project = Project::new();
    let file = project.file("http.wasm", guests::HTTP_IMPORTER);
    let inspect = ["inspect", file.to_str().unwrap()];
    let ran = project.run(&inspect).exits(0).prints(&["wasi:http/"]);
    assert!(!ran.out.contains("can never use the network"), "{ran:?}");
    let facts = project
        .run(&[&inspect[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(facts["reach"]["network"], true);
}
