//! The clients in `sdk/` drive whole turns: a permission question, an interrupt.

use std::path::Path;
use std::process::{Command, Stdio};

use super::with_rogue;
use crate::program::Project;

const PYTHON: &str = r#"
import sys, threading
sys.path.insert(0, sys.argv[1])
from toolbay import Toolbay

asked = []
def allow(request):
    asked.append(request["tool_name"])
    return True

started = threading.Event()
def watch(event):
    if event["type"] == "started" and event["tool_use_id"] == "sleep":
        started.set()

bay = Toolbay(sys.argv[2:], on_permission=allow, on_event=watch)
assert bay.ready["protocol"] == 1, bay.ready
bay.add("w", "Write", {"file_path": "py.txt", "content": "from python\n"})
bay.add("r", "Read", {"file_path": "py.txt"})
written, read = bay.end_turn()
assert asked == ["Write"], asked
assert not written["is_error"], written
assert "from python" in read["content"][0]["text"], read

bay.add("sleep", "Rogue", {"act": "sleep", "ms": 60000, "claims_safe": False})
def stop():
    started.wait()
    bay.interrupt()
threading.Thread(target=stop).start()
(slept,) = bay.results()
assert slept["is_error"] and "stopped this turn" in slept["content"][0]["text"], slept
assert bay.close() == 0
print("python is content")
"#;

const NODE: &str = r#"
import { pathToFileURL } from "node:url";
const { Toolbay } = await import(pathToFileURL(process.argv[2] + "/toolbay.mjs"));
const check = (truth, what) => { if (!truth) { console.error(JSON.stringify(what)); process.exit(1); } };

const asked = [];
let bay;
bay = new Toolbay({
  command: process.argv.slice(3),
  onPermission: (request) => { asked.push(request.tool_name); return true; },
  onEvent: (event) => { if (event.type === "started" && event.tool_use_id === "sleep") bay.interrupt(); },
});
check((await bay.ready).protocol === 1, "ready");
bay.add("w", "Write", { file_path: "js.txt", content: "from node\n" });
bay.add("r", "Read", { file_path: "js.txt" });
const [written, read] = await bay.endTurn();
check(asked.length === 1 && asked[0] === "Write", asked);
check(!written.is_error && read.content[0].text.includes("from node"), [written, read]);
bay.add("sleep", "Rogue", { act: "sleep", ms: 60000, claims_safe: false });
const [slept] = await bay.results();
check(slept.is_error && slept.content[0].text.includes("stopped this turn"), slept);
check((await bay.close()) === 0, "exit");
console.log("node is content");
"#;

/// Runs a script of another language against the real program. That the language is
/// missing is a failure: these clients are promised to work.
// A test of a client has to start it.
#[allow(clippy::disallowed_methods)]
fn drive(language: &str, script: (&str, &str), sdk: &str, wanted: &str) {
    let project = Project::new();
    let rogue = with_rogue(&project);
    let (name, text) = script;
    let script = project.file(name, text);
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../sdk")
        .join(sdk);
    let mut command = Command::new(language);
    command
        .current_dir(project.root())
        .arg(script)
        .arg(sdk)
        .arg(toolbay_tests::program())
        .args(["run", "--plugin", &rogue])
        .stdin(Stdio::null());
    for (key, value) in project.environment() {
        command.env(key, value);
    }
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{language} is needed for this test: {error}"));
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && out.contains(wanted),
        "{out}\n{err}"
    );
}

#[test]
fn python_drives_a_turn() {
    drive(
        "python3",
        ("drive.py", PYTHON),
        "python",
        "python is content",
    );
}

#[test]
fn node_drives_a_turn() {
    drive("node", ("drive.mjs", NODE), "js", "node is content");
}

#[test]
fn the_clients_are_short() {
    for file in ["python/toolbay.py", "js/toolbay.mjs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../sdk")
            .join(file);
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines <= 65, "{file} has {lines} lines");
    }
}
