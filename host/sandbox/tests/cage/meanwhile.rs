//! What other processes of the host change while a command runs is held to the same rules.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::world::{ALONE, KINDS, User, World, left_out};

/// Tries all that changes a file without making a name: mounts cover what was there at first.
const CHANGES: &str = r#"
import os, sys, time
project = os.environ["PROJECT"]
open(project + "/ready", "w").close()
while not os.path.exists(project + "/go"):
    time.sleep(0.01)
def rewrite(path):
    with open(path, "r+") as file:
        file.write("evil")
def through_number(path):
    with open(path) as file, open("/proc/self/fd/%d" % file.fileno(), "r+") as again:
        again.write("evil")
for path in sys.argv[1:]:
    for change in [rewrite, through_number, lambda path: os.truncate(path, 0),
                   lambda path: os.rename(path, "moved"), os.unlink]:
        try:
            change(path)
        except OSError:
            continue
        print(path, "was changed")
"#;

#[test]
fn a_protected_file_that_is_replaced_while_a_command_runs_stays_protected() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "replaced");
            let project = world.project();
            fs::write(project.join(".mcp.json"), "mine").unwrap();
            world.own(&project);
            let files = [
                ".mcp.json",
                ".GitHub/ci.yml",
                "new/.VSCode/tasks.json",
                "plain",
            ];
            let mut command = vec!["python3", "-c", CHANGES];
            command.extend(files);
            let mut cage = world.cage(kind, "workspace", &[], &command);
            let running = cage.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut running = running.spawn().unwrap();
            while !project.join("ready").exists() && running.try_wait().unwrap().is_none() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            for file in files {
                let beside = world.path("host-tmp").join("beside");
                fs::write(&beside, "mine").unwrap();
                fs::create_dir_all(project.join(file).parent().unwrap()).unwrap();
                fs::rename(&beside, project.join(file)).unwrap();
            }
            world.own(&project);
            fs::write(project.join("go"), "").unwrap();
            let output = running.wait_with_output().unwrap();
            if output.status.code() == Some(99) {
                let why = String::from_utf8_lossy(&output.stderr);
                left_out(kind, user, why.trim());
                continue;
            }
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                said.matches("plain was changed").count(),
                4,
                "{kind}: {output:?}"
            );
            assert_eq!(said.lines().count(), 4, "{kind}: {said}");
            for file in &files[..3] {
                let text = fs::read_to_string(project.join(file)).unwrap();
                assert_eq!(text, "mine", "{kind}: {file}");
            }
        }
    }
}

#[test]
fn settings_of_ci_are_open_to_git_alone() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let script = "mkdir -p sub/.github/workflows && echo x > sub/.github/workflows/ci.yml \
                  && echo x > .github/old.yml && echo x > .gitlab-ci.yml && mv .github .g && mv .g .github";
    for kind in KINDS {
        for (profile, works) in [("workspace", false), ("git", true)] {
            let world = World::new(Path::new("/tmp"), User::This, "ci");
            fs::create_dir(world.path("project/.github")).unwrap();
            let output = world.caged(kind, profile, &[], script);
            if output.status.code() == Some(99) {
                let why = String::from_utf8_lossy(&output.stderr);
                left_out(kind, User::This, why.trim());
                continue;
            }
            assert_eq!(
                output.status.success(),
                works,
                "{kind} {profile}: {output:?}"
            );
            for script in [
                "mkdir .github/.vscode",
                "echo x > .husky",
                "echo x > .git/config",
            ] {
                let output = world.caged(kind, profile, &[], script);
                assert!(!output.status.success(), "{kind} {profile}: {script}");
            }
        }
    }
}

#[test]
fn what_is_open_can_be_opened_again_by_its_number() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let script = "echo a > /dev/stdout && (echo b > /dev/fd/3) 3>> log && (echo c >> /dev/stderr) 2>> log \
                  && test \"$(cat log)\" = $'b\nc' && ln -s \"$PROJECT/log\" /tmp/l && echo d >> /tmp/l \
                  && python3 -c 'import os; os.write(os.open(\".\", os.O_TMPFILE | os.O_RDWR), b\"x\")' \
                  && mkfifo p && (sleep 0.1; cat p > q) & sleep 0.01; cd \"$PROJECT\"; \
                  for i in 1 2 3; do test -p p || sleep 0.1; done; echo e > p; wait; test \"$(cat q)\" = e";
    for user in User::all() {
        let world = World::new(Path::new("/tmp"), user, "numbers");
        let output = world.caged("namespaces", "workspace", &[], script);
        assert!(output.status.success(), "{output:?}");
    }
}
