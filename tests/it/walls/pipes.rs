//! A named pipe in the place of a file that the program reads stops nothing.

use std::path::Path;

use crate::program::Project;

fn pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mode = rustix::fs::Mode::RWXU;
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

/// The program ends by itself, with a sentence that names the file where it must be read.
#[test]
fn a_pipe_in_the_place_of_a_file_is_named_and_nothing_waits_for_it() {
    for (place, args) in [
        (".toolbay/settings.json", &["tools"][..]),
        (".toolbay/settings.local.json", &["tools"]),
        (".mcp.json", &["mcp", "list"]),
        ("tool.wasm", &["inspect", "tool.wasm"]),
        ("tool.wasm", &["tools", "--plugin", "tool.wasm"]),
        ("tests.json", &["policy", "test", "tests.json"]),
        ("given.json", &["tools", "--settings", "given.json"]),
    ] {
        let project = Project::new();
        pipe(&project.root().join(place));
        let ran = project.run(args);
        let said = format!("{}{}", ran.out, ran.err);
        let name = Path::new(place).file_name().unwrap().to_str().unwrap();
        assert!(said.contains(name), "{place}: {args:?}: {said}");
        assert!(said.contains("not a regular file"), "{place}: {said}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_session_is_named() {
    let project = Project::alone();
    pipe(&project.session("a-pipe"));
    let input = r#"{"pattern": "*"}"#;
    let ran = project.run(&["call", "--session", "a-pipe", "Glob", input]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    ran.complains(&["session.json", "not a regular file"]);
}
