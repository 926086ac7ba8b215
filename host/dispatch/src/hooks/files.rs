//! The files that hooks run, as far as their commands name them.
//!
//! A hook runs outside of every cage. If a tool could rewrite the script that it runs, the next
//! call would run whatever the tool wrote. So these files are closed to tools and commands.

use std::path::{Path, PathBuf};

use super::Hooks;
use super::run::PROJECT_NAMES;

/// Run the file that follows them, behind flags.
const INTERPRETERS: &[&str] = &[
    ".", "source", "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "node", "deno",
    "bun", "ruby", "perl", "php", "lua", "tsx", "ts-node", "pwsh", "awk", "gawk",
];

/// Run the command that follows them.
const WRAPPERS: &[&str] = &[
    "exec", "command", "env", "time", "nice", "nohup", "timeout", "sudo", "uv", "poetry", "pipenv",
    "run", "npx", "if", "then", "else", "elif", "while", "until", "do", "!", "{",
];

impl Hooks {
    /// The files below a project that its hooks run: by their names there, and where links lead.
    pub fn files_in(&self, project: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for hook in self.all.iter() {
            for (folder, word) in programs(&hook.command) {
                let folder = with_project(&folder, project);
                let word = with_project(&word, project);
                let (Some(folder), Some(word)) = (folder, word) else {
                    continue;
                };
                let path = project.join(folder).join(word);
                // A folder is data of the command, not a program.
                if path.starts_with(project) && !path.is_dir() {
                    files.extend(path.canonicalize());
                    files.push(path);
                }
            }
        }
        files.sort();
        files.dedup();
        files
    }
}

/// The words of a command that name a program or a script by its path: the first of each simple
/// command, what follows interpreters and wrappers, and all that end like a script. With each comes
/// the folder that a `cd` before it leads to.
fn programs(command: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folder = String::from("./");
    for part in command.split([';', '|', '&', '\n', '(', ')', '`', '<', '>']) {
        let mut names_program = true;
        let mut is_behind_interpreter = false;
        let mut is_behind_cd = false;
        for word in part.split_whitespace() {
            let word: String = word.chars().filter(|c| !"\"'\\".contains(*c)).collect();
            let is_flag = word.starts_with('-');
            let is_assignment = names_program
                && word.split_once('=').is_some_and(|(name, _)| {
                    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                });
            // `-c`: a text follows, which begins like any command.
            if is_flag && !word.starts_with("--") && word.ends_with('c') {
                is_behind_interpreter = false;
            }
            if is_flag || is_assignment {
                continue;
            }
            if is_behind_cd {
                folder = word;
                break;
            }
            is_behind_cd = names_program && word == "cd";
            // A shell looks for a plain name in the folders of `PATH`, an interpreter does not.
            let is_path = word.contains('/') || is_behind_interpreter;
            if names_program && is_path || is_script(&word) {
                found.push((folder.clone(), word.clone()));
            }
            let name = word.rsplit('/').next().unwrap_or(&word);
            is_behind_interpreter = names_program && INTERPRETERS.contains(&name);
            // A number behind `timeout` is no program, and no file either.
            let is_number = name.starts_with(|c: char| c.is_ascii_digit());
            names_program &=
                is_behind_cd || is_behind_interpreter || WRAPPERS.contains(&name) || is_number;
        }
    }
    found
}

/// Endings of files that are run by giving them to another program.
const SCRIPTS: &[&str] = &[
    "sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua", "ps1", "awk",
];

fn is_script(word: &str) -> bool {
    let ending = Path::new(word)
        .extension()
        .and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| SCRIPTS.contains(&ending))
}

/// The word with the project's folder in place of its variables; none where others remain.
fn with_project(word: &str, project: &Path) -> Option<String> {
    let project = project.to_str()?;
    let mut word = word.to_owned();
    for name in PROJECT_NAMES.iter().chain(&["PWD"]) {
        for form in [
            format!("${{{name}}}"),
            format!("${{{name}:-.}}"),
            format!("${name}"),
        ] {
            word = word.replace(&form, project);
        }
    }
    (!word.is_empty() && !word.contains('$')).then_some(word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_files_that_a_hook_runs_are_found_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        for file in ["scripts/guard.sh", "real.py", "src/main.rs", "bin/guard"] {
            let file = project.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        std::os::unix::fs::symlink("real.py", project.join("link.py")).unwrap();
        for (command, wanted) in [
            (
                "\"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh",
                vec!["scripts/guard.sh"],
            ),
            (
                "'${TOOLBAY_PROJECT_DIR}/scripts/guard.sh' --strict",
                vec!["scripts/guard.sh"],
            ),
            ("scripts/guard.sh", vec!["scripts/guard.sh"]),
            ("./bin/guard src", vec!["bin/guard"]),
            (
                "LOG=1 timeout 5 bash -e scripts/guard.sh src/main.rs",
                vec!["scripts/guard.sh"],
            ),
            ("cat | python3 -u link.py", vec!["link.py", "real.py"]),
            ("true && sh later.sh", vec!["later.sh"]),
            (
                "if test -f x; then ./scripts/guard.sh; fi",
                vec!["scripts/guard.sh"],
            ),
            ("uv run scripts/guard.py", vec!["scripts/guard.py"]),
            ("cd scripts && ./guard.sh", vec!["scripts/guard.sh"]),
            (
                "cd \"$CLAUDE_PROJECT_DIR/scripts\" && python3 guard.py",
                vec!["scripts/guard.py"],
            ),
            (
                "bash -c \"cd scripts && ./guard.sh\"",
                vec!["scripts/guard.sh"],
            ),
            // What is not the project's is the user's own matter.
            ("/usr/bin/true", vec![]),
            ("test -d src && eslint src", vec![]),
            ("guard", vec![]),
            ("sh guard", vec!["guard"]),
            ("src", vec![]),
            ("$GUARD", vec![]),
        ] {
            let settings =
                json!({"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]});
            let hooks = Hooks::parse(&settings, "a.json").unwrap();
            let wanted: Vec<PathBuf> = wanted.iter().map(|file| project.join(file)).collect();
            assert_eq!(hooks.files_in(&project), wanted, "{command}");
        }
    }
}
