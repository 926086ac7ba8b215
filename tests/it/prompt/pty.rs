//! A terminal whose other end is a test.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::program::{Project, wait};

/// Beyond this a text does not come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A terminal, and what was seen on it.
pub struct Pty {
    master: File,
    /// Keeps the terminal alive, whoever else has it open.
    slave: Option<File>,
    screen: Arc<Screen>,
    /// Up to where the test has looked.
    looked: usize,
}

#[derive(Default)]
struct Screen {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    seen: Vec<u8>,
    closed: bool,
}

impl Pty {
    /// One with so many columns.
    pub fn new(columns: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        // It becomes the terminal of the program, never of the test.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        let master = File::from(master);
        let screen = Arc::new(Screen::default());
        watch(master.try_clone().unwrap(), screen.clone());
        let pty = Self {
            master,
            slave: Some(slave.into()),
            screen,
            looked: 0,
        };
        pty.resize(columns);
        pty
    }

    pub fn slave(&self) -> &File {
        self.slave.as_ref().unwrap()
    }

    /// Whoever has the terminal is told of it by the kernel.
    pub fn resize(&self, columns: u16) {
        let size = Winsize {
            ws_row: 40,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(self.master.as_fd(), size).unwrap();
    }

    pub fn modes(&self) -> Termios {
        tcgetattr(self.slave().as_fd()).unwrap()
    }

    pub fn type_in(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the text is on the screen, behind all that was waited for before, and answers
    /// with what came up to its end.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> String {
        let started = Instant::now();
        let mut state = self.screen.state.lock().unwrap();
        loop {
            let new = &state.seen[self.looked..];
            let found = new.windows(text.len()).position(|at| at == text.as_bytes());
            if let Some(at) = found {
                let new = String::from_utf8_lossy(&new[..at + text.len()]).into_owned();
                self.looked += at + text.len();
                return new;
            }
            let seen = || String::from_utf8_lossy(&state.seen).into_owned();
            assert!(!state.closed, "the end came before {text:?}:\n{}", seen());
            assert!(started.elapsed() < PATIENCE, "no {text:?} in:\n{}", seen());
            let waited = self
                .screen
                .changed
                .wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap().0;
        }
    }

    /// Everything that was seen so far.
    pub fn seen(&self) -> String {
        let state = self.screen.state.lock().unwrap();
        String::from_utf8_lossy(&state.seen).into_owned()
    }

    /// Closes the terminal, once nobody else has it, and answers with all that was ever on it.
    pub fn close(mut self) -> String {
        self.slave = None;
        let started = Instant::now();
        let mut state = self.screen.state.lock().unwrap();
        while !state.closed {
            assert!(started.elapsed() < PATIENCE, "somebody keeps the terminal");
            let waited = self
                .screen
                .changed
                .wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap().0;
        }
        String::from_utf8_lossy(&state.seen).into_owned()
    }
}

/// Takes what is printed, so that nobody has to wait for the test to look.
fn watch(mut master: File, screen: Arc<Screen>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let read = match master.read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // The last one has closed it.
                Err(_) => 0,
            };
            let mut state = screen.state.lock().unwrap();
            state.closed = read == 0;
            state.seen.extend_from_slice(&buffer[..read]);
            screen.changed.notify_all();
            if read == 0 {
                return;
            }
        }
    });
}

/// The program, started in a terminal.
pub struct Started {
    pub pty: Pty,
    child: Child,
}

impl Started {
    pub fn new(project: &Project, pty: Pty, args: &[&str]) -> Self {
        let child = project.spawn_in(pty.slave(), args);
        Self { pty, child }
    }

    /// Waits for the end: the exit code, and all that was on the screen.
    pub fn end(mut self) -> (Option<i32>, String) {
        let status = wait(&mut self.child, &["in a terminal"]);
        (status.code(), self.pty.close())
    }
}
