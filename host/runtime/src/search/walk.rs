//! Which files a request means: ripgrep's walk, with the files sorted.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use super::{Request, SearchError, Stop, types};

/// Characters of a glob in a message.
const MOST_QUOTED: usize = 200;

/// What globs mean for files that an ignore-file names.
#[derive(Clone, Copy)]
pub(super) enum Globs {
    /// As in ripgrep: a file that matches a glob is looked at, ignored or not.
    Override,
    /// They only narrow what the walk finds.
    Narrow,
}

/// The regular files that the request means, by the bytes of their paths. Links
/// are not followed.
pub(super) fn walk(
    request: &Request,
    globs: Globs,
    threads: usize,
    stop: &Stop,
) -> Result<Vec<PathBuf>, SearchError> {
    walk_with(request, globs, threads, stop, |entry| {
        Some(entry.into_path())
    })
    .map(|mut found| {
        // The visitors hand in sorted runs, which this sort merges.
        found.sort_by(|left, right| by_path(left, right));
        found
    })
}

/// Like `walk`, but keeps what `keep` makes of each file, in no order.
pub(super) fn walk_with<T: Item>(
    request: &Request,
    globs: Globs,
    threads: usize,
    stop: &Stop,
    keep: impl Fn(DirEntry) -> Option<T> + Sync,
) -> Result<Vec<T>, SearchError> {
    let mut builder = WalkBuilder::new(&request.root);
    let respected = !request.ignored;
    builder
        .threads(threads)
        .follow_links(false)
        .types(types::select(&request.types)?)
        .hidden(!request.hidden)
        .parents(respected)
        .ignore(respected)
        .git_global(respected)
        .git_ignore(respected)
        .git_exclude(respected)
        .current_dir(folder(&request.root));
    if respected {
        builder.add_custom_ignore_filename(".rgignore");
    }
    let overrides = overrides(request)?;
    match globs {
        Globs::Override => {
            builder.overrides(overrides);
        }
        Globs::Narrow if overrides.is_empty() => {}
        Globs::Narrow => {
            builder.filter_entry(move |entry| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                entry.depth() == 0 || !overrides.matched(entry.path(), is_folder).is_ignore()
            });
        }
    }
    let gathered = Mutex::new(Vec::new());
    builder.build_parallel().visit(&mut Gatherer {
        keep: &keep,
        stop,
        gathered: &gathered,
    });
    if stop.is_stopped() {
        return Err(SearchError::Stopped);
    }
    let runs = gathered
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(runs.into_iter().flatten().collect())
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

struct Gatherer<'a, T, K> {
    keep: &'a K,
    stop: &'a Stop,
    gathered: &'a Mutex<Vec<Vec<T>>>,
}

impl<'a, T, K> ParallelVisitorBuilder<'a> for Gatherer<'a, T, K>
where
    T: Item,
    K: Fn(DirEntry) -> Option<T> + Sync,
{
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Visitor {
            keep: self.keep,
            stop: self.stop,
            gathered: self.gathered,
            run: Vec::new(),
        })
    }
}

struct Visitor<'a, T: Item, K> {
    keep: &'a K,
    stop: &'a Stop,
    gathered: &'a Mutex<Vec<Vec<T>>>,
    run: Vec<T>,
}

impl<T, K> ParallelVisitor for Visitor<'_, T, K>
where
    T: Item,
    K: Fn(DirEntry) -> Option<T> + Sync,
{
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.stop.is_stopped() {
            return WalkState::Quit;
        }
        // A folder that cannot be read is left out, as `--no-messages` does.
        if let Ok(entry) = entry
            && entry.file_type().is_some_and(|kind| kind.is_file())
        {
            self.run.extend((self.keep)(entry));
        }
        WalkState::Continue
    }
}

impl<T: Item, K> Drop for Visitor<'_, T, K> {
    fn drop(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        T::finish(&mut run);
        self.gathered
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(run);
    }
}
