//! A fence, a resource table and an audit log: what a guest's call works on.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use toolbay_contract::{Audit, AuditEvent, RulesNow};
use toolbay_policy::{Closed, PathRules, Zone, Zones};
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, DescriptorFlags, ErrorCode, HostDescriptor as _, HostDirectoryEntryStream as _,
    OpenFlags, PathFlags,
};

use super::super::{Fence, FilesystemView};
use super::folder::TestFolder;

pub(super) type Handle = Resource<types::Descriptor>;

/// Keeps what was refused.
#[derive(Default)]
pub(super) struct Recorder(Mutex<Vec<AuditEvent>>);

impl Audit for Recorder {
    fn note(&self, event: AuditEvent) {
        self.0.lock().unwrap().push(event);
    }
}

impl Recorder {
    pub(super) fn take(&self) -> Vec<AuditEvent> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// One call on a test folder.
pub(super) struct Session<'a> {
    folder: &'a TestFolder,
    pub(super) fence: Fence,
    pub(super) table: ResourceTable,
    recorder: Arc<Recorder>,
}

impl<'a> Session<'a> {
    /// May read the project but for `docs/secret`, and write inside `docs` and the file
    /// `new.txt`.
    pub(super) fn writing(folder: &'a TestFolder) -> Self {
        let zones = vec![
            Zone::Folder(folder.at("project/docs")),
            Zone::File(folder.at("project/new.txt")),
        ];
        Self::with(folder, zones, vec![folder.at("project/docs/secret")])
    }

    /// May read the project, and write nothing.
    pub(super) fn reading(folder: &'a TestFolder) -> Self {
        Self::with(folder, Vec::new(), Vec::new())
    }

    pub(super) fn with(folder: &'a TestFolder, zones: Vec<Zone>, unreadable: Vec<PathBuf>) -> Self {
        let closed = Closed {
            unreadable,
            ..Closed::default()
        };
        let rules = RulesNow::fixed(Arc::new(PathRules::default().and_closed(&closed)));
        let fence =
            Fence::reading(Arc::from([folder.project()]), rules).with_zones(Zones::new(zones));
        Self::over(folder, fence)
    }

    pub(super) fn over(folder: &'a TestFolder, fence: Fence) -> Self {
        let recorder = Arc::new(Recorder::default());
        Self {
            folder,
            fence: fence.reporting(recorder.clone(), "tool".into(), "call-1".into()),
            table: ResourceTable::new(),
            recorder,
        }
    }

    pub(super) fn view(&mut self) -> FilesystemView<'_> {
        FilesystemView {
            fence: &self.fence,
            table: &mut self.table,
        }
    }

    /// The handle of the preopened folder at this place among all.
    pub(super) fn preopen(&mut self, index: usize) -> Handle {
        self.view().get_directories().unwrap().remove(index).0
    }

    pub(super) fn root(&mut self) -> Handle {
        self.preopen(0)
    }

    /// Opens a path of the project.
    pub(super) fn open(
        &mut self,
        path: &str,
        path_flags: PathFlags,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Handle, ErrorCode> {
        let root = self.root();
        let mut view = self.view();
        let opening = view.open_at(root, path_flags, path.into(), open_flags, flags);
        code(at_once(opening))
    }

    pub(super) fn open_to_read(&mut self, path: &str) -> Result<Handle, ErrorCode> {
        let follow = PathFlags::SYMLINK_FOLLOW;
        self.open(path, follow, OpenFlags::empty(), DescriptorFlags::READ)
    }

    pub(super) fn open_to_write(&mut self, path: &str) -> Result<Handle, ErrorCode> {
        let follow = PathFlags::SYMLINK_FOLLOW;
        let flags = DescriptorFlags::READ | DescriptorFlags::WRITE;
        self.open(path, follow, OpenFlags::empty(), flags)
    }

    /// The content of a path of the project.
    pub(super) fn content(&mut self, path: &str) -> Result<String, ErrorCode> {
        let handle = self.open_to_read(path)?;
        let (bytes, _) = code(at_once(self.view().read(handle, 1 << 20, 0)))?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    /// The names in a folder, sorted.
    pub(super) fn names(&mut self, folder: Handle) -> Result<Vec<String>, ErrorCode> {
        let stream = code(at_once(self.view().read_directory(folder)))?;
        let mut names = Vec::new();
        loop {
            let stream = Resource::new_borrow(stream.rep());
            match code(at_once(self.view().read_directory_entry(stream)))? {
                Some(entry) => names.push(entry.name),
                None => break,
            }
        }
        names.sort();
        Ok(names)
    }

    /// What was refused since the last look: power and path.
    pub(super) fn refused(&self) -> Vec<(String, String)> {
        let events = self.recorder.take().into_iter();
        let told = events.map(|event| match event {
            AuditEvent::PowerRefused {
                plugin,
                call_id,
                power,
                path,
                detail,
            } => {
                assert_eq!((&*plugin, &*call_id), ("tool", "call-1"));
                assert!(!detail.is_empty(), "{power} {path:?}");
                (power, self.folder.name(&path.unwrap()))
            }
            other => panic!("unexpected event: {other:?}"),
        });
        told.collect()
    }
}

/// The same handle once more.
pub(super) fn again(handle: &Handle) -> Handle {
    Resource::new_borrow(handle.rep())
}

pub(super) fn code<T>(result: Result<T, FsError>) -> Result<T, ErrorCode> {
    result.map_err(|error| error.downcast().unwrap())
}

/// What a future yields that never waits: files are read and written on the calling thread.
pub(super) fn at_once<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for something"),
    }
}
