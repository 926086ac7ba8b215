//! Where an open file really lies.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// The path of an open file, as the kernel knows it. A file that has none any
/// more (it was removed) is an error: nobody can say what rule covers it.
#[cfg(target_os = "linux")]
pub(crate) fn path_of(file: impl AsFd) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;

    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let path = std::fs::read_link(link)?;
    if path.is_absolute() && !path.to_string_lossy().ends_with(" (deleted)") {
        Ok(path)
    } else {
        Err(io::Error::from(io::ErrorKind::NotFound))
    }
}

#[cfg(target_vendor = "apple")]
pub(crate) fn path_of(file: impl AsFd) -> io::Result<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let path = rustix::fs::getpath(file)?;
    Ok(PathBuf::from(OsString::from_vec(path.into_bytes())))
}
