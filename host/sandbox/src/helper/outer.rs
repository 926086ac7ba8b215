//! The outer process: starts the cage, waits for its end, and kills it when the host is gone.

use std::os::fd::AsFd;

use super::report::Host;
use super::{While, inner};
use crate::cage::plan::{Plan, Report, Walls};
use crate::kernel::process::{self, Side, Wait};
use crate::kernel::socket::{Event, wait_for};

/// What a cage of our own making consists of.
const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

pub(crate) fn run() -> ! {
    let code = match Host::connect() {
        Ok(mut host) => match start(&mut host) {
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
    match plan.walls {
        Walls::Namespaces => watch(host, &plan, NAMESPACES),
        Walls::Kernel => {
            process::adopt_orphans().during("adopting orphans")?;
            let watched = watch(host, &plan, 0);
            inner::kill_descendants();
            watched
        }
        // Bubblewrap stands outside already.
        Walls::Bubblewrap => inner::run(host, &plan, process::user_and_group()),
    }
}

fn watch(host: &mut Host, plan: &Plan, namespaces: libc::c_int) -> Result<(), String> {
    let identity = process::user_and_group();
    let child = match process::fork_into(namespaces).during("making namespaces")? {
        Side::Parent(child) => child,
        Side::Child => {
            let code = match inner::run(host, plan, identity) {
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
