//! The turns of the tour.

use std::path::Path;

use serde_json::{Value, json};
use toolbay_contract::ToolUse;

/// A tool's name and its input, made for a project's folder.
type Call = fn(&str) -> (&'static str, Value);

/// One turn: some calls and what they show.
pub struct Step {
    pub title: &'static str,
    pub about: &'static str,
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
        calls: &[
            |root| ("Read", json!({"file_path": format!("{root}/src/main.rs")})),
            |root| ("Read", json!({"file_path": format!("{root}/notes.md")})),
            |_| ("Glob", json!({"pattern": "**/*.rs"})),
        ],
    },
    Step {
        title: "2. A search through the host's native engine",
        about: "The tool asks; the host walks and matches, inside the roots and the path rules.",
        calls: &[|_| {
            (
                "Grep",
                json!({"pattern": "greet|password", "output_mode": "content"}),
            )
        }],
    },
    Step {
        title: "3. An edit, allowed by a rule",
        about: "`Edit(./src/**)` allows it; the call may write in that file's folder and nowhere else.",
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
        title: "5. A third-party tool that lies",
        about: "It claims to be read-only and then attacks. Claims are enforced, not believed.",
        calls: &[|root| ("WordCount", json!({"file": format!("{root}/notes.md")}))],
    },
    Step {
        title: "6. A file too large to show",
        about: "The reader shows a part, and says how to get the rest.",
        calls: &[|root| ("Read", json!({"file_path": format!("{root}/server.log")}))],
    },
];
