//! The files that hooks run, as far as their commands name them.
//!
//! A hook runs outside of every cage. If a tool could rewrite the script that it runs, the next
//! call would run whatever the tool wrote. So these files are closed to tools and commands.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use super::Hooks;

/// Run the file that follows them; versions may follow their names.
const INTERPRETERS: &[&str] = &[
    ".", "source", "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "pypy", "node", "deno",
    "bun", "ruby", "perl", "php", "lua", "tsx", "ts-node", "pwsh", "awk", "gawk", "make", "gmake",
    "jq", "java", "wasmtime",
];

/// Endings of files that are run by giving them to another program.
const SCRIPTS: &[&str] = &[
    "sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua", "ps1", "awk",
    "mk", "jq", "jar", "wasm",
];

/// What stands for the rest of a name where an interpreter adds it.
const COMPLETIONS: &[&str] = &[
    "",
    ".py",
    ".js",
    "/__main__.py",
    "/__init__.py",
    "/index.js",
];

/// Variables whose values are among the places where a word may start from.
const KNOWN_VARIABLES: &[&str] = &["CLAUDE_PROJECT_DIR", "TOOLBAY_PROJECT_DIR", "HOME", "PWD"];

/// Links that lead to links are followed so often.
const MOST_LINKS: usize = 40;

/// The first lines of so many scripts are read, with those of their interpreters.
const MOST_INTERPRETERS: usize = 256;
/// Systems read no more of a first line.
const LONGEST_FIRST_LINE: u64 = 4096;

/// Which of the files that a command names are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedFiles {
    /// All that could be run: no tool may write them. Too many rather than too few, but no file that
    /// is only data.
    Closed,
    /// What is run: the code that somebody vouches for. A file that an interpreter gets behind its
    /// script is left out, since that may well be where the script keeps its notes.
    Code,
}

impl Hooks {
    /// The files below a project that its hooks run: by their names there, and where links lead,
    /// with the links on the way.
    pub fn files_in(&self, project: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        let mut files = BTreeSet::new();
        for hook in self.all.iter() {
            let found = named_files(&hook.command, project, home, NamedFiles::Closed);
            files.extend(found);
        }
        files.into_iter().collect()
    }
}

/// The files below a project that a shell command runs, as far as it names them, with the links on
/// the way and the interpreters that their first lines name.
pub fn named_files(
    command: &str,
    project: &Path,
    home: Option<&Path>,
    which: NamedFiles,
) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    named(command, (project, home), which, &mut files);
    // A script's first line names what runs it, and that may be a file of the project, too.
    let mut open: Vec<PathBuf> = files.iter().cloned().collect();
    for _ in 0..MOST_INTERPRETERS {
        let Some(file) = open.pop() else {
            break;
        };
        let Some(line) = first_line(&file) else {
            continue;
        };
        let mut more = BTreeSet::new();
        named(&line, (project, home), which, &mut more);
        // Started by its path, whatever it is, and also if it is made only later.
        for word in words(&line).iter().filter(|word| word.contains('/')) {
            let path = match word.starts_with('/') {
                true => plain(Path::new(word)),
                false => plain(&project.join(word)),
            };
            follow(&path, project, &mut more);
        }
        open.extend(more.difference(&files).cloned());
        files.extend(more);
    }
    files
}

fn named(
    command: &str,
    (project, home): (&Path, Option<&Path>),
    which: NamedFiles,
    files: &mut BTreeSet<PathBuf>,
) {
    let words = words(command);
    for folder in folders(&words, project, home) {
        for (at, word) in words.iter().enumerate() {
            let before = words[..at].iter().rev().take(4);
            let mut between = before.clone().take_while(|before| !is_interpreter(before));
            let is_given = before.clone().any(|before| is_interpreter(before));
            let is_data = is_given
                && between.any(|word| folder.join(relative(word)).is_file())
                && which == NamedFiles::Code;
            for ending in COMPLETIONS {
                let path = plain(&folder.join(format!("{}{ending}", relative(word))));
                if is_run(&path, is_given && !is_data) || is_later(word, ending, &path, which) {
                    follow(&path, project, files);
                }
            }
        }
    }
}

/// Whether a name without an ending may be a program that is not there yet: a tool could make it.
fn is_later(word: &str, ending: &str, path: &Path, which: NamedFiles) -> bool {
    which == NamedFiles::Closed
        && ending.is_empty()
        && word.contains('/')
        && path.extension().is_none()
        && path.symlink_metadata().is_err()
}

/// A script that a command names and that is in none of the places where it could be: an interpreter
/// that does not find its script ends with the same code as a script that fails.
pub(super) fn missing_script(command: &str, project: &Path, home: Option<&Path>) -> Option<String> {
    // What an unknown variable holds is not known, so what follows it could be anywhere.
    let is_known = |word: &&str| {
        let mut names = word.split('$').skip(1);
        names.all(|name| {
            let name = name.trim_start_matches('{');
            KNOWN_VARIABLES.iter().any(|known| name.starts_with(known))
        })
    };
    let known: Vec<&str> = command.split_whitespace().filter(is_known).collect();
    let words = words(&known.join(" "));
    let folders = folders(&words, project, home);
    let is_missing = |word: &str| {
        let mut places = folders.iter().flat_map(|folder| {
            let names = COMPLETIONS.iter();
            let names = names.map(|ending| format!("{}{ending}", relative(word)));
            names.map(|name| folder.join(name))
        });
        !places.any(|place| place.exists())
    };
    let mut follows = false;
    words.into_iter().find(|word| {
        let ending = Path::new(word).extension().and_then(|it| it.to_str());
        let is_script = ending.is_some_and(|ending| SCRIPTS.contains(&ending));
        let is_given = std::mem::replace(&mut follows, is_interpreter(word)) && word.contains('/');
        !word.starts_with('-') && (is_script || is_given) && is_missing(word)
    })
}

/// What follows `#!` in the first line of a script.
fn first_line(path: &Path) -> Option<String> {
    let mut begin = Vec::new();
    let file = toolbay_contract::regular_file::open(path).ok()?;
    file.take(LONGEST_FIRST_LINE).read_to_end(&mut begin).ok()?;
    let rest = begin.strip_prefix(b"#!")?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// The words of a command as far as they may be paths: without quotes, and of those with variables or
/// commands in them what follows these.
fn words(command: &str) -> Vec<String> {
    let is_break = |c: char| c.is_whitespace() || ";|&()`<>={},".contains(c);
    let text: String = command.chars().filter(|c| !"\"'\\".contains(*c)).collect();
    let words = text.split(is_break).map(|word| {
        let word = match word.rsplit_once('$') {
            Some((_, rest)) => {
                rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
            }
            None => word,
        };
        let word = word.strip_prefix('~').unwrap_or(word);
        word.to_owned()
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// Where the words of a command may start from: the project, the home folder, and every folder in the
/// project that the command names. A word from the root on is itself.
fn folders(words: &[String], project: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut all = vec![PathBuf::from("/"), project.to_owned()];
    all.extend(home.map(Path::to_owned));
    let named: Vec<PathBuf> = all
        .iter()
        .flat_map(|base| words.iter().map(|word| plain(&base.join(relative(word)))))
        .filter(|path| path.starts_with(project) && path.is_dir())
        .collect();
    all.extend(named);
    all.sort();
    all.dedup();
    all
}

fn relative(word: &str) -> &str {
    word.trim_start_matches('/')
}

/// Without `.` and `..`, as far as no link is on the way.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || matches!(word, "." | "source")
}

/// Whether a file is run by a command that names it, and not only read.
fn is_run(path: &Path, is_given: bool) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_script = ending.is_some_and(|ending| SCRIPTS.contains(&ending));
    match path.metadata() {
        Ok(found) if found.is_file() => {
            let is_executable = found.permissions().mode() & 0o111 != 0;
            is_script || is_given || is_executable || begins_like_script(path)
        }
        // A folder is data; a script that is not there yet must not be made by a tool.
        Ok(_) => false,
        Err(_) => is_script,
    }
}

fn begins_like_script(path: &Path) -> bool {
    let mut begin = [0; 2];
    let file = toolbay_contract::regular_file::open(path);
    file.is_ok_and(|mut file| file.read_exact(&mut begin).is_ok() && begin == *b"#!")
}

/// Notes a path, the links on the way to it, and where they lead, as far as they lie in the project.
fn follow(path: &Path, project: &Path, files: &mut BTreeSet<PathBuf>) {
    let mut open = vec![path.to_owned()];
    for _ in 0..MOST_LINKS {
        let Some(path) = open.pop() else {
            return;
        };
        // The outermost link decides where the rest lies.
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        let link = above.into_iter().find(|part| part.is_symlink());
        let is_inside = |path: &Path| path.starts_with(project) && path != project;
        match link {
            Some(link) => {
                if is_inside(link) {
                    files.insert(link.to_owned());
                }
                let (Ok(target), Ok(rest)) = (link.read_link(), path.strip_prefix(link)) else {
                    continue;
                };
                let folder = link.parent().unwrap_or(link);
                let target = plain(&folder.join(target));
                open.push(match rest.as_os_str().is_empty() {
                    true => target,
                    false => target.join(rest),
                });
            }
            None if is_inside(&path) => {
                files.insert(path);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(project: &Path, home: &Path, command: &str) -> Vec<String> {
        let entry = json!({"type": "command", "command": command});
        let hooks = Hooks::parse(&json!({"PreToolUse": [{"hooks": [entry]}]}), "a.json").unwrap();
        let files = hooks.files_in(project, Some(home));
        let names = files.iter().map(|file| file.strip_prefix(project).unwrap());
        names
            .map(|name| name.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn the_files_that_a_hook_runs_are_found_however_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let project = home.join("work");
        for file in [
            "s/g.sh",
            "real.py",
            "main.rs",
            "bin/guard",
            "pkg/__main__.py",
            "t/g.js",
            "plain",
        ] {
            let file = project.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.join("bin/guard"), mode.clone()).unwrap();
        let link =
            |to: &str, name: &str| std::os::unix::fs::symlink(to, project.join(name)).unwrap();
        link("real.py", "two.py");
        link("two.py", "one.py");
        link("s", "folder");
        let script = |name: &str, line: &str| {
            std::fs::write(project.join(name), format!("#!{line}\nx")).unwrap();
            std::fs::set_permissions(project.join(name), mode.clone()).unwrap();
        };
        script("env-run.py", "/usr/bin/env -S ./t/interpreter -u");
        script("own-run", " tools/later");
        std::fs::write(project.join("t/interpreter"), "").unwrap();
        let absolute = format!("{}/s/g.sh", project.display());
        for (command, wanted) in [
            ("\"$CLAUDE_PROJECT_DIR\"/s/g.sh", &["s/g.sh"][..]),
            ("\"${CLAUDE_PROJECT_DIR:?}\"/s/g.sh --strict", &["s/g.sh"]),
            ("\"${CLAUDE_PROJECT_DIR%/}\"/s/g.sh", &["s/g.sh"]),
            ("\"$(pwd)\"/s/g.sh", &["s/g.sh"]),
            (&absolute, &["s/g.sh"]),
            ("$HOME/work/s/g.sh", &["s/g.sh"]),
            ("~/work/s/g.sh", &["s/g.sh"]),
            ("s/../s/./g.sh", &["s/g.sh"]),
            ("D=s; \"$D\"/g.sh", &["s/g.sh"]),
            ("cd s && ./g.sh", &["s/g.sh"]),
            ("cd \"$CLAUDE_PROJECT_DIR/s\" && sh g.sh", &["s/g.sh"]),
            ("bash -c \"cd s && ./g.sh\"", &["s/g.sh"]),
            (
                "LOG=1 timeout -s KILL 5 bash -o pipefail s/g.sh main.rs",
                &["main.rs", "s/g.sh"],
            ),
            ("flock l bin/guard", &["bin/guard"]),
            ("cat | xargs -0 ./bin/guard", &["bin/guard"]),
            ("python3.11 plain", &["plain"]),
            ("python3 -m pkg", &["pkg/__main__.py"]),
            ("node t/g", &["t/g.js"]),
            ("python3 -u one.py", &["one.py", "real.py", "two.py"]),
            ("./folder/g.sh", &["folder", "s/g.sh"]),
            ("sh later.sh", &["later.sh"]),
            ("bin/later", &["bin/later"]),
            ("./env-run.py", &["env-run.py", "t/interpreter"]),
            ("./own-run", &["own-run", "tools/later"]),
            // What is only read stays open, and what is not the project's is the user's matter.
            ("grep -q main.rs && test -d s", &[]),
            ("/usr/bin/true", &[]),
            ("eslint s", &[]),
        ] {
            let wanted: Vec<String> = wanted.iter().map(|file| (*file).to_owned()).collect();
            let mut found = found(&project, &home, command);
            // Scripts that are not there, in other folders, are closed as well.
            found.retain(|file| project.join(file).exists() || wanted.contains(file));
            assert_eq!(found, wanted, "{command}");
        }
    }

    #[test]
    fn a_script_that_is_nowhere_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let project = home.join("work");
        std::fs::create_dir_all(project.join("s")).unwrap();
        for file in ["s/there.py", "s/tool"] {
            std::fs::write(project.join(file), "").unwrap();
        }
        for (command, wanted) in [
            ("node gone.js", Some("gone.js")),
            (
                "python3 -u \"$CLAUDE_PROJECT_DIR\"/s/gone.py --strict",
                Some("/s/gone.py"),
            ),
            ("cat | sh s/gone", Some("s/gone")),
            ("LOG=1 bash -e $HOME/gone.sh", Some("/gone.sh")),
            ("python3 s/there.py", None),
            ("cd s && python3 there.py", None),
            (
                "python3 \"${CLAUDE_PROJECT_DIR:?}\"/s/there.py gone.txt",
                None,
            ),
            ("sh s/tool", None),
            ("node s/there", None),
            // Somewhere else, which is not known here.
            ("python3 \"$TOOLS\"/gone.py", None),
            ("grep -q gone && exit 1", None),
            ("jq .tool_name", None),
            ("make lint", None),
            ("/usr/bin/false", None),
        ] {
            let found = missing_script(command, &project, Some(&home));
            assert_eq!(found.as_deref(), wanted, "{command}");
        }
    }

    #[test]
    fn what_a_script_is_given_beside_itself_is_not_vouched_for() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        for file in ["guard.py", "notes.db", "plain"] {
            std::fs::write(project.join(file), "").unwrap();
        }
        for (command, wanted) in [
            ("python3 guard.py notes.db", &["guard.py"][..]),
            ("python3 -u guard.py --notes=notes.db", &["guard.py"]),
            ("python3 plain", &["plain"]),
            ("sh -e plain notes.db", &["plain"]),
            ("bin/later", &[]),
        ] {
            let found = named_files(command, &project, None, NamedFiles::Code);
            let mut found: Vec<&str> = found
                .iter()
                .map(|file| file.strip_prefix(&project).unwrap().to_str().unwrap())
                .collect();
            found.retain(|file| project.join(file).exists());
            assert_eq!(found, wanted, "{command}");
        }
    }
}
