//! Reading a path that this program did not make.
//!
//! A repository or a user's folder may hold anything under the name of a file: a named pipe that
//! nobody writes to would stop whoever opens it for ever, a device has no end. So such a path is
//! opened without waiting, is refused unless it is a regular file, and has a limit.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading. Anything else is an error that says so.
pub fn open(path: &Path) -> Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    Ok(file)
}

/// The whole of a regular file of at most so many bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = || {
        let text = format!("it is larger than {most} bytes");
        Error::new(ErrorKind::FileTooLarge, text)
    };
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // It may have grown since.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large());
    }
    Ok(bytes)
}

/// The same as text.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// The beginning of an opened file, at most so many bytes, and whether there is more of it.
pub fn start_of(file: &File, most: u64) -> Result<(Vec<u8>, bool)> {
    let size = file.metadata()?.len().min(most);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let is_more = bytes.len() as u64 > most;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok((bytes, is_more))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "1234").unwrap();
        std::fs::write(path("bytes"), b"\xff").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let sparse = File::create(path("sparse")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        for (name, wanted) in [
            ("file", Ok("1234")),
            ("link", Ok("1234")),
            ("pipe", Err("not a regular file")),
            (".", Err("not a regular file")),
            ("sparse", Err("larger than 4 bytes")),
            ("bytes", Err("not UTF-8")),
            ("none", Err("No such file")),
            ("/dev/zero", Err("not a regular file")),
        ] {
            match (read_text(&path(name), 4), wanted) {
                (Ok(text), Ok(wanted)) => assert_eq!(text, wanted, "{name}"),
                (Err(error), Err(part)) => {
                    assert!(error.to_string().contains(part), "{name}: {error}");
                }
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
        assert!(read(&path("file"), 3).is_err());
        for (name, most, wanted) in [("file", 4, ("1234", false)), ("file", 3, ("123", true))] {
            let (bytes, is_more) = start_of(&open(&path(name)).unwrap(), most).unwrap();
            assert_eq!(
                (&*bytes, is_more),
                (wanted.0.as_bytes(), wanted.1),
                "{name}"
            );
        }
        let (bytes, is_more) = start_of(&open(&path("sparse")).unwrap(), 9).unwrap();
        assert_eq!((bytes.len(), is_more), (9, true));
    }
}
