//! What a worker tries in the tests: the input names the attempt, the output says what came of it.
#![allow(unsafe_code, clippy::disallowed_methods, clippy::panic)]

use std::io::{Error, Read, Write};
use std::time::Duration;

type Attempt = fn() -> Result<String, Error>;

/// Attempts that must fail, each with the call that it is about.
const REFUSED: [(&str, Attempt); 12] = [
    ("open a file", || {
        std::fs::read("/proc/self/status").map(|_| "read".into())
    }),
    ("make a file", || {
        std::fs::write("/tmp/worker", "x").map(|()| "made".into())
    }),
    ("list a folder", || {
        std::fs::read_dir("/").map(|_| "listed".into())
    }),
    ("remove a file", || {
        std::fs::remove_file("/tmp/no-such-file").map(|()| "removed".into())
    }),
    ("start a program", || {
        std::process::Command::new("/bin/true")
            .spawn()
            .map(|_| "started".into())
    }),
    ("connect", || {
        std::net::TcpStream::connect("127.0.0.1:9").map(|_| "connected".into())
    }),
    ("listen", || {
        std::net::UdpSocket::bind("127.0.0.1:0").map(|_| "bound".into())
    }),
    // SAFETY (each): no pointers but to what lives through the call, and it fails.
    ("make a process", || {
        number(|| unsafe { libc::fork() }.into())
    }),
    ("end the host", || {
        number(|| unsafe { libc::kill(libc::getppid(), libc::SIGTERM) }.into())
    }),
    ("look into the host", || {
        number(|| unsafe { libc::ptrace(libc::PTRACE_ATTACH, libc::getppid(), 0, 0) })
    }),
    ("map code", || {
        number(|| unsafe {
            let both = libc::PROT_WRITE | libc::PROT_EXEC;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 4096, both, flags, -1, 0) as i64
        })
    }),
    ("raise a limit", || {
        number(|| unsafe {
            let more = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CPU, &raw const more).into()
        })
    }),
];

pub(crate) fn work(input: &mut dyn Read, output: &mut dyn Write) -> Result<(), String> {
    let mut name = String::new();
    input
        .read_to_string(&mut name)
        .map_err(|error| error.to_string())?;
    let said = match name.as_str() {
        "echo" => name,
        "two threads" => {
            let threads = [1, 2].map(|number| std::thread::spawn(move || number));
            let sum: i32 = threads.into_iter().filter_map(|one| one.join().ok()).sum();
            sum.to_string()
        }
        "refuse" => return Err("this cannot be done".into()),
        "panic" => panic!("a bad day"),
        "overflow" => deeper(0).to_string(),
        "eat" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                all.push(vec![1; 16 << 20]);
            }
        }
        "spin" => loop {
            std::hint::spin_loop();
        },
        "sleep" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "flood" => loop {
            output
                .write_all(&[0; 1 << 16])
                .map_err(|error| error.to_string())?;
        },
        "descriptors" => (3..1024)
            .filter(|number| {
                let mut asked = libc::pollfd {
                    fd: *number,
                    events: 0,
                    revents: 0,
                };
                // SAFETY: the one structure lives through the call.
                unsafe { libc::poll(&raw mut asked, 1, 0) };
                asked.revents & libc::POLLNVAL == 0
            })
            .count()
            .to_string(),
        other => match REFUSED.iter().find(|(known, _)| *known == other) {
            Some((_, attempt)) => match attempt() {
                Ok(done) => done,
                Err(error) => format!("refused: {error}"),
            },
            None => REFUSED.map(|(name, _)| name).join("\n"),
        },
    };
    output
        .write_all(said.as_bytes())
        .map_err(|error| error.to_string())
}

fn number(call: impl Fn() -> i64) -> Result<String, Error> {
    match call() {
        -1 => Err(Error::last_os_error()),
        answer => Ok(answer.to_string()),
    }
}

#[allow(unconditional_recursion)]
fn deeper(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    deeper(depth + 1) + room[(depth % 64) as usize]
}
