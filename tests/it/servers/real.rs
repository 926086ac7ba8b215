//! Servers that others wrote. `.ci/run servers` installs and runs them.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::real_servers;
use crate::program::Project;
use crate::run::Talk;

/// All five, with what they need: their code, which lies outside the project, to read.
fn configuration(project: &Project) -> String {
    let folder = real_servers();
    let root = project.root();
    let node = |package: &str, args: &[&str]| {
        let file = format!("node_modules/@modelcontextprotocol/{package}/dist/index.js");
        let mut all = vec![folder.join(file).display().to_string()];
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        json!({"command": "node", "args": all, "sandbox": {"allowRead": [folder]}})
    };
    let python = |program: &str, args: &[&str]| {
        let file = folder.join("python/bin").join(program);
        json!({"command": file, "args": args, "sandbox": {"allowRead": [folder]}})
    };
    let here = root.to_str().unwrap();
    let mut memory = node("server-memory", &[]);
    memory["env"] = json!({"MEMORY_FILE_PATH": root.join("memory.json")});
    json!({"mcpServers": {
        "everything": node("server-everything", &["stdio"]),
        "files": node("server-filesystem", &[here]),
        "memory": memory,
        "git": python("mcp-server-git", &["--repository", here]),
        "time": python("mcp-server-time", &[]),
    }})
    .to_string()
}

fn repository() -> Project {
    let project = Project::new();
    project.file("note.txt", "a line\n");
    let script = "git init -q . && git add note.txt && git -c user.name=a -c user.email=a@b \
                  commit -qm 'the first commit'";
    #[allow(clippy::disallowed_methods)]
    let made = std::process::Command::new("bash")
        .args(["-c", script])
        .current_dir(project.root())
        .status();
    assert!(made.unwrap().success());
    project
}

#[test]
#[ignore = "needs servers from npm and PyPI; `.ci/run servers` installs them and runs this"]
fn five_servers_are_listed_and_called_in_the_cage() {
    let project = repository();
    let given = configuration(&project);
    let listed = project
        .run(&["--mcp-config", &given, "mcp", "list", "--json"])
        .exits(0)
        .json();
    for server in listed["servers"].as_array().unwrap() {
        assert_eq!(server["state"], "connected", "{server}");
        assert!(server["tools"].as_u64().unwrap() >= 2, "{server}");
    }
    assert_eq!(listed["servers"].as_array().unwrap().len(), 5, "{listed}");
    let root = project.root();
    let note = root.join("note.txt");
    let made = root.join("made.txt");
    for (tool, input, part) in [
        ("mcp__everything__get-sum", json!({"a": 2, "b": 3}), "5"),
        (
            "mcp__everything__get-structured-content",
            json!({"location": "New York"}),
            "temperature",
        ),
        (
            "mcp__everything__get-roots-list",
            json!({}),
            root.to_str().unwrap(),
        ),
        (
            "mcp__files__read_text_file",
            json!({"path": note}),
            "a line",
        ),
        (
            "mcp__files__write_file",
            json!({"path": made, "content": "x"}),
            "made.txt",
        ),
        (
            "mcp__memory__create_entities",
            json!({"entities": [{"name": "Ada", "entityType": "p", "observations": ["o"]}]}),
            "Ada",
        ),
        ("mcp__memory__read_graph", json!({}), "Ada"),
        (
            "mcp__git__git_log",
            json!({"repo_path": root}),
            "the first commit",
        ),
        (
            "mcp__time__get_current_time",
            json!({"timezone": "UTC"}),
            "UTC",
        ),
    ] {
        let input = input.to_string();
        let call = [
            "--mcp-config",
            &given,
            "--allow",
            "mcp__*",
            "call",
            tool,
            &input,
        ];
        project.run(&call).exits(0).prints(&[part]);
    }
    assert!(made.exists());
    // Images and links have their own blocks.
    let call = [
        "--mcp-config",
        &given,
        "--allow",
        "mcp__*",
        "--json",
        "call",
    ];
    let image = project.run(&[&call[..], &["mcp__everything__get-tiny-image"]].concat());
    assert!(image.exits(0).out.contains("image/png"));
}

#[test]
#[ignore = "needs servers from npm and PyPI; `.ci/run servers` installs them and runs this"]
fn a_claim_of_reading_is_held_to() {
    let project = repository();
    let given = configuration(&project);
    let note = json!({"path": project.root().join("note.txt")}).to_string();
    // Says of itself that it only reads: nobody is asked.
    let read = [
        "--mcp-config",
        &given,
        "call",
        "mcp__files__read_text_file",
        &note,
    ];
    project.run(&read).exits(0).prints(&["a line"]);
    let write = json!({"path": project.root().join("w.txt"), "content": "x"}).to_string();
    let write = [
        "--mcp-config",
        &given,
        "call",
        "mcp__files__write_file",
        &write,
    ];
    project.run(&write).exits(1).complains(&["nobody to ask"]);
    assert!(!project.root().join("w.txt").exists());
}

#[test]
#[ignore = "needs servers from npm and PyPI; `.ci/run servers` installs them and runs this"]
fn ten_megabytes_go_to_a_file_and_a_slow_call_can_be_ended() {
    let project = repository();
    let given = configuration(&project);
    let big = project.file("big.txt", "0123456789\n".repeat(1 << 20));
    let input = json!({"path": big}).to_string();
    let session = format!("real{}", std::process::id());
    let call = [
        "--mcp-config",
        &given,
        "--json",
        "call",
        "--session",
        &session,
    ];
    let read = project.run(&[&call[..], &["mcp__files__read_text_file", &input]].concat());
    let read = read.exits(0).json();
    let shown = read["content"].to_string();
    assert!(shown.len() < 100_000, "{}", shown.len());
    let folder = project
        .session(&session)
        .parent()
        .unwrap()
        .join("tool-results");
    let saved = std::fs::read_dir(folder).unwrap().flatten();
    let largest = saved.map(|file| file.metadata().unwrap().len()).max();
    assert!(largest.unwrap() >= 11 << 20, "{largest:?}");

    let started = Instant::now();
    let slow = json!({"duration": 600, "steps": 600}).to_string();
    let call = [
        "--mcp-config",
        &given,
        "--allow",
        "mcp__*",
        "call",
        "--timeout",
        "3000",
    ];
    let tool = "mcp__everything__trigger-long-running-operation";
    let ended = project.run(&[&call[..], &[tool, &slow]].concat());
    ended.exits(1).complains(&["took longer than the 3s"]);
    assert!(started.elapsed() < Duration::from_secs(100));
}

#[test]
#[ignore = "needs servers from npm and PyPI; `.ci/run servers` installs them and runs this"]
fn progress_comes_while_it_runs_and_a_killed_server_ends_its_call_alone() {
    let project = repository();
    let given = configuration(&project);
    let mut talk = Talk::start(&project, &["--mcp-config", &given, "--allow", "mcp__*"]);
    let tool = "mcp__everything__trigger-long-running-operation";
    talk.use_tool("t1", tool, json!({"duration": 2, "steps": 4}));
    talk.say(json!({"type": "turn_end"}));
    let result = until_result(&mut talk, "t1");
    let is_error = result["is_error"].as_bool().unwrap_or(false);
    assert!(!is_error, "{result}");
    let progress = talk.heard.iter().filter(|line| line["type"] == "progress");
    assert!(progress.count() >= 2, "{:?}", talk.heard);

    talk.use_tool("t2", tool, json!({"duration": 600, "steps": 600}));
    talk.say(json!({"type": "turn_end"}));
    let begun = Instant::now();
    while !talk
        .heard
        .iter()
        .any(|line| line["type"] == "progress" && line["tool_use_id"] == "t2")
    {
        talk.next();
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{:?}",
            talk.heard
        );
    }
    kill_server(&real_servers().join("node_modules/@modelcontextprotocol/server-everything"));
    let result = until_result(&mut talk, "t2");
    let text = result.to_string();
    assert!(text.contains("ended during the call"), "{text}");
    // The next call finds it alive again.
    talk.use_tool("t3", "mcp__everything__get-sum", json!({"a": 20, "b": 22}));
    talk.say(json!({"type": "turn_end"}));
    assert!(until_result(&mut talk, "t3").to_string().contains("42"));
}

#[test]
#[ignore = "needs servers from npm and PyPI; `.ci/run servers` installs them and runs this"]
fn what_a_server_asks_goes_to_the_person_and_what_it_offers_can_be_read() {
    let project = repository();
    let given = configuration(&project);
    let allow = ["--allow", "mcp__*", "--allow", "ReadMcpResource"];
    let mut talk = Talk::start(&project, &[&["--mcp-config", &given], &allow[..]].concat());
    let resources = talk.call("ListMcpResources", json!({"server": "everything"}));
    let uri = resources["structured"]["resources"][0]["uri"].clone();
    assert!(uri.is_string(), "{resources}");
    let read = talk.call(
        "ReadMcpResource",
        json!({"server": "everything", "uri": uri}),
    );
    assert_eq!(read["is_error"], false, "{read}");
    assert!(read.to_string().contains(uri.as_str().unwrap()), "{read}");
    talk.use_tool(
        "t9",
        "mcp__everything__trigger-elicitation-request",
        json!({}),
    );
    talk.say(json!({"type": "turn_end"}));
    // The form has a field that a plain yes cannot fill in, so its fields are asked for.
    let asked = talk.until("question");
    assert!(asked.to_string().contains("MCP everything"), "{asked}");
    talk.say(json!({"type": "user_response", "request_id": asked["request_id"], "answers": []}));
    let result = until_result(&mut talk, "t9");
    assert!(result.to_string().contains("declined"), "{result}");
}

fn until_result(talk: &mut Talk, id: &str) -> Value {
    loop {
        let line = talk.next();
        if line["type"] == "tool_result" && line["tool_use_id"] == id {
            return line;
        }
    }
}

/// Kills the process that this test's program started from a folder.
fn kill_server(folder: &Path) {
    let mine = descendants();
    let mut killed = 0;
    for pid in mine {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        if line.starts_with("node") && line.contains(folder.to_str().unwrap()) {
            #[allow(clippy::disallowed_methods)]
            let done = std::process::Command::new("kill")
                .args(["-9", &pid.to_string()])
                .status();
            killed += usize::from(done.unwrap().success());
        }
    }
    assert!(killed > 0, "no server was found");
}

/// The processes below this one.
fn descendants() -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let all: Vec<u32> = all
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    let is_mine = |pid: u32| {
        let mut above = Some(pid);
        while let Some(one) = above.filter(|one| *one > 1) {
            if one == std::process::id() {
                return true;
            }
            above = parent(one);
        }
        false
    };
    all.into_iter().filter(|pid| is_mine(*pid)).collect()
}
