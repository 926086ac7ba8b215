//! `toolbay run`: turns over lines of JSON, for agents in any language.
//!
//! Blocks come in, events go out; `host/PROTOCOL.md` is the description. One loop
//! owns the session: it reads lines, feeds the executor of the turn, and writes what
//! comes of it. Nothing in here waits for anything but the next line or event.

mod answers;
mod input;
mod output;
mod sse;
mod turns;

use std::process::ExitCode;
use std::sync::Arc;

use toolbay::contract::KillSwitch;
use toolbay::mcp::client::Sampler;

use self::answers::Answers;
use self::output::Output;
use self::turns::Turns;
use super::{open_with, wishes};
use crate::args::{Common, StreamForm};
use crate::places;
use toolbay::compose::{EnabledCheck, Wishes};
use toolbay::servers::Connect;
use toolbay::session_file::{SessionFile, new_name};

/// The version of the protocol, told in the first line.
pub const PROTOCOL: u32 = 1;

pub(super) struct Run {
    pub(super) session: Option<String>,
    pub(super) from: StreamForm,
    pub(super) human: bool,
    pub(super) sampling: bool,
}

pub(super) async fn run(common: Common, run: Run) -> anyhow::Result<ExitCode> {
    let name = match run.session {
        Some(name) => name,
        None => new_name()?,
    };
    let file = SessionFile::new(&places::from_environment()?.state, &name)?;
    let session = file.load()?;
    let kill = KillSwitch::new();
    let output = Output::start(run.human, kill.clone())?;
    let answers = Arc::new(Answers::new(output.clone()));
    let bay = open_with(
        common,
        session,
        kill.clone(),
        Wishes {
            approver: answers.clone(),
            ask_user: Some(answers.clone()),
            sampler: run.sampling.then(|| answers.clone() as Arc<dyn Sampler>),
            session_folder: Some(file.folder().to_path_buf()),
            session_id: name.clone(),
            is_logged: true,
            enabled_check: EnabledCheck::IfCompiled,
            connect: Connect::Beside,
            goes_on: true,
            ..wishes()
        },
    )
    .await?;
    output.ready(&name, &bay);
    let lines = input::start(run.from)?;
    let turns = Turns::new(bay, file, answers, output.clone(), places::cap(), kill);
    turns.run(lines).await;
    output.finish();
    Ok(ExitCode::SUCCESS)
}
