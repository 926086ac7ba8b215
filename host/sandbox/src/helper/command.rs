//! The last steps of a command before it becomes its program: powers go one after the other.

use std::ffi::{CString, OsStr};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::filter::{self, Attributes, Choices, Reads, Starts};
use super::{While, fences};
use crate::cage::guard::GitAccess;
use crate::cage::limits::Limits;
use crate::cage::plan::{Input, Plan, Program, Walls};
use crate::kernel::process::{self, Keep};
use crate::kernel::{bpf, c_text, open, seccomp, socket};

/// Where programs are looked for when the environment does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// What shells say when a program is not there.
const NOT_FOUND: i32 = 127;

/// Becomes the program, or tells the parent why not. The parent first gets the place where
/// calls that ask come in; words before it mean that the cage did not stand.
pub(crate) fn become_program(plan: &Plan, file_mask: u32, parent: UnixStream) -> ! {
    let mut parent = parent;
    let word = match prepare(plan, file_mask, &parent) {
        Ok((arguments, environment)) => {
            process::reset_signals();
            exec(&plan.program, &arguments, &environment)
        }
        Err(word) => word,
    };
    let _ = parent.write_all(word.as_bytes());
    process::exit_now(NOT_FOUND)
}

type Texts = Vec<CString>;

fn prepare(plan: &Plan, file_mask: u32, parent: &UnixStream) -> Result<(Texts, Texts), String> {
    let program = &plan.program;
    let bad = "an argument or a variable holds a zero byte";
    let arguments = program.arguments.iter();
    let arguments = arguments
        .map(|text| c_text(&text.0))
        .collect::<Result<Texts, _>>()
        .during(bad)?;
    let environment = program.environment.iter();
    let environment = environment
        .map(|(name, value)| {
            let mut pair = name.0.clone();
            pair.push("=");
            pair.push(&value.0);
            c_text(pair)
        })
        .collect::<Result<Texts, _>>()
        .during(bad)?;
    let folder = c_text(&program.folder.0).during("reading the working folder")?;

    process::become_session_leader().during("starting a session")?;
    match plan.input {
        Input::None => {
            // The one behind the walls: the host's own could be changed through its number.
            let nothing = open::plain(c"/dev/null", libc::O_RDONLY).during("opening /dev/null")?;
            process::put_at(nothing.as_fd(), 0).during("closing the input")?;
        }
        Input::FromHost => process::read_from_host().during("taking the input")?,
    }
    process::change_folder(&folder).during(format!(
        "entering the working folder {}",
        program.folder.path().display()
    ))?;
    process::set_file_mask(file_mask);
    limit(&plan.limits, plan.walls).during("setting limits")?;
    process::close_from(3).during("closing files")?;
    fences::around_the_command(plan)?;
    process::drop_capabilities(Keep::Nothing).during("dropping capabilities")?;
    let starts = match plan.programs {
        Some(_) => Starts::Asked,
        None => Starts::Free,
    };
    let reads = match plan.guard.judges_reading(plan.walls) {
        true => Reads::Asked,
        false => Reads::Free,
    };
    // No mount stands before those of a repository that may be written to.
    let attributes = match (plan.walls, plan.guard.git) {
        (Walls::Kernel, _) | (_, GitAccess::Writes) => Attributes::Absent,
        (Walls::Namespaces | Walls::Bubblewrap, GitAccess::ReadOnly) => Attributes::Free,
    };
    let choices = Choices {
        starts,
        reads,
        attributes,
    };
    let rules = filter::rules(plan.walls, choices);
    let mut code = bpf::compile(&rules, bpf::Action::Allow)
        .ok_or("this processor has no list of system calls")?;
    let listener = seccomp::install(&mut code).during("installing the filter")?;
    socket::send_file(parent.as_fd(), b' ', listener.as_fd()).during("handing the filter over")?;
    Ok((arguments, environment))
}

fn limit(limits: &Limits, walls: Walls) -> std::io::Result<()> {
    process::limit(libc::RLIMIT_CORE, 0)?;
    process::limit(libc::RLIMIT_FSIZE, limits.file_size)?;
    process::limit(libc::RLIMIT_NOFILE, limits.open_files)?;
    process::limit(libc::RLIMIT_DATA, limits.process_memory)?;
    let others = match walls {
        // Only what runs in the namespace counts there.
        Walls::Namespaces | Walls::Bubblewrap => 0,
        Walls::Kernel => tasks_of_this_user(),
    };
    process::limit(libc::RLIMIT_NPROC, limits.processes + others)
}

/// Without a namespace the kernel counts whatever else the user runs.
fn tasks_of_this_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let (user, _) = process::user_and_group();
    let processes = std::fs::read_dir("/proc").into_iter().flatten();
    processes
        .filter_map(Result::ok)
        .filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == user))
        .map(|entry| entry.path().join("task"))
        .filter_map(|tasks| std::fs::read_dir(tasks).ok())
        .map(|tasks| tasks.count() as u64)
        .sum()
}

/// Looks for the program as shells do. Returns only with a reason.
fn exec(program: &Program, arguments: &[CString], environment: &[CString]) -> String {
    let Some(name) = program.arguments.first() else {
        return "there is no command".into();
    };
    let mut reason = std::io::Error::from_raw_os_error(libc::ENOENT);
    for candidate in candidates(program, &name.0) {
        let Ok(path) = c_text(&candidate) else {
            continue;
        };
        let error = process::start_program(&path, arguments, environment);
        // A folder without the program is not worth a word if a later one has it broken.
        if error.raw_os_error() != Some(libc::ENOENT) {
            reason = error;
        }
    }
    format!("{}: {reason}", name.path().display())
}

fn candidates(program: &Program, name: &OsStr) -> Vec<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return vec![PathBuf::from(name)];
    }
    let path = program
        .environment
        .iter()
        .rev()
        .find(|(variable, _)| variable.0 == "PATH")
        .map_or(OsStr::new(USUAL_PATH), |(_, value)| &value.0);
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder: PathBuf| Path::join(&folder, name))
        .collect()
}
