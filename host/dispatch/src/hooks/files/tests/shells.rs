//! What shells really run, against what the reader finds: whenever a script of the project leaves its
//! mark, it must be closed and pinned.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::super::*;

mod commands;
mod spellings;

use commands::{COMMANDS, MORE_COMMANDS};
use spellings::{SPELLINGS, WAYS};

/// None of them looks like a script: each counts only if the command is understood.
const FILES: &[&str] = &[
    "plain",
    "plaiN",
    "hooks/plain",
    "hooks/é",
    "hooks/deep/plain",
    "my hooks/plain",
    "my hooks/it's",
    "sub/plain",
    "sub/deep/plain",
    "sub/deep/er/plain",
    "sub/deep/dir/plain",
    "bin/tool",
    "lib/zsh/.zshenv",
];

struct World {
    _folder: tempfile::TempDir,
    project: PathBuf,
    home: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let project = home.join("work");
        for name in FILES {
            let file = project.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let text = format!("echo \"ran:{name}:\" | tee -a \"$MARKS\"\n");
            std::fs::write(file, text).unwrap();
        }
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(project.join("bin/tool"), mode).unwrap();
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, project.join(name)).unwrap();
        };
        link("sub/deep", "ln");
        link("hooks", "hk");
        link("../ln", "sub/back");
        Self {
            _folder: folder,
            project,
            home,
        }
    }

    /// What a command runs, by the shells that there are.
    fn ran(&self, command: &str) -> BTreeSet<String> {
        let marks = self.home.join("marks");
        let mut all = BTreeSet::new();
        for shell in ["sh", "bash", "zsh"] {
            let _ = std::fs::remove_file(&marks);
            // A test starts the shells that the reader has to know.
            #[allow(clippy::disallowed_methods)]
            let mut started = std::process::Command::new(shell);
            started
                .args(["-c", command])
                .current_dir(&self.project)
                .env("HOME", &self.home)
                .env("MARKS", &marks)
                .env("CLAUDE_PROJECT_DIR", &self.project)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            match started.status() {
                Ok(_) => {}
                Err(_) if shell != "sh" && shell != "bash" => continue,
                Err(error) => panic!("{shell}: {error}"),
            }
            let marks = std::fs::read_to_string(&marks).unwrap_or_default();
            let names = marks.lines().filter_map(|line| line.strip_prefix("ran:"));
            all.extend(names.map(|name| name.trim_end_matches(':').to_owned()));
        }
        all
    }

    fn found(&self, command: &str, which: NamedFiles) -> BTreeSet<PathBuf> {
        let ground = NameGround::of_project(&self.project, Some(&self.home));
        let form = CommandForm::Shell(command);
        named_files(form, &ground, which, &mut LookBudget::default())
            .unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// What a command ran and the reader did not find.
    fn missed(&self, command: &str) -> Vec<String> {
        let ran = self.ran(command);
        let mut missed = Vec::new();
        if ran.is_empty() {
            missed.push(format!("{command}: ran nothing"));
        }
        let closed = self.found(command, NamedFiles::Closed);
        let code = self.found(command, NamedFiles::Code);
        let is_in = |all: &BTreeSet<PathBuf>, file: &Path| {
            file.ancestors()
                .take_while(|part| *part != self.project)
                .any(|part| all.contains(part))
        };
        for name in ran {
            let file = self.project.join(&name);
            if !is_in(&closed, &file) {
                missed.push(format!("{command}: {name} is not closed"));
            }
            if !code.contains(&file) {
                missed.push(format!("{command}: {name} is not pinned"));
            }
        }
        missed
    }
}

#[test]
fn whatever_a_shell_runs_is_found_however_it_is_spelled() {
    let world = World::new();
    let mut missed = Vec::new();
    for (number, (before, name)) in SPELLINGS.iter().enumerate() {
        // Each spelling in the plain way, and in some of the others.
        let ways = [0, 1 + number * 7 % (WAYS.len() - 1)];
        for (at, way) in ways.iter().map(|way| WAYS[*way]).enumerate() {
            let command = match before.is_empty() {
                true => way.replace('W', name),
                false => format!("{before}; {}", way.replace('W', name)),
            };
            let mut more = world.missed(&command);
            // Not each spelling goes with each way.
            more.retain(|why| at == 0 || !why.ends_with("ran nothing"));
            missed.extend(more);
        }
    }
    assert!(missed.is_empty(), "{}\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn whatever_a_shell_runs_is_found_however_it_is_run() {
    let world = World::new();
    let mut missed = Vec::new();
    for way in WAYS {
        for name in [
            "hooks/plain",
            "'my hooks/plain'",
            "\"my hooks/it's\"",
            "./pla*N",
            "hooks/?",
        ] {
            let mut more = world.missed(&way.replace('W', name));
            more.retain(|why| !why.ends_with("ran nothing") || !name.contains(['*', '"', '\'']));
            missed.extend(more);
        }
    }
    for command in COMMANDS.iter().chain(MORE_COMMANDS) {
        missed.extend(world.missed(command));
    }
    assert!(missed.is_empty(), "{}\n{}", missed.len(), missed.join("\n"));
}
