//! The first process of a cage: builds the walls, starts the command, then stands guard.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::command;
use super::doorman::{Doorman, Waiting};
use super::report::Host;
use super::usage::{self, descendants};
use super::{While, walls};
use super::{doors, fences, mounts};
use crate::cage::plan::{Input, Network, Plan, Report, Walls};
use crate::kernel::memory;
use crate::kernel::process::{self, End, Keep, Side, Wait};
use crate::kernel::socket::{self, Event, Seen, wait_for};

/// How long what a command left running may still finish its output: enough for a `tee`,
/// too short for anything that was meant to stay.
const GRACE: Duration = Duration::from_millis(200);
/// How often memory is counted. A process needs longer than this to fill a machine.
const COUNT_MEMORY: Duration = Duration::from_millis(100);
/// How often it is looked again whether somebody reads a pipe that is to be written to.
const TRY_AGAIN: Duration = Duration::from_millis(5);
/// Of a cage with thousands of processes, counting takes no more than one part of so many.
const COUNTING_SHARE: u32 = 4;
/// How often in a row a sum that may be wrong for a moment has to be too much.
const TIMES_TOO_MUCH: u32 = 4;
/// Files in memory that the doorman can keep a handle of, and some for its work.
const OPEN_FILES: u64 = 8192;

pub(crate) fn run(host: &mut Host, plan: &Plan) -> Result<(), String> {
    let doors = match plan.walls {
        Walls::Namespaces => walls::build(plan)?,
        Walls::Bubblewrap => {
            mounts::check(plan)?;
            doors::open_all(plan)?
        }
        Walls::Kernel => {
            process::adopt_orphans().during("adopting orphans")?;
            doors::open_all(plan)?
        }
    };
    process::hide_memory().during("hiding memory")?;
    let proxy = listen_for_proxy(host, plan)?;
    process::forbid_new_privileges().during("forbidding new privileges")?;
    fences::around_the_cage(plan, &doors)?;
    drop_powers(plan.walls)?;
    let file_mask = process::set_file_mask(0);
    let signals = process::children_end().during("watching children")?;
    let mut doorman = Doorman::new(plan, &doors);
    let started = start(plan, file_mask, &mut doorman)?;
    drop(proxy);
    // The command has limits of its own. With fewer files it gets fewer of those in memory.
    let _ = memory::raise_open_files(OPEN_FILES);
    memory::ignore_broken_leases();
    if plan.input == Input::FromHost {
        // Else the host could not see that the command stopped reading.
        process::forget_input();
    }
    match started {
        Started::Running { child, listener } => {
            let watched = Watched {
                child,
                listener,
                signals,
            };
            guard(host, doorman, plan, &watched)
        }
        Started::Not(report) => {
            host.tell(&report);
            Ok(())
        }
    }
}

/// The proxy of the host listens inside, on a socket that is made here and handed out.
fn listen_for_proxy(host: &Host, plan: &Plan) -> Result<Option<TcpListener>, String> {
    match plan.network {
        Network::None => Ok(None),
        Network::Proxy(port) => {
            let listener =
                TcpListener::bind((Ipv4Addr::LOCALHOST, port)).during("listening for the proxy")?;
            // The byte is an empty line among the reports.
            socket::send_file(host.as_fd(), b'\n', listener.as_fd())
                .during("handing the proxy's socket to the host")?;
            Ok(Some(listener))
        }
    }
}

fn drop_powers(walls: Walls) -> Result<(), String> {
    let emptied = process::empty_bounding_set();
    let keep = match walls {
        Walls::Namespaces => {
            emptied.during("emptying the bounding set")?;
            Keep::LookingIntoChildren
        }
        // Whoever may not change the set has no capability that it could give back.
        Walls::Bubblewrap | Walls::Kernel => Keep::Nothing,
    };
    process::drop_capabilities(keep).during("dropping capabilities")
}

enum Started {
    Running {
        child: libc::pid_t,
        listener: OwnedFd,
    },
    Not(Report),
}

/// Starts the command and waits until it has become the program.
fn start(plan: &Plan, file_mask: u32, doorman: &mut Doorman<'_>) -> Result<Started, String> {
    let (mut ours, theirs) = UnixStream::pair().during("talking to the command")?;
    let child = match process::fork_into(0).during("starting the command")? {
        Side::Parent(child) => child,
        Side::Child => {
            drop(ours);
            command::become_program(plan, file_mask, theirs)
        }
    };
    drop(theirs);
    let mut byte = [0];
    let (_, listener) =
        socket::receive(ours.as_fd(), &mut byte).during("hearing from the command")?;
    if let Some(listener) = &listener {
        serve_until_started(doorman, listener, &ours)?;
    }
    // Closed without a word when the program has started.
    let mut word = String::new();
    ours.read_to_string(&mut word)
        .during("hearing from the command")?;
    match listener {
        Some(listener) if word.is_empty() => Ok(Started::Running { child, listener }),
        // The program itself is missing: the cage stood.
        Some(_) => Ok(Started::Not(Report::NotStarted(word))),
        None => {
            let first = char::from(byte[0]).to_string();
            Err(first + &word)
        }
    }
}

/// Starting a program may itself be a call that asks.
fn serve_until_started(
    doorman: &mut Doorman<'_>,
    listener: &OwnedFd,
    command: &UnixStream,
) -> Result<(), String> {
    loop {
        let events = [
            Event::Readable(listener.as_fd()),
            Event::Readable(command.as_fd()),
        ];
        let [asks, word] = wait_for(events, None).during("starting the command")?;
        if word.is_some() {
            doorman.command_started();
            return Ok(());
        }
        match asks {
            Some(Seen::Readable) => doorman.serve(listener.as_fd()),
            // Nobody is left who could ask, nor to say why.
            Some(Seen::Closed) => return Ok(()),
            None => {}
        }
    }
}

struct Watched {
    child: libc::pid_t,
    listener: OwnedFd,
    signals: OwnedFd,
}

fn guard(
    host: &mut Host,
    mut doorman: Doorman<'_>,
    plan: &Plan,
    watched: &Watched,
) -> Result<(), String> {
    let mut open = true;
    let mut ended: Option<(End, Instant)> = None;
    let mut too_much = 0;
    let mut next_count = Instant::now() + COUNT_MEMORY;
    let end = loop {
        let asks = if open {
            Event::Readable(watched.listener.as_fd())
        } else {
            Event::Never
        };
        let events = [
            asks,
            Event::Closed(host.as_fd()),
            Event::Readable(watched.signals.as_fd()),
        ];
        let pause = match (doorman.serve_waiting(watched.listener.as_fd()), ended) {
            (Waiting::Some, _) => TRY_AGAIN,
            (Waiting::None, Some(_)) => Duration::from_millis(10),
            (Waiting::None, None) => COUNT_MEMORY,
        };
        let [asks, gone, children] = wait_for(events, Some(pause)).during("standing guard")?;
        if gone.is_some() {
            break None;
        }
        match asks {
            Some(Seen::Readable) => doorman.serve(watched.listener.as_fd()),
            // Nobody is left who could ask.
            Some(Seen::Closed) => open = false,
            None => {}
        }
        for refused in doorman.news() {
            host.tell(&Report::Refused(refused));
        }
        if children.is_some() {
            process::drain(watched.signals.as_fd());
        }
        if children.is_some() || ended.is_some() {
            let (main, rest) = reap_all(watched.child);
            if let Some(main) = main {
                ended = Some((main, Instant::now()));
            }
            if let Some((end, since)) = ended
                && (rest == Rest::None || since.elapsed() > GRACE)
            {
                break Some(match end {
                    End::Exit(code) => Report::Exit(code),
                    End::Signal(signal) => Report::Signal(signal),
                });
            }
        }
        if Instant::now() >= next_count {
            let begun = Instant::now();
            let in_files = doorman.memory_in_files();
            let usage = usage::in_use(plan.walls, in_files, plan.limits.memory);
            next_count = Instant::now() + COUNT_MEMORY.max(begun.elapsed() * COUNTING_SHARE);
            too_much = match usage.bytes > plan.limits.memory {
                true => too_much + 1,
                false => 0,
            };
            if usage.certain > plan.limits.memory || too_much >= TIMES_TOO_MUCH {
                break Some(Report::OutOfMemory);
            }
            // The kernel does not count those of user 0, and not every cage can bound them.
            if usage.tasks > plan.limits.processes {
                break Some(Report::TooManyProcesses);
            }
        }
    };
    if plan.walls == Walls::Kernel {
        kill_descendants();
    }
    // Where there is a namespace, the end of this process is the end of all others in it.
    if let Some(end) = end {
        host.tell(&end);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    Some,
}

/// Takes all children that ended. Tells how the main one did, and whether any still runs.
fn reap_all(main: libc::pid_t) -> (Option<End>, Rest) {
    let mut found = None;
    loop {
        match process::reap(-1, Wait::Look) {
            Ok(Some((child, end))) if child == main => found = Some(end),
            Ok(Some(_)) => {}
            Ok(None) => return (found, Rest::Some),
            Err(_) => return (found, Rest::None),
        }
    }
}

/// Kills everything below this process, where no namespace does it. Orphans become our
/// children, so looking again finds what was started meanwhile.
pub(crate) fn kill_descendants() {
    const ROUNDS: usize = 1000;
    for _ in 0..ROUNDS {
        let children = descendants();
        for child in &children {
            process::kill(*child);
        }
        while let Ok(Some(_)) = process::reap(-1, Wait::Look) {}
        if children.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
