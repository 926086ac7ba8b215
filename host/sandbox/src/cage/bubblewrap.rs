//! The walls of a cage in bubblewrap's words, for machines that give namespaces to that
//! program and not to us.

use std::path::Path;

use super::plan::{Step, Text};
use crate::helper::{ASKED, INSIDE};

/// Where the helper lies inside, whatever private folder covers it.
const HELPER: &str = "/dev/.toolbay-cage-helper";

const SHARED_MEMORY: &str = "/dev/shm";

fn private(all: &mut Vec<Text>, at: &Text, bytes: u64) {
    all.extend(["--perms".into(), "1777".into()]);
    all.extend(["--size".into(), Text::from(&bytes.to_string())]);
    all.extend(["--tmpfs".into(), at.clone()]);
}

/// What to start: bubblewrap, its options, and the helper behind them.
pub(super) fn command(program: &Path, helper: &Path, steps: &[Step], temporary: u64) -> Vec<Text> {
    let mut all: Vec<Text> = vec![program.into()];
    all.extend(
        [
            "--unshare-all",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--ro-bind",
        ]
        .map(Text::from),
    );
    all.extend([helper.into(), HELPER.into()]);
    private(&mut all, &SHARED_MEMORY.into(), temporary);
    for step in steps {
        match step {
            Step::Private { at, bytes } => private(&mut all, at, *bytes),
            Step::Writable(path) => all.extend(["--bind".into(), path.clone(), path.clone()]),
            // It cannot forbid programs in a mount; the doorman does.
            Step::ReadOnly(path) | Step::Data(path) => {
                // What went away since it was found needs no cover.
                all.extend(["--ro-bind-try".into(), path.clone(), path.clone()])
            }
            Step::Hidden(path) if path.path().is_dir() => {
                all.extend([
                    "--perms".into(),
                    "000".into(),
                    "--tmpfs".into(),
                    path.clone(),
                ]);
                all.extend(["--remount-ro".into(), path.clone()]);
            }
            Step::Hidden(path) => {
                all.extend(["--ro-bind".into(), "/dev/null".into(), path.clone()]);
            }
        }
    }
    // Last: nothing below is put into these any more.
    for sealed in ["/proc", "/dev"] {
        all.extend(["--remount-ro".into(), sealed.into()]);
    }
    all.extend(["--", HELPER, ASKED, INSIDE].map(Text::from));
    all
}
