//! The worker's side: gives up everything but computing, then works.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use super::filter;
use super::{ASKED, SAID_WHY};
use crate::helper::While;
use crate::kernel::bpf::{self, Action};
use crate::kernel::landlock::{self, Beyond, Ruleset};
use crate::kernel::process::{self, Keep};
use crate::kernel::seccomp;
use crate::kernel::socket::{Event, wait_for};
use crate::system;

/// Address space beside the memory itself: the program, the stacks of its threads, and what the
/// allocator reserves for each of them without using it.
const BESIDE_MEMORY: u64 = 4 << 30;

/// Becomes a worker if this program was started as one for this task, and then never returns.
///
/// A program with workers calls this first in its `main`: before any thread, before arguments are
/// read. `work` gets its input and its output; an error is a sentence for the user.
pub fn worker_if_asked<W>(task: &str, work: W)
where
    W: FnOnce(&mut dyn Read, &mut dyn Write) -> Result<(), String>,
{
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(ASKED))
        || arguments.next().as_deref() != Some(OsStr::new(task))
    {
        return;
    }
    let code = match confined(arguments, work) {
        Ok(()) => 0,
        Err(why) => {
            // Nobody is left to tell where this fails.
            let _ = std::io::stderr().write_all(why.as_bytes());
            SAID_WHY
        }
    };
    process::exit_now(code)
}

fn confined<W>(arguments: impl Iterator<Item = OsString>, work: W) -> Result<(), String>
where
    W: FnOnce(&mut dyn Read, &mut dyn Write) -> Result<(), String>,
{
    // While descriptors can still be made.
    let own = |fd: std::io::Result<OwnedFd>| fd.map(File::from).during("taking the files");
    let mut input = own(std::io::stdin().as_fd().try_clone_to_owned())?;
    let mut output = own(std::io::stdout().as_fd().try_clone_to_owned())?;
    give_up_powers()?;
    // Behind the fence, which takes a descriptor to make; before the filter, which would refuse it.
    limit(arguments)?;
    filter_calls()?;
    end_with_the_host()?;
    work(&mut input, &mut output)
}

fn limit(arguments: impl Iterator<Item = OsString>) -> Result<(), String> {
    let numbers: Vec<u64> = arguments
        .map(|number| number.to_str().and_then(|number| number.parse().ok()))
        .collect::<Option<_>>()
        .ok_or("a worker's limits are numbers")?;
    let [memory, output, seconds] = numbers
        .try_into()
        .map_err(|_| "a worker has three limits")?;
    let limits = [
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_DATA, memory),
        (libc::RLIMIT_AS, memory.saturating_add(BESIDE_MEMORY)),
        (libc::RLIMIT_FSIZE, output),
        (libc::RLIMIT_CPU, seconds),
        // Those that are open stay so; there will be no others.
        (libc::RLIMIT_NOFILE, 3),
    ];
    for (resource, most) in limits {
        process::limit(resource, most).during("setting limits")?;
    }
    Ok(())
}

fn give_up_powers() -> Result<(), String> {
    process::hide_memory().during("hiding memory")?;
    // Who may not change the set has no capability that it could give back.
    let _ = process::empty_bounding_set();
    process::drop_capabilities(Keep::Nothing).during("dropping capabilities")?;
    process::forbid_new_privileges().during("forbidding new privileges")?;
    // A second wall where the kernel has it: the list of calls has none that opens a file.
    if let Ok(abi) = system::landlock_abi() {
        let handled = landlock::WRITING | landlock::READING;
        Ruleset::new(abi, handled, Beyond::ScopedWithoutTcp)
            .and_then(Ruleset::enforce)
            .during("closing the fence")?;
    }
    Ok(())
}

fn filter_calls() -> Result<(), String> {
    let rules = filter::rules();
    let mut code = bpf::compile(&rules, Action::Fail(libc::EPERM as u16))
        .ok_or("this processor has no list of system calls here")?;
    seccomp::enforce(&mut code).during("installing the filter")
}

/// A thread that ends the worker when nobody listens to it any more: then the host is gone, in
/// whatever way it went.
fn end_with_the_host() -> Result<(), String> {
    let watch = || {
        loop {
            let errors = std::io::stderr();
            match wait_for([Event::Closed(errors.as_fd())], None) {
                Ok([None]) => {}
                Ok([Some(_)]) | Err(_) => process::exit_now(1),
            }
        }
    };
    let thread = std::thread::Builder::new()
        .name("leash".into())
        .stack_size(64 << 10);
    thread.spawn(watch).during("starting a thread").map(drop)
}
