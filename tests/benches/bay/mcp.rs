//! The server for clients that speak MCP, beside the line protocol of `toolbay run`: the same
//! call, by the same program, in the same minute.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::measure::{Effort, take_turns, time};
use crate::program;
use crate::table::{Goal, Table};

/// A program that is spoken to line by line.
struct Talk {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Talk {
    fn start(toolbay: &Path, home: &Path, args: &[&str]) -> Self {
        let mut command = program::command(toolbay, home);
        command.args(args).current_dir(home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input, "{line}").unwrap();
        self.input.flush().unwrap();
    }

    /// The first line that is wanted.
    fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended");
            let line: Value = serde_json::from_str(&line).unwrap();
            if wanted(&line) {
                return line;
            }
        }
    }

    /// Begins as MCP wants it, and lists the tools.
    fn list(&mut self) {
        let client = json!({"name": "bench", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        self.hear(|line| line["id"] == 0);
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        let listed = self.hear(|line| line["id"] == 1);
        assert!(listed["result"]["tools"].is_array(), "{listed}");
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server over HTTP, and one connection to it that stays.
struct Web {
    child: Child,
    address: String,
    stream: BufReader<TcpStream>,
}

impl Web {
    fn start(toolbay: &Path, home: &Path) -> Self {
        let mut command = program::command(toolbay, home);
        let args = ["mcp", "serve", "--http", "127.0.0.1:0", "--no-token"];
        command.args(args).current_dir(home);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let url = line["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        let stream = TcpStream::connect(&address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            child,
            address,
            stream: BufReader::new(stream),
        }
    }

    fn call(&mut self, id: u64, arguments: &Value) -> String {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": "Read", "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let body = body.to_string();
        let text = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: Read\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
        }
        let mut all = String::new();
        loop {
            let mut size = String::new();
            self.stream.read_line(&mut size).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).unwrap();
            if size == 0 {
                return all;
            }
            all.push_str(&String::from_utf8_lossy(&chunk));
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn run(effort: Effort, table: &mut Table) {
    let Some(toolbay) = program::toolbay() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    std::fs::write(home.join("notes.txt"), "one\ntwo\nthree\n").unwrap();
    // From the second line on: a whole file that has not changed is not read again.
    let input = json!({"file_path": "notes.txt", "offset": 2, "limit": 1});
    starts(effort, table, &toolbay, home);

    let mut lines = Talk::start(&toolbay, home, &["run"]);
    lines.hear(|line| line["type"] == "ready");
    let mut mcp = Talk::start(&toolbay, home, &["mcp", "serve"]);
    mcp.list();
    let mut web = Web::start(&toolbay, home);
    let (mut first, mut second, mut third) = (0_u64, 100_u64, 0_u64);
    let [ours, over_http, floor] = take_turns(
        effort.rounds(1000),
        [
            Box::new(|| {
                second += 1;
                let id = second;
                let params = json!({"name": "Read", "arguments": input});
                let call =
                    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
                time(|| {
                    mcp.say(&call);
                    let answer = mcp.hear(|line| line["id"] == id);
                    assert_eq!(answer["result"]["isError"], false, "{answer}");
                })
            }),
            Box::new(|| {
                third += 1;
                // Its share of requests is bounded; what is measured is the one call.
                std::thread::sleep(Duration::from_millis(5));
                time(|| {
                    let answer = web.call(third, &input);
                    assert!(answer.contains("\"isError\":false"), "{answer}");
                })
            }),
            Box::new(|| {
                first += 1;
                let call = json!({
                    "type": "tool_use", "id": format!("t{first}"), "name": "Read", "input": input,
                });
                let took = time(|| {
                    lines.say(&call);
                    let answer = lines.hear(|line| line["type"] == "tool_result");
                    assert_eq!(answer["is_error"], false, "{answer}");
                });
                lines.say(&json!({"type": "turn_end"}));
                lines.hear(|line| line["type"] == "turn_end");
                took
            }),
        ],
    );
    ours.print("a call through `mcp serve`");
    over_http.print("the same over HTTP");
    floor.print("the same through `run`");
    let peer = ("`toolbay run`", &floor);
    table.compare(
        "A call through `toolbay mcp serve`",
        &ours,
        peer,
        Goal::AtMost(2.0),
    );
    table.compare("The same over HTTP", &over_http, peer, Goal::None);
}

/// From nothing to the list of tools.
fn starts(effort: Effort, table: &mut Table, toolbay: &Path, home: &Path) {
    let [listed, tools] = take_turns(
        effort.rounds(60),
        [
            Box::new(|| {
                let started = Instant::now();
                let mut talk = Talk::start(toolbay, home, &["mcp", "serve"]);
                talk.list();
                started.elapsed()
            }),
            Box::new(|| program::run(program::command(toolbay, home).arg("tools")).0),
        ],
    );
    listed.print("`mcp serve`, start to `tools/list`");
    tools.print("toolbay tools");
    table.compare(
        "`toolbay mcp serve` to the answer of `tools/list`",
        &listed,
        ("`toolbay tools`", &tools),
        Goal::Within(Duration::from_millis(100)),
    );
}
