//! Runs the real program in folders of its own, as a shell would: no terminal, no
//! colours asked for, nobody to answer questions.

use std::fmt::Debug;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Beyond this a run hangs; the slowest one compiles a component.
const PATIENCE: Duration = Duration::from_secs(120);

/// A project and the user whose project it is.
pub struct Project {
    folder: TempDir,
    home: TempDir,
    /// Holds `cache` and `state`.
    places: Places,
}

enum Places {
    /// Of all tests together, so that each component is compiled once.
    Shared,
    Own,
}

/// What a run left behind.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Project {
    pub fn new() -> Self {
        warm_up();
        Self::with(Places::Shared)
    }

    /// One that shares nothing with other tests, for tests about caching.
    pub fn alone() -> Self {
        Self::with(Places::Own)
    }

    fn with(places: Places) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
            places,
        }
    }

    /// The project's folder, real.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// The user's own settings file and its folder.
    pub fn user_settings(&self) -> PathBuf {
        let folder = self.home.path().join(".toolbay");
        std::fs::create_dir_all(&folder).unwrap();
        folder.join("settings.json")
    }

    /// The file of the machine's owner, in a folder of its own.
    pub fn managed_settings(&self) -> PathBuf {
        let folder = self.home.path().join("etc");
        std::fs::create_dir_all(&folder).unwrap();
        folder.join("managed-settings.json")
    }

    /// The folder of the audit log.
    pub fn audit_log(&self) -> PathBuf {
        self.place("state").join("toolbay/audit")
    }

    /// Where the program keeps compiled components.
    pub fn cache(&self) -> PathBuf {
        self.place("cache").join("toolbay/compiled")
    }

    /// Where the program keeps what servers have fetched.
    pub fn data(&self) -> PathBuf {
        self.home.path().join(".local/share/toolbay")
    }

    /// Where the program keeps a session.
    pub fn session(&self, name: &str) -> PathBuf {
        let sessions = self.place("state").join("toolbay/sessions");
        sessions.join(name).join("session.json")
    }

    /// Writes a file of the project and answers with its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_with_input(args, b"")
    }

    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Ran {
        finish(self.spawn(args), input, args)
    }

    /// Runs the program to its end, with more variables.
    pub fn run_with_variables(&self, args: &[&str], variables: &[(&str, &Path)]) -> Ran {
        finish(self.spawn_with(args, variables), b"", args)
    }

    /// Starts the program with all its streams piped.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.spawn_with(args, &[])
    }

    fn spawn_with(&self, args: &[&str], variables: &[(&str, &Path)]) -> Child {
        let mut command = command();
        command
            .current_dir(self.folder.path())
            .envs(self.environment())
            .envs(variables.iter().copied())
            .args(args);
        command.spawn().unwrap()
    }

    /// Starts the program in a terminal that becomes its own, as a shell would.
    pub fn spawn_in(&self, terminal: &File, args: &[&str]) -> Child {
        let end = || Stdio::from(terminal.try_clone().unwrap());
        // The program becomes the first one of a session of its own, so that the terminal sends
        // it the signals of its keys.
        let mut command = start("setsid".as_ref());
        command
            .arg("-c")
            .arg(toolbay_tests::program())
            .args(args)
            .current_dir(self.folder.path())
            .envs(self.environment())
            .env("TERM", "xterm")
            .stdin(end())
            .stdout(end())
            .stderr(end());
        command.spawn().unwrap()
    }

    /// The variables that say whose project it is.
    pub fn environment(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("HOME", self.home.path().to_path_buf()),
            ("XDG_CACHE_HOME", self.place("cache")),
            ("XDG_STATE_HOME", self.place("state")),
            (
                "TOOLBAY_MANAGED_SETTINGS",
                self.home.path().join("etc/managed-settings.json"),
            ),
        ]
    }

    fn place(&self, name: &str) -> PathBuf {
        match self.places {
            Places::Shared => Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join("program")
                .join(name),
            Places::Own => self.home.path().join(name),
        }
    }
}

impl Ran {
    /// Asserts the exit code and hands the run on.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Asserts that each part is in what was said on standard error.
    #[track_caller]
    pub fn complains(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is missing in {self:?}");
        }
        self
    }

    /// Asserts that each part is in what was printed.
    #[track_caller]
    pub fn prints(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.out.contains(part), "{part:?} is missing in {self:?}");
        }
        self
    }

    /// Asserts that nothing was said on standard error.
    #[track_caller]
    pub fn quietly(self) -> Self {
        assert_eq!(self.err, "", "{self:?}");
        self
    }

    /// What was printed, which is JSON on one line.
    #[track_caller]
    pub fn json(self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Debug for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, out, err } = self;
        write!(f, "exit {code:?}\n--- stdout\n{out}\n--- stderr\n{err}")
    }
}

// A test of the program has to start it.
#[allow(clippy::disallowed_methods)]
pub fn start(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command
}

fn command() -> Command {
    let mut command = start(&toolbay_tests::program());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits for the end of a program whose streams are piped.
pub fn finish(mut child: Child, input: &[u8], args: &[&str]) -> Ran {
    let mut stdin = child.stdin.take().unwrap();
    let out = child.stdout.take().map(collect).unwrap();
    let err = child.stderr.take().map(collect).unwrap();
    // A program that ends without reading its input is no mistake of this side.
    let _ = stdin.write_all(input);
    drop(stdin);
    let status = wait(&mut child, args);
    let [out, err] = [out, err].map(|thread| String::from_utf8(thread.join().unwrap()).unwrap());
    Ran {
        code: status.code(),
        out,
        err,
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// Waits for the end, but not for ever: a test that hangs tells nothing.
pub fn wait(child: &mut Child, args: &[&str]) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("toolbay {} hangs", args.join(" "));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Compiles the built-in tools into the shared cache one after the other. Tests run
/// beside each other, and each would compile what it needs for itself.
fn warm_up() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let project = Project::with(Places::Shared);
        let listed = project.run(&["tools", "--json"]).exits(0).json();
        for tool in listed["tools"].as_array().unwrap() {
            // Its prompt is the tool's own answer, so the tool has to run.
            project
                .run(&["tools", tool["name"].as_str().unwrap()])
                .exits(0);
        }
    });
}

/// Says that something cannot be tried on this machine. In CI that is a failure: its step `system`
/// has installed what every test needs.
#[allow(clippy::disallowed_methods)]
pub fn not_run(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "LEFT OUT: {what}");
    println!("LEFT OUT: {what}");
}
