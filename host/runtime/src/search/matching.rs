//! Searches files for a pattern.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::collect::{CountSink, LineSink};
use super::confine::Anchor;
use super::listing::{modified_ms, text};
use super::merge::{Found, Merge};
use super::notes::Notes;
use super::read::Reader;
use super::stoppable::Stoppable;
use super::walk::{Globs, Walk, walk};
use super::{
    Fence, Hit, Page, Pattern, Request, SearchError, Stop, Want, Window, default_threads, pattern,
};

/// Searches files for a pattern. Files that the fence denies are not opened;
/// binary files, and files that cannot be read, are left out. `threads` of 0
/// means as many as there are processors.
pub fn matches(
    request: &Request,
    pattern: &Pattern,
    want: Want,
    window: Window,
    threads: usize,
    fence: &dyn Fence,
    stop: &Stop,
) -> Result<Page, SearchError> {
    let matcher = Stoppable::new(pattern::matcher(pattern)?, stop.clone());
    let anchor = Anchor::open(request)?;
    let threads = if threads == 0 {
        default_threads()
    } else {
        threads
    };
    let notes = Notes::new(&request.root);
    let files = walk(Walk {
        request,
        globs: Globs::Override,
        threads,
        fence,
        notes: &notes,
        stop,
    })?;
    let merge = Merge::new(files.len(), want, window);
    let worker = || {
        let mut worker = Worker {
            // Clones share no scratch memory, so threads do not fight for it.
            reader: Reader::new(
                matcher.clone(),
                pattern::searcher(pattern, want),
                stop.clone(),
            ),
            matcher: &matcher,
            anchor: &anchor,
            fence,
            notes: &notes,
            merge: &merge,
            want,
            stop,
        };
        worker.run(&files);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(files.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    if stop.is_stopped() {
        return Err(SearchError::Stopped);
    }
    Ok(Page {
        notes: notes.sentences(),
        ..merge.into_page()
    })
}

struct Worker<'a> {
    reader: Reader,
    /// For telling apart matches that span lines.
    matcher: &'a Stoppable,
    anchor: &'a Anchor,
    fence: &'a dyn Fence,
    notes: &'a Notes,
    merge: &'a Merge,
    want: Want,
    stop: &'a Stop,
}

impl Worker<'_> {
    fn run(&mut self, files: &[PathBuf]) {
        while let Some(index) = self.merge.take(self.stop) {
            let found = files.get(index).and_then(|path| self.file(index, path));
            self.merge.hand_in(index, found);
        }
    }

    fn file(&mut self, index: usize, path: &Path) -> Option<Found> {
        if !self.fence.may_read(path) {
            return None;
        }
        let file = self.anchor.file(path)?;
        let metadata = file.metadata().ok().filter(|metadata| metadata.is_file())?;
        let hit = Hit {
            path: String::new(),
            modified_ms: 0,
            count: 0,
            lines: Vec::new(),
        };
        let mut found = match self.want {
            Want::Paths => self.counted(path, (&file, &metadata), true, hit)?,
            Want::Counts => self.counted(path, (&file, &metadata), false, hit)?,
            Want::Lines { .. } => {
                let mut sink = LineSink::new(index, self.merge, self.stop);
                // What was found before a file broke is still true.
                if let Err(error) = self.reader.search(&file, &metadata, &mut sink) {
                    self.note(path, &error);
                }
                if sink.kept.is_empty() && sink.skipped == 0 {
                    return None;
                }
                Found {
                    bytes: sink.bytes(),
                    skipped: sink.skipped,
                    lines: sink.kept,
                    hit,
                }
            }
        };
        found.hit.path = text(path);
        found.hit.modified_ms = modified_ms(&metadata);
        Some(found)
    }

    /// Says why a file was not searched, where a bound of the host is why.
    fn note(&self, path: &Path, error: &std::io::Error) {
        if error.kind() == std::io::ErrorKind::FileTooLarge {
            let note = "is larger than 64 MiB and was left out of this search across lines";
            self.notes.add(path, note);
        } else if error.to_string().contains("allocation limit") {
            let note = "has a line of more than 64 MiB and was not searched from there on";
            self.notes.add(path, note);
        }
    }

    fn counted(
        &mut self,
        path: &Path,
        (file, metadata): (&File, &std::fs::Metadata),
        first_only: bool,
        hit: Hit,
    ) -> Option<Found> {
        let mut sink = CountSink {
            matcher: self.matcher,
            first_only,
            spans_lines: self.reader.spans_lines(),
            stop: self.stop,
            count: 0,
        };
        if let Err(error) = self.reader.search(file, metadata, &mut sink) {
            self.note(path, &error);
            return None;
        }
        (sink.count > 0).then(|| Found {
            hit: Hit {
                count: sink.count,
                ..hit
            },
            lines: Vec::new(),
            skipped: 0,
            bytes: 0,
        })
    }
}
