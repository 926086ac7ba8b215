//! Runs one command in a cage: passes its output on as it comes, and ends it when it must.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};

use super::environment;
use super::layout;
use super::leash::{Leash, Pace};
use super::line::{Line, Word};
use super::plan::{self, Input, Network, Plan, Program, Report, Walls};
use super::proxy::{self, Proxy};
use super::{
    CageError, Command, Enclosure, Ended, GitAccess, How, Profile, Programs, Stream, Streams,
};
use crate::process::LastWord;

/// How much is read past the limit and thrown away before the writer counts as one that
/// will not stop. A few pipes full: who ends soon keeps its exit code.
const SPILL: u64 = 256 << 10;
/// How long the helper may take to kill a cage. The kernel needs milliseconds.
const LAST_BREATH: Duration = Duration::from_secs(5);
const CHUNK: usize = 32 << 10;
/// How many refusals are kept; the first ones say what there is to know.
const MOST_REFUSED: usize = 256;

impl Enclosure {
    /// Runs a command to its end. Output goes to `sink` as it comes. Dropping the future
    /// kills the command and everything that it started.
    ///
    /// Needs a tokio runtime with I/O and time.
    pub async fn run(
        &self,
        command: &Command,
        sink: &mut (dyn FnMut(Stream, &[u8]) + Send),
    ) -> Result<Ended, CageError> {
        self.run_held(command, &Leash::new(&command.limits), sink)
            .await
    }

    /// The same by somebody who may change the bounds of time and output while it runs. Those of
    /// the command itself do not count then.
    pub async fn run_held(
        &self,
        command: &Command,
        leash: &Leash,
        sink: &mut (dyn FnMut(Stream, &[u8]) + Send),
    ) -> Result<Ended, CageError> {
        let started = Instant::now();
        let mut running = self.begin(command, Feed::Nothing).await?;
        let end = running.watch(command, leash, started, sink).await;
        self.judge(end)
    }

    /// The same for a command whose input is a pipe for a last word.
    pub async fn run_with_word(
        &self,
        command: &Command,
        leash: &Leash,
        word: &mut LastWord,
        sink: &mut (dyn FnMut(Stream, &[u8]) + Send),
    ) -> Result<Ended, CageError> {
        let started = Instant::now();
        let writer = word.listen().map_err(CageError::NoHelper)?;
        let mut running = self.begin(command, Feed::Word(writer)).await?;
        let end = {
            let mut watching = pin!(running.watch(command, leash, started, sink));
            loop {
                tokio::select! {
                    end = &mut watching => break end,
                    () = word.hear() => {}
                }
            }
        };
        word.finish();
        self.judge(end)
    }

    /// The same for a command that is given something to read. One that does not read it does
    /// no wrong.
    pub async fn run_fed(
        &self,
        command: &Command,
        input: &[u8],
        sink: &mut (dyn FnMut(Stream, &[u8]) + Send),
    ) -> Result<Ended, CageError> {
        let started = Instant::now();
        let leash = Leash::new(&command.limits);
        let mut running = self.begin(command, Feed::Pipe).await?;
        let sender = running.input.take();
        let mut feeding = pin!(async {
            if let Some(mut sender) = sender {
                // It may have been read or not: neither ends the command.
                let _ = sender.write_all(input).await;
            }
        });
        let mut watching = pin!(running.watch(command, &leash, started, sink));
        let end = tokio::select! {
            end = &mut watching => end,
            () = &mut feeding => watching.await,
        };
        self.judge(end)
    }

    /// Starts a helper and tells it what to run.
    pub(super) async fn begin(&self, command: &Command, feed: Feed) -> Result<Running, CageError> {
        let input = match feed {
            Feed::Nothing => Input::None,
            Feed::Pipe | Feed::Word(_) => Input::FromHost,
        };
        let plan = self.plan(command, input)?;
        let frame = plan::frame(&plan).map_err(|error| CageError::Broken(error.to_string()))?;
        let mut running = self.start(&plan, command.streams, feed)?;
        // A helper that is gone already is noticed by whoever watches it.
        let _ = running.line.send(&frame).await;
        Ok(running)
    }

    pub(super) fn judge(&self, end: End) -> Result<Ended, CageError> {
        let how = match (end.stopped, end.report) {
            (_, Some(Report::Failed(what))) => return Err(CageError::Broken(what)),
            (_, Some(Report::NotStarted(what))) => return Err(CageError::NotStarted(what)),
            (Some(how), _) => how,
            (None, Some(Report::Exit(code))) => How::Exit(code),
            (None, Some(Report::Signal(signal))) => How::Signal(signal),
            (None, Some(Report::OutOfMemory)) => How::OutOfMemory,
            (None, Some(Report::TooManyProcesses)) => How::TooManyProcesses,
            (None, Some(Report::Refused(_)) | None) => return Err(CageError::Lost),
        };
        Ok(Ended {
            how,
            truncated: end.is_truncated,
            refused: end.refused,
            kind: self.cage.kind,
            strength: self.cage.strength(),
        })
    }

    fn plan(&self, command: &Command, input: Input) -> Result<Plan, CageError> {
        let folder = command
            .folder
            .canonicalize()
            .ok()
            .filter(|folder| folder.is_dir())
            .ok_or_else(|| CageError::NoDirectory(command.folder.clone()))?;
        let git = match command.profile {
            Profile::ReadOnly => GitAccess::ReadOnly,
            Profile::Workspace { git } => git,
        };
        let ground = self.ground();
        let walls = self.cage.walls();
        let wants_none = command.hosts.is_empty() || command.profile == Profile::ReadOnly;
        let network = match (wants_none, walls) {
            (true, _) => Network::None,
            (false, Walls::Namespaces | Walls::Bubblewrap) => Network::Proxy(proxy::PORT),
            (false, Walls::Kernel) => return Err(CageError::NoNetwork),
        };
        let found = match command.profile {
            Profile::ReadOnly => super::Found::default(),
            Profile::Workspace { .. } => {
                let found = self.found(&ground, git);
                found.map_err(|error| CageError::Broken(error.to_string()))?
            }
        };
        let mut environment = command.environment.clone();
        if network != Network::None {
            let variables = proxy::variables();
            environment.extend(variables.into_iter().map(|(k, v)| (k.into(), v.into())));
        }
        let environment = environment::inside(
            &ground,
            &layout::zones(&ground, command.profile),
            walls,
            &environment,
        );
        let programs = match command.programs {
            Programs::Any => None,
            Programs::Judged => Some(layout::program_guard(&ground, &environment)),
        };
        let mut layout = layout::layout(
            &ground,
            &found,
            command.profile,
            &command.limits,
            walls,
            programs.as_ref(),
        );
        for zone in &mut layout.guard.zones {
            zone.fix().map_err(|error| {
                CageError::Broken(format!("opening {}: {error}", zone.path.path().display()))
            })?;
        }
        Ok(Plan {
            walls,
            program: Program {
                arguments: command.arguments.iter().map(Into::into).collect(),
                environment: environment
                    .iter()
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
                folder: folder.into(),
            },
            owner: ground.owner,
            bubblewrap: self.cage.bubblewrap_command(&layout.steps, &command.limits),
            steps: layout.steps,
            guard: layout.guard,
            programs,
            limits: command.limits,
            unreadable: ground.covered().into_iter().map(Into::into).collect(),
            network,
            input,
            landlock_abi: self.cage.landlock_abi,
        })
    }

    fn start(&self, plan: &Plan, streams: Streams, feed: Feed) -> Result<Running, CageError> {
        let pipe = || std::io::pipe().map_err(CageError::NoHelper);
        let (output, writer) = pipe()?;
        let (errors, error_writer) = match streams {
            Streams::Apart => {
                let (errors, writer) = pipe()?;
                (Some(errors), writer)
            }
            Streams::Together => (None, writer.try_clone().map_err(CageError::NoHelper)?),
        };
        let (line, theirs) = std::os::unix::net::UnixStream::pair().map_err(CageError::NoHelper)?;
        let mut files = vec![theirs.as_fd(), writer.as_fd(), error_writer.as_fd()];
        let (given, input): (Option<OwnedFd>, Option<PipeWriter>) = match feed {
            Feed::Nothing => (None, None),
            Feed::Pipe => {
                let (reader, writer) = pipe()?;
                (Some(reader.into()), Some(writer))
            }
            Feed::Word(writer) => (Some(writer.into()), None),
        };
        if let Some(given) = &given {
            files.push(given.as_fd());
        }
        self.cage
            .keeper
            .ask(&self.cage.helper, plan, &files)
            .map_err(CageError::NoHelper)?;
        let input = input.map(OwnedFd::from);
        Ok(Running {
            input: input
                .map(Sender::from_owned_fd)
                .transpose()
                .map_err(CageError::NoHelper)?,
            line: Line::new(line).map_err(CageError::NoHelper)?,
            output: Some(receiver(output)?),
            errors: errors.map(receiver).transpose()?,
        })
    }
}

fn receiver(pipe: PipeReader) -> Result<Receiver, CageError> {
    Receiver::from_owned_fd(OwnedFd::from(pipe)).map_err(CageError::NoHelper)
}

/// What a command finds as its input.
pub(super) enum Feed {
    Nothing,
    /// To be read.
    Pipe,
    /// To be written to.
    Word(PipeWriter),
}

pub(super) struct Running {
    pub(super) line: Line,
    /// What the command reads; empty if it gets nothing, or somebody took it.
    pub(super) input: Option<Sender>,
    pub(super) output: Option<Receiver>,
    pub(super) errors: Option<Receiver>,
}

/// What was seen until the end.
#[derive(Default)]
pub(super) struct End {
    pub(super) report: Option<Report>,
    pub(super) refused: Vec<String>,
    /// Why it was ended from here, if it was.
    pub(super) stopped: Option<How>,
    pub(super) written: u64,
    pub(super) is_truncated: bool,
}

impl End {
    /// Notes what the helper said. There is no end to what a command can try.
    fn note(&mut self, report: Report) {
        match report {
            Report::Refused(what) if self.refused.len() < MOST_REFUSED => self.refused.push(what),
            Report::Refused(_) => {}
            report => self.report = Some(report),
        }
    }
}

impl Running {
    /// Until the helper is gone and all outputs are closed, which they are once every
    /// process of the cage is dead.
    pub(super) async fn watch(
        &mut self,
        command: &Command,
        leash: &Leash,
        started: Instant,
        sink: &mut (dyn FnMut(Stream, &[u8]) + Send),
    ) -> End {
        let mut end = End::default();
        let mut is_open = true;
        let mut proxy = None;
        let mut bounds = leash.follow();
        let mut now = *bounds.borrow_and_update();
        let mut deadline = started + now.time;
        let mut pace = Pace::default();
        let (mut out, mut err) = (vec![0; CHUNK], vec![0; CHUNK]);
        while is_open || self.output.is_some() || self.errors.is_some() {
            let wait = pace.wait();
            let piece = tokio::select! {
                count = read(&mut self.output, &mut out), if wait.is_none() => {
                    Some((Stream::Output, count))
                }
                count = read(&mut self.errors, &mut err), if wait.is_none() => {
                    Some((Stream::Errors, count))
                }
                () = sleep_until(wait.unwrap_or(started)), if wait.is_some() => None,
                Ok(()) = bounds.changed() => {
                    now = *bounds.borrow_and_update();
                    if end.stopped.is_none() {
                        deadline = started + now.time;
                    }
                    None
                }
                word = self.line.next(), if is_open => {
                    match word {
                        Word::Report(report) => end.note(report),
                        Word::Listener(socket) => {
                            // Without it the command has no network, which is safe.
                            proxy = Proxy::start(socket, command.hosts.clone()).ok();
                        }
                        Word::End => {
                            is_open = false;
                            let proxy = proxy.take();
                            let refused = proxy.as_ref().map(Proxy::refused);
                            end.refused.extend(refused.into_iter().flatten());
                        }
                    }
                    None
                }
                () = sleep_until(deadline) => {
                    if end.stopped.is_some() {
                        // It was told and did not go: something in the kernel holds it.
                        return end;
                    }
                    end.stopped = Some(How::TimedOut);
                    self.line.stop().await;
                    deadline = Instant::now() + LAST_BREATH;
                    None
                }
            };
            let Some((stream, count)) = piece else {
                continue;
            };
            if count == 0 {
                match stream {
                    Stream::Output => self.output = None,
                    Stream::Errors => self.errors = None,
                }
                continue;
            }
            pace.took(count, now.pace);
            let room = now.output.saturating_sub(end.written);
            let kept = count.min(usize::try_from(room).unwrap_or(usize::MAX));
            end.written += count as u64;
            let piece = match stream {
                Stream::Output => &out[..kept],
                Stream::Errors => &err[..kept],
            };
            if kept > 0 {
                sink(stream, piece);
            }
            end.is_truncated |= kept < count;
            if end.written > now.output.saturating_add(SPILL) && end.stopped.is_none() {
                end.stopped = Some(How::Flooded);
                self.line.stop().await;
                deadline = Instant::now() + LAST_BREATH;
            }
        }
        end
    }
}

/// How much was read; 0 is the end. A pipe that cannot be read gives nothing more.
async fn read(pipe: &mut Option<Receiver>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}
