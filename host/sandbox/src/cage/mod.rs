//! Cages: a command runs in one and can reach what it was given, nothing else.
//!
//! `choose` finds the strongest cage that this machine can build and says what it lacks; a
//! weaker one than was asked for is refused, never taken silently. `Cage::around` fixes the
//! paths of a session. `Enclosure::run` runs one command and leaves nothing of it behind;
//! `Enclosure::open` starts one that is talked to.

mod bubblewrap;
pub(crate) mod checked;
mod choose;
pub(crate) mod control;
mod conversation;
mod environment;
pub(crate) mod found;
pub(crate) mod ground;
pub(crate) mod guard;
mod keeper;
pub(crate) mod layout;
pub(crate) mod leash;
pub(crate) mod limits;
mod line;
mod links;
pub(crate) mod narrow;
pub(crate) mod pattern;
pub(crate) mod plan;
pub(crate) mod programs;
pub(crate) mod proxy;
pub(crate) mod repository;
mod run;
mod ways;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use thiserror::Error;

pub use crate::homes::user_homes;
pub use crate::names::{ProtectedNames, home_controls, secrets};
pub use choose::{Offer, WhyNot, choose, offers};
pub use conversation::{Conversation, Life};
pub use environment::allowed;
pub use ground::{PathError, Paths};
pub use guard::GitAccess;
pub use leash::{Bounds, Leash};
pub use limits::Limits;
pub use narrow::CageZone;
pub use pattern::{ClosedPattern, ClosedTo};
pub use programs::Programs;
pub use proxy::hosts::{Hosts, NoHost};

use found::Found;
use ground::Ground;
use keeper::Keeper;
use narrow::Narrow;
use plan::Walls;
use repository::Repositories;

/// How a cage is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Namespaces, Landlock and seccomp, without any other program.
    Namespaces,
    /// The same, where only the program bubblewrap is given namespaces.
    Bubblewrap,
    /// Landlock and seccomp alone.
    Degraded,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Bubblewrap => "bubblewrap",
            Self::Degraded => "degraded",
        }
    }
}

/// How much a cage holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Known holes: `Cage::lacks` says which.
    Degraded,
    Full,
}

/// Which program builds the walls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Helper {
    /// This one; its `main` calls `helper::main_if_asked` first.
    #[default]
    ThisProgram,
    /// Another one that does.
    At(PathBuf),
}

/// What somebody insists on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demands {
    /// A weaker cage is refused.
    pub least: Strength,
    /// This kind and no other.
    pub only: Option<Kind>,
    pub helper: Helper,
    /// Where bubblewrap is looked for, as in `PATH`. Relative parts are left out.
    pub search_path: OsString,
}

impl Default for Demands {
    fn default() -> Self {
        Self {
            least: Strength::Full,
            only: None,
            helper: Helper::ThisProgram,
            search_path: "/usr/local/bin:/usr/bin:/bin".into(),
        }
    }
}

/// A way to build cages that was tried and works on this machine.
#[derive(Debug, Clone)]
pub struct Cage {
    kind: Kind,
    helper: PathBuf,
    /// Only where it is needed.
    bubblewrap: Option<PathBuf>,
    landlock_abi: i64,
    lacks: Vec<String>,
    keeper: Arc<Keeper>,
}

impl Cage {
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn strength(&self) -> Strength {
        match self.kind {
            Kind::Namespaces | Kind::Bubblewrap => Strength::Full,
            Kind::Degraded => Strength::Degraded,
        }
    }

    /// What a command in this cage could still do, a sentence each. Empty for a full one.
    pub fn lacks(&self) -> &[String] {
        &self.lacks
    }

    /// Fixes the paths of a session and looks through them for protected names. This may
    /// take a while in a large tree: not for an async thread.
    pub fn around(&self, paths: &Paths) -> Result<Enclosure, PathError> {
        let ground = Ground::new(paths)?;
        let found = SearchResults::of(&ground)?;
        Ok(Enclosure {
            cage: self.clone(),
            ground: Arc::new(ground),
            found: Arc::new(Mutex::new(found)),
            closed: Arc::default(),
            narrow: None,
        })
    }

    /// What makes the walls where this program cannot; else nothing.
    fn bubblewrap_command(&self, steps: &[plan::Step], limits: &Limits) -> Vec<plan::Text> {
        let Some(program) = &self.bubblewrap else {
            return Vec::new();
        };
        // Behind the walls `/proc/self` is somebody else.
        let helper = self.helper.read_link();
        let helper = helper.as_ref().unwrap_or(&self.helper);
        bubblewrap::command(program, helper, steps, limits.temporary)
    }

    fn walls(&self) -> Walls {
        match self.kind {
            Kind::Namespaces => Walls::Namespaces,
            Kind::Bubblewrap => Walls::Bubblewrap,
            Kind::Degraded => Walls::Kernel,
        }
    }
}

/// What a command may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Nothing but its private folder for temporary files. No hosts either.
    ReadOnly,
    /// The roots as well, except what is protected.
    Workspace { git: GitAccess },
}

/// A cage with the paths of a session. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Enclosure {
    cage: Cage,
    ground: Arc<Ground>,
    found: Arc<Mutex<SearchResults>>,
    closed: Arc<Closed>,
    narrow: Option<Arc<Narrowed>>,
}

/// What one command may change of all that the session's may.
#[derive(Debug)]
struct Narrowed {
    narrow: Narrow,
    /// Protected names where no search of the session looked.
    found: SearchResults,
}

/// Paths that are closed to some commands of a session, whether they exist or not. Whatever
/// lies below them is, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closed {
    pub unreadable: Vec<PathBuf>,
    pub unwritable: Vec<PathBuf>,
    /// Whatever matches one, also if it is made while the command runs.
    pub patterns: Vec<ClosedPattern>,
}

/// Protected names that exist, for both kinds of access to repositories.
#[derive(Debug, Clone)]
struct SearchResults {
    closed: Found,
    open_to_git: Found,
    /// What their settings close; `None` before git was asked.
    repositories: Option<Repositories>,
}

impl SearchResults {
    fn of(ground: &Ground) -> Result<Self, PathError> {
        let mut all = Self::from(ground.search());
        all.repositories(ground, &[])?;
        Ok(all)
    }

    /// What git says of the repositories that were found and of these, as their settings are now.
    fn repositories(
        &mut self,
        ground: &Ground,
        more: &[PathBuf],
    ) -> Result<&Repositories, PathError> {
        let known = self.repositories.take();
        let repositories = match known.filter(|known| known.are_current(more)) {
            Some(known) => known,
            None => {
                let names = [&self.closed.repositories[..], more].concat();
                Repositories::of(ground, &names)?
            }
        };
        Ok(self.repositories.insert(repositories))
    }

    /// All that is closed to commands that leave repositories alone.
    fn closed(&mut self, ground: &Ground) -> Result<Found, PathError> {
        let mut closed = self.closed.clone();
        let repositories = self.repositories(ground, &[])?;
        repositories.close(ground, GitAccess::ReadOnly, &mut closed);
        Ok(closed)
    }

    fn get(&self, git: GitAccess) -> &Found {
        match git {
            GitAccess::ReadOnly => &self.closed,
            GitAccess::Writes => &self.open_to_git,
        }
    }
}

impl From<[Found; 2]> for SearchResults {
    fn from([closed, open_to_git]: [Found; 2]) -> Self {
        Self {
            closed,
            open_to_git,
            repositories: None,
        }
    }
}

impl Enclosure {
    pub fn cage(&self) -> &Cage {
        &self.cage
    }

    /// Looks for protected names again. Needed after something ran outside the cage that may
    /// have made some; commands inside cannot. About repositories git is asked before the next
    /// command.
    pub fn refresh(&self) {
        let found = SearchResults::from(self.ground.search());
        *self.known() = found;
    }

    /// The same cage with more closed than the session's paths say, instead of what was closed
    /// this way before. Cheap: for each command, if need be.
    pub fn closing(&self, closed: &Closed) -> Result<Self, PathError> {
        Ok(Self {
            closed: Arc::new(Closed {
                unreadable: ground::all_real_with_links(&closed.unreadable)?,
                unwritable: ground::all_real_with_links(&closed.unwritable)?,
                patterns: ground::real_patterns(&closed.patterns)?,
            }),
            ..self.clone()
        })
    }

    /// The same cage for a command that may change these zones and nothing else of the session's
    /// paths, instead of what it was narrowed to before. A zone that no command of the session
    /// could change is an error. What is closed stays closed. For each command, if need be.
    pub fn narrowed(&self, zones: &[CageZone]) -> Result<Self, PathError> {
        let closed = self.known().closed(&self.ground)?;
        let narrow = Narrow::new(&self.ground, &closed.targets, zones)?;
        let found = self
            .ground
            .search_in(narrow.unsearched(&self.ground))
            .into();
        Ok(Self {
            narrow: Some(Arc::new(Narrowed { narrow, found })),
            ..self.clone()
        })
    }

    /// The files and folders that a command can change, beside its private ones for temporary
    /// files: computed from what is enforced. Protected names below them are closed.
    pub fn writable(&self, profile: Profile) -> Vec<PathBuf> {
        let ground = self.ground();
        let zones = layout::zones(&ground, profile);
        let zones = zones.iter().map(|zone| zone.path.path().to_owned());
        let mut all: Vec<PathBuf> = zones.chain(ground.own.iter().cloned()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// What cannot be read inside.
    pub fn unreadable(&self) -> Vec<PathBuf> {
        self.ground().hidden.clone()
    }

    /// The paths of the session, with what is closed to this command.
    fn ground(&self) -> Cow<'_, Ground> {
        let mut ground = Cow::Borrowed(&*self.ground);
        if *self.closed != Closed::default() {
            ground = Cow::Owned(ground.closing(&self.closed));
        }
        if let Some(narrowed) = &self.narrow {
            ground = Cow::Owned(ground.narrowed(&narrowed.narrow));
        }
        ground
    }

    fn found(&self, ground: &Ground, git: GitAccess) -> Result<Found, PathError> {
        let mut known = self.known();
        let mut found = known.get(git).clone();
        if let Some(narrowed) = &self.narrow {
            found = found.with(narrowed.found.get(git));
        }
        let mut found = ground.search_top(git, found);
        let repositories = known.repositories(&self.ground, &found.repositories)?;
        repositories.close(ground, git, &mut found);
        Ok(found)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, SearchResults> {
        // A list is whole or was not stored: a panic elsewhere does not spoil it.
        self.found
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }
}

/// One of the two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Errors,
}

/// Whether the outputs are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    #[default]
    Apart,
    /// Both are one, in the order in which they were written.
    Together,
}

/// A command and all that it is given.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program, by path or by a name to be found in `PATH`, and what it is told.
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    /// The whole environment; a later pair beats an earlier one of the same name.
    pub environment: Vec<(OsString, OsString)>,
    pub profile: Profile,
    pub programs: Programs,
    /// What it may reach through a proxy; by default nothing.
    pub hosts: Hosts,
    pub limits: Limits,
    pub streams: Streams,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Exit(i32),
    Signal(i32),
    /// Killed, because its time was up.
    TimedOut,
    /// Killed, because it would not stop writing.
    Flooded,
    /// Killed, because its processes together used too much memory.
    OutOfMemory,
    /// Killed, because there were too many of them. Most cages refuse the one too many instead.
    TooManyProcesses,
}

/// What is left of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// Whether output was lost.
    pub truncated: bool,
    /// What the cage refused to change, as far as the cage itself knows of it.
    pub refused: Vec<String>,
    pub kind: Kind,
    pub strength: Strength,
}

/// Why a command did not run, or why there is nothing to tell of it.
#[derive(Debug, Error)]
pub enum CageError {
    #[error("the working directory {0} is not there or is no folder")]
    NoDirectory(PathBuf),
    #[error("the command does not start: {0}")]
    NotStarted(String),
    #[error("the cage could not be built, so nothing ran: {0}")]
    Broken(String),
    #[error("hosts can be reached from a full cage alone, and this one is degraded")]
    NoNetwork,
    #[error("the helper of the cage does not start: {0}")]
    NoHelper(#[source] std::io::Error),
    #[error("the helper of the cage went away without a word; what it held is dead")]
    Lost,
}
