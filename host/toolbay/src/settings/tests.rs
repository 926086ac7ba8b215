use super::*;
use crate::places::Places;
use crate::process::ProcessContext;
use crate::trust::Trust;

/// A project, a home and a state folder of its own.
struct Room {
    root: tempfile::TempDir,
    given: CommandLine,
}

impl Room {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in [
            "project/.toolbay",
            "project/.claude",
            "project/more",
            "home/.toolbay",
            "home/more",
            "state",
            "etc",
        ] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Self {
            root,
            given: CommandLine::default(),
        }
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(file);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn origins(&self) -> Origins {
        let root = self.root.path();
        Origins {
            cwd: root.join("project"),
            places: Places {
                home: Some(root.join("home")),
                cache: root.join("cache"),
                state: root.join("state"),
                data: root.join("data"),
                managed: root.join("etc/managed-settings.json"),
            },
            process: ProcessContext::default(),
            given: self.given.clone(),
        }
    }

    fn load(&self) -> anyhow::Result<Settings> {
        self.origins().load()
    }

    fn error(&self) -> String {
        format!("{:#}", self.load().unwrap_err())
    }
}

const MANAGED: &str = "etc/managed-settings.json";
const LOCAL: &str = "project/.toolbay/settings.local.json";
const PROJECT: &str = "project/.toolbay/settings.json";
const USER: &str = "home/.toolbay/settings.json";

#[test]
fn a_broken_file_is_named_with_its_line_wherever_it_is() {
    for file in [MANAGED, LOCAL, PROJECT, USER] {
        for (text, parts) in [
            ("{\n\"permissons\": {}}", &["permissons", "line 2"][..]),
            (
                "{\"permissions\": {\"deny\":\n\n[\"A(\"]}}",
                &["no `)`", ":3"],
            ),
            ("{", &["line 1"]),
            ("", &["line 1"]),
            ("[]", &["line 1"]),
            ("{\"permissions\": [[\"A\"]]}", &["object", "/permissions"]),
            ("{\"permissions\": {\"defaultMode\": \"yolo\"}}", &["yolo"]),
        ] {
            let room = Room::new();
            room.write(file, text);
            let error = room.error();
            let name = file.rsplit('/').next().unwrap();
            for part in parts.iter().chain([&name]) {
                assert!(error.contains(part), "{file}: {error}");
            }
        }
    }
}

#[test]
fn a_file_that_the_command_line_names_must_exist() {
    let mut room = Room::new();
    room.given.settings = Some("lokc.json".into());
    let error = room.load().unwrap_err().to_string();
    assert!(
        error.contains("--settings") && error.contains("lokc.json"),
        "{error}"
    );
}

#[test]
fn every_rule_knows_its_file_and_line() {
    let mut room = Room::new();
    let text = "{\n \"permissions\": {\n  \"deny\": [\n   \"A\",\n   \"B\"\n  ]\n }\n}";
    for file in [MANAGED, LOCAL, PROJECT, USER] {
        room.write(file, text);
    }
    let flags = room.write("flags.json", text);
    room.given.settings = Some(flags);
    room.given.deny = vec!["C".into()];
    let settings = room.load().unwrap();
    let sources: Vec<(Source, Option<u32>)> = settings
        .rules
        .deny
        .iter()
        .map(|rule| (rule.provenance().source, rule.provenance().line))
        .collect();
    let mut wanted = vec![(Source::CommandLine, None)];
    for source in [
        Source::Managed,
        Source::Flags,
        Source::Local,
        Source::Project,
        Source::User,
    ] {
        wanted.extend([(source, Some(4)), (source, Some(5))]);
    }
    assert_eq!(sources, wanted);
    assert_eq!(settings.sources.len(), 5);
}

/// Everything that a settings file can loosen.
const LOOSE: &str = r#"{
  "permissions": {
    "allow": ["A"], "deny": ["D"], "ask": ["K"], "defaultMode": "acceptEdits",
    "additionalDirectories": ["more"],
    "classifier": {"command": "true", "allow": ["all"]}
  },
  "limits": {"T": {"call-ms": 5}},
  "plugins": ["p.wasm"],
  "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]},
  "audit": {"onFull": "go-on"}
}"#;

#[test]
fn a_project_can_tighten_but_loosens_only_for_somebody_who_has_looked() {
    for file in [LOCAL, PROJECT] {
        let mut room = Room::new();
        let path = room.write(file, LOOSE);
        // Of a project, only components that are there can be looked at.
        room.write("project/p.wasm", "one");
        let is_loose = |settings: &Settings| {
            let policy = settings.policy(vec!["/".into()], &Closed::default(), None);
            assert_eq!(
                (policy.rules().deny.len(), policy.rules().ask.len()),
                (1, 1)
            );
            let all = [
                !policy.rules().allow.is_empty(),
                policy.mode() != Mode::Default,
                !settings.additional_directories.is_empty(),
                settings.classifier.is_some(),
                !settings.limits.is_empty(),
                !settings.plugins.is_empty(),
                !settings.hooks.is_empty(),
                settings.on_full.is_some(),
            ];
            assert!(all.iter().all(|one| *one == all[0]), "{file}: {all:?}");
            assert_eq!(settings.problems.is_empty(), all[0]);
            all[0]
        };
        let settings = room.load().unwrap();
        assert!(!is_loose(&settings));
        for part in [
            "allow rules",
            "hooks",
            "folders",
            "plugins",
            "mode",
            "toolbay trust",
        ] {
            assert!(
                settings.problems[0].contains(part),
                "{:?}",
                settings.problems
            );
        }
        room.given.trust_project = true;
        assert!(is_loose(&room.load().unwrap()));
        room.given.trust_project = false;
        // Looked at, until it changes by a byte.
        let state = room.root.path().join("state");
        let leads = || room.origins().leads_of(&path, LOOSE).unwrap().files;
        Trust::change(&state, |trust| trust.add(&path, LOOSE, leads())).unwrap();
        assert!(is_loose(&room.load().unwrap()));
        room.write(file, &LOOSE.replace("\"A\"", "\"*\""));
        assert!(!is_loose(&room.load().unwrap()));
        // Hooks alone, as before.
        room.given.project_hooks = true;
        let settings = room.load().unwrap();
        assert!(!settings.hooks.is_empty() && settings.plugins.is_empty());
    }
    let room = Room::new();
    room.write(USER, LOOSE);
    let settings = room.load().unwrap();
    assert!(settings.problems.is_empty() && !settings.hooks.is_empty());
    assert_eq!(settings.limits_of("T").call_ms, 5);
    assert_eq!(settings.limits_of("U"), Limits::default());
}

#[test]
fn the_owner_of_the_machine_comes_first_and_has_levers_alone() {
    let mut room = Room::new();
    room.write(
        MANAGED,
        r#"{"managed": {"noBypass": true}, "permissions": {"defaultMode": "plan"},
            "limits": {"T": {"call-ms": 1}}, "audit": {"onFull": "stop"}}"#,
    );
    room.write(USER, LOOSE);
    let settings = room.load().unwrap();
    assert!(settings.managed.no_bypass);
    assert_eq!(settings.mode.as_ref().unwrap().0, Mode::Plan);
    assert_eq!(settings.limits_of("T").call_ms, 1);
    assert_eq!(settings.on_full, Some(OnFull::Stop));
    room.given.mode = Some(Mode::Bypass);
    assert!(room.error().contains("forbids the mode bypassPermissions"));
    for file in [LOCAL, PROJECT, USER] {
        let room = Room::new();
        room.write(file, r#"{"managed": {}}"#);
        assert!(room.error().contains("`managed`"), "{}", room.error());
    }
    let room = Room::new();
    room.write(MANAGED, r#"{"managed": {"nobypass": true}}"#);
    assert!(room.error().contains("nobypass"));
}

#[test]
fn the_settings_of_another_agent_are_read_when_asked() {
    let mut room = Room::new();
    let text = r#"{"permissions": {"deny": ["A"], "allow": ["B"], "defaultMode": "yolo"},
                   "model": "x", "statusLine": {}}"#;
    room.write("project/.claude/settings.json", text);
    assert!(room.load().unwrap().rules.deny.is_empty());
    room.write(USER, r#"{"import": [".claude"]}"#);
    let settings = room.load().unwrap();
    assert_eq!(settings.rules.deny.len(), 1);
    assert_eq!(settings.rules.deny[0].provenance().source, Source::Project);
    assert!(
        settings.problems[0].contains("allow rules"),
        "{:?}",
        settings.problems
    );
    // Naming each other does not go on for ever.
    room.write(PROJECT, r#"{"import": [".claude", ".toolbay"]}"#);
    room.given.trust_project = true;
    let settings = room.load().unwrap();
    assert_eq!(settings.rules.deny.len(), 1);
    assert!(settings.mode.is_none());
}

#[test]
fn a_classifier_without_a_judge_or_descriptions_is_an_error() {
    for classifier in [
        r#"{"allow": ["x"]}"#,
        r#"{"command": "x", "url": "http://x", "allow": ["x"]}"#,
        r#"{"command": "x"}"#,
        r#"{"comand": "x", "allow": ["x"]}"#,
    ] {
        let room = Room::new();
        let text = format!("{{\"permissions\": {{\"classifier\": {classifier}}}}}");
        room.write(USER, &text);
        assert!(room.load().is_err(), "{classifier}");
    }
}

#[test]
fn what_is_no_file_or_far_too_large_is_refused() {
    let room = Room::new();
    std::fs::create_dir(room.root.path().join(USER)).unwrap();
    assert!(room.load().is_err());
    let room = Room::new();
    room.write(USER, &" ".repeat(5 << 20));
    assert!(room.error().contains("larger than"));
}

#[test]
fn a_forced_cage_is_a_full_one_whoever_would_accept_less() {
    let weak = r#"{"sandbox": {"degraded": true, "allowedHosts": ["a.example", "b.example"]}}"#;
    for file in [LOCAL, PROJECT, USER] {
        let mut room = Room::new();
        room.given.trust_project = true;
        room.write(file, weak);
        let settings = room.load().unwrap();
        assert!(settings.sandbox.degraded_will_do, "{file}");
        assert_eq!(settings.sandbox.allowed_hosts.len(), 2);
        room.write(
            MANAGED,
            r#"{"managed": {"forcedSandbox": true, "allowedHosts": ["b.example"]}}"#,
        );
        let settings = room.load().unwrap();
        assert!(!settings.sandbox.degraded_will_do, "{file}");
        assert_eq!(settings.sandbox.allowed_hosts, ["b.example"], "{file}");
        assert!(
            settings.problems[0].contains("a.example"),
            "{:?}",
            settings.problems
        );
    }
}
