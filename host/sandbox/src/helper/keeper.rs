//! The side of the keeper that stays: starts a helper for each command that the host sends,
//! and kills it when the host lets go of it.
//!
//! A cage of namespaces is begun before it is needed: a spare process waits in its own
//! user, process, network and ipc namespaces for the next command. Its mounts are not made
//! before there is one, so that it sees those of that moment.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::report::Host;
use super::{While, inner, outer, walls};
use crate::kernel::process::{self, Side, Wait};
use crate::kernel::socket::{self, Event, Kind, wait_for_any};

/// Serves until the host closes the line.
pub(crate) fn run() -> ! {
    let code = match Host::connect() {
        Ok(host) => Keeper {
            host,
            spare: None,
            running: Vec::new(),
        }
        .serve(),
        // This was not started by a host.
        Err(_) => 2,
    };
    process::exit_now(code)
}

struct Keeper {
    host: Host,
    spare: Option<Spare>,
    running: Vec<Running>,
}

/// A process that waits for a command.
struct Spare {
    child: libc::pid_t,
    line: UnixStream,
}

/// A process that has one.
struct Running {
    child: libc::pid_t,
    handle: OwnedFd,
    /// The host's line, closed here only when everything behind it is dead. An outer process
    /// watches its line itself, since it has more to do at the end.
    line: Option<OwnedFd>,
}

impl Keeper {
    fn serve(mut self) -> i32 {
        loop {
            let mut events = vec![Event::Readable(self.host.as_fd())];
            for one in &self.running {
                events.push(Event::Readable(one.handle.as_fd()));
                let line = one.line.as_ref().map(|line| Event::Closed(line.as_fd()));
                events.push(line.unwrap_or(Event::Never));
            }
            let Ok(seen) = wait_for_any(&events) else {
                return 1;
            };
            // In pairs behind the first: has it ended, did the host let go.
            for (index, pair) in seen[1..].chunks(2).enumerate().rev() {
                if pair.contains(&true) {
                    let one = self.running.swap_remove(index);
                    // Harmless where it has ended: until it is reaped, the number is its own.
                    process::kill(one.child);
                    let _ = process::reap(one.child, Wait::Block);
                }
            }
            if !seen[0] {
                continue;
            }
            match socket::receive_files(self.host.as_fd()) {
                // A command that does not start closes its line, which the host sees.
                Ok(Some((kind, files))) => drop(self.start(kind, files)),
                Ok(None) => return 0,
                Err(_) => return 1,
            }
        }
    }

    fn start(&mut self, kind: Kind, files: Vec<OwnedFd>) -> Result<(), String> {
        let spare = match kind {
            Kind::Plain => None,
            Kind::Spare => self.spare.take().or_else(|| make_spare().ok()),
        };
        let (child, line) = match spare {
            Some(spare) => {
                let line = files[0].try_clone().during("keeping the line")?;
                let borrowed: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
                let sent = socket::send_files(spare.line.as_fd(), kind, &borrowed);
                if sent.is_err() {
                    process::kill(spare.child);
                    let _ = process::reap(spare.child, Wait::Block);
                    sent.during("handing a command over")?;
                }
                (spare.child, Some(line))
            }
            // Also where a spare cannot be made: an outer process tells the host why.
            None => (plain(files)?, None),
        };
        match process::handle_of(child) {
            Ok(handle) => self.running.push(Running {
                child,
                handle,
                line,
            }),
            Err(error) => {
                process::kill(child);
                let _ = process::reap(child, Wait::Block);
                return Err(error.to_string());
            }
        }
        if kind == Kind::Spare {
            // Without one the next command waits a little longer.
            self.spare = make_spare().ok();
        }
        Ok(())
    }
}

fn make_spare() -> Result<Spare, String> {
    let (line, theirs) = UnixStream::pair().during("talking to a spare")?;
    let identity = process::user_and_group();
    match process::fork_into(outer::NAMESPACES).during("making namespaces")? {
        Side::Parent(child) => Ok(Spare { child, line }),
        Side::Child => wait_as_spare(theirs, identity),
    }
}

/// An outer process, as for a helper that does not stay.
fn plain(files: Vec<OwnedFd>) -> Result<libc::pid_t, String> {
    match process::fork_into(0).during("starting a helper")? {
        Side::Parent(child) => Ok(child),
        Side::Child => {
            take(files);
            outer::run()
        }
    }
}

fn wait_as_spare(line: UnixStream, identity: (u32, u32)) -> ! {
    // The lines of others would never seem closed while this holds them.
    let line = OwnedFd::from(line);
    if process::put_at(line.as_fd(), 0).is_err() {
        process::exit_now(1);
    }
    std::mem::forget(line);
    if process::close_from_now(3).is_err() {
        process::exit_now(1);
    }
    // What fails is told as soon as there is somebody to tell.
    let ready = walls::settle(identity);
    let Ok(Some((_, files))) = socket::receive_files(std::io::stdin().as_fd()) else {
        process::exit_now(0)
    };
    take(files);
    outer::run_as(|host| {
        ready.clone()?;
        let plan = host.plan()?;
        inner::run(host, &plan)
    })
}

/// Makes these the line, the output, the errors and perhaps what the command reads, and lets
/// go of everything else.
fn take(files: Vec<OwnedFd>) {
    for (number, file) in (0..).zip(&files) {
        if process::put_at(file.as_fd(), number).is_err() {
            process::exit_now(1);
        }
    }
    let first_foreign = files.len() as u32;
    // The numbers are closed below, together with all others.
    for file in files {
        std::mem::forget(file);
    }
    if process::close_from_now(first_foreign).is_err() {
        process::exit_now(1);
    }
}
