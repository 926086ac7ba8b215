//! What a task has written: a file that keeps the newest part and never grows beyond its bound.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, MemfdFlags, flock, memfd_create};

/// Bytes of a file. A few of them at once must not fill a disk; a build's whole output fits.
const MOST_KEPT: u64 = 8 << 20;
/// What stays when a full file is cut: half, so that cutting is rare.
const KEPT_BY_A_CUT: u64 = MOST_KEPT / 2;
/// What one read hands over: not more than a result may have, or each read of a task that floods
/// would be kept a second time.
const MOST_AT_ONCE: u64 = 28_000;
const EXTENSION: &str = "txt";

/// The output of one task. The file goes with it.
pub(super) struct Output {
    file: File,
    /// None where the session keeps no files.
    path: Option<PathBuf>,
    /// Bytes of our own at the start of the file: how much is missing there.
    note: u64,
    /// The first byte that is kept, of all that were ever written.
    start: u64,
    /// All that were ever written.
    end: u64,
    /// What has been read of them.
    read: u64,
}

impl Output {
    /// A private file in a folder, which is made if it is not there; without a folder it is kept
    /// in memory.
    pub(super) fn new(folder: Option<&Path>, id: &str) -> io::Result<Self> {
        let (file, path) = match folder {
            Some(folder) => {
                let (file, path) = create(folder, id)?;
                (file, Some(path))
            }
            None => (memfd_create(id, MemfdFlags::CLOEXEC)?.into(), None),
        };
        Ok(Self {
            file,
            path,
            note: 0,
            start: 0,
            end: 0,
            read: 0,
        })
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// All that was ever written.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    /// Adds to the end. What a full disk does not take is lost, which the next read says.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.write(bytes).is_err() {
            self.end += bytes.len() as u64;
            self.start = self.end;
            self.note = 0;
            // Even this may fail on a disk that is gone; then nothing can be read either.
            let _ = self.file.set_len(0);
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let size = bytes.len() as u64;
        if self.note + (self.end - self.start) + size > MOST_KEPT {
            self.cut()?;
        }
        self.file
            .write_all_at(bytes, self.note + (self.end - self.start))?;
        self.end += size;
        Ok(())
    }

    /// Drops the oldest part.
    fn cut(&mut self) -> io::Result<()> {
        let start = self.end.saturating_sub(KEPT_BY_A_CUT).max(self.start);
        let kept = self.kept(start, self.end)?;
        let note = format!("[{start} bytes before this were dropped]\n");
        self.file.write_all_at(note.as_bytes(), 0)?;
        self.note = note.len() as u64;
        self.file.write_all_at(&kept, self.note)?;
        self.file.set_len(self.note + kept.len() as u64)?;
        self.start = start;
        Ok(())
    }

    fn kept(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to - from).map_err(io::Error::other)?];
        self.file
            .read_exact_at(&mut bytes, self.note + (from - self.start))?;
        Ok(bytes)
    }

    /// Everything so far counts as read.
    pub(super) fn is_known(&mut self) {
        self.read = self.end;
    }

    /// What was written since the last time, the newest part of it if it is much. Of a task that
    /// goes on, half a letter at the end waits for its other half.
    pub(super) fn take(&mut self, goes_on: bool) -> Vec<u8> {
        let from = self
            .read
            .max(self.start)
            .max(self.end.saturating_sub(MOST_AT_ONCE));
        let mut bytes = match self.kept(from, self.end) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.read = self.end;
                return format!("[its output cannot be read: {error}]\n").into_bytes();
            }
        };
        let skipped = from - self.read;
        self.read = self.end;
        if goes_on {
            let half = half_a_letter(&bytes);
            bytes.truncate(bytes.len() - half);
            self.read -= half as u64;
        }
        if skipped == 0 {
            return bytes;
        }
        let where_ = match &self.path {
            Some(path) if self.start < from => {
                format!("are not shown; {} has the newest", path.display())
            }
            Some(_) | None => "were dropped".into(),
        };
        let mut all = format!("[{skipped} bytes before this {where_}]\n").into_bytes();
        all.extend(bytes);
        all
    }

    /// Takes the file away. What is open stays readable here.
    pub(super) fn remove(&mut self) {
        if let Some(path) = self.path.take() {
            // Somebody may have been faster.
            let _ = std::fs::remove_file(&path);
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A file that nobody else has, locked for as long as its task lives.
fn create(folder: &Path, id: &str) -> io::Result<(File, PathBuf)> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let random = u32::from_le_bytes(random);
    // Two programs may serve one session at once.
    let path = folder.join(format!("{id}-{random:08x}.{EXTENSION}"));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok((file, path))
}

/// Takes away what programs that were killed have left, in this session's folder and in those of
/// the others beside it: what somebody still writes is locked.
pub(super) fn sweep(folder: &Path) {
    let (Some(name), Some(sessions)) = (folder.file_name(), folder.ancestors().nth(2)) else {
        return;
    };
    let beside = std::fs::read_dir(sessions).into_iter().flatten().flatten();
    for folder in beside.map(|session| session.path().join(name)) {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in files.map(|file| file.path()) {
            let is_ours = path.extension().is_some_and(|found| found == EXTENSION);
            let left = is_ours
                && File::open(&path).is_ok_and(|file| {
                    flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
                });
            if left {
                let _ = std::fs::remove_file(&path);
            }
        }
        leave(&folder);
    }
}

/// Takes empty folders away. Those with something in them stay.
pub(super) fn leave(folder: &Path) {
    if std::fs::remove_dir(folder).is_ok()
        && let Some(session) = folder.parent()
    {
        let _ = std::fs::remove_dir(session);
    }
}

/// How many bytes at the end are the beginning of a letter in UTF-8.
fn half_a_letter(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    match std::str::from_utf8(tail) {
        Ok(_) => 0,
        // The tail may begin in the middle of a letter.
        Err(_) => {
            let Some(at) = tail.iter().rposition(|byte| byte & 0xC0 != 0x80) else {
                return 0;
            };
            let wanted = match tail[at] {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => return 0,
            };
            let there = tail.len() - at;
            if there < wanted { there } else { 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn in_folder(folder: &Path) -> Output {
        Output::new(Some(&folder.join("s-1/task-output")), "task_1").unwrap()
    }

    #[test]
    fn a_file_keeps_the_newest_and_never_grows_beyond_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        for mut output in [
            in_folder(folder.path()),
            Output::new(None, "task_1").unwrap(),
        ] {
            let mut written = 0_u64;
            for number in 0..3_000_u64 {
                let mut line = format!("line {number} ").into_bytes();
                line.resize(9_999, b'.');
                line.push(b'\n');
                output.add(&line);
                written += line.len() as u64;
                assert!(output.file.metadata().unwrap().len() <= MOST_KEPT);
            }
            assert_eq!(output.bytes(), written);
            let text = String::from_utf8(output.take(true)).unwrap();
            assert!(text.starts_with('['), "{}", &text[..80]);
            assert!(text.contains(" bytes before this "), "{}", &text[..80]);
            assert!(text.contains("line 2999 "));
            assert!(text.len() < 30_000);
            assert_eq!(output.take(true), b"");
            let mut whole = vec![0; 60];
            output.file.read_exact_at(&mut whole, 0).unwrap();
            let whole = String::from_utf8(whole).unwrap();
            assert!(
                whole.contains("bytes before this were dropped]\n"),
                "{whole}"
            );
        }
    }

    #[test]
    fn reads_go_on_where_the_last_one_ended_and_split_no_letter() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = in_folder(folder.path());
        output.add(b"a\xE2\x82");
        assert_eq!(output.take(true), b"a");
        output.add(b"\xACb\xF0\x9F");
        assert_eq!(output.take(true), "€b".as_bytes());
        assert_eq!(output.take(true), b"");
        // Nothing more comes: it is shown as it is.
        assert_eq!(output.take(false), b"\xF0\x9F");
        output.add(b"seen");
        output.is_known();
        output.add(b" new");
        assert_eq!(output.take(true), b" new");
    }

    #[test]
    fn the_file_is_private_and_goes_with_its_task() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = in_folder(folder.path());
        output.add(b"x");
        let path = output.path().unwrap().to_path_buf();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let above = path.parent().unwrap();
        let mode = std::fs::metadata(above).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(output);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_program_left_is_swept_and_what_somebody_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let live = in_folder(folder.path());
        let left = folder.path().join("s-2/task-output/task_1-00000000.txt");
        std::fs::create_dir_all(left.parent().unwrap()).unwrap();
        std::fs::write(&left, "old").unwrap();
        let other = folder.path().join("s-1/task-output/notes.md");
        std::fs::write(&other, "no task's").unwrap();
        sweep(&folder.path().join("s-3/task-output"));
        assert!(!left.exists());
        assert!(!folder.path().join("s-2").exists());
        assert!(live.path().unwrap().exists());
        assert!(other.exists());
    }
}
