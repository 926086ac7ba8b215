//! `toolbay completions SHELL`.

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Args;

pub(super) fn run(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "toolbay", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
