//! `toolbay tour`.
use crate::args::Common;
use std::process::ExitCode;
pub(super) async fn run(_common: Common) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
