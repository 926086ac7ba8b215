//! Names are decided when they are opened: whatever other processes replace, make or rename, and
//! whatever modes folders have had, while commands run and between them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use crate::world::{ALONE, KINDS, User, World, left_out};

/// Tries to read each path that it is given, in every way that there is.
const READS: &str = r#"
import mmap, os, sys, time
project = os.environ["PROJECT"]
held = {path: os.open(path, os.O_PATH) for path in sys.argv[1:] if os.path.exists(path)}
open(project + "/ready", "w").close()
while not os.path.exists(project + "/go"):
    time.sleep(0.01)
def plainly(path):
    return os.read(os.open(path, os.O_RDONLY), 100)
def as_if_to_make_it(path):
    return os.read(os.open(path, os.O_RDONLY | os.O_CREAT), 100)
def to_write_it_too(path):
    return os.read(os.open(path, os.O_RDWR), 100)
def by_a_handle(path):
    return plainly("/proc/self/fd/%d" % os.open(path, os.O_PATH))
def by_an_old_handle(path):
    return plainly("/proc/self/fd/%d" % held[path])
def by_the_process(path):
    return plainly("/proc/self/cwd/" + path)
def by_the_thread(path):
    return plainly("/proc/thread-self/root" + os.path.join(project, path))
def by_a_link(path):
    os.symlink(os.path.join(project, path), "link")
    try:
        return plainly("link")
    finally:
        os.unlink("link")
def by_a_folder(path):
    folder = os.open(os.path.dirname(path) or ".", os.O_PATH)
    return os.read(os.open(os.path.basename(path), os.O_RDONLY, dir_fd=folder), 100)
def by_another_name(path):
    os.link(path, "another")
    return plainly("another")
def by_a_new_name(path):
    os.rename(path, "another")
    return plainly("another")
for path in sys.argv[1:]:
    for read in [plainly, as_if_to_make_it, to_write_it_too, by_a_handle, by_an_old_handle, by_the_process,
                 by_the_thread, by_a_link, by_a_folder, by_another_name, by_a_new_name]:
        try:
            print(path, read.__name__, read(path))
        except (OSError, KeyError):
            pass
"#;

fn start(world: &World, kind: &str, options: &[&str], command: &[&str]) -> Child {
    let mut cage = world.cage(kind, "workspace", options, command);
    let mut running = cage
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = world.project().join("ready");
    while !ready.exists() && running.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    running
}

fn finish(world: &World, running: Child) -> Output {
    fs::write(world.project().join("go"), "").unwrap();
    running.wait_with_output().unwrap()
}

/// Whether there was no cage of this kind, which is said.
fn is_left_out(kind: &str, user: User, output: &Output) -> bool {
    let is_it = output.status.code() == Some(99);
    if is_it {
        let why = String::from_utf8_lossy(&output.stderr);
        left_out(kind, user, why.trim());
    }
    is_it
}

/// An editor's save: another file, under the same name.
fn replace(world: &World, file: &Path, text: &str) {
    let beside = world.path("host-tmp").join("beside");
    fs::write(&beside, text).unwrap();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::rename(&beside, file).unwrap();
    world.own(file);
}

#[test]
fn a_closed_file_that_is_replaced_or_made_while_a_command_runs_stays_unreadable() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "reread");
            let project = world.project();
            fs::write(project.join(".env"), "SECRET").unwrap();
            fs::create_dir(project.join("keys")).unwrap();
            fs::write(project.join("keys/old"), "SECRET").unwrap();
            world.own(&project);
            let closed = [".env", "keys", "later.pem", "nested/later"];
            let closed = closed.map(|part| project.join(part).to_str().unwrap().to_owned());
            let mut options: Vec<&str> = closed
                .iter()
                .flat_map(|path| ["--deny-read", path])
                .collect();
            options.extend(["--deny-like", "**/*.key"]);
            let files = [
                ".env",
                "keys/old",
                "keys/new",
                "later.pem",
                "nested/later",
                "made/new.key",
            ];
            let mut command = vec!["python3", "-c", READS];
            command.extend(files);
            command.push("README");
            let running = start(&world, kind, &options, &command);
            for file in files {
                replace(&world, &project.join(file), "SECRET");
            }
            fs::rename(project.join("keys"), project.join("keys.old")).unwrap();
            fs::rename(project.join("keys.old"), project.join("keys")).unwrap();
            let output = finish(&world, running);
            if is_left_out(kind, user, &output) {
                continue;
            }
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(!said.contains("SECRET"), "{kind} {}: {said}", user.name());
            // What is not closed can be read in all these ways.
            let ways = said.matches("README").count();
            assert_eq!(ways, 11, "{kind} {}: {output:?}", user.name());
        }
    }
}

#[test]
fn a_closed_folder_that_is_replaced_cannot_be_listed() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let script =
        "touch ready; until test -e go; do sleep 0.01; done; ls keys; ls -a . && ls nested";
    // A degraded cage hides no names.
    for kind in &KINDS[..2] {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "relisted");
            let project = world.project();
            fs::create_dir(project.join("keys")).unwrap();
            world.own(&project);
            let keys = project.join("keys");
            let options = ["--deny-read", keys.to_str().unwrap()];
            let running = start(&world, kind, &options, &["bash", "-c", script]);
            fs::rename(&keys, world.path("host-tmp/keys")).unwrap();
            replace(&world, &keys.join("HIDDEN"), "");
            world.own(&keys);
            let output = finish(&world, running);
            if is_left_out(kind, user, &output) {
                continue;
            }
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(!said.contains("HIDDEN"), "{kind}: {said}");
            assert!(output.status.success(), "{kind}: {output:?}");
        }
    }
}

/// Tries to change each path that it is given without making a name.
const CHANGES: &str = r#"
import os, sys, time
project = os.environ["PROJECT"]
open(project + "/ready", "w").close()
while not os.path.exists(project + "/go"):
    time.sleep(0.01)
for path in sys.argv[1:]:
    for change in [lambda: open(path, "r+").write("evil"), lambda: os.truncate(path, 0), lambda: os.chmod(path, 0o777),
                   lambda: os.rename(path, "moved"), lambda: os.unlink(path)]:
        try:
            change()
            print(path, "was changed")
        except OSError:
            pass
"#;

#[test]
fn a_repository_that_is_made_while_a_command_runs_is_protected() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "new-repository");
            let files = ["libs/new/.git/config", "libs/new/.git/hooks/pre-commit"];
            let mut command = vec!["python3", "-c", CHANGES];
            command.extend(files);
            let running = start(&world, kind, &[], &command);
            for file in files {
                replace(&world, &world.project().join(file), "mine");
            }
            world.own(&world.project());
            let output = finish(&world, running);
            if is_left_out(kind, user, &output) {
                continue;
            }
            assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{kind}");
            assert!(output.status.success(), "{kind}: {output:?}");
            for file in files {
                let text = fs::read_to_string(world.project().join(file)).unwrap();
                assert_eq!(text, "mine", "{kind}: {file}");
            }
        }
    }
}

#[test]
fn reading_works_as_ever_where_something_is_closed() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let scripts = [
        "test \"$(echo a | cat /dev/stdin)\" = a",
        "test \"$(cat <(echo a) /dev/fd/3 3< <(echo b))\" = $'a\nb'",
        "grep -q bash /proc/self/cmdline /proc/$$/cmdline",
        "read -r name < /proc/self/comm && test \"$name\" = bash",
        "test \"$(ls /proc/thread-self/fd | head -n 1)\" = 0 && ls /proc/self/fd > /dev/null",
        "python3 -c 'import threading as t; x = t.Thread(target=lambda: open(\"/proc/thread-self/comm\").read()); x.start(); x.join()'",
        "cmp /proc/self/exe \"$(command -v cmp)\"",
        "head -c 4 /dev/urandom > x && test -s x && cat /dev/null x > y && cmp x y",
        "cat /proc/mounts /proc/meminfo /proc/net/dev /proc/self/status /sys/kernel/mm/transparent_hugepage/enabled > /dev/null",
        "mkfifo p && (sleep 0.1; echo late > p) & until test -p p; do sleep 0.01; done; test \"$(cat p)\" = late; wait",
        // Each waits for the other's opening, and writes nothing before it.
        "mkfifo a b; (exec 3> a 4< b; cat <&4 > out) & exec 3< a 4> b; echo hello >&4; exec 4>&-; wait; test \"$(cat out)\" = hello",
        "echo 'echo run' > run && chmod +x run && test \"$(./run)\" = run",
        "cp /bin/true ./copy && ./copy",
        "mkdir d && touch d/f && ln -s d l && test \"$(ls l/)\" = f && ln -s loop loop && ! cat loop",
        "test \"$(cat missing 2>&1)\" = 'cat: missing: No such file or directory'",
        "! cat README/x 2> /dev/null && ! cat README/ 2> /dev/null && test -n \"$(cat ./../project/README)\"",
        "flock lock echo held && flock README true",
        "timeout 0.2 cat /dev/zero > /dev/null; test $? = 124",
        "mkfifo t; timeout 0.2 cat t; test $? = 124",
        "exec 5< README; rm README; test \"$(cat /proc/self/fd/5)\" = 'read me'",
        "python3 -c 'import os, pty; pty.spawn([\"echo\", \"x\"])' < /dev/null",
        "! cat \"$PROJECT/closed\" 2> /dev/null; test -e closed",
        "ps -e > /dev/null 2>&1 || true; test -n \"$(cat /proc/1/stat)\" && ! cat /proc/1/environ 2> /dev/null",
    ];
    for kind in &KINDS[..2] {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "as-ever");
            for script in scripts {
                world.fresh_project();
                let closed = world.project().join("closed");
                fs::write(&closed, "SECRET").unwrap();
                world.own(&closed);
                let options = ["--deny-read", closed.to_str().unwrap()];
                let output = world.caged(kind, "workspace", &options, script);
                if is_left_out(kind, user, &output) {
                    break;
                }
                let who = user.name();
                assert!(
                    output.status.success(),
                    "{kind} {who}: {script}: {output:?}"
                );
            }
        }
    }
}

#[test]
fn nobody_reads_what_the_doorman_could() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    // The doorman is the parent of the command's first process.
    let script = "doorman=$(awk '/^PPid/ {print $2}' /proc/$$/status); sleep 5 & \
                  for path in mem environ maps fd fd/0 fd/3 fd/4 root/etc/passwd cwd exe auxv task/$doorman/mem task/$doorman/fd/3; do \
                  for way in /proc/$doorman/$path /proc/self/../$doorman/$path; do head -c 1 $way && echo \"open $way\"; ls $way/ && echo \"listed $way\"; done; done; \
                  head -c 1 /proc/$!/mem && echo open the memory of another; cd /proc/$doorman && head -c 1 mem environ && echo open from inside; kill $!; true";
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "doorman");
            let output = world.caged(kind, "workspace", &[], script);
            if is_left_out(kind, user, &output) {
                continue;
            }
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                !said.contains("open") && !said.contains("listed"),
                "{kind} {}: {said}",
                user.name()
            );
        }
    }
}

#[test]
fn modes_that_were_taken_away_and_given_back_open_nothing() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    // Between the commands, and while one runs: whoever owns a folder can change its mode.
    let steps = [
        ("chmod 000 nested keys", "chmod 700 nested keys"),
        (
            "chmod 311 nested keys; chmod 311 .",
            "chmod 755 . nested keys",
        ),
        ("chmod 444 nested keys", "chmod 700 nested keys"),
        ("chmod 000 nested/.git keys", "chmod 700 nested/.git keys"),
    ];
    let tries = "cat keys/a; python3 -c 'open(\"nested/.git/config\", \"r+\").write(\"evil\")'; \
                 echo evil > nested/.git/hooks/x; echo evil >> target/settings.json; mv nested moved; mv keys moved; rm -r keys; true";
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "modes");
            let project = world.project();
            for (take, give) in steps {
                let _ = fs::set_permissions(&project, fs::Permissions::from_mode(0o755));
                world.fresh_project();
                fs::create_dir(project.join("keys")).unwrap();
                fs::write(project.join("keys/a"), "SECRET").unwrap();
                // Where a protected name leads is as good as the name.
                fs::create_dir(project.join("target")).unwrap();
                fs::write(project.join("target/settings.json"), "mine").unwrap();
                std::os::unix::fs::symlink("../target", project.join("nested/.claude")).unwrap();
                world.own(&project);
                let key = project.join("keys/a");
                let options = ["--deny-read", key.to_str().unwrap()];
                world.outside(&["bash", "-c", take]).status().unwrap();
                let script = format!("{give}; {tries}");
                let output = world.caged(kind, "workspace", &options, &script);
                let who = user.name();
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(!said.contains("SECRET"), "{kind} {who} {take}: {said}");
                world.outside(&["bash", "-c", give]).status().unwrap();
                for (file, text) in [
                    ("nested/.git/config", "[core]"),
                    ("target/settings.json", "mine"),
                    ("keys/a", "SECRET"),
                ] {
                    let now = fs::read_to_string(project.join(file)).unwrap();
                    assert!(now.starts_with(text), "{kind} {who} {take}: {file}: {now}");
                }
                assert!(
                    !project.join("nested/.git/hooks/x").exists(),
                    "{kind} {who} {take}"
                );
            }
        }
    }
}

/// Closed to reading, and protected, while another process does what it wants with them.
const CLOSED: [&str; 6] = [
    ".env",
    "keys/a",
    "keys/deep/b",
    "nested/token",
    "later.pem",
    // By a pattern.
    "libs/x/new.key",
];
const PROTECTED: [&str; 6] = [
    ".mcp.json",
    ".vscode/tasks.json",
    "nested/.git/config",
    "nested/.git/hooks/pre-commit",
    "nested/.mcp.json",
    "libs/x/.git/config",
];

/// How many commands run in each cage: 500 in the long form.
fn rounds() -> usize {
    let wanted = std::env::var("TOOLBAY_CAGE_MANY");
    wanted.map_or(6, |wanted| wanted.parse().unwrap())
}

/// Every file of a project.
fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files_below(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

#[test]
fn nothing_opens_while_another_process_replaces_what_is_closed() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            soak(kind, user);
        }
    }
}

fn soak(kind: &str, user: User) {
    let world = World::new(Path::new("/tmp"), user, "soak");
    let stage = world.path("stage");
    fs::create_dir(&stage).unwrap();
    world.own(&stage);
    let trial = world.caged(kind, "workspace", &[], "true");
    if is_left_out(kind, user, &trial) {
        return;
    }
    let (closed, protected) = (CLOSED.join(","), PROTECTED.join(","));
    let script = include_str!("restless.py");
    let seed = std::process::id().to_string();
    let mut restless = world.outside(&["python3", "-c", script, &seed, &closed, &protected]);
    restless.env("STAGE", &stage).stdout(Stdio::piped());
    let restless = restless.spawn().unwrap();
    while !stage.join("begun").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut options = vec!["--deny-read".to_owned(), stage.to_str().unwrap().to_owned()];
    options.extend(["--deny-like".to_owned(), "**/*.key".to_owned()]);
    let named = CLOSED.iter().filter(|part| !part.ends_with(".key"));
    for part in named.chain(&["keys"]) {
        let path = world.project().join(part).to_str().unwrap().to_owned();
        options.extend(["--deny-read".to_owned(), path]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let (mut ran, mut refused) = (0, std::collections::BTreeMap::new());
    // What a cage is made of may go away while it is built: then nothing runs.
    for round in 0..10 * rounds() {
        if ran == rounds() {
            break;
        }
        let round = round.to_string();
        let script = include_str!("curious.py");
        let command = ["python3", "-c", script, &round, &closed, &protected, "0.15"];
        let mut cage = world.cage(kind, "workspace", &options, &command);
        // The project may be closed to everybody at this moment.
        let output = cage.current_dir("/").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!said.contains("read "), "{kind} {}: {said}", user.name());
        if said.contains("done") {
            ran += 1;
        } else {
            let why = String::from_utf8_lossy(&output.stderr);
            *refused.entry(why.trim().to_owned()).or_insert(0) += 1;
        }
    }
    fs::write(stage.join("stop"), "").unwrap();
    let output = restless.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{kind}");
    println!(
        "{kind} as {}: {ran} commands ran, refused: {refused:#?}",
        user.name()
    );
    assert_eq!(ran, rounds(), "{kind}: {refused:#?}");
    for file in files_below(&world.project()) {
        let inside = file.strip_prefix(world.project()).unwrap();
        let is_protected = PROTECTED.iter().any(|part| inside == Path::new(part))
            || inside
                .iter()
                .any(|part| part == ".git" || part == ".vscode");
        let text = fs::read(&file).unwrap_or_default();
        let is_evil = text.windows(4).any(|part| part == b"evil");
        assert!(!(is_protected && is_evil), "{kind}: {}", file.display());
        // A pattern holds wherever a folder was moved to.
        let is_closed = CLOSED.iter().any(|part| inside.starts_with(part))
            || inside.extension().is_some_and(|ending| ending == "key");
        let is_secret = text.windows(6).any(|part| part == b"SECRET");
        assert!(
            is_closed || !is_secret || file.is_symlink(),
            "{kind}: {}",
            file.display()
        );
    }
}
