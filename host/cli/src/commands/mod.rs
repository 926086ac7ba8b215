//! The commands, a file each.

mod audit;
mod call;
mod completions;
mod doctor;
mod inspect;
mod mcp;
mod policy;
mod run;
#[cfg(target_os = "linux")]
mod sandbox;
mod shell;
mod tools;
mod tour;
mod trust;

use std::collections::HashMap;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolbay::contract::{KillSwitch, Session};
use toolbay::dispatch::{Approver, Nobody};
use toolbay::runtime::{CompileNotice, OnCompile};

use crate::args::{Args, Command, Common};
use crate::options::{options, origins, working_directory};
use crate::places;
use crate::prompt::{SavedIn, Terminal, somebody_is_there};
use crate::spinner::Spinner;
use crate::style::Style;
use crate::view::{harmless, harmless_line};
use crate::{departures, interrupt, log};
use toolbay::compose::{Bay, Ingredients, Wishes};
use toolbay::servers::Connect;
use toolbay::session_file;

/// The tool ran and failed, or was refused.
const CALL_FAILED: u8 = 1;
/// The command itself could not be done.
const COMMAND_FAILED: u8 = 2;

/// Runs a command to its exit code.
pub fn run(args: Args) -> ExitCode {
    let logging = match log::start(args.common.trace.as_deref()) {
        Ok(logging) => logging,
        Err(error) => {
            eprintln!("{} {error:#}", Style::for_errors().bad("error:"));
            return ExitCode::from(COMMAND_FAILED);
        }
    };
    take_all_file_handles();
    let code = exit_code(start(args));
    logging.finish();
    interrupt::exit_code().unwrap_or(code)
}

fn exit_code(ended: anyhow::Result<ExitCode>) -> ExitCode {
    match ended {
        Ok(code) => code,
        Err(error) => {
            // The reader of our output went away; nobody is left to tell.
            let broken_pipe = error.chain().any(|cause| {
                cause
                    .downcast_ref::<std::io::Error>()
                    .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
            });
            if !broken_pipe {
                // It may repeat what a project or a server calls something: what it has in lines of
                // its own is set in.
                let text = harmless(&format!("{error:#}")).replace('\n', "\n  ");
                eprintln!("{} {text}", Style::for_errors().bad("error:"));
            }
            ExitCode::from(COMMAND_FAILED)
        }
    }
}

fn start(args: Args) -> anyhow::Result<ExitCode> {
    let Args { common, command } = args;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("toolbay")
        .build()?;
    let code = runtime.block_on(async {
        let code = match command {
            Command::Tour => tour::run(common).await,
            Command::Tools { name, export } => tools::run(common, name, export).await,
            Command::Call {
                name,
                input,
                session,
                timeout,
            } => {
                call::run(
                    common,
                    call::Call {
                        name,
                        input,
                        session,
                        timeout,
                    },
                )
                .await
            }
            Command::Run {
                session,
                from,
                human,
                sampling,
            } => {
                run::run(
                    common,
                    run::Run {
                        session,
                        from,
                        human,
                        sampling,
                    },
                )
                .await
            }
            Command::Inspect { file } => inspect::run(common, file).await,
            Command::Shell { command } => shell::run(&common, command),
            Command::Audit { command } => audit::run(&common, command),
            Command::Policy { command } => policy::run(common, command).await,
            Command::Trust { yes, revoke } => trust::run(&common, yes, revoke),
            #[cfg(target_os = "linux")]
            Command::Sandbox { command } => sandbox::run(common, command).await,
            Command::Mcp { command } => mcp::run(common, command).await,
            Command::Doctor => doctor::run(common).await,
            Command::Completions { shell } => completions::run(shell),
        };
        departures::part().await;
        code
    });
    // Whatever still blocks a thread must not keep the program from ending.
    runtime.shutdown_timeout(Duration::from_millis(100));
    code
}

/// Guests hold open files on our account: take as many as the system would give.
fn take_all_file_handles() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

fn whoever_is_there(common: &Common) -> anyhow::Result<Arc<dyn Approver>> {
    if !somebody_is_there() {
        return Ok(Arc::new(Nobody));
    }
    let saved = SavedIn::of(&working_directory(common)?, &places::from_environment()?);
    Ok(Arc::new(Terminal::new(saved)))
}

async fn open_with(
    common: Common,
    session: Session,
    kill: KillSwitch,
    wishes: Wishes,
) -> anyhow::Result<Bay> {
    let cwd = working_directory(&common)?;
    let origins = origins(&common, &cwd, &places::from_environment()?);
    Bay::open(Ingredients {
        options: options(&common, origins),
        session,
        on_compile: Some(compile_notice()),
        kill,
        wishes,
    })
    .await
}

/// What every command of this program wants of its session.
fn wishes() -> Wishes {
    Wishes {
        say: Arc::new(|text| {
            let style = Style::for_errors();
            eprintln!("{} {}", style.warn("warning:"), harmless_line(text));
        }),
        working: Some(Arc::new(|label| Box::new(Spinner::start(label)))),
        departures: departures::all().clone(),
        ..Wishes::default()
    }
}

/// Opens a session that only looks.
async fn open_to_look(common: Common, connect: Connect) -> anyhow::Result<Bay> {
    let wishes = Wishes {
        approver: whoever_is_there(&common)?,
        connect,
        ..wishes()
    };
    open_with(common, session_file::fresh()?, KillSwitch::new(), wishes).await
}

/// Tells people that a component is being compiled, if that takes a while.
fn compile_notice() -> OnCompile {
    let quiet = !std::io::stderr().is_terminal();
    // The compilations under way, by their plugins.
    let waiting = Mutex::new(HashMap::<String, Arc<AtomicBool>>::new());
    Arc::new(move |notice| {
        let style = Style::for_errors();
        match notice {
            CompileNotice::Started { plugin, bytes } => {
                if quiet {
                    return;
                }
                let done = Arc::new(AtomicBool::new(false));
                let mut all = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(plugin.clone(), done.clone());
                // Short work is not worth a line: say so only after a while.
                let told = std::thread::Builder::new().spawn(move || {
                    std::thread::sleep(Duration::from_millis(300));
                    if !done.load(Ordering::Relaxed) {
                        let line = format!(
                            "compiling {plugin} ({} KiB), once for this machine …",
                            bytes / 1024
                        );
                        eprintln!("{}", style.dim(&line));
                    }
                });
                // Without the thread there is merely no line.
                drop(told);
            }
            CompileNotice::Finished { plugin, took } => {
                let mut all = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(done) = all.remove(&plugin) {
                    done.store(true, Ordering::Relaxed);
                }
                if !quiet && took > Duration::from_millis(300) {
                    let line = format!("compiled {plugin} in {:.1} s", took.as_secs_f32());
                    eprintln!("{}", style.dim(&line));
                }
            }
        }
    })
}

/// Tells of plugins that cannot be used.
fn tell_problems(bay: &Bay) {
    let style = Style::for_errors();
    for problem in &bay.problems {
        eprintln!("{} {}", style.warn("warning:"), harmless_line(problem));
    }
}

/// Prints JSON for programs, on one line.
fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    print_line(&value.to_string())
}

/// Prints a line; a reader that went away is an error like any other, not a panic.
fn print_line(line: &str) -> anyhow::Result<()> {
    use std::io::Write;

    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(())
}
