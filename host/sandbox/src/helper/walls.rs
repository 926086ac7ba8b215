//! Builds the walls of a cage that this program makes itself: identity, network, mounts.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::While;
use super::doors::{self, Door};
use crate::cage::plan::{Plan, Step};
use crate::kernel::mount::{self, Use};
use crate::kernel::{c_text, open, process, socket};

/// Files of `/dev` that everyday programs use and that lead nowhere.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// Kept beside the devices: an empty file and folder that lie over what is hidden.
const NO_FILE: &str = "/dev/.no-file";
const NO_FOLDER: &str = "/dev/.no-folder";

/// The first steps in new namespaces, which need no plan. `identity` is who this was before.
pub(crate) fn settle(identity: (u32, u32)) -> Result<(), String> {
    process::die_with_parent().during("tying the cage to its parent")?;
    keep_identity(identity)?;
    // When memory runs out, this and its children go first. A kernel without such a choice
    // chooses by itself.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    socket::loopback_up().during("switching the loopback device on")
}

/// Keeps the caller's own user and group, and no other, inside the new user namespace.
/// Must be told before anything else: until then the process is nobody.
fn keep_identity((user, group): (u32, u32)) -> Result<(), String> {
    fs::write("/proc/self/setgroups", "deny").during("fixing the groups")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).during("mapping the user")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).during("mapping the group")
}

/// All that the command will see, in place of what there was; and the doors in it.
pub(crate) fn build(plan: &Plan) -> Result<Vec<Door>, String> {
    process::separate_mounts().during("making a mount namespace")?;
    mount::make_all_private().during("making mounts private")?;
    // Copies are made while the host's paths still mean what the host meant.
    let copies: Vec<Option<OwnedFd>> = plan
        .steps
        .iter()
        .map(copy_for)
        .collect::<Result<_, String>>()?;
    let doors = doors::open_all(plan)?;
    let devices = DEVICES
        .iter()
        .map(|name| restricted(&Path::new("/dev").join(name), Use::Device))
        .collect::<Result<Vec<_>, String>>()?;
    enter_read_only_root()?;
    processes(plan.limits.processes)?;
    devices_of_our_own(&devices, plan.limits.temporary)?;
    let none = (
        restricted(Path::new(NO_FILE), Use::Read)?,
        restricted(Path::new(NO_FOLDER), Use::Read)?,
    );
    for (step, copy) in plan.steps.iter().zip(copies) {
        apply(step, copy, &none).map_err(|error| format!("{}: {error}", describe(step)))?;
    }
    Ok(doors)
}

fn copy_for(step: &Step) -> Result<Option<OwnedFd>, String> {
    match step {
        Step::Writable(path) => {
            let what = || format!("copying the mount of {}", path.path().display());
            // A link that was put on the way since must not lead elsewhere.
            let place = c_text(path.path()).and_then(|path| open::fixed(&path));
            let place = place.during(what())?;
            let copy = mount::copy_held(place.as_fd()).during(what())?;
            mount::restrict(copy.as_fd(), Use::Write).during(what())?;
            Ok(Some(copy))
        }
        // It went away since it was found: there is nothing to cover, and the doorman decides what
        // takes its place.
        Step::ReadOnly(path) if is_gone(path.path()) => Ok(None),
        Step::ReadOnly(path) => restricted(path.path(), Use::Read).map(Some),
        Step::Data(path) => restricted(path.path(), Use::Data).map(Some),
        Step::Private { .. } | Step::Hidden(_) => Ok(None),
    }
}

fn is_gone(path: &Path) -> bool {
    let found = fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn restricted(path: &Path, what_for: Use) -> Result<OwnedFd, String> {
    let copy = mount::copy(path).during(format!("copying the mount of {}", path.display()))?;
    mount::restrict(copy.as_fd(), what_for)
        .during(format!("restricting the mount of {}", path.display()))?;
    Ok(copy)
}

fn enter_read_only_root() -> Result<(), String> {
    // Any folder will do: it is covered only for a moment and only for us.
    let stage = ["/tmp", "/mnt", "/usr", "/etc"]
        .map(Path::new)
        .into_iter()
        .find(|folder| folder.is_dir())
        .ok_or("there is no folder to build the new root on")?;
    let root = restricted(Path::new("/"), Use::Read)?;
    mount::attach(root.as_fd(), stage).during("placing the new root")?;
    let inside = crate::kernel::c_text(stage).during("placing the new root")?;
    process::change_folder(&inside).during("entering the new root")?;
    mount::become_root().during("becoming the new root")
}

/// Processes of the cage alone; and none of their files can be written, which closes
/// `/proc/sys` to a user with the number 0 as well.
fn processes(most: u64) -> Result<(), String> {
    let proc = Path::new("/proc");
    mount::processes(proc).during("mounting /proc")?;
    // The kernel counts processes of a user, but never those of user 0; since Linux 6.14 it
    // can bound the numbers in a namespace instead. The first 300 are never given twice.
    // Where it cannot, the guard counts.
    if process::user_and_group().0 == 0 {
        let _ = fs::write("/proc/sys/kernel/pid_max", (most + 300).to_string());
    }
    let extra = libc::MS_NODEV | libc::MS_NOEXEC;
    mount::seal(proc, extra).during("sealing /proc")
}

fn devices_of_our_own(devices: &[OwnedFd], bytes: u64) -> Result<(), String> {
    let make = || -> io::Result<()> {
        let dev = Path::new("/dev");
        mount::memory(dev, "755", 64 << 10, 64)?;
        for (name, device) in DEVICES.iter().zip(devices) {
            let place = dev.join(name);
            fs::write(&place, "")?;
            mount::attach(device.as_fd(), &place)?;
        }
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ] {
            symlink(target, dev.join(name))?;
        }
        fs::create_dir(dev.join("pts"))?;
        mount::terminals(&dev.join("pts"))?;
        fs::create_dir(dev.join("shm"))?;
        mount::memory(&dev.join("shm"), "1777", bytes, 1 << 16)?;
        fs::write(NO_FILE, "")?;
        fs::set_permissions(NO_FILE, fs::Permissions::from_mode(0o0))?;
        fs::create_dir(NO_FOLDER)?;
        fs::set_permissions(NO_FOLDER, fs::Permissions::from_mode(0o0))?;
        mount::seal(dev, 0)
    };
    make().during("making /dev")
}

fn apply(step: &Step, copy: Option<OwnedFd>, none: &(OwnedFd, OwnedFd)) -> io::Result<()> {
    match (step, copy) {
        (Step::Private { at, bytes }, _) => mount::memory(at.path(), "1777", *bytes, 1 << 20),
        (Step::Writable(path), Some(copy)) => {
            make_place(path.path(), &copy)?;
            let place = open::fixed(&c_text(path.path())?)?;
            mount::attach_held(copy.as_fd(), place.as_fd())
        }
        (Step::ReadOnly(_), None) => Ok(()),
        (Step::ReadOnly(path) | Step::Data(path), Some(copy)) => {
            // The same between the copy and now, where nothing can be made in its place.
            match make_place(path.path(), &copy) {
                Err(_) if is_gone(path.path()) => return Ok(()),
                made => made?,
            }
            match mount::attach(copy.as_fd(), path.path()) {
                Err(_) if is_gone(path.path()) => Ok(()),
                attached => attached,
            }
        }
        (Step::Hidden(path), _) => {
            let found = match fs::symlink_metadata(path.path()) {
                Ok(found) => found,
                // It lies where the cage has a private folder, or was never there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            };
            let cover = if found.is_dir() { &none.1 } else { &none.0 };
            let cover = mount::copy_open(cover.as_fd())?;
            mount::attach(cover.as_fd(), path.path())
        }
        (Step::Writable(_) | Step::Data(_), None) => {
            Err(io::Error::other("no copy was made of it"))
        }
    }
}

/// What is shown inside a private folder needs a place there first. Anywhere else it exists,
/// and if not, the root is read-only and this fails.
fn make_place(path: &Path, copy: &OwnedFd) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    let is_folder = fs::File::from(copy.try_clone()?).metadata()?.is_dir();
    if is_folder {
        return fs::create_dir_all(path);
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, "")
}

fn describe(step: &Step) -> String {
    let (what, path) = match step {
        Step::Private { at, .. } => ("making a private folder at", at),
        Step::Writable(path) => ("showing, to be written,", path),
        Step::ReadOnly(path) | Step::Data(path) => ("showing, to be read,", path),
        Step::Hidden(path) => ("hiding", path),
    };
    format!("{what} {}", path.path().display())
}
