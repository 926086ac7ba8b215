//! Servers that a package runner fetches: without the project, once, and then without a network.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tempfile::TempDir;

use super::{SERVER, project, tool};
use crate::program::Project;

/// Where packages come from. Counts how often somebody came for one.
struct Registry {
    port: u16,
    served: Arc<AtomicUsize>,
}

impl Registry {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = Arc::new(AtomicUsize::new(0));
        let count = served.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                let mut head = [0; 1024];
                let _ = client.read(&mut head);
                count.fetch_add(1, Ordering::SeqCst);
                let length = SERVER.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                let _ = client.write_all(format!("{head}{SERVER}").as_bytes());
            }
        });
        Self { port, served }
    }

    fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }

    fn host(&self) -> String {
        format!("localhost:{}@127.0.0.1", self.port)
    }
}

/// A package runner in a few lines of bash: fetches through the proxy what is not in its cache, and
/// notes what it can see meanwhile.
fn runner(registry: &Registry, project: &Path) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("npx");
    let script = format!(
        r#"#!/bin/bash
package=$XDG_CACHE_HOME/server.sh
if [ ! -e "$package" ]; then
  [ -n "$HTTP_PROXY" ] || {{ echo 'no network' >&2; exit 3; }}
  mkdir -p "$XDG_CACHE_HOME/.git" || exit 4
  exec 3<>"/dev/tcp/127.0.0.1/${{HTTP_PROXY##*:}}"
  printf 'GET http://localhost:{port}/ HTTP/1.1\r\n\r\n' >&3
  sed '1,/^\r*$/d' <&3 > "$package.part"
  [ -s "$package.part" ] || {{ echo 'nothing came' >&2; exit 5; }}
  {{ cat {project}/secret.txt; echo "key=$API_KEY registry=$npm_config_registry"; }} > "$XDG_CACHE_HOME/seen" 2>&1
  echo x > {project}/written-while-fetched
  mv "$package.part" "$package"
fi
exec bash "$package"
"#,
        port = registry.port,
        project = project.display(),
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    (folder, path)
}

/// What a call can see: the notes of the runner, the project, its key, the network.
const CALL: &str = r#"
cat "$XDG_CACHE_HOME/seen"; cat secret.txt; echo "now key=$API_KEY"
[ -z "$HTTP_PROXY" ] && echo offline
echo x > "written-by-$1" && echo wrote
"#;

fn fetched_project() -> Project {
    let tools = json!([
        tool("act", "acts", json!({})),
        tool("look", "looks", json!({"readOnlyHint": true})),
    ]);
    let project = project(&tools, CALL);
    project.file("secret.txt", "the secret of the project");
    project
}

fn add(project: &Project, runner: &Path, more: &[&str]) {
    let folder = runner.parent().unwrap().to_str().unwrap();
    let before = ["mcp", "add", "pkg", "--allow-read", folder];
    let variables = ["--env", "API_KEY=k-1", "--env", "npm_config_registry=mine"];
    let command = ["--", runner.to_str().unwrap(), "-y", "server"];
    let all = [&before[..], &variables, more, &command].concat();
    project.run(&all).exits(0);
}

fn packages(project: &Project) -> usize {
    let folder = project.data().join("servers");
    std::fs::read_dir(folder).into_iter().flatten().count()
}

#[test]
fn a_server_is_fetched_without_the_project_and_runs_without_the_network() {
    let registry = Registry::open();
    let project = fetched_project();
    let (_folder, runner) = runner(&registry, &project.root());
    add(&project, &runner, &["--fetch-from", &registry.host()]);
    let call = ["--allow", "mcp__pkg", "call", "mcp__pkg__act"];
    let said = project.run(&call).exits(0);
    let (fetching, running) = said.out.split_once("the secret of the project").unwrap();
    // While it was fetched it saw neither the project nor what the entry gives the server.
    assert!(fetching.contains("secret.txt: "), "{said:?}");
    assert!(fetching.contains("key= registry=mine"), "{said:?}");
    assert!(!project.root().join("written-while-fetched").exists());
    assert!(running.contains("now key=k-1"), "{said:?}");
    assert!(
        running.contains("offline") && running.contains("wrote"),
        "{said:?}"
    );
    assert!(project.root().join("written-by-act").exists());
    assert_eq!(registry.served(), 1);
    // It is not fetched again, neither by another session nor by its second process.
    let looked = project.run(&["call", "mcp__pkg__look"]).exits(0);
    assert!(!looked.out.contains("wrote"), "{looked:?}");
    assert!(!project.root().join("written-by-look").exists());
    assert_eq!(registry.served(), 1);
    project.run(&["mcp", "fetch", "pkg"]).exits(0);
    assert_eq!((registry.served(), packages(&project)), (2, 1));
    project.run(&["mcp", "remove", "pkg"]).exits(0);
    assert_eq!(packages(&project), 0);
}

#[test]
fn a_server_that_may_not_be_fetched_says_what_is_missing() {
    let registry = Registry::open();
    let project = fetched_project();
    let (_folder, runner) = runner(&registry, &project.root());
    add(&project, &runner, &[]);
    let list = ["mcp", "get", "pkg"];
    let said = project.run(&list).exits(1);
    said.prints(&["failed", "no network", "--fetch-from"]);
    project
        .run(&["mcp", "fetch", "pkg"])
        .exits(2)
        .complains(&["not fetched from anywhere", "sandbox.fetchFrom"]);
    project.run(&["mcp", "remove", "pkg"]).exits(0);
    // A name alone does not lead to this machine.
    let public = format!("localhost:{}", registry.port);
    add(&project, &runner, &["--fetch-from", &public]);
    let said = project.run(&list).exits(1);
    said.prints(&[
        "while it was fetched",
        "nothing came",
        "not public",
        "@127.0.0.1",
    ]);
    assert_eq!(registry.served(), 0);
    // The next attempt begins anew.
    project.run(&["mcp", "remove", "pkg"]).exits(0);
    add(&project, &runner, &["--fetch-from", &registry.host()]);
    project.run(&list).exits(0).prints(&["connected, 2 tools"]);
    assert_eq!(registry.served(), 1);
    // The owner of the machine has the last word about hosts.
    let managed = project.managed_settings();
    std::fs::write(
        managed,
        r#"{"managed": {"allowedHosts": ["other.example"]}}"#,
    )
    .unwrap();
    project
        .run(&list)
        .exits(1)
        .prints(&["disabled", "localhost"]);
}

#[test]
fn a_program_that_the_cage_hides_is_told_apart_from_one_that_is_missing() {
    let registry = Registry::open();
    let project = fetched_project();
    let (_folder, runner) = runner(&registry, &project.root());
    let runner = runner.to_str().unwrap();
    project
        .run(&["mcp", "add", "hidden", "--", runner])
        .exits(0);
    let said = project.run(&["mcp", "get", "hidden"]).exits(1);
    said.prints(&["which the cage does not show", "--allow-read"]);
    project
        .run(&["mcp", "add", "missing", "--", "/nowhere/at/all"])
        .exits(0);
    let said = project.run(&["mcp", "get", "missing"]).exits(1);
    let said = said.prints(&["does not start"]);
    assert!(!said.out.contains("does not show"), "{said:?}");
}
