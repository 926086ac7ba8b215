//! The side of the keeper that stays: forks a helper for each command that the host sends.

use std::os::fd::AsFd;

use super::outer;
use super::report::Host;
use crate::kernel::process::{self, Side};
use crate::kernel::socket;

/// Serves until the host closes the line.
pub(crate) fn run() -> ! {
    let code = match Host::connect() {
        Ok(host) => serve(&host),
        // This was not started by a host.
        Err(_) => 2,
    };
    process::exit_now(code)
}

fn serve(host: &Host) -> i32 {
    process::leave_children_to_the_kernel();
    loop {
        let files = match socket::receive_files(host.as_fd()) {
            Ok(Some(files)) => files,
            Ok(None) => return 0,
            Err(_) => return 1,
        };
        match process::fork_into(0) {
            Ok(Side::Parent(_)) => {}
            Ok(Side::Child) => {
                process::reset_signals();
                for (number, file) in (0..).zip(&files) {
                    if process::put_at(file.as_fd(), number).is_err() {
                        process::exit_now(1);
                    }
                }
                // The keeper's own line must not outlive it here.
                if process::close_from_now(3).is_err() {
                    process::exit_now(1);
                }
                std::mem::forget(files);
                outer::run()
            }
            // The host sees its line closed and says so.
            Err(_) => {}
        }
    }
}
