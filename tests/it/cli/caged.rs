//! `toolbay sandbox run`: rules about paths hold for any command.

use serde_json::json;

use crate::program::Project;

#[test]
fn deny_rules_about_paths_hold_and_what_asks_nobody_is_refused() {
    let project = Project::new();
    project.file(".env", "KEY=1\n");
    project.file("keys/a.pem", "KEY=2\n");
    project.file("open", "KEY=3\n");
    let run = |more: &[&str], script: &str| {
        let script = ["sandbox", "run", "--", "sh", "-c", script];
        project.run(&[more, &script].concat())
    };
    run(&[], "cat .env").exits(0).prints(&["KEY=1"]);
    for (rule, script) in [
        ("Read(.env)", "cat .env"),
        ("Read(./.env)", "cat .env"),
        ("Read(*.pem)", "cat keys/a.pem"),
        ("Edit(./open)", "echo KEY >> open"),
        ("Edit(*.pem)", "echo KEY > new.pem; cat new.pem"),
    ] {
        let ran = run(&["--deny", rule], script);
        assert_ne!(ran.code, Some(0), "{rule} {script}: {ran:?}");
        assert!(!ran.out.contains("KEY"), "{rule} {script}: {ran:?}");
        run(&["--deny", rule], "cat open")
            .exits(0)
            .prints(&["KEY=3"]);
    }
    let settings = json!({"permissions": {"deny": ["Read(.env)"]}});
    project.file(".toolbay/settings.json", settings.to_string());
    assert_ne!(run(&[], "cat .env").code, Some(0));
    let mode = run(&["--permission-mode", "plan"], "touch made");
    mode.exits(2)
        .complains(&["--permission-mode plan", "--profile read-only"]);
    assert!(!project.root().join("made").exists());
    project.file(".toolbay/settings.json", "{");
    run(&[], "true").exits(2).complains(&["settings.json"]);
}
