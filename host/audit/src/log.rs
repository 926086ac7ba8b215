//! The log as a session sees it: events go in, and a full disk is never kept quiet about.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolbay_contract::{Audit, AuditEvent, Behavior};

use crate::error::LogError;
use crate::key::Key;
use crate::place::Folder;
use crate::record::{Actor, Chain, Kind, What, of_event};
use crate::redact::bounded;
use crate::seal::Seal;
use crate::sync::Syncer;
use crate::time::{Clock, SystemClock, stamp};
use crate::writer::{Author, OpenFiles, Rotation, Writer};

/// What becomes of calls when their records cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFull {
    /// No call acts until they can.
    #[default]
    Stop,
    /// Calls go on. What was lost is counted, and the log says so when it can.
    GoOn,
}

/// Something that whoever runs the program must hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// Records cannot be written, or soon could not be.
    Started { reason: String, on_full: OnFull },
    /// They can again; so many were lost.
    Over { lost: u64 },
    /// What was written may not survive a loss of power.
    NotOnDisk { reason: String },
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { reason, on_full } => {
                let then = match on_full {
                    OnFull::Stop => "no call runs until it can be written",
                    OnFull::GoOn => "calls go on without it, and what is lost is counted",
                };
                write!(out, "{reason}; {then}")
            }
            Self::Over { lost: 0 } => out.write_str("it is written again; nothing was lost"),
            Self::Over { lost } => write!(out, "it is written again; {lost} events were lost"),
            Self::NotOnDisk { reason } => {
                write!(out, "a loss of power may cost its last lines: {reason}")
            }
        }
    }
}

pub type OnTrouble = Arc<dyn Fn(&Trouble) + Send + Sync>;

/// What a log is opened with.
#[derive(Clone)]
pub struct Options {
    /// The folder of the log. Nothing else belongs there.
    pub folder: PathBuf,
    /// The file in which the end of the log is noted once more, in another folder.
    pub anchor: Option<PathBuf>,
    /// Without one, whoever can write the folder can write a whole new log.
    pub key: Option<Key>,
    pub session: String,
    pub actor: Actor,
    pub on_full: OnFull,
    pub rotation: Rotation,
    pub clock: Arc<dyn Clock>,
    pub on_trouble: OnTrouble,
}

impl Options {
    pub fn new(folder: PathBuf, session: &str, actor: Actor) -> Self {
        Self {
            folder,
            anchor: None,
            key: None,
            session: session.to_owned(),
            actor,
            on_full: OnFull::default(),
            rotation: Rotation::default(),
            clock: Arc::new(SystemClock),
            on_trouble: Arc::new(|_| {}),
        }
    }
}

/// A log, open for a session. Clones write into the same.
#[derive(Clone)]
pub struct Log {
    inner: Arc<Inner>,
    session: Arc<str>,
}

struct Inner {
    actor: Actor,
    on_full: OnFull,
    clock: Arc<dyn Clock>,
    on_trouble: OnTrouble,
    shared: Arc<Shared>,
    syncer: Syncer,
}

/// What the thread that waits for the disk needs too.
pub(crate) struct Shared {
    state: Mutex<State>,
}

struct State {
    writer: Writer,
    /// The last line of ours.
    seq: u64,
    trouble: Option<Lost>,
    /// Calls whose decisions were lost: they must not act, even if there is room again.
    unrecorded: VecDeque<String>,
}

/// More calls than ever wait between their decision and their act.
const MOST_UNRECORDED: usize = 4096;

/// Since when records are lost, or could be with the next call.
struct Lost {
    since: String,
    reason: String,
    count: u64,
}

impl Log {
    /// Opens the log, or begins one with the first event.
    pub fn open(options: Options) -> Result<Self, LogError> {
        let folder = Folder::make(&options.folder)?;
        let seal = Seal::new(options.key.as_ref());
        let mut writer = Writer::new(folder, seal, options.rotation);
        if let Some(path) = &options.anchor {
            writer.anchor_in(path)?;
        }
        writer.check()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                writer,
                seq: 0,
                trouble: None,
                unrecorded: VecDeque::new(),
            }),
        });
        let syncer = Syncer::new(shared.clone(), options.on_trouble.clone());
        Ok(Self {
            session: options.session.into(),
            inner: Arc::new(Inner {
                actor: options.actor,
                on_full: options.on_full,
                clock: options.clock,
                on_trouble: options.on_trouble,
                shared,
                syncer,
            }),
        })
    }

    /// The same log for another session of this program.
    pub fn for_session(&self, session: &str) -> Self {
        Self {
            inner: self.inner.clone(),
            session: session.into(),
        }
    }

    /// Writes an event. When this returns the record outlives the program.
    pub fn record(&self, event: &AuditEvent) -> Result<u64, LogError> {
        let (kind, what) = of_event(event);
        let written = self.inner.write(&self.session, Some((kind, &what)));
        if let (Err(_), Some(call)) = (&written, permitted(event)) {
            let mut state = self.inner.shared.lock();
            state.unrecorded.push_back(call.to_owned());
            if state.unrecorded.len() > MOST_UNRECORDED {
                state.unrecorded.pop_front();
            }
        }
        written
    }

    /// How many events were lost and are not yet counted in the log.
    pub fn lost(&self) -> u64 {
        let state = self.inner.shared.lock();
        state.trouble.as_ref().map_or(0, |lost| lost.count)
    }

    /// Waits until everything is on the disk.
    pub fn sync(&self) -> Result<(), LogError> {
        self.inner.shared.sync()
    }
}

impl Audit for Log {
    fn note(&self, event: AuditEvent) {
        // A failure is counted and told by then; `ready` stops what must be stopped.
        let _ = self.record(&event);
    }

    fn ready(&self, call_id: &str) -> Result<(), String> {
        let stop = |reason: &str| {
            format!("the audit log cannot be written, and settings say to stop then: {reason}")
        };
        let reason = {
            let mut state = self.inner.shared.lock();
            let lost = state.unrecorded.iter().position(|id| id == call_id);
            if let Some(at) = lost {
                state.unrecorded.remove(at);
            }
            match &state.trouble {
                _ if self.inner.on_full == OnFull::GoOn => return Ok(()),
                Some(trouble) if lost.is_some() => return Err(stop(&trouble.reason)),
                None if lost.is_some() => return Err(stop("this call's decision was lost")),
                None => return Ok(()),
                Some(trouble) => trouble.reason.clone(),
            }
        };
        // Perhaps there is room again.
        match self.inner.write(&self.session, None) {
            Ok(_) if self.inner.is_well() => Ok(()),
            Ok(_) | Err(_) => Err(stop(&reason)),
        }
    }
}

/// The call that may act because of this event.
fn permitted(event: &AuditEvent) -> Option<&str> {
    match event {
        AuditEvent::Decided(decided) => match decided.ruling {
            Behavior::Allow | Behavior::Ask => Some(&decided.call_id),
            Behavior::Deny => None,
        },
        AuditEvent::PowerRefused { .. }
        | AuditEvent::Ended { .. }
        | AuditEvent::ModifierDropped { .. }
        | AuditEvent::Called(_) => None,
    }
}

impl Inner {
    fn is_well(&self) -> bool {
        self.shared.lock().trouble.is_none()
    }

    /// Writes what was lost, if anything was, and then this.
    fn write(&self, session: &str, event: Option<(Kind, &What)>) -> Result<u64, LogError> {
        let time = stamp(self.clock.now());
        let session = bounded(session, 256);
        let author = Author {
            time: &time,
            session: &session,
            actor: &self.actor,
        };
        let draft = match event {
            Some((kind, what)) => Some(author.draft(kind, what)?),
            None => None,
        };
        let mut state = self.shared.lock();
        let before = state.trouble.as_ref().map(|lost| lost.count);
        let written = state.write(&author, draft.as_ref());
        let after = state.trouble.as_ref().map(|lost| lost.reason.clone());
        drop(state);
        // Told without the lock: whoever hears of it may want to write too.
        match (before, after) {
            (None, Some(reason)) => (self.on_trouble)(&Trouble::Started {
                reason,
                on_full: self.on_full,
            }),
            (Some(lost), None) => (self.on_trouble)(&Trouble::Over { lost }),
            (None, None) | (Some(_), Some(_)) => {}
        }
        if written.is_ok() {
            self.syncer.wake();
        }
        written
    }
}

impl State {
    fn write(
        &mut self,
        author: &Author<'_>,
        draft: Option<&crate::line::Draft>,
    ) -> Result<u64, LogError> {
        let written = self.write_lines(author, draft);
        let lost = u64::from(written.is_err() && draft.is_some());
        let reason = match &written {
            Err(error) => Some(error.to_string()),
            Ok(_) => match self.writer.reserve() {
                Ok(true) => None,
                Ok(false) => Some("there is no room on the disk for more records".to_owned()),
                Err(error) => Some(error.to_string()),
            },
        };
        match (reason, &mut self.trouble) {
            (None, trouble) => *trouble = None,
            (Some(_), Some(trouble)) => trouble.count += lost,
            (Some(reason), trouble @ None) => {
                *trouble = Some(Lost {
                    since: author.time.to_owned(),
                    reason,
                    count: lost,
                });
            }
        }
        written
    }

    fn write_lines(
        &mut self,
        author: &Author<'_>,
        draft: Option<&crate::line::Draft>,
    ) -> Result<u64, LogError> {
        if let Some(lost) = self.trouble.as_mut().filter(|lost| lost.count > 0) {
            let chain = Chain {
                lost: Some(lost.count),
                since: Some(lost.since.clone()),
                ..Chain::default()
            };
            let what = What {
                reason: Some(bounded(&lost.reason, 1024)),
                chain: Some(Box::new(chain)),
                ..What::default()
            };
            self.seq = self
                .writer
                .append(author, &author.draft(Kind::Lost, &what)?)?;
            lost.count = 0;
        }
        if let Some(draft) = draft {
            self.seq = self.writer.append(author, draft)?;
        }
        Ok(self.seq)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the disk without keeping anybody from writing, then says so in the head.
    pub(crate) fn sync(&self) -> Result<(), LogError> {
        let (seq, files) = {
            let state = self.lock();
            (state.seq, state.writer.files())
        };
        let Some(OpenFiles { head, log, anchor }) = files else {
            return Ok(());
        };
        let fail = |error| LogError::Io(PathBuf::from(crate::place::CURRENT), error);
        log.sync_data().map_err(fail)?;
        self.lock().writer.mark_synced(seq)?;
        head.sync_data().map_err(fail)?;
        anchor.map_or(Ok(()), |anchor| anchor.sync_data().map_err(fail))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.syncer.stop();
        // The last chance to say what was lost; whoever listens was told before.
        if !self.is_well() {
            let _ = self.write("", None);
        }
        if let Err(error) = self.shared.sync() {
            (self.on_trouble)(&Trouble::NotOnDisk {
                reason: error.to_string(),
            });
        }
    }
}
