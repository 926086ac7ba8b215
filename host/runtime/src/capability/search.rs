//! `toolbay:host/search`: native walking and matching, behind the call's fence.

use std::path::Path;
use std::sync::Arc;

use toolbay_contract::{HostFailure, KillSwitch};

use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::search as wire;
use crate::filesystem::{Fence, Located};
use crate::search::{self, Request, SearchError, Stop};
use crate::state::State;

/// Most bytes of one answer, whatever the guest asks for.
const MAX_ANSWER: usize = 8 << 20;

/// The engine asks the call's fence before it opens anything.
struct Passing(Arc<Fence>);

impl search::Fence for Passing {
    fn may_read(&self, path: &Path) -> bool {
        self.0.may_read(path)
    }
}

/// What the searches of one call did not do in full, in sentences.
#[derive(Default)]
pub(crate) struct SearchNotes(Vec<String>);

impl SearchNotes {
    /// More than a result has room for.
    const MOST: usize = 16;

    fn add(&mut self, notes: Result<&[String], &HostFailure>) {
        for note in notes.unwrap_or_default() {
            if self.0.len() < Self::MOST && !self.0.contains(note) {
                self.0.push(note.clone());
            }
        }
    }
}

/// Ends the native search when the guest that waits for it is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl State {
    fn request(&self, scope: wire::Scope) -> Result<Request, HostFailure> {
        self.acting("search")?;
        let located =
            Located::find(&self.fence, &self.absolute(&scope.root)).map_err(HostFailure::Denied)?;
        let (root, base) = located.real(&self.fence).map_err(HostFailure::Failed)?;
        Ok(Request {
            root,
            base,
            globs: scope.globs,
            types: scope.types,
            hidden: scope.hidden,
            ignored: scope.ignored,
        })
    }
}

/// Runs a search on a thread that may block, and leaves it behind as soon as the
/// call is ended.
async fn searching<T: Send + 'static>(
    fence: Arc<Fence>,
    kill: KillSwitch,
    work: impl FnOnce(&Passing, &Stop) -> Result<T, SearchError> + Send + 'static,
) -> Result<T, HostFailure> {
    let stop = Stop::default();
    let _stop_on_drop = StopOnDrop(stop.clone());
    let running = tokio::task::spawn_blocking(move || work(&Passing(fence), &stop));
    super::unless_killed(kill, async {
        match running.await {
            Ok(done) => done.map_err(failure),
            Err(error) => Err(HostFailure::Failed(format!("the search broke: {error}"))),
        }
    })
    .await
}

fn failure(error: SearchError) -> HostFailure {
    match error {
        SearchError::Stopped => HostFailure::Cancelled,
        SearchError::Outside(_) => HostFailure::Denied(error.to_string()),
        SearchError::BadPattern(_)
        | SearchError::BadGlob { .. }
        | SearchError::UnknownType { .. }
        | SearchError::NotFound(_)
        | SearchError::TooManyFiles(_)
        | SearchError::Io { .. } => HostFailure::Failed(error.to_string()),
    }
}

impl wire::Host for State {
    async fn files(
        &mut self,
        scope: wire::Scope,
        order: wire::Order,
        limit: u32,
    ) -> wasmtime::Result<Result<wire::Listing, HostError>> {
        let request = match self.request(scope) {
            Ok(request) => request,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let order = match order {
            wire::Order::Path => search::Order::Path,
            wire::Order::Newest => search::Order::Newest,
        };
        let (fence, kill) = (self.fence.clone(), self.kill.clone());
        let listing = searching(fence, kill, move |fence, stop| {
            search::files(&request, order, limit as usize, fence, stop)
        })
        .await;
        self.search_notes
            .add(listing.as_ref().map(|listing| &*listing.notes));
        Ok(listing
            .map(|listing| wire::Listing {
                entries: listing
                    .entries
                    .into_iter()
                    .map(|entry| wire::Entry {
                        path: entry.path,
                        modified_ms: entry.modified_ms,
                        size: entry.size,
                    })
                    .collect(),
                total: listing.total,
                truncated: listing.truncated,
            })
            .map_err(Into::into))
    }

    async fn matches(
        &mut self,
        scope: wire::Scope,
        pattern: wire::Pattern,
        want: wire::Want,
        window: wire::Window,
    ) -> wasmtime::Result<Result<wire::Page, HostError>> {
        let request = match self.request(scope) {
            Ok(request) => request,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let pattern = search::Pattern {
            regex: pattern.regex,
            ignore_case: pattern.ignore_case,
            multiline: pattern.multiline,
        };
        let want = match want {
            wire::Want::Paths => search::Want::Paths,
            wire::Want::Counts => search::Want::Counts,
            wire::Want::Lines(around) => search::Want::Lines {
                before: around.before as usize,
                after: around.after as usize,
            },
        };
        let window = search::Window {
            skip: window.skip,
            limit: window.limit,
            max_bytes: (window.max_bytes as usize).min(MAX_ANSWER),
        };
        let (fence, kill) = (self.fence.clone(), self.kill.clone());
        let page = searching(fence, kill, move |fence, stop| {
            let threads = search::default_threads();
            search::matches(&request, &pattern, want, window, threads, fence, stop)
        })
        .await;
        self.search_notes
            .add(page.as_ref().map(|page| &*page.notes));
        Ok(page.map(page_to_wire).map_err(Into::into))
    }

    fn left_out(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self.search_notes.0.clone())
    }

    fn type_names(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(search::type_names())
    }
}

fn page_to_wire(page: search::Page) -> wire::Page {
    wire::Page {
        hits: page
            .hits
            .into_iter()
            .map(|hit| wire::Hit {
                path: hit.path,
                modified_ms: hit.modified_ms,
                count: hit.count,
                lines: hit
                    .lines
                    .into_iter()
                    .map(|line| wire::Line {
                        number: line.number,
                        text: line.text,
                        is_match: line.is_match,
                    })
                    .collect(),
            })
            .collect(),
        truncated: page.truncated,
    }
}
