//! The line to the host: plans come in, reports go out.
//!
//! It is the helper's standard input, a socket. The command never gets it.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use super::While;
use crate::cage::plan::{Plan, Report};

/// No plan comes near this; a longer one is not from our host.
const LONGEST_PLAN: usize = 16 << 20;

pub(crate) struct Host(UnixStream);

impl Host {
    /// Takes standard input for the line, and keeps programs from inheriting it.
    pub(crate) fn connect() -> Result<Self, String> {
        let line = std::io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .during("taking the line to the host")?;
        Ok(Self(line.into()))
    }

    pub(crate) fn plan(&mut self) -> Result<Plan, String> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).during("reading the plan")?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_PLAN {
            return Err(format!("a plan of {length} bytes is not from this program"));
        }
        let mut plan = vec![0; length];
        self.0.read_exact(&mut plan).during("reading the plan")?;
        serde_json::from_slice(&plan).map_err(|error| format!("reading the plan: {error}"))
    }

    /// A host that is gone needs no report.
    pub(crate) fn tell(&mut self, report: &Report) {
        if let Ok(mut line) = serde_json::to_vec(report) {
            line.push(b'\n');
            let _ = self.0.write_all(&line);
        }
    }
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
