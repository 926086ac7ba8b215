//! What the processes of a cage use together: memory, and how many they are.
//!
//! Memory that processes share counts once. First it is estimated from above, by what each has in
//! memory; only where that is too much, each is asked what it shares with whom. What a shared
//! mapping holds and no process has mapped any more is not seen.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cage::plan::Walls;

/// How long processes are asked what they share. What is left then counts for each of them.
const PATIENCE: Duration = Duration::from_secs(1);
/// What the kernel calls memory that processes share by `mmap` without a file.
const SHARED_MAPPING: &str = "/dev/zero (deleted)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) bytes: u64,
    /// The part of it that needs no sum over what processes share.
    pub(crate) certain: u64,
    /// Their threads, each of which is one.
    pub(crate) tasks: u64,
}

/// What all processes use, the bytes beside theirs included. Where that is above the limit, parts of
/// what is shared are summed up. Who maps it meanwhile makes the parts of others smaller that were
/// read before: once is not enough to believe the sum.
pub(crate) fn in_use(walls: Walls, beside: u64, limit: u64) -> Usage {
    let folders = processes(walls);
    let all: Vec<(PathBuf, Resident)> = folders
        .into_iter()
        .filter_map(|folder| Some((resident(&folder)?, folder)))
        .map(|(resident, folder)| (folder, resident))
        .collect();
    let beside = beside + system_v(walls);
    let most: u64 = all.iter().map(|(_, one)| one.own + one.shared).sum();
    let mut bytes = beside + most;
    let mut certain = 0;
    if bytes > limit {
        let own: u64 = all.iter().map(|(_, one)| one.own).sum();
        let until = Instant::now() + PATIENCE;
        let shared = all
            .iter()
            .filter(|(_, one)| one.shared > 0)
            .map(|(folder, _)| shared(folder, until));
        bytes = beside + own + shared.sum::<u64>();
        certain = beside + own;
    }
    Usage {
        bytes,
        certain,
        tasks: all.iter().map(|(_, one)| one.threads).sum(),
    }
}

/// All below this process, where no namespace holds them.
pub(crate) fn descendants() -> Vec<libc::pid_t> {
    let mut found = Vec::new();
    let mut open = vec![std::process::id() as libc::pid_t];
    while let Some(parent) = open.pop() {
        for child in children(parent) {
            found.push(child);
            open.push(child);
        }
    }
    found
}

/// The kernel lists them by the thread that started them.
fn children(parent: libc::pid_t) -> Vec<libc::pid_t> {
    let threads = fs::read_dir(format!("/proc/{parent}/task"));
    let threads = threads.into_iter().flatten().filter_map(Result::ok);
    let lists = threads.filter_map(|one| fs::read_to_string(one.path().join("children")).ok());
    let children = |list: String| -> Vec<libc::pid_t> {
        let numbers = list.split_whitespace();
        numbers.filter_map(|one| one.parse().ok()).collect()
    };
    lists.flat_map(children).collect()
}

/// What processes have open, by device and number. `None` where one does not show it.
pub(crate) fn open_files(walls: Walls) -> Option<BTreeSet<(u64, u64)>> {
    let own = own_folder();
    let mut found = BTreeSet::new();
    for folder in processes(walls) {
        if folder == own {
            continue;
        }
        let files = match fs::read_dir(folder.join("fd")) {
            Ok(files) => files,
            // One that has ended has nothing open.
            Err(_) if !folder.exists() => continue,
            Err(_) => return None,
        };
        let files = files.filter_map(Result::ok);
        let files = files.filter_map(|file| fs::metadata(file.path()).ok());
        found.extend(files.map(|file| (file.dev(), file.ino())));
    }
    Some(found)
}

/// Whether a process of the cage holds the side of a terminal that made it: the terminal has this
/// number, and `maker` is what was opened to make it.
pub(crate) fn has_made_terminal(walls: Walls, maker: (u64, u64), number: u32) -> bool {
    let line = format!("tty-index:\t{number}");
    processes(walls).into_iter().any(|folder| {
        let files = fs::read_dir(folder.join("fd")).into_iter().flatten();
        files.filter_map(Result::ok).any(|file| {
            let found = fs::metadata(file.path());
            let is_one = found.is_ok_and(|found| (found.dev(), found.ino()) == maker);
            let about = || fs::read_to_string(folder.join("fdinfo").join(file.file_name()));
            is_one && about().is_ok_and(|about| about.lines().any(|one| one == line))
        })
    })
}

fn own_folder() -> PathBuf {
    PathBuf::from(format!("/proc/{}", std::process::id()))
}

fn processes(walls: Walls) -> Vec<PathBuf> {
    match walls {
        Walls::Namespaces | Walls::Bubblewrap => {
            let is_process = |entry: &fs::DirEntry| {
                let name = entry.file_name();
                name.to_str().is_some_and(|it| it.parse::<u32>().is_ok())
            };
            let all = fs::read_dir("/proc").into_iter().flatten();
            let all = all.filter_map(Result::ok).filter(is_process);
            all.map(|entry| entry.path()).collect()
        }
        Walls::Kernel => descendants()
            .into_iter()
            .map(|process| PathBuf::from(format!("/proc/{process}")))
            .collect(),
    }
}

/// What one process has in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Resident {
    own: u64,
    /// With other processes, or with files.
    shared: u64,
    threads: u64,
}

/// What a process has for itself, in the kernel's words: memory, what of it was moved to a disk, large
/// pages, and the tables by which the processor finds all this. Those of a gigabyte that was only looked at
/// take two megabytes, or more than it, where single pages lie far from each other.
const OWN: [&str; 5] = ["RssAnon:", "VmSwap:", "HugetlbPages:", "VmPTE:", "VmPMD:"];
const SHARED: [&str; 2] = ["RssFile:", "RssShmem:"];

fn resident(folder: &Path) -> Option<Resident> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let mut resident = resident_of(&status);
    // Threads of the doorman wait for the command's pipes.
    if *folder == own_folder() {
        resident.threads = 1;
    }
    Some(resident)
}

/// What has ended and was not waited for has no memory, and is still a process.
fn resident_of(status: &str) -> Resident {
    let sum = |names: &[&str]| {
        let of_line = |line| names.iter().find_map(|name| kilobytes(line, name));
        status.lines().filter_map(of_line).sum()
    };
    let threads = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:")?.trim().parse().ok());
    Resident {
        own: sum(&OWN),
        shared: sum(&SHARED),
        threads: threads.unwrap_or(1),
    }
}

/// The part of one process in what it shares by mappings without a file. The other memory that can
/// be shared is counted elsewhere: files in memory by their size, private folders by their bound.
fn shared(folder: &Path, until: Instant) -> u64 {
    let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
    let all = status.lines().find_map(|line| kilobytes(line, "RssShmem:"));
    let all = all.unwrap_or(0);
    if all == 0 || Instant::now() > until {
        return all;
    }
    match fs::read(folder.join("smaps")) {
        Ok(mappings) => parts(&String::from_utf8_lossy(&mappings)),
        Err(_) if !folder.exists() => 0,
        // It hides from us what it is: then all is its own.
        Err(_) => all,
    }
}

fn parts(mappings: &str) -> u64 {
    let mut is_shared = false;
    let mut sum = 0;
    for line in mappings.lines() {
        // Only the first line of a mapping begins with an address, which is no capital letter.
        if !line.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            is_shared = line.ends_with(SHARED_MAPPING);
        } else if is_shared {
            sum += kilobytes(line, "Pss:").unwrap_or(0);
        }
    }
    sum
}

fn kilobytes(line: &str, name: &str) -> Option<u64> {
    let value = line.strip_prefix(name)?.trim().strip_suffix(" kB")?;
    Some(value.parse::<u64>().ok()? * 1024)
}

/// System V memory, which lies there whether somebody has it mapped or not.
fn system_v(walls: Walls) -> u64 {
    match walls {
        Walls::Namespaces | Walls::Bubblewrap => {
            let list = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
            segments(&list)
        }
        // Refused, and the list is the host's.
        Walls::Kernel => 0,
    }
}

fn segments(list: &str) -> u64 {
    let mut lines = list.lines();
    let names: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let column = |name| names.iter().position(|one| *one == name);
    let columns: Vec<usize> = ["rss", "swap"].into_iter().filter_map(column).collect();
    let bytes = |line: &str| -> u64 {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let values = columns
            .iter()
            .filter_map(|at| fields.get(*at)?.parse::<u64>().ok());
        values.sum()
    };
    lines.map(bytes).sum()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_has_for_itself_is_all_that_nobody_else_has() {
        let status = "\
Name:\tx VmPTE:\t 9 kB
VmPeak:\t  900000 kB
VmRSS:\t     600 kB
RssAnon:\t     100 kB
RssFile:\t     300 kB
RssShmem:\t     200 kB
VmData:\t  800000 kB
VmPTE:\t    5000 kB
VmPMD:\t       4 kB
VmSwap:\t      50 kB
HugetlbPages:\t    2048 kB
Threads:\t12
";
        let wanted = Resident {
            own: (100 + 5000 + 4 + 50 + 2048) * 1024,
            shared: 500 * 1024,
            threads: 12,
        };
        assert_eq!(resident_of(status), wanted);
        let ended = Resident {
            threads: 1,
            ..Resident::default()
        };
        assert_eq!(
            resident_of("Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n"),
            ended
        );
    }

    #[test]
    fn children_of_all_threads_are_found() {
        let (told, hears) = std::sync::mpsc::channel::<()>();
        let (started, child) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            #[allow(clippy::disallowed_methods)]
            let sleep = std::process::Command::new("sleep").arg("60").spawn();
            let mut sleep = sleep.expect("a program that waits");
            started.send(sleep.id()).expect("somebody listens");
            let _ = hears.recv();
            let _ = sleep.kill();
            let _ = sleep.wait();
        });
        let child = child.recv().expect("a child") as libc::pid_t;
        let found = descendants().contains(&child);
        drop(told);
        thread.join().expect("no panic");
        assert!(found);
    }

    #[test]
    fn only_shared_mappings_without_a_file_count() {
        let mappings = "\
7f00-7f10 rw-s 00000000 00:01 7                /dev/zero (deleted)
Size:               1024 kB
Rss:                 800 kB
Pss:                 200 kB
Pss_Dirty:           200 kB
7f20-7f30 rw-s 00000000 00:01 8                /memfd:x (deleted)
Pss:                5000 kB
ff00-ff10 rw-p 00000000 00:00 0
Pss:                6000 kB
7f40-7f50 rw-s 00000000 00:01 9                /dev/zero (deleted)
Pss:                   8 kB
VmFlags: rd wr
";
        assert_eq!(parts(mappings), 208 * 1024);
        assert_eq!(parts(""), 0);
    }

    #[test]
    fn segments_are_summed_by_the_names_of_their_columns() {
        let list = " key shmid perms size rss swap\n 0 1 600 99 4096 0\n 0 2 600 99 8192 4096\n";
        assert_eq!(segments(list), 16384);
        assert_eq!(segments(""), 0);
    }
}
