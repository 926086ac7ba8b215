//! Which cages this machine can build, found by building one of each kind.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use thiserror::Error;

use super::guard::{Guard, Zone, ZoneKind};
use super::plan::{self, Input, Network, Plan, Program, Report};
use super::{Cage, Demands, Helper, Kind, Limits, Strength};
use crate::kernel::bpf;
use crate::{path, system};

/// One kind of cage on this machine.
#[derive(Debug, Clone)]
pub struct Offer {
    pub kind: Kind,
    pub strength: Strength,
    /// The cage, or why it cannot be built.
    pub cage: Result<Cage, String>,
}

/// Why there is no cage as demanded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no cage as strong as demanded can be built here: {}", .reasons.join("; "))]
pub struct WhyNot {
    /// For each kind that would do, why it cannot be had.
    pub reasons: Vec<String>,
}

const KINDS: [Kind; 3] = [Kind::Namespaces, Kind::Bubblewrap, Kind::Degraded];

/// What a degraded cage cannot keep a command from.
const LACKS: [&str; 8] = [
    "other processes and their command lines can be seen",
    "folders for temporary files lie on the disk, where nothing bounds them together, and those of others can be read",
    "there is no network, not even loopback",
    "that hidden files exist, and how large they are, can be seen by their paths",
    "attributes of files cannot be set",
    "there is no shared memory by a name (System V, POSIX), and no queues and semaphores of that kind",
    "what a command leaves running is hunted down instead of ending with a namespace",
    "what another process mounts at an open place while a command runs is open to it",
];

/// The strongest cage that this machine can build and the demands allow.
pub fn choose(demands: &Demands) -> Result<Cage, WhyNot> {
    let mut reasons = Vec::new();
    for kind in KINDS {
        if demands.only.is_some_and(|only| only != kind) || strength(kind) < demands.least {
            continue;
        }
        match build(kind, demands) {
            Ok(cage) => return Ok(cage),
            Err(reason) => reasons.push(format!("{}: {reason}", kind.name())),
        }
    }
    if reasons.is_empty() {
        reasons.push("the demanded kind is weaker than the demanded strength".into());
    }
    Err(WhyNot { reasons })
}

/// Every kind of cage, each tried. For people who want to know what their machine can do.
pub fn offers(demands: &Demands) -> Vec<Offer> {
    KINDS
        .into_iter()
        .map(|kind| Offer {
            kind,
            strength: strength(kind),
            cage: build(kind, demands),
        })
        .collect()
}

fn strength(kind: Kind) -> Strength {
    match kind {
        Kind::Namespaces | Kind::Bubblewrap => Strength::Full,
        Kind::Degraded => Strength::Degraded,
    }
}

fn build(kind: Kind, demands: &Demands) -> Result<Cage, String> {
    if bpf::ARCHITECTURE.is_none() {
        return Err("this processor has no list of system calls here".into());
    }
    let landlock_abi = system::landlock_abi()
        .map_err(|error| format!("the kernel has no Landlock for us: {error}"))?;
    crate::linux::seccomp()?;
    let bubblewrap = match kind {
        Kind::Namespaces | Kind::Degraded => None,
        Kind::Bubblewrap => Some(
            path::find_program("bwrap", &demands.search_path)
                .ok_or("no program `bwrap` on the PATH; install bubblewrap")?,
        ),
    };
    let cage = Cage {
        kind,
        helper: match &demands.helper {
            // The file that runs now, even if another one took its name since.
            Helper::ThisProgram => PathBuf::from("/proc/self/exe"),
            Helper::At(path) => path.clone(),
        },
        bubblewrap,
        landlock_abi,
        lacks: match kind {
            Kind::Namespaces | Kind::Bubblewrap => Vec::new(),
            Kind::Degraded => LACKS.map(str::to_owned).to_vec(),
        },
        keeper: std::sync::Arc::default(),
    };
    try_out(&cage).map_err(|what| match (kind, crate::linux::user_namespaces()) {
        // The setting at fault, where it is known.
        (Kind::Namespaces, Err(reason)) => format!("{what}; {reason}"),
        (Kind::Namespaces | Kind::Bubblewrap | Kind::Degraded, _) => what,
    })?;
    Ok(cage)
}

/// Runs a command that does nothing. Whatever a kernel, a container or a policy refuses
/// shows here, with the step that it refused.
fn try_out(cage: &Cage) -> Result<(), String> {
    let plan = Plan {
        walls: cage.walls(),
        program: Program {
            // One new file, so that the doorman is tried as well.
            arguments: ["/bin/sh", "-c", ": > ${TMPDIR:-/dev/shm}/x"]
                .map(Into::into)
                .to_vec(),
            environment: Vec::new(),
            folder: "/".into(),
        },
        steps: Vec::new(),
        programs: None,
        guard: Guard {
            zones: match cage.kind {
                Kind::Namespaces | Kind::Bubblewrap => vec![Zone {
                    path: "/dev/shm".into(),
                    kind: ZoneKind::Private,
                    identity: None,
                }],
                // The helper adds a folder of its own.
                Kind::Degraded => Vec::new(),
            },
            shown: Vec::new(),
            names: Vec::new(),
            paths: Vec::new(),
            targets: Vec::new(),
            pins: Vec::new(),
            unsearched: Vec::new(),
            unreadable: Vec::new(),
            patterns: Vec::new(),
            git: super::GitAccess::ReadOnly,
        },
        limits: Limits::default(),
        unreadable: Vec::new(),
        network: Network::None,
        input: Input::None,
        landlock_abi: cage.landlock_abi,
        owner: None,
        bubblewrap: cage.bubblewrap_command(&[], &Limits::default()),
    };
    let words = speak(cage, &plan).map_err(|error| format!("the helper does not run: {error}"))?;
    let mut lines = words.rsplit(|byte| *byte == b'\n');
    match lines.find_map(|line| serde_json::from_slice::<Report>(line).ok()) {
        Some(Report::Exit(0)) => Ok(()),
        Some(Report::Failed(what) | Report::NotStarted(what)) => Err(what),
        Some(other) => Err(format!("a trial ended unexpectedly: {other:?}")),
        None if cage.kind == Kind::Bubblewrap => {
            Err("bubblewrap did not start the helper; run it by hand to see why".into())
        }
        None => Err("the helper said nothing; does the program call it first in `main`?".into()),
    }
}

fn speak(cage: &Cage, plan: &Plan) -> std::io::Result<Vec<u8>> {
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    let (mut line, theirs) = UnixStream::pair()?;
    let files = [theirs.as_fd(), nowhere.as_fd(), nowhere.as_fd()];
    cage.keeper.ask(&cage.helper, plan, &files)?;
    drop(theirs);
    let mut words = Vec::new();
    let spoken = line
        .write_all(&plan::frame(plan)?)
        .and_then(|()| line.read_to_end(&mut words));
    // A helper that never listened closes the line: then there are no words.
    if words.is_empty() {
        spoken?;
    }
    Ok(words)
}
