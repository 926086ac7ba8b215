//! Starts a program in namespaces of its own: users, mounts, processes, network, messages, name.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder to mount things on, and the command that has the namespaces.
pub struct Namespace {
    folder: PathBuf,
}

impl Namespace {
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("oracle-{}-{number}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder to mount on");
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// `bash -c SCRIPT` inside. It dies with its parent, and all its processes with it.
    pub fn bash(&self, script: &str) -> Command {
        let mut command = unshare();
        command.args(["bash", "-c", script, "oracle"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // What was mounted on it is gone with the namespace; here it is empty.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "--pid",
        "--net",
        "--ipc",
        "--uts",
    ]);
    command.args(["--fork", "--kill-child", "--mount-proc"]);
    command
}

/// What is missing here, if anything is.
pub fn missing() -> Option<String> {
    let namespace = Namespace::new();
    let mut command = namespace
        .bash("mount -t tmpfs oracle \"$1\" && command -v chroot ldd cp seq xargs >/dev/null");
    command
        .arg(namespace.folder())
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    match command.output() {
        Err(error) => Some(format!(
            "`unshare` of util-linux cannot be started: {error}"
        )),
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!(
            "user, mount, process and network namespaces cannot be made (unshare: {})",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
