//! The only door to processes: what cages this machine can offer, and one way to run a
//! command.
//!
//! Nothing else in the host may start a process or hold hand-written `unsafe`. Cages are
//! found by trying: which ones the kernel grants us, and why not where it does not. What
//! is not proven here counts as absent. `cage` runs a command that reaches what it was
//! given and nothing else; `helper` is what builds the cage, in this same program. `worker` does one
//! piece of our own work in a process that can do nothing else. `process`
//! runs a command that is bounded but not caged. `seatbelt` writes profiles for macOS.

#[cfg(target_os = "linux")]
pub mod cage;
#[cfg(target_os = "linux")]
pub mod helper;
#[cfg(unix)]
mod homes;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod linux;
mod names;
mod path;
#[cfg(unix)]
pub mod process;
pub mod seatbelt;
#[cfg(target_os = "linux")]
mod system;
#[cfg(test)]
mod tests;
#[cfg(target_os = "linux")]
pub mod worker;

use std::ffi::OsStr;

#[cfg(unix)]
pub use homes::user_homes;
pub use names::{ProtectedNames, home_controls, secrets};

/// One means of caging a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// A stable word, such as `landlock`.
    pub name: &'static str,
    pub available: bool,
    /// Which version or file was found; or why there is none.
    pub detail: String,
}

/// What is found, or why not, each as a sentence part for people.
type Answer = Result<String, String>;

/// Tries every means that this program knows, on this machine, now.
///
/// The answers belong to this process: a container or a service manager may grant less
/// than the kernel could.
// Where programs are looked for is the one thing asked of the environment here.
#[allow(clippy::disallowed_methods)]
pub fn probe() -> Vec<Ability> {
    probe_with(&std::env::var_os("PATH").unwrap_or_default())
}

fn probe_with(search_path: &OsStr) -> Vec<Ability> {
    let kernel = kernel_answers();
    let programs = [
        ("bubblewrap", bubblewrap(search_path)),
        ("sandbox-exec", sandbox_exec()),
    ];
    kernel
        .into_iter()
        .chain(programs)
        .map(|(name, answer)| Ability {
            name,
            available: answer.is_ok(),
            detail: answer.unwrap_or_else(|reason| reason),
        })
        .collect()
}

#[cfg(target_os = "linux")]
fn kernel_answers() -> [(&'static str, Answer); 3] {
    [
        ("landlock", linux::landlock()),
        ("seccomp", linux::seccomp()),
        ("user-namespaces", linux::user_namespaces()),
    ]
}

#[cfg(not(target_os = "linux"))]
fn kernel_answers() -> [(&'static str, Answer); 3] {
    ["landlock", "seccomp", "user-namespaces"].map(|name| (name, Err("needs Linux".into())))
}

fn bubblewrap(search_path: &OsStr) -> Answer {
    if !cfg!(target_os = "linux") {
        return Err("needs Linux".into());
    }
    path::find_program("bwrap", search_path)
        .map(|found| format!("found at {}", found.display()))
        .ok_or_else(|| "no program `bwrap` on the PATH; install bubblewrap".into())
}

fn sandbox_exec() -> Answer {
    // Part of the system; a program of that name elsewhere would not be it.
    const PLACE: &str = "/usr/bin/sandbox-exec";
    if !cfg!(target_os = "macos") {
        return Err("needs macOS".into());
    }
    if path::is_program(PLACE.as_ref()) {
        Ok(format!("found at {PLACE}"))
    } else {
        Err(format!("there is no {PLACE}"))
    }
}
