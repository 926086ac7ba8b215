//! The list of acts, and which module performs each.

use serde::Deserialize;
use toolbay_sdk::Result;

use crate::{crash, done, exhaust, links, network, pry, reads, session, writes};

#[derive(Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
pub enum Act {
    // Writing and reading where it is not allowed.
    WriteEveryWay {
        dir: String,
        other_dir: Option<String>,
    },
    ReadEveryWay {
        path: String,
    },
    PlantLinks {
        dir: String,
    },
    // Using up time, memory and room.
    Loop,
    Sleep {
        ms: u64,
    },
    StuckHostCall {
        root: Option<String>,
        regex: Option<String>,
    },
    Hog {
        mib: usize,
    },
    OpenMany {
        path: String,
        count: usize,
    },
    Recursion {
        #[serde(default)]
        lean: bool,
    },
    OutputFlood {
        mib: usize,
    },
    ProgressFlood {
        count: u64,
    },
    LogFlood {
        count: u64,
    },
    CancelAware,
    // Looking around and outwards.
    Peek {
        #[serde(default)]
        paths: Vec<String>,
    },
    Dial {
        host: String,
        port: u16,
    },
    Now,
    // Ending badly, and answering badly.
    Panic,
    Abort,
    Exit {
        code: i32,
    },
    Trap,
    BadUtf8,
    BadJson,
    DeepJson {
        depth: Option<usize>,
    },
    // The session and what goes out of it.
    StdoutForger,
    Modifiers,
    Counter {
        file: String,
        rounds: u32,
    },
    Echo {
        text: String,
    },
    Ok,
}

impl Act {
    pub fn perform(&self) -> Result {
        match self {
            Self::WriteEveryWay { dir, other_dir } => {
                writes::write_every_way(dir, other_dir.as_deref())
            }
            Self::ReadEveryWay { path } => reads::read_every_way(path),
            Self::PlantLinks { dir } => links::plant_links(dir),
            Self::Loop => exhaust::run_forever(),
            Self::Sleep { ms } => exhaust::sleep(*ms),
            Self::StuckHostCall { root, regex } => {
                exhaust::stuck_host_call(root.as_deref(), regex.as_deref())
            }
            Self::OpenMany { path, count } => exhaust::open_many(path, *count),
            Self::Hog { mib } => exhaust::hog(*mib),
            Self::Recursion { lean: false } => done(exhaust::recursion(0).to_string()),
            Self::Recursion { lean: true } => done(exhaust::lean_recursion(0).to_string()),
            Self::OutputFlood { mib } => done("x".repeat(mib << 20)),
            Self::ProgressFlood { count } => exhaust::progress_flood(*count),
            Self::LogFlood { count } => exhaust::log_flood(*count),
            Self::CancelAware => exhaust::cancel_aware(),
            Self::Peek { paths } => pry::peek(paths),
            Self::Dial { host, port } => network::dial(host, *port),
            Self::Now => pry::now(),
            Self::Panic => crash::panic(),
            Self::Abort => std::process::abort(),
            Self::Exit { code } => std::process::exit(*code),
            Self::Trap => crash::trap(),
            Self::BadUtf8 => crash::bad_utf8(),
            Self::BadJson => crash::bad_json(),
            Self::DeepJson { depth } => crash::deep_json(depth.unwrap_or(100_000)),
            Self::StdoutForger => session::stdout_forger(),
            Self::Modifiers => session::modifiers(),
            Self::Counter { file, rounds } => session::counter(file, *rounds),
            Self::Echo { text } => done(text.as_str()),
            Self::Ok => done("ok"),
        }
    }
}
