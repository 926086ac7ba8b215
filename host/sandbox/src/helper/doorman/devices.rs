//! Devices: which of them a command gets, and which terminals are its own.
//!
//! What is handed over was opened here, in another process than the one that asks. A terminal of the
//! host must never be: whoever reads it reads what the user types. So a command gets devices that lead
//! nowhere, and terminals that a process of the cage made itself.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::opening::{Request, reopened};
use super::{Caller, Doorman, Step, failed};
use crate::cage::plan::Walls;
use crate::helper::follow::{self, LastLink};
use crate::helper::{resolve, usage};
use crate::kernel::open::{self, Device};
use crate::kernel::seccomp::Answer;

const MEMORY: u32 = 1;
/// In their order: `null`, `zero`, `full`, `random`, `urandom`.
const HARMLESS: [u32; 5] = [3, 5, 7, 8, 9];
/// `/dev/tty`: the terminal of whoever opens it.
const OWN_TERMINAL: (u32, u32) = (5, 0);
/// `ptmx`: opening it makes a terminal.
const MAKES_TERMINALS: (u32, u32) = (5, 2);
/// The ends of those terminals that programs run in, numbered by the other number.
const MADE_TERMINAL: u32 = 136;
const TERMINALS: &std::ffi::CStr = c"/dev/pts";
const MAKER: &std::ffi::CStr = c"/dev/ptmx";

/// What opening a device is to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Harmless,
    /// The kernel knows which one it is.
    OwnTerminal,
    MakesTerminal,
    /// With its number.
    Terminal(u32),
    /// It belongs to the host.
    Foreign,
}

impl Use {
    fn of(device: Device) -> Self {
        match device {
            Device::Characters((MEMORY, one)) if HARMLESS.contains(&one) => Self::Harmless,
            Device::Characters(OWN_TERMINAL) => Self::OwnTerminal,
            Device::Characters(MAKES_TERMINALS) => Self::MakesTerminal,
            Device::Characters((MADE_TERMINAL, number)) => Self::Terminal(number),
            Device::Characters(_) | Device::Blocks => Self::Foreign,
        }
    }
}

impl Doorman<'_> {
    /// Opens what is held, to read it: a device only if the command may have it.
    pub(super) fn open_to_be_read(&self, handle: &OwnedFd, request: Request) -> Step<OwnedFd> {
        let absent = Answer::Fail(libc::ENXIO);
        let device = open::device(handle.as_fd()).map_err(|error| failed(&error))?;
        match device.map(Use::of) {
            None | Some(Use::Harmless) => open_held(handle.as_fd(), request),
            Some(Use::Terminal(number)) => self.open_terminal(handle.as_fd(), number, request),
            Some(Use::MakesTerminal) if is_inside(self.walls, handle.as_fd()) => {
                open_held(handle.as_fd(), request)
            }
            // That of the doorman, if it had one.
            Some(Use::OwnTerminal | Use::MakesTerminal | Use::Foreign) => Err(absent),
        }
    }

    /// What is opened to write to it, where the devices are the host's: the command gets the terminals
    /// that it made. Of what else may be written to the kernel has a list.
    pub(super) fn write_device(
        &self,
        caller: &Caller<'_>,
        (folder, path): (u64, u64),
        request: Request,
    ) -> Step<Answer> {
        let last = match request.has(libc::O_NOFOLLOW) || request.only_new() {
            true => LastLink::Keep,
            false => LastLink::Follow,
        };
        let thread = caller.asked.thread;
        let text = resolve::text(thread, path).ok_or(Answer::GoOn)?;
        let held = follow::held(thread, folder as i32, &text, last).map_err(|_| Answer::GoOn)?;
        let device = open::device(held.handle.as_fd()).map_err(|_| Answer::GoOn)?;
        match device.map(Use::of) {
            None | Some(Use::Harmless | Use::OwnTerminal | Use::MakesTerminal) => Err(Answer::GoOn),
            Some(Use::Foreign) => Err(Answer::Fail(libc::ENXIO)),
            Some(Use::Terminal(number)) => {
                caller.still_waits()?;
                let file = self.open_terminal(held.handle.as_fd(), number, request)?;
                request.answer(file, libc::S_IFCHR)
            }
        }
    }

    fn open_terminal(
        &self,
        handle: BorrowedFd<'_>,
        number: u32,
        request: Request,
    ) -> Step<OwnedFd> {
        let absent = Answer::Fail(libc::ENXIO);
        let is_candidate = open::is_below_mount(handle, TERMINALS);
        if !is_candidate.map_err(|error| failed(&error))? {
            return Err(absent);
        }
        match self.walls {
            // The mount is the cage's own, and so is every terminal in it.
            Walls::Namespaces | Walls::Bubblewrap => open_held(handle, request),
            // While it is open, its number means no other terminal: so it is looked for after that.
            Walls::Kernel => {
                let file = open_held(handle, request)?;
                let maker = open::place(None, MAKER, 0).and_then(|it| open::identity(it.as_fd()));
                let maker = maker.map_err(|error| failed(&error))?;
                match usage::has_made_terminal(self.walls, maker, number) {
                    true => Ok(file),
                    false => Err(absent),
                }
            }
        }
    }
}

/// Nothing may become the doorman's own terminal.
fn open_held(handle: BorrowedFd<'_>, request: Request) -> Step<OwnedFd> {
    let flags = request.passed() | request.flags & libc::O_DIRECTORY | libc::O_NOCTTY;
    reopened(handle, flags).map_err(|error| failed(&error))
}

/// Whether it makes terminals that are seen in the cage alone.
fn is_inside(walls: Walls, handle: BorrowedFd<'_>) -> bool {
    match walls {
        Walls::Namespaces | Walls::Bubblewrap => {
            open::is_below_mount(handle, TERMINALS).is_ok_and(|is_it| is_it)
        }
        Walls::Kernel => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_devices_that_lead_nowhere_are_harmless() {
        for (device, wanted) in [
            ((1, 3), Use::Harmless),
            ((1, 9), Use::Harmless),
            // Memory, ports and messages of the kernel.
            ((1, 1), Use::Foreign),
            ((1, 4), Use::Foreign),
            ((1, 11), Use::Foreign),
            // Consoles, serial lines, screens, keyboards.
            ((4, 1), Use::Foreign),
            ((4, 64), Use::Foreign),
            ((5, 1), Use::Foreign),
            ((7, 0), Use::Foreign),
            ((13, 64), Use::Foreign),
            ((204, 64), Use::Foreign),
            ((5, 0), Use::OwnTerminal),
            ((5, 2), Use::MakesTerminal),
            ((136, 7), Use::Terminal(7)),
            ((2, 3), Use::Foreign),
        ] {
            assert_eq!(Use::of(Device::Characters(device)), wanted, "{device:?}");
        }
        assert_eq!(Use::of(Device::Blocks), Use::Foreign);
    }
}
