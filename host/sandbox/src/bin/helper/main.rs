//! The cage as a program of its own, for tests and benchmarks of this crate: it is its own
//! helper, and runs one command with the exit code of that command.
//!
//! `toolbay-cage-helper KIND PROFILE [--root|--write|--own|--read|--protect|--deny-read|--deny-like|--zone|--zone-file|--host DIR]…
//! [--home DIR] [--cwd DIR] [--programs any|judged] [--time MS] [--memory BYTES] [--processes COUNT] [--env K=V]… -- COMMAND…`, or `try NAME`: one call.
#![allow(clippy::print_stderr)]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod tries;
#[cfg(target_os = "linux")]
mod work;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    toolbay_sandbox::helper::main_if_asked();
    for task in ["try", "try-dropped"] {
        toolbay_sandbox::worker::worker_if_asked(task, work::work);
    }
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref(), words.next()) {
        (Some("try"), Some(name)) => tries::attempt(&name),
        _ => linux::main(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(2)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::io::Write;
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::time::Duration;

    use toolbay_sandbox::cage::{
        CageZone, Closed, ClosedPattern, ClosedTo, Command, Demands, GitAccess, Hosts, How, Kind,
        Limits, Paths, Profile, Programs, ProtectedNames, Stream, Streams, Strength, choose,
        home_controls, secrets,
    };

    /// The cage did not stand: told apart from all that commands usually answer.
    const NO_CAGE: u8 = 99;

    pub fn main() -> ExitCode {
        match run() {
            Ok(code) => code,
            Err(what) => {
                eprintln!("cage: {what}");
                ExitCode::from(NO_CAGE)
            }
        }
    }

    fn run() -> Result<ExitCode, String> {
        let mut words = std::env::args_os().skip(1);
        let mut next = |what: &str| words.next().ok_or(format!("{what} is missing"));
        let text = |word: OsString| word.into_string().map_err(|_| "not text".to_owned());
        let only = match text(next("the kind")?)?.as_str() {
            "namespaces" => Some(Kind::Namespaces),
            "bubblewrap" => Some(Kind::Bubblewrap),
            "degraded" => Some(Kind::Degraded),
            "any" => None,
            other => return Err(format!("no kind {other}")),
        };
        let profile = match text(next("the profile")?)?.as_str() {
            "read-only" => Profile::ReadOnly,
            "workspace" => Profile::Workspace {
                git: GitAccess::ReadOnly,
            },
            "git" => Profile::Workspace {
                git: GitAccess::Writes,
            },
            other => return Err(format!("no profile {other}")),
        };
        let list = |text: &str| text.lines().map(str::to_owned).collect();
        let mut paths = Paths {
            names: ProtectedNames {
                always: list(include_str!("../../../tests/names/always.txt")),
                but_for_git: list(include_str!("../../../tests/names/but-for-git.txt")),
            },
            ..Paths::default()
        };
        let mut limits = Limits::default();
        let mut environment = Vec::new();
        let mut zones: Option<Vec<CageZone>> = None;
        let mut closed = Closed::default();
        let mut folder = None;
        let mut programs = Programs::Any;
        let mut hosts = Vec::new();
        let mut search_path = Demands::default().search_path;
        loop {
            let option = text(next("the command")?)?;
            if option == "--" {
                break;
            }
            let value = next(&option)?;
            match option.as_str() {
                "--root" => paths.roots.push(value.into()),
                "--write" => paths.write.push(value.into()),
                "--own" => paths.own.push(value.into()),
                "--zone-file" => zones
                    .get_or_insert_default()
                    .push(CageZone::File(value.into())),
                "--zone" => zones
                    .get_or_insert_default()
                    .push(CageZone::Folder(value.into())),
                "--read" => paths.read.push(value.into()),
                "--protect" => paths.protect.push(value.into()),
                "--deny-like" => {
                    let glob = text(value)?;
                    let root = paths.roots.first().ok_or("no root yet")?;
                    let pattern = ClosedPattern::new(root, &glob, ClosedTo::Reading);
                    closed.patterns.push(pattern.ok_or("no plain pattern")?);
                }
                "--deny-read" => paths.deny_read.push(value.into()),
                "--home" => {
                    let home = PathBuf::from(&value);
                    paths.deny_read.extend(secrets(Some(&home)));
                    paths.protect.extend(home_controls(&home));
                }
                "--host" => hosts.push(text(value)?),
                "--search" => search_path = value,
                "--programs" => {
                    programs = match text(value)?.as_str() {
                        "any" => Programs::Any,
                        "judged" => Programs::Judged,
                        other => return Err(format!("no programs {other}")),
                    };
                }
                "--cwd" => folder = Some(PathBuf::from(value)),
                "--time" => {
                    let time = text(value)?.parse().map_err(|_| "no number")?;
                    limits.time = Duration::from_millis(time);
                }
                "--memory" => {
                    limits.memory = text(value)?.parse().map_err(|_| "no number")?;
                }
                "--processes" => {
                    limits.processes = text(value)?.parse().map_err(|_| "no number")?;
                }
                "--env" => {
                    let pair = text(value)?;
                    let (name, value) = pair.split_once('=').ok_or("no `=` in a variable")?;
                    environment.push((name.into(), value.into()));
                }
                other => return Err(format!("no option {other}")),
            }
        }
        paths.environment = environment.clone();
        let command = Command {
            arguments: words.collect(),
            folder: folder
                .or_else(|| paths.roots.first().cloned())
                .unwrap_or_else(|| "/".into()),
            environment,
            profile,
            programs,
            hosts: Hosts::new(hosts.iter().map(String::as_str), [])
                .map_err(|error| error.to_string())?,
            limits,
            streams: Streams::Apart,
        };
        let demands = Demands {
            least: Strength::Degraded,
            only,
            search_path,
            ..Demands::default()
        };
        let cage = choose(&demands).map_err(|error| error.to_string())?;
        let mut enclosure = cage.around(&paths).map_err(|error| error.to_string())?;
        enclosure = enclosure
            .closing(&closed)
            .map_err(|error| error.to_string())?;
        if let Some(zones) = zones {
            let narrowed = enclosure.narrowed(&zones);
            enclosure = narrowed.map_err(|error| error.to_string())?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let mut sink = |stream, bytes: &[u8]| {
            // A reader that went away is no matter of the command.
            let _ = match stream {
                Stream::Output => std::io::stdout().write_all(bytes),
                Stream::Errors => std::io::stderr().write_all(bytes),
            };
        };
        let ended = runtime
            .block_on(enclosure.run(&command, &mut sink))
            .map_err(|error| error.to_string())?;
        let _ = std::io::stdout().flush();
        for what in &ended.refused {
            eprintln!("cage: refused: {what}");
        }
        Ok(ExitCode::from(match ended.how {
            How::Exit(code) => code as u8,
            How::Signal(signal) => 128_u8.wrapping_add(signal as u8),
            How::TimedOut | How::Flooded | How::OutOfMemory | How::TooManyProcesses => {
                eprintln!("cage: {:?}", ended.how);
                124
            }
        }))
    }
}
