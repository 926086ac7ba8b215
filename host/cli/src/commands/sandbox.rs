//! `toolbay sandbox run`: any command in the cage, with its exit code.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;
use toolbay::sandbox::cage::{
    Command, Demands, Ended, GitAccess, Hosts, How, Limits, Paths, Profile, Programs, Stream,
    Streams, Strength, allowed, choose, home_controls, user_homes,
};

use super::print_json;
use crate::args::{Common, SandboxCommand, SandboxProfile, SandboxRun};
use crate::options::{origins, working_directory};
use crate::places;
use crate::style::Style;
use toolbay::Places;
use toolbay::caged::closed;
use toolbay::settings::own_files;

/// What shells say of a command that ran out of time.
const TIMED_OUT: u8 = 124;
/// Added to a signal's number, as shells do.
const BY_SIGNAL: i32 = 128;

pub(super) async fn run(common: Common, command: SandboxCommand) -> anyhow::Result<ExitCode> {
    match command {
        SandboxCommand::Run(wish) => run_one(&common, wish).await,
    }
}

async fn run_one(common: &Common, wish: SandboxRun) -> anyhow::Result<ExitCode> {
    if let Some(mode) = common.permission_mode {
        bail!(
            "--permission-mode {mode} is about calls of tools: no question is asked here, and `--profile \
             read-only` keeps the command from writing"
        );
    }
    let cwd = working_directory(common)?;
    let least = if wish.degraded {
        Strength::Degraded
    } else {
        Strength::Full
    };
    let cage = choose(&Demands {
        least,
        search_path: places::search_path(),
        ..Demands::default()
    })?;
    let environment = environment(&wish.env)?;
    let places = places::from_environment()?;
    let paths = paths(&wish, &cwd, &environment, &places);
    let enclosure = cage.around(&paths)?;
    // What rules close to commands of tools is closed to this one.
    let settings = origins(common, &cwd, &places).load()?;
    let (roots, home) = (paths.roots.clone(), places.home.as_deref());
    let policy = settings.session_policy(roots, own_files(&places), home);
    let closed = closed::by(policy.path_rules(), &paths.roots).map_err(anyhow::Error::msg)?;
    let enclosure = enclosure.closing(&closed)?;
    let hosts = wish.allow_hosts.iter().map(String::as_str);
    let command = Command {
        arguments: wish.command,
        folder: cwd,
        environment,
        profile: match wish.profile {
            SandboxProfile::ReadOnly => Profile::ReadOnly,
            SandboxProfile::Workspace => Profile::Workspace {
                git: GitAccess::ReadOnly,
            },
        },
        hosts: Hosts::new(hosts, [])?,
        limits: Limits {
            time: wish
                .timeout
                .map_or(Limits::default().time, Duration::from_millis),
            ..Limits::default()
        },
        programs: Programs::Any,
        streams: Streams::Apart,
    };
    let mut kept = (Vec::new(), Vec::new());
    let ended = if common.json {
        let mut sink = |stream, bytes: &[u8]| match stream {
            Stream::Output => kept.0.extend_from_slice(bytes),
            Stream::Errors => kept.1.extend_from_slice(bytes),
        };
        enclosure.run(&command, &mut sink).await?
    } else {
        let mut sink = |stream, bytes: &[u8]| {
            // A reader that went away is no matter of the command.
            let _ = match stream {
                Stream::Output => std::io::stdout().write_all(bytes),
                Stream::Errors => std::io::stderr().write_all(bytes),
            };
        };
        enclosure.run(&command, &mut sink).await?
    };
    if common.json {
        print_json(&json!({
            "how": name(ended.how),
            "exit": match ended.how { How::Exit(code) => Some(code), _ => None },
            "signal": match ended.how { How::Signal(signal) => Some(signal), _ => None },
            "stdout": String::from_utf8_lossy(&kept.0),
            "stderr": String::from_utf8_lossy(&kept.1),
            "truncated": ended.truncated,
            "refused": ended.refused,
            "cage": ended.kind.name(),
            "full": ended.strength == Strength::Full,
            "lacks": cage.lacks(),
        }))?;
    } else {
        tell(&ended, cage.lacks());
    }
    Ok(ExitCode::from(code(ended.how)))
}

/// What the command left to say goes beside its own words, to the errors.
fn tell(ended: &Ended, lacks: &[String]) {
    let _ = std::io::stdout().flush();
    let style = Style::for_errors();
    for refused in &ended.refused {
        let refused = toolbay::contract::visible_line(refused);
        eprintln!("{} {refused}", style.warn("refused:"));
    }
    if !matches!(ended.how, How::Exit(_) | How::Signal(_)) {
        eprintln!("{} {}", style.bad("ended:"), name(ended.how));
    }
    if ended.strength == Strength::Degraded {
        eprintln!("{} {}", style.warn("degraded cage:"), lacks.join("; "));
    }
}

/// Secrets are looked for in the host's home, and in the one that the command is told.
fn paths(
    wish: &SandboxRun,
    cwd: &Path,
    environment: &[(OsString, OsString)],
    places: &Places,
) -> Paths {
    let absolute = |list: &[PathBuf]| list.iter().map(|path| cwd.join(path)).collect::<Vec<_>>();
    let mut roots = absolute(&wish.roots);
    if roots.is_empty() {
        roots.push(cwd.to_owned());
    }
    let told = environment.iter().filter(|(name, _)| name == "HOME");
    let told = told.map(|(_, home)| Path::new(home));
    let named = places.home.as_deref().into_iter().chain(told);
    let homes: Vec<PathBuf> = named
        .filter(|home| home.is_absolute())
        .map(Path::to_owned)
        .chain(user_homes(None, &roots))
        .collect();
    let mut protect = absolute(&wish.protect);
    protect.push(places.cache.clone());
    let mut deny_read = absolute(&wish.deny_read);
    deny_read.push(places.state.clone());
    deny_read.extend(toolbay::caged::secrets(&homes));
    protect.extend(homes.iter().flat_map(|home| home_controls(home)));
    Paths {
        roots,
        protect,
        names: toolbay::caged::protected(),
        deny_read,
        environment: environment.to_vec(),
        ..Paths::default()
    }
}

/// The few variables that every command sees, and those that were asked for: `NAME` as the
/// host has it, `NAME=VALUE` as it is said.
fn environment(asked: &[OsString]) -> anyhow::Result<Vec<(OsString, OsString)>> {
    let mut all = allowed(places::this_process().variables().to_vec());
    for pair in asked {
        let text = pair
            .to_str()
            .with_context(|| format!("--env {}: not text", pair.display()))?;
        match text.split_once('=') {
            Some((name, value)) => all.push((name.into(), value.into())),
            None => {
                let value = places::variable(text)
                    .with_context(|| format!("--env {text}: there is no such variable here"))?;
                all.push((text.into(), value));
            }
        }
    }
    Ok(all)
}

fn name(how: How) -> &'static str {
    match how {
        How::Exit(_) => "exit",
        How::Signal(_) => "signal",
        How::TimedOut => "timed out",
        How::Flooded => "too much output",
        How::OutOfMemory => "too much memory",
        How::TooManyProcesses => "too many processes",
    }
}

fn code(how: How) -> u8 {
    match how {
        How::Exit(code) => u8::try_from(code).unwrap_or(u8::MAX),
        How::Signal(signal) => u8::try_from(BY_SIGNAL + signal).unwrap_or(u8::MAX),
        How::TimedOut | How::Flooded | How::OutOfMemory | How::TooManyProcesses => TIMED_OUT,
    }
}
