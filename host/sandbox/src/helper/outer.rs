//! The outer process: starts the cage, waits for its end, and kills it when the host is gone.

use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use super::report::Host;
use super::{While, doors, inner, walls};
use crate::cage::guard::{Zone, ZoneKind};
use crate::cage::plan::{Plan, Report, Walls};
use crate::kernel::c_text;
use crate::kernel::process::{self, Side, Wait};
use crate::kernel::socket::{Event, wait_for};

/// What a cage of our own making consists of, apart from its mounts.
pub(crate) const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

pub(crate) fn run() -> ! {
    run_as(start)
}

/// The inner process, where bubblewrap stands between it and the outer one.
pub(crate) fn run_inside() -> ! {
    run_as(|host| {
        let plan = host.plan()?;
        process::die_with_parent().during("tying the cage to its parent")?;
        inner::run(host, &plan)
    })
}

pub(crate) fn run_as(work: impl Fn(&mut Host) -> Result<(), String>) -> ! {
    let code = match Host::connect() {
        Ok(mut host) => match work(&mut host) {
            Ok(()) => 0,
            Err(what) => {
                host.tell(&Report::Failed(what));
                1
            }
        },
        // Nobody to tell: this was not started by a host.
        Err(_) => 2,
    };
    process::exit_now(code)
}

fn start(host: &mut Host) -> Result<(), String> {
    let plan = host.plan()?;
    if let Some(owner) = plan.owner {
        process::become_user(owner).during("becoming the owner of the root")?;
    }
    match plan.walls {
        Walls::Namespaces => watch(host, &plan, NAMESPACES),
        Walls::Kernel => {
            process::adopt_orphans().during("adopting orphans")?;
            let temporary = Temporary::new()?;
            let watched = watch(host, &temporary.given_to(plan), 0);
            inner::kill_descendants();
            watched
        }
        Walls::Bubblewrap => watch(host, &plan, 0),
    }
}

/// A folder for temporary files where there are no mounts. Goes away when dropped, which is
/// when nobody is left who could use it.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Self, String> {
        let name = format!("toolbay-cage-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // Fails if it is there: nobody else may have prepared it.
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .during("making a folder for temporary files")?;
        Ok(Self(folder))
    }

    fn given_to(&self, mut plan: Plan) -> Plan {
        plan.guard.zones.push(Zone {
            path: self.0.as_path().into(),
            kind: ZoneKind::Private,
            identity: None,
        });
        let environment = &mut plan.program.environment;
        environment.retain(|(name, _)| name.0 != "TMPDIR");
        environment.push(("TMPDIR".into(), self.0.as_path().into()));
        plan
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Becomes bubblewrap, which starts the inner process behind its walls.
fn bubblewrap(plan: &Plan) -> Result<(), String> {
    let arguments = plan.bubblewrap.iter().map(|text| c_text(&text.0));
    let arguments = arguments
        .collect::<std::io::Result<Vec<_>>>()
        .during("reading the plan")?;
    let program = arguments.first().ok_or("there is no bubblewrap")?;
    process::close_from(process::FIRST_FOREIGN).during("closing files")?;
    doors::hand_on(&plan.guard)?;
    Err(process::start_program(program, &arguments, &[])).during("starting bubblewrap")
}

fn watch(host: &mut Host, plan: &Plan, namespaces: libc::c_int) -> Result<(), String> {
    let identity = process::user_and_group();
    let child = match process::fork_into(namespaces).during("making namespaces")? {
        Side::Parent(child) => child,
        Side::Child => {
            // As in `settle`: when memory runs out, the command goes first.
            let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
            let inside = match plan.walls {
                Walls::Namespaces => walls::settle(identity).and_then(|()| inner::run(host, plan)),
                Walls::Kernel => process::die_with_parent()
                    .during("tying the cage to its parent")
                    .and_then(|()| inner::run(host, plan)),
                Walls::Bubblewrap => bubblewrap(plan),
            };
            let code = match inside {
                Ok(()) => 0,
                Err(what) => {
                    host.tell(&Report::Failed(what));
                    1
                }
            };
            process::exit_now(code)
        }
    };
    // Not before: what is hidden may not say who it is in a new namespace.
    let _ = process::hide_memory();
    let handle = process::handle_of(child).during("watching the cage");
    if let Ok(handle) = &handle {
        loop {
            let events = [Event::Readable(handle.as_fd()), Event::Closed(host.as_fd())];
            match wait_for(events, None) {
                Ok([None, None]) => {}
                // Ended, or to be ended: both are done below.
                Ok(_) | Err(_) => break,
            }
        }
    }
    // Harmless where it has ended: until it is reaped, the number is its own.
    process::kill(child);
    process::reap(child, Wait::Block).during("waiting for the cage")?;
    handle.map(drop)
}
