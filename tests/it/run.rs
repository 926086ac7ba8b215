//! `toolbay run` from outside: turns over lines, as an agent would have them.

mod clients;
mod life;
mod sessions;
mod stages;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Project, wait};

/// Beyond this a line does not come; a component may have to be compiled first.
const PATIENCE: Duration = Duration::from_secs(120);

/// A conversation with the program.
pub struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    pub ready: Value,
    /// Every line so far, both ways.
    pub heard: Vec<Value>,
}

impl Talk {
    pub fn start(project: &Project, args: &[&str]) -> Self {
        let mut all = vec!["run"];
        all.extend(args);
        let mut child = project.spawn(&all);
        let output = child.stdout.take().unwrap();
        let errors = child.stderr.take().unwrap();
        // Whatever it says there helps when a test fails.
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                eprintln!("toolbay: {line}");
            }
        });
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut talk = Self {
            input: child.stdin.take(),
            child,
            lines,
            ready: Value::Null,
            heard: Vec::new(),
        };
        talk.ready = talk.next();
        assert_eq!(talk.ready["type"], "ready", "{}", talk.ready);
        talk
    }

    pub fn say(&mut self, line: Value) {
        self.say_raw(&line.to_string());
    }

    pub fn say_raw(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    pub fn use_tool(&mut self, id: &str, name: &str, input: Value) {
        self.say(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }

    /// The next line.
    pub fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("{error} after {:?}", self.heard));
        let value: Value = serde_json::from_str(&line).unwrap();
        self.heard.push(value.clone());
        value
    }

    /// The next line of this type; what comes before it is only remembered.
    pub fn until(&mut self, kind: &str) -> Value {
        loop {
            let line = self.next();
            if line["type"] == kind {
                return line;
            }
        }
    }

    /// Ends the turn and answers with its results.
    pub fn end_turn(&mut self) -> Vec<Value> {
        self.say(json!({"type": "turn_end"}));
        self.results()
    }

    /// The results until the turn is over.
    pub fn results(&mut self) -> Vec<Value> {
        let mut results = Vec::new();
        loop {
            let line = self.next();
            match line["type"].as_str().unwrap() {
                "tool_result" => results.push(line),
                "turn_end" => return results,
                _ => {}
            }
        }
    }

    /// A turn of one call.
    pub fn call(&mut self, name: &str, input: Value) -> Value {
        self.use_tool("t", name, input);
        let results = self.end_turn();
        assert_eq!(results.len(), 1, "{results:?}");
        results.into_iter().next().unwrap()
    }

    /// Closes the input and waits for the end, which is a good one.
    pub fn close(mut self) {
        self.close_input();
        assert!(wait(&mut self.child, &["run"]).success());
    }

    pub fn close_input(&mut self) {
        drop(self.input.take());
    }

    /// Ends the program as nothing else does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
#[track_caller]
pub fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}

/// A project with the rogue as a plugin, and the arguments that bring it in.
pub fn with_rogue(project: &Project) -> String {
    let path = project.root().join("rogue.wasm");
    std::fs::write(&path, toolbay_tests::guests::ROGUE).unwrap();
    path.display().to_string()
}
