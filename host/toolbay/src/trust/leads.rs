//! What the text of a project's file leads to: the scripts of its hooks, its components, and what its
//! servers and its classifier run.
//!
//! A text stays the same while the files that it names change, so whoever trusts the text trusts these
//! files as they are. What runs from elsewhere, such as the system's interpreters, is the user's matter;
//! components are looked at wherever they lie, since they came by this text alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use toolbay_dispatch::fingerprint::{Fingerprint, listed};
use toolbay_dispatch::hooks::{
    CommandForm, LookBudget, NameGround, NamedFiles, TooMuchNamed, is_code_variable, named_files,
};

use crate::process::ProcessContext;

/// More entries than a folder of components has.
const MOST_ENTRIES: usize = 10_000;

/// Where names are looked for, and the variables that may stand in them.
#[derive(Debug, Clone)]
pub struct LeadGround {
    pub names: NameGround,
    pub process: ProcessContext,
}

/// What a text leads to, as it was when the text was read.
#[derive(Debug, Clone, Default)]
pub struct Leads {
    /// Everything; trust rests on this.
    pub files: Fingerprint,
    /// The components among it, with their digests.
    pub plugins: Vec<(PathBuf, String)>,
    /// The folders of components, in which others may appear.
    pub folders: Vec<PathBuf>,
    /// Components that are not there.
    pub missing: Vec<PathBuf>,
    /// What each server runs.
    pub servers: BTreeMap<String, Arc<ServerPin>>,
}

/// What one server ran when it was approved.
#[derive(Debug)]
pub struct ServerPin {
    entry: Value,
    ground: LeadGround,
    seen: Fingerprint,
}

impl ServerPin {
    pub fn of(entry: &Value, ground: &LeadGround, budget: &mut LookBudget) -> Result<Self, String> {
        Ok(Self {
            entry: entry.clone(),
            ground: ground.clone(),
            seen: seen(entry, ground, budget)?,
        })
    }

    pub fn files(&self) -> &Fingerprint {
        &self.seen
    }

    /// Whether it would still run what it ran then. The error says what is different.
    pub fn check(&self) -> Result<(), String> {
        let now = seen(&self.entry, &self.ground, &mut LookBudget::default())?;
        let changes = self.seen.changes_to(&now);
        match changes.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "what it runs is not what it was when it was approved: {}; look at it again with \
                 `toolbay mcp approve` or `toolbay trust`, then start a new session",
                listed(&changes)
            )),
        }
    }
}

impl Leads {
    /// Of a settings file: its value, the folder that its paths start from, and what its hooks run.
    pub fn of_settings(
        value: &Value,
        folder: &Path,
        hooks: Fingerprint,
        ground: &LeadGround,
    ) -> Result<Self, String> {
        let mut leads = Self::of_servers(value, ground)?;
        let mut budget = LookBudget::default();
        let mut files: BTreeSet<PathBuf> = BTreeSet::new();
        for path in strings(value.get("plugins")) {
            leads.component(&folder.join(path), &mut files)?;
        }
        let plugins = Fingerprint::of(files)?;
        leads.plugins = plugins
            .files()
            .filter_map(|(path, state)| Some((path.to_owned(), state.digest.clone()?)))
            .collect();
        let classifier = value.pointer("/permissions/classifier/command");
        let mut judge = BTreeSet::new();
        for command in strings(classifier) {
            let form = CommandForm::Shell(&command);
            let found = named(form, ground, &mut budget);
            judge.extend(found.map_err(|why| format!("the classifier: {why}"))?);
        }
        let rest = leads.files.and(Fingerprint::of(judge)?);
        // Of what several read, the state that was read for use is the one that counts.
        leads.files = hooks.and(plugins).and(rest);
        Ok(leads)
    }

    /// Of a file of servers, or of the servers in settings.
    pub fn of_servers(value: &Value, ground: &LeadGround) -> Result<Self, String> {
        let mut leads = Self::default();
        let mut budget = LookBudget::default();
        let servers = value.get("mcpServers").and_then(Value::as_object);
        for (name, entry) in servers.into_iter().flatten() {
            let pin = ServerPin::of(entry, ground, &mut budget);
            let pin = pin.map_err(|why| format!("the MCP server `{name}`: {why}"))?;
            leads.files = leads.files.and(pin.seen.clone());
            leads.servers.insert(name.clone(), Arc::new(pin));
        }
        Ok(leads)
    }

    /// One entry of `plugins`: a file, or a folder with files.
    fn component(&mut self, path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
        if !path.is_dir() {
            if path.symlink_metadata().is_err() {
                self.missing.push(path.to_owned());
            }
            files.insert(path.to_owned());
            return Ok(());
        }
        self.folders.push(path.to_owned());
        let about = |error: std::io::Error| format!("{}: {error}", path.display());
        for (count, entry) in path.read_dir().map_err(about)?.enumerate() {
            if count == MOST_ENTRIES {
                return Err(format!(
                    "{}: more than {MOST_ENTRIES} files in a folder of components",
                    path.display()
                ));
            }
            let file = entry.map_err(about)?.path();
            if file.extension().is_some_and(|ending| ending == "wasm") {
                files.insert(file);
            }
        }
        Ok(())
    }
}

fn seen(
    entry: &Value,
    ground: &LeadGround,
    budget: &mut LookBudget,
) -> Result<Fingerprint, String> {
    let files = server_files(entry, ground, budget).map_err(|why| why.to_string())?;
    Fingerprint::of(files)
}

/// What a server's entry runs in the project. Its command comes first, as it would on a command line;
/// variables, folders and what else is in the entry can name code as well. Each word stays one: a server
/// is not started by a shell.
fn server_files(
    entry: &Value,
    ground: &LeadGround,
    budget: &mut LookBudget,
) -> Result<BTreeSet<PathBuf>, TooMuchNamed> {
    const FIRST: [&str; 2] = ["command", "args"];
    let Some(object) = entry.as_object() else {
        return Ok(BTreeSet::new());
    };
    let mut all = Vec::new();
    for key in FIRST {
        all.extend(strings(object.get(key)));
    }
    let env = object.get("env").and_then(Value::as_object);
    let env = || env.into_iter().flatten();
    for (name, value) in env() {
        // As in front of a command: where programs are looked for depends on the name.
        let values = strings(Some(value)).into_iter();
        all.extend(values.map(|value| format!("{name}={value}")));
    }
    for (_, value) in object
        .iter()
        .filter(|(key, _)| !FIRST.contains(&&***key) && *key != "env")
    {
        all.extend(strings(Some(value)));
    }
    let words: Vec<String> = all
        .iter()
        .map(|text| filled_in(text, &ground.process))
        .collect();
    let mut files = named(CommandForm::Words(&words), ground, budget)?;
    // The command is run whatever its name is.
    let mut run: Vec<String> = words.first().cloned().into_iter().collect();
    let code = env().filter(|(name, _)| is_code_variable(name));
    run.extend(
        code.flat_map(|(_, value)| strings(Some(value)))
            .map(|text| filled_in(&text, &ground.process)),
    );
    for text in run {
        let script = ["sh".to_owned(), text];
        files.extend(named(CommandForm::Words(&script), ground, budget)?);
    }
    Ok(files)
}

fn named(
    command: CommandForm<'_>,
    ground: &LeadGround,
    budget: &mut LookBudget,
) -> Result<BTreeSet<PathBuf>, TooMuchNamed> {
    named_files(command, &ground.names, NamedFiles::Code, budget)
}

/// All texts in a value.
fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(all)) => all.iter().flat_map(|one| strings(Some(one))).collect(),
        Some(Value::Object(all)) => all.values().flat_map(|one| strings(Some(one))).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => Vec::new(),
    }
}

/// With `${NAME}` and `${NAME:-otherwise}` put in, as far as they are names at all.
fn filled_in(text: &str, process: &ProcessContext) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            rest = after;
            continue;
        };
        let (name, otherwise) = inside.split_once(":-").unwrap_or((inside, ""));
        match process.variable(name) {
            Some(value) => filled.push_str(&value.to_string_lossy()),
            None => filled.push_str(otherwise),
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_server_runs_is_found_wherever_its_entry_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        for file in [
            "s/run.py",
            "bin/tool",
            "pre.js",
            "data.db",
            "odd",
            "app.jar",
            "my server.py",
            "pk/srv.py",
            "g1.py",
            "README",
            "srvtxt",
            "sub/server",
            "sub/deep/guard",
            "sub/guard",
        ] {
            let file = project.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.join("bin/tool"), mode).unwrap();
        std::os::unix::fs::symlink("sub/deep", project.join("ln")).unwrap();
        let ground = LeadGround {
            names: NameGround::of_project(&project, None),
            process: ProcessContext::default(),
        };
        for (entry, wanted) in [
            (json!({"command": "./bin/tool"}), &["bin/tool"][..]),
            (json!({"command": "odd", "args": ["data.db"]}), &["odd"]),
            (
                json!({"command": "python3", "args": ["-u", "s/run.py", "data.db"]}),
                &["s/run.py"],
            ),
            (
                json!({"command": "python3", "args": ["run.py"], "cwd": "s"}),
                &["s/run.py"],
            ),
            (
                json!({"command": "node", "args": ["x"], "env": {"NODE_OPTIONS": "--require=./pre.js"}}),
                &["pre.js"],
            ),
            (
                json!({"command": "${NOT_SET_HERE:-bin/tool}", "args": []}),
                &["bin/tool"],
            ),
            (
                json!({"command": "tool", "env": {"PATH": "./bin"}}),
                &["bin/tool"],
            ),
            (
                json!({"command": "java", "args": ["-jar", "app.jar"]}),
                &["app.jar"],
            ),
            (
                json!({"command": "sh", "args": ["-c", "cd s && ./run.py"]}),
                &["s/run.py"],
            ),
            (
                json!({"url": "https://x", "oauth": {"clientSecret": {"command": "sh s/run.py"}}}),
                &["s/run.py"],
            ),
            (json!({"command": "uvx", "args": ["a-server"]}), &[]),
            (
                json!({"command": "python3", "args": ["my server.py", "data.db"]}),
                &["my server.py"],
            ),
            (
                json!({"command": "python3", "args": ["-m", "pk.srv"]}),
                &["pk/srv.py"],
            ),
            (
                json!({"command": "sh", "args": ["-c", "exec python3 g*.py"]}),
                &["g1.py"],
            ),
            (
                json!({"command": "python3", "args": ["-W", "README", "srvtxt"]}),
                &["README", "srvtxt"],
            ),
            (
                json!({"command": "bash", "args": ["-c", "true"], "env": {"A": "1", "B": "2", "C": "3",
                    "D": "4", "BASH_ENV": "odd"}}),
                &["odd"],
            ),
            (json!({"command": "ln/../server"}), &["ln", "sub/server"]),
            (
                json!({"command": "sh", "args": ["../guard"], "cwd": "ln"}),
                &["ln", "sub/guard"],
            ),
            (
                json!({"command": "sh", "args": ["-c", "cd sub && cd deep && sh guard"]}),
                &["sub/deep/guard", "sub/guard"],
            ),
            (
                json!({"command": "sh", "args": ["-c", "G=gu; G+=ar; . sub/\"$G\"d"]}),
                &["sub/guard"],
            ),
            (
                json!({"command": "perl", "args": ["x"], "env": {"PERL5OPT": "-Mx", "LD_PRELOAD": "odd"}}),
                &["odd"],
            ),
        ] {
            let found = server_files(&entry, &ground, &mut LookBudget::default()).unwrap();
            let mut found: Vec<&str> = found
                .iter()
                .map(|file| file.strip_prefix(&project).unwrap().to_str().unwrap())
                .collect();
            found.retain(|file| project.join(file).exists());
            assert_eq!(found, wanted, "{entry}");
        }
    }
}
