//! What git reads back without a look: a command that may write to a repository puts nothing there that
//! git would not have written.

use std::path::Path;

use crate::world::{ALONE, KINDS, User, World, left_out};

#[test]
fn no_command_leaves_an_index_that_leads_out_of_the_work_tree() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "readback");
            world.fresh_project();
            let command = ["python3", "-c", include_str!("index.py")];
            let mut cage = world.cage(kind, "git", &[], &command);
            let output = cage.output().unwrap();
            let who = user.name();
            if output.status.code() == Some(99) {
                left_out(kind, user, String::from_utf8_lossy(&output.stderr).trim());
                continue;
            }
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said, "done\n", "{kind} {who}: {output:?}");
            // The control: the index that the last try found in its place is one that git reads.
            let list = world.outside(&["git", "ls-files"]).output().unwrap();
            assert_eq!(
                String::from_utf8_lossy(&list.stdout),
                "README\n",
                "{kind} {who}: {list:?}"
            );
            assert!(!world.project().join(".git/index.checked").exists());
        }
    }
}
