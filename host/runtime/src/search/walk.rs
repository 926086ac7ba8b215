//! Which files a request means: ripgrep's walk, with the files sorted.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::Match;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::Types;

use super::crawl::{Crawl, FoundFile, Judge};
use super::error::shown;
use super::ignored::{Ignored, Level, Present};
use super::notes::Notes;
use super::{Fence, Request, SearchError, Stop, types};

/// Characters of a glob in a message.
const MOST_QUOTED: usize = 200;

/// What globs mean for files that an ignore-file names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Globs {
    /// As in ripgrep: a file that matches a glob is looked at, ignored or not.
    Override,
    /// They only narrow what the walk finds.
    Narrow,
}

/// A walk and what surrounds it.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    pub request: &'a Request,
    pub globs: Globs,
    pub threads: usize,
    pub fence: &'a dyn Fence,
    pub notes: &'a Notes,
    pub stop: &'a Stop,
}

/// The regular files that the request means, by the bytes of their paths. Links
/// are not followed, and folders that the fence closes are not entered.
pub(super) fn walk(walk: Walk<'_>) -> Result<Vec<PathBuf>, SearchError> {
    walk_with(walk, |file| Some(file.path)).map(|mut found| {
        // The threads hand in sorted runs, which this sort merges.
        found.sort_by(|left, right| by_path(left, right));
        found
    })
}

/// Like `walk`, but keeps what `keep` makes of each file, in no order.
pub(super) fn walk_with<T: Item>(
    walk: Walk<'_>,
    keep: impl Fn(FoundFile<'_>) -> Option<T> + Sync,
) -> Result<Vec<T>, SearchError> {
    let Walk {
        request,
        globs,
        threads,
        fence,
        notes,
        stop,
    } = walk;
    let selection = Selection {
        overrides: overrides(request)?,
        globs,
        types: types::select(&request.types)?,
        hidden: request.hidden,
        ignored: (!request.ignored && request.root.is_dir())
            .then(|| Ignored::new(&request.root, &request.base, fence, notes)),
        fence,
    };
    if !request.root.is_dir() {
        let is_file = request
            .root
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_file());
        let found = is_file.then(|| keep(FoundFile::alone(request.root.clone())));
        return Ok(found.flatten().into_iter().collect());
    }
    let above = match &selection.ignored {
        Some(ignored) => ignored.above(&request.root),
        None => Arc::new(Level::empty()),
    };
    let crawl = Crawl::new(&selection, stop, &request.root, above);
    let gathered = Mutex::new(Vec::new());
    let work = || {
        let mut run = Vec::new();
        crawl.work(|file| run.extend(keep(file)));
        T::finish(&mut run);
        gathered
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(run);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    if stop.is_stopped() {
        return Err(SearchError::Stopped);
    }
    if crawl.is_too_much() {
        return Err(SearchError::TooManyFiles(shown(&request.root)));
    }
    let runs = gathered
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(runs.into_iter().flatten().collect())
}

/// What the request says of names below its root.
struct Selection<'a> {
    overrides: Override,
    globs: Globs,
    types: Types,
    hidden: bool,
    ignored: Option<Ignored<'a>>,
    fence: &'a dyn Fence,
}

impl Selection<'_> {
    /// In the order of ripgrep: globs, ignore-files, types, dots.
    fn selects(&self, level: &Level, path: &Path, is_folder: bool) -> bool {
        if self.globs == Globs::Override {
            match self.overrides.matched(path, is_folder) {
                Match::Ignore(_) => return false,
                Match::Whitelist(_) => return true,
                Match::None => {}
            }
        }
        let mut is_named = false;
        if let Some(ignored) = &self.ignored {
            match ignored.matched(level, path, is_folder) {
                Match::Ignore(()) => return false,
                Match::Whitelist(()) => is_named = true,
                Match::None => {}
            }
        }
        match self.types.matched(path, is_folder) {
            Match::Ignore(_) => return false,
            Match::Whitelist(_) => is_named = true,
            Match::None => {}
        }
        is_named || self.hidden || !is_hidden(path)
    }
}

impl Judge for Selection<'_> {
    fn enter(&self, above: &Arc<Level>, folder: &Path, present: Present) -> Arc<Level> {
        match &self.ignored {
            Some(ignored) => ignored.below(above, folder, present),
            None => above.clone(),
        }
    }

    fn takes(&self, level: &Level, path: &Path, is_folder: bool) -> bool {
        self.selects(level, path, is_folder)
            && (self.globs == Globs::Override
                || !self.overrides.matched(path, is_folder).is_ignore())
            // A rule about all of a folder closes its listing too.
            && (!is_folder || self.fence.may_read(path))
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_bytes().starts_with(b"."))
}

/// The order of answers: plain bytes, the same everywhere.
pub(super) fn by_path(left: &Path, right: &Path) -> std::cmp::Ordering {
    left.as_os_str()
        .as_bytes()
        .cmp(right.as_os_str().as_bytes())
}

fn folder(root: &Path) -> &Path {
    if root.is_dir() {
        root
    } else {
        root.parent().unwrap_or(root)
    }
}

fn overrides(request: &Request) -> Result<Override, SearchError> {
    if request.globs.is_empty() {
        return Ok(Override::empty());
    }
    let bad = |glob: &str, error: ignore::Error| SearchError::BadGlob {
        glob: start_of(glob),
        reason: match error {
            ignore::Error::Glob { err, .. } => err,
            other => other.to_string(),
        },
    };
    let mut builder = OverrideBuilder::new(folder(&request.root));
    for glob in &request.globs {
        toolbay_policy::check_glob(glob).map_err(|error| SearchError::BadGlob {
            glob: start_of(glob),
            reason: error.to_string(),
        })?;
        builder.add(glob).map_err(|error| bad(glob, error))?;
    }
    builder
        .build()
        .map_err(|error| bad(&request.globs.join(" "), error))
}

/// What a message quotes of a glob: whoever wrote it knows the rest.
fn start_of(glob: &str) -> String {
    let mut chars = glob.chars();
    let start: String = chars.by_ref().take(MOST_QUOTED).collect();
    let more = if chars.next().is_some() { "…" } else { "" };
    toolbay_contract::visible_line(&start) + more
}

/// What a walk can gather. `finish` runs on the walking thread, where work is
/// still parallel.
pub(super) trait Item: Send + Sized {
    fn finish(run: &mut [Self]);
}

impl Item for PathBuf {
    fn finish(run: &mut [Self]) {
        run.sort_unstable_by(|left, right| by_path(left, right));
    }
}
