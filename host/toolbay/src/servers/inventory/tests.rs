use super::*;
use crate::settings::{CommandLine, Origins};

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["project/.toolbay", "home/.toolbay", "state", "etc"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.root.path().join(file), text).unwrap();
    }

    fn places(&self) -> Places {
        let at = |name: &str| self.root.path().join(name);
        Places {
            home: Some(at("home")),
            cache: at("cache"),
            state: at("state"),
            data: at("data"),
            managed: at("etc/managed-settings.json"),
        }
    }

    fn take(&self, given: &[&str], trust_project: bool) -> anyhow::Result<Inventory> {
        let (cwd, places) = (self.root.path().join("project"), self.places());
        let origins = Origins {
            cwd: cwd.clone(),
            places: places.clone(),
            process: ProcessContext::default(),
            given: CommandLine {
                trust_project,
                ..CommandLine::default()
            },
        };
        let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
        Inventory::take(&Sources {
            cwd: &cwd,
            places: &places,
            process: &origins.process,
            settings: &origins.load()?,
            given: &given,
            trust_project,
        })
    }
}

fn names(inventory: &Inventory) -> Vec<(String, &'static str)> {
    let one = |config: &ServerConfig| (config.link.place(), config.scope.word());
    inventory.configs.iter().map(one).collect()
}

fn server(command: &str) -> String {
    format!(r#"{{"mcpServers": {{"s": {{"command": "{command}"}}}}}}"#)
}

#[test]
fn the_strongest_scope_that_names_a_server_counts() {
    let world = World::new();
    world.write(
        "state/mcp-servers.json",
        r#"{"mcpServers": {"s": {"url": "https://r.example"}}}"#,
    );
    let steps: [(&str, &str, &str); 4] = [
        ("home/.toolbay/settings.json", "user", "user"),
        ("project/.mcp.json", "project", "project"),
        ("project/.toolbay/settings.local.json", "local", "local"),
        ("etc/managed-settings.json", "managed", "managed"),
    ];
    let first = world.take(&[], true).unwrap();
    assert_eq!(names(&first), [("https://r.example".into(), "remote")]);
    for (file, command, scope) in steps {
        world.write(file, &server(command));
        let found = world.take(&[], true).unwrap();
        assert_eq!(names(&found), [(command.to_owned(), scope)], "{file}");
    }
    std::fs::remove_file(world.root.path().join("etc/managed-settings.json")).unwrap();
    let dynamic = world.take(&[&server("dynamic")], true).unwrap();
    assert_eq!(names(&dynamic), [("dynamic".to_owned(), "dynamic")]);
    // Where the owner has a file of servers, no other server exists.
    world.write(
        "etc/managed-mcp.json",
        r#"{"mcpServers": {"other": {"command": "owner"}}}"#,
    );
    let only = world.take(&[&server("dynamic")], true).unwrap();
    assert_eq!(names(&only), [("owner".to_owned(), "enterprise")]);
}

#[test]
fn a_projects_server_waits_until_somebody_has_seen_its_text() {
    let world = World::new();
    world.write("project/.mcp.json", &server("evil ${NOT_SET}"));
    world.write("home/.toolbay/settings.json", &server("mine"));
    let found = world.take(&[], false).unwrap();
    // It takes nobody's place, and nothing in it was looked up.
    assert_eq!(names(&found), [("mine".to_owned(), "user")]);
    assert_eq!(found.others[0].state.word(), "pending");
    assert!(
        found.others[0]
            .state
            .reason()
            .unwrap()
            .contains("toolbay mcp approve s")
    );
    assert!(
        found.problems[0].contains("not started"),
        "{:?}",
        found.problems
    );

    world.write("project/.mcp.json", &server("good"));
    let file = world.root.path().join("project/.mcp.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let entry = entry_text(&text, "s").unwrap();
    let seen = Trust::change(&world.places().state, |trust| {
        trust.add(&entry_key(&file, "s"), &entry, Default::default());
    });
    seen.unwrap();
    let found = world.take(&[], false).unwrap();
    assert_eq!(names(&found), [("good".to_owned(), "project")]);
    // Spaces and comments are no change; words are.
    world.write("project/.mcp.json", &format!("// x\n{}", server("good")));
    assert_eq!(names(&world.take(&[], false).unwrap()).len(), 1);
    assert_eq!(names(&world.take(&[], false).unwrap())[0].1, "project");
    world.write("project/.mcp.json", &server("good --but-else"));
    assert_eq!(names(&world.take(&[], false).unwrap())[0].1, "user");
}

#[test]
fn the_owner_forbids_by_name_command_and_address() {
    let world = World::new();
    world.write(
        "etc/managed-settings.json",
        r#"{"managed": {"deniedMcpServers": ["bad", "command:npx *"],
            "allowedHosts": ["*.good.example"]}}"#,
    );
    world.write(
        "home/.toolbay/settings.json",
        r#"{"mcpServers": {
            "bad": {"command": "x"}, "n": {"command": "npx", "args": ["y"]},
            "far": {"url": "https://evil.example/mcp"}, "near": {"url": "https://a.good.example"},
            "out": {"command": "z", "sandbox": {"allowedHosts": ["evil.example:443"]}},
            "ok": {"command": "z"}
        }}"#,
    );
    let found = world.take(&[], false).unwrap();
    let mut good: Vec<&str> = found.configs.iter().map(|one| one.name.as_str()).collect();
    good.sort_unstable();
    assert_eq!(good, ["near", "ok"]);
    for other in &found.others {
        assert_eq!(other.state.word(), "disabled", "{other:?}");
        let reason = other.state.reason().unwrap();
        assert!(reason.contains("managed policy"), "{reason}");
    }
    assert_eq!(found.others.len(), 4);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let world = World::new();
    let user = "home/.toolbay/settings.json";
    world.write(user, "{\n \"mcpServers\": {\"s\": {\"comand\": \"x\"}}}");
    let error = format!("{:#}", world.take(&[], false).unwrap_err());
    assert!(
        error.contains("settings.json") && error.contains("`comand`"),
        "{error}"
    );
    assert!(error.contains("line 2"), "{error}");
    world.write(
        user,
        r#"{"mcpServers": {"s": {"command": "${NOT_SET_AT_ALL}"}}}"#,
    );
    let found = world.take(&[], false).unwrap();
    assert!(found.configs.is_empty());
    let problem = &found.problems[0];
    for part in ["settings.json", "`s`", "NOT_SET_AT_ALL"] {
        assert!(problem.contains(part), "{problem}");
    }
    world.write(user, "{}");
    // A project can spoil its own servers, nothing else.
    world.write("project/.mcp.json", "{\"mcpServers\": {}, \"x\": 1}");
    let found = world.take(&[], true).unwrap();
    assert!(
        found.problems[0].contains("left out"),
        "{:?}",
        found.problems
    );
    for given in ["{", "nowhere.json", "{\"mcpServers\": {\"a\": 1}}"] {
        assert!(world.take(&[given], false).is_err(), "{given}");
    }
    // A list from elsewhere starts nothing here and learns nothing.
    for entry in [
        r#"{"command": "x"}"#,
        r#"{"url": "https://a.example", "trusted": true}"#,
        r#"{"url": "https://a.example/${HOME}"}"#,
    ] {
        let text = format!("{{\"mcpServers\": {{\"r\": {entry}}}}}");
        world.write("state/mcp-servers.json", &text);
        let found = world.take(&[], true).unwrap();
        assert!(found.configs.is_empty(), "{entry}");
        assert!(
            found.problems.iter().any(|one| one.contains("list of MCP")),
            "{entry}"
        );
    }
}
