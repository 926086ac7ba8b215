//! The interfaces `wasi:filesystem/types` and `wasi:filesystem/preopens`.
//!
//! The bindings name the stock descriptor type; ours sits in the same table slot
//! under its number, which is why handles are re-typed at the door.

use std::os::unix::fs::FileExt;

use cap_std::fs::DirEntry;
use types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime::component::{Resource, ResourceTableError};
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError};

use super::FilesystemView;
use super::change::{self, parent_of};
use super::descriptor::{Descriptor, OpenFile, OpenFolder};
use super::fence::Wish;
use super::open::{open_at, preopen};
use super::real::path_of;
use super::stat::{
    file_type, metadata_at, metadata_hash, metadata_hash_at, real_path, set_link_times, stat,
    time_spec,
};
use super::streams::{FileReader, FileWriter, Place, read_at};

type Handle = Resource<types::Descriptor>;
type Entries = Resource<types::DirectoryEntryStream>;
type FsResult<T> = Result<T, FsError>;

/// A folder being listed. Names are read from it as the guest reads them: a guest may hold many
/// listings, and a folder may have more names than fit into memory.
struct Listing {
    entries: cap_std::fs::ReadDir,
}

impl FilesystemView<'_> {
    fn get(&self, handle: &Handle) -> FsResult<&Descriptor> {
        Ok(self
            .table
            .get(&Resource::<Descriptor>::new_borrow(handle.rep()))?)
    }

    fn push(&mut self, descriptor: Descriptor) -> FsResult<Handle> {
        let ours = self.keep(descriptor)?;
        Ok(Resource::new_own(ours.rep()))
    }

    /// Gives the guest a handle. One too many is an error like any other, so that a
    /// tool can close some.
    fn keep<T: Send + 'static>(&mut self, what: T) -> FsResult<Resource<T>> {
        self.table.push(what).map_err(|error| match error {
            ResourceTableError::Full => ErrorCode::InsufficientMemory.into(),
            error => error.into(),
        })
    }

    fn file(&self, handle: &Handle) -> FsResult<&OpenFile> {
        self.get(handle)?.file()
    }

    fn folder(&self, handle: &Handle) -> FsResult<&OpenFolder> {
        self.get(handle)?.folder()
    }

    fn metadata(&self, handle: &Handle) -> FsResult<cap_std::fs::Metadata> {
        Ok(match self.get(handle)? {
            Descriptor::File(file) => {
                cap_std::fs::Metadata::from_just_metadata(file.file.metadata()?)
            }
            Descriptor::Folder(folder) => folder.dir.dir_metadata()?,
        })
    }
}

impl preopens::Host for FilesystemView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Handle, String)>> {
        let mut all = Vec::new();
        for path in self.fence.preopens() {
            // A root that vanished is simply not there.
            let Ok(folder) = preopen(&path) else { continue };
            let name = path.to_string_lossy().into_owned();
            let ours = self.table.push(Descriptor::Folder(folder))?;
            all.push((Resource::new_own(ours.rep()), name));
        }
        Ok(all)
    }
}

impl types::Host for FilesystemView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        let error = self.table.get(&error)?;
        Ok(error.downcast_ref::<std::io::Error>().map(ErrorCode::from))
    }
}

impl types::HostDescriptor for FilesystemView<'_> {
    fn read_via_stream(
        &mut self,
        handle: Handle,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        let open = self.file(&handle)?;
        open.readable()?;
        let stream: DynInputStream = Box::new(FileReader {
            file: open.file.clone(),
            position: offset,
        });
        self.keep(stream)
    }

    fn write_via_stream(
        &mut self,
        handle: Handle,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        let open = self.file(&handle)?;
        open.writable()?;
        let stream: DynOutputStream = Box::new(FileWriter {
            file: open.file.clone(),
            place: Place::At(offset),
        });
        self.keep(stream)
    }

    fn append_via_stream(&mut self, handle: Handle) -> FsResult<Resource<DynOutputStream>> {
        let open = self.file(&handle)?;
        open.writable()?;
        let stream: DynOutputStream = Box::new(FileWriter {
            file: open.file.clone(),
            place: Place::End,
        });
        self.keep(stream)
    }

    async fn advise(
        &mut self,
        handle: Handle,
        _offset: Filesize,
        _length: Filesize,
        _advice: Advice,
    ) -> FsResult<()> {
        // Advice is a hint; taking none is within the contract.
        self.file(&handle).map(|_| ())
    }

    async fn sync_data(&mut self, handle: Handle) -> FsResult<()> {
        match self.get(&handle)? {
            Descriptor::File(file) if file.write => Ok(file.file.sync_data()?),
            Descriptor::File(_) | Descriptor::Folder(_) => Ok(()),
        }
    }

    async fn sync(&mut self, handle: Handle) -> FsResult<()> {
        match self.get(&handle)? {
            Descriptor::File(file) if file.write => Ok(file.file.sync_all()?),
            Descriptor::File(_) | Descriptor::Folder(_) => Ok(()),
        }
    }

    async fn get_flags(&mut self, handle: Handle) -> FsResult<DescriptorFlags> {
        let when = |condition: bool, flag: DescriptorFlags| {
            if condition {
                flag
            } else {
                DescriptorFlags::empty()
            }
        };
        let flags = match self.get(&handle)? {
            Descriptor::File(file) => {
                when(file.read, DescriptorFlags::READ) | when(file.write, DescriptorFlags::WRITE)
            }
            Descriptor::Folder(_) => {
                DescriptorFlags::READ
                    | when(
                        !self.fence.is_read_only(),
                        DescriptorFlags::MUTATE_DIRECTORY,
                    )
            }
        };
        Ok(flags)
    }

    async fn get_type(&mut self, handle: Handle) -> FsResult<DescriptorType> {
        Ok(match self.get(&handle)? {
            Descriptor::File(_) => DescriptorType::RegularFile,
            Descriptor::Folder(_) => DescriptorType::Directory,
        })
    }

    async fn set_size(&mut self, handle: Handle, size: Filesize) -> FsResult<()> {
        Ok(self.file(&handle)?.writable()?.set_len(size)?)
    }

    async fn set_times(
        &mut self,
        handle: Handle,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let path = match self.get(&handle)? {
            Descriptor::File(file) => path_of(&*file.file)?,
            Descriptor::Folder(folder) => path_of(&*folder.dir)?,
        };
        self.fence.check(&path, Wish::Write, "set-times")?;
        let file = match self.get(&handle)? {
            Descriptor::File(file) => file.file.try_clone()?,
            // The folder's own handle only marks a place; times need an open one.
            Descriptor::Folder(folder) => folder.dir.open(".")?.into_std(),
        };
        set_times(&file, accessed, modified)
    }

    async fn read(
        &mut self,
        handle: Handle,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        let file = self.file(&handle)?.readable()?;
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = read_at(file, wanted, offset)?;
        let at_end = bytes.is_empty() && wanted > 0;
        Ok((bytes, at_end))
    }

    async fn write(
        &mut self,
        handle: Handle,
        bytes: Vec<u8>,
        offset: Filesize,
    ) -> FsResult<Filesize> {
        let file = self.file(&handle)?.writable()?;
        Ok(file.write_at(&bytes, offset)? as Filesize)
    }

    async fn read_directory(&mut self, handle: Handle) -> FsResult<Entries> {
        let folder = self.folder(&handle)?;
        // Where it lies now: somebody may have moved it since it was opened.
        let path = path_of(&*folder.dir)?;
        self.fence.check(&path, Wish::Read, "read-directory")?;
        let entries = folder.dir.entries()?;
        let ours = self.keep(Listing { entries })?;
        Ok(Resource::new_own(ours.rep()))
    }

    async fn create_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        change::create_directory(self.fence, self.folder(&handle)?, &path)
    }

    async fn stat(&mut self, handle: Handle) -> FsResult<DescriptorStat> {
        Ok(stat(&self.metadata(&handle)?))
    }

    async fn stat_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        let folder = self.folder(&handle)?;
        Ok(stat(&metadata_at(
            self.fence, folder, &path, follow, "stat",
        )?))
    }

    async fn set_times_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        let folder = self.folder(&handle)?;
        let real = real_path(folder, &path, follow)?;
        self.fence.check(&real, Wish::Write, "set-times")?;
        if !follow && set_link_times(folder, &path, accessed, modified)? {
            return Ok(());
        }
        // Through an opened handle, whose own place is checked again.
        let opened = open_at(
            self.fence,
            folder,
            &path,
            flags,
            OpenFlags::empty(),
            DescriptorFlags::READ,
        )?;
        let ours = self.push(opened)?;
        let done = self
            .set_times(Resource::new_borrow(ours.rep()), accessed, modified)
            .await;
        self.drop(ours).map_err(FsError::trap)?;
        done
    }

    async fn link_at(
        &mut self,
        from: Handle,
        flags: PathFlags,
        from_path: String,
        to: Handle,
        to_path: String,
    ) -> FsResult<()> {
        if flags.contains(PathFlags::SYMLINK_FOLLOW) {
            return Err(ErrorCode::Invalid.into());
        }
        change::hard_link(
            self.fence,
            self.folder(&from)?,
            &from_path,
            self.folder(&to)?,
            &to_path,
        )
    }

    async fn open_at(
        &mut self,
        handle: Handle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Handle> {
        let folder = self.folder(&handle)?;
        let opened = open_at(self.fence, folder, &path, path_flags, open_flags, flags)?;
        self.push(opened)
    }

    async fn readlink_at(&mut self, handle: Handle, path: String) -> FsResult<String> {
        let folder = self.folder(&handle)?;
        let (parent, name) = parent_of(folder, &path)?;
        self.fence
            .check(&parent.path.join(&name), Wish::Read, "readlink")?;
        let target = parent.dir.read_link(&name)?;
        target
            .into_os_string()
            .into_string()
            .map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    async fn remove_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        change::remove_directory(self.fence, self.folder(&handle)?, &path)
    }

    async fn rename_at(
        &mut self,
        from: Handle,
        from_path: String,
        to: Handle,
        to_path: String,
    ) -> FsResult<()> {
        change::rename(
            self.fence,
            self.folder(&from)?,
            &from_path,
            self.folder(&to)?,
            &to_path,
        )
    }

    async fn symlink_at(&mut self, handle: Handle, target: String, path: String) -> FsResult<()> {
        change::symlink(self.fence, self.folder(&handle)?, &target, &path)
    }

    async fn unlink_file_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        change::unlink(self.fence, self.folder(&handle)?, &path)
    }

    async fn is_same_object(&mut self, a: Handle, b: Handle) -> wasmtime::Result<bool> {
        use cap_std::fs::MetadataExt;

        let identity = |handle: &Handle| {
            self.metadata(handle)
                .ok()
                .map(|metadata| (metadata.dev(), metadata.ino()))
        };
        Ok(identity(&a).is_some() && identity(&a) == identity(&b))
    }

    async fn metadata_hash(&mut self, handle: Handle) -> FsResult<MetadataHashValue> {
        Ok(metadata_hash(&self.metadata(&handle)?))
    }

    async fn metadata_hash_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        let folder = self.folder(&handle)?;
        metadata_hash_at(self.fence, folder, &path, follow)
    }

    fn drop(&mut self, handle: Handle) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<Descriptor>::new_own(handle.rep()))?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for FilesystemView<'_> {
    async fn read_directory_entry(&mut self, stream: Entries) -> FsResult<Option<DirectoryEntry>> {
        let listing = self
            .table
            .get_mut(&Resource::<Listing>::new_borrow(stream.rep()))?;
        listing.entries.next().map(described).transpose()
    }

    fn drop(&mut self, stream: Entries) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<Listing>::new_own(stream.rep()))?;
        Ok(())
    }
}

fn described(entry: std::io::Result<DirEntry>) -> FsResult<DirectoryEntry> {
    let entry = entry?;
    Ok(DirectoryEntry {
        type_: file_type(entry.file_type()?),
        name: entry
            .file_name()
            .into_string()
            .map_err(|_| ErrorCode::IllegalByteSequence)?,
    })
}

fn set_times(file: &std::fs::File, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
    let mut times = std::fs::FileTimes::new();
    if let Some(at) = time_spec(accessed)? {
        times = times.set_accessed(at);
    }
    if let Some(at) = time_spec(modified)? {
        times = times.set_modified(at);
    }
    Ok(file.set_times(times)?)
}
