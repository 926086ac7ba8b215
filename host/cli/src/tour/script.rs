//! The turns of the tour.

use std::path::Path;

use serde_json::{Value, json};
use toolbay::contract::ToolUse;

/// A tool's name and its input, made for a project's folder.
type Call = fn(&str) -> (&'static str, Value);

/// Enough to see what a result is.
const SHOWN_LINES: usize = 12;

/// One turn: some calls and what they show.
pub struct Step {
    pub title: &'static str,
    pub about: &'static str,
    /// Lines of each result that people see.
    pub shown_lines: usize,
    calls: &'static [Call],
}

impl Step {
    /// The calls as a model would send them.
    pub fn blocks(&self, root: &Path) -> Vec<ToolUse> {
        let root = root.display().to_string();
        self.calls
            .iter()
            .enumerate()
            .map(|(i, call)| {
                let (name, input) = call(&root);
                ToolUse {
                    id: format!("toolu_{i:02}"),
                    name: name.to_owned(),
                    input,
                }
            })
            .collect()
    }
}

pub static SCRIPT: &[Step] = &[
    Step {
        title: "1. Three reads at once",
        about: "Calls that claim to be read-only run side by side, and cannot write.",
        shown_lines: SHOWN_LINES,
        calls: &[
            |root| ("Read", json!({"file_path": format!("{root}/src/main.rs")})),
            |root| ("Read", json!({"file_path": format!("{root}/notes.md")})),
            |_| ("Glob", json!({"pattern": "**/*.rs"})),
        ],
    },
    Step {
        title: "2. A search through the host's native engine",
        about: "The tool asks; the host walks and matches, inside the roots and the path rules.",
        shown_lines: SHOWN_LINES,
        calls: &[|_| {
            (
                "Grep",
                json!({"pattern": "greet|password", "output_mode": "content"}),
            )
        }],
    },
    Step {
        title: "3. An edit, allowed by a rule",
        about: "`Edit(./src/**)` allows it; the call may write that file and nothing else.",
        shown_lines: SHOWN_LINES,
        calls: &[|root| {
            (
                "Edit",
                json!({
                    "file_path": format!("{root}/src/main.rs"),
                    "old_string": "println!(\"Hello, {name}!\");",
                    "new_string": "println!(\"Good morning, {name}!\");",
                }),
            )
        }],
    },
    Step {
        title: "4. What no rule allows is not done",
        about: "Nobody is there to ask, so the answer is no, and says what would have helped.",
        shown_lines: SHOWN_LINES,
        calls: &[
            |root| {
                (
                    "Write",
                    json!({"file_path": format!("{root}/deploy.sh"), "content": "rm -rf /\n"}),
                )
            },
            |root| ("Read", json!({"file_path": format!("{root}/.env")})),
            |_| ("Read", json!({"file_path": "/etc/passwd"})),
        ],
    },
    Step {
        title: "5. A command in a cage",
        about: "A rule allows the build script, which does more than build: the kernel refuses the rest.",
        shown_lines: SHOWN_LINES,
        calls: &[|_| ("Bash", json!({"command": "sh build.sh"}))],
    },
    Step {
        title: "6. A third-party tool that lies",
        about: "It claims to be read-only and then attacks. Claims are enforced, not believed.",
        shown_lines: SHOWN_LINES,
        calls: &[|root| ("WordCount", json!({"file": format!("{root}/notes.md")}))],
    },
    Step {
        title: "7. A file too large to show",
        about: "The reader shows a part, and says how to get the rest.",
        shown_lines: SHOWN_LINES,
        calls: &[|root| ("Read", json!({"file_path": format!("{root}/server.log")}))],
    },
    Step {
        title: "8. Results too long for one message",
        about: "The largest goes to a file; the model gets its size, the place and a preview.",
        shown_lines: 6,
        calls: &[
            |root| part_of_log(root, 4_001),
            |root| part_of_log(root, 2_001),
            |root| part_of_log(root, 6_001),
        ],
    },
];

/// As many lines as the reader shows at once.
fn part_of_log(root: &str, first_line: usize) -> (&'static str, Value) {
    let path = format!("{root}/server.log");
    ("Read", json!({"file_path": path, "offset": first_line}))
}
