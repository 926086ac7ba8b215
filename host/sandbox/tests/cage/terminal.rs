//! The user's terminal belongs to the user: no command reads keys from it, writes to it, or changes how it
//! works. Terminals that a command makes itself are its own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::world::{ALONE, KINDS, User, World, left_out};

/// Runs a program at a terminal where somebody types, and prints what it prints. The name of the terminal
/// takes the place of `TERMINAL` in the last argument; at the end, it tells whether its modes are the same.
const TYPING: &str = r#"
import os, pty, select, sys, termios, time
person, terminal = pty.openpty()
name = os.ttyname(terminal)
before = termios.tcgetattr(terminal)
child = os.fork()
if child == 0:
    os.close(person)
    os.login_tty(terminal) if hasattr(os, "login_tty") else login(terminal)
    words = sys.argv[1:-1] + [sys.argv[-1].replace("TERMINAL", name)]
    os.execv(words[0], words)
seen, until = b"", time.time() + 60
while time.time() < until:
    if select.select([person], [], [], 0.1)[0]:
        try:
            seen += os.read(person, 65536)
        except OSError:
            break
    if os.waitpid(child, os.WNOHANG)[0]:
        while select.select([person], [], [], 0.1)[0]:
            seen += os.read(person, 65536)
        break
    os.write(person, b"KEYS\n")
same = termios.tcgetattr(terminal)[:4] == before[:4]
print(seen.decode(errors="replace") + ("\nMODES SAME" if same else "\nMODES CHANGED"))
"#;

const LOGIN: &str = r#"
def login(terminal):
    import fcntl, os, termios
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for number in range(3):
        os.dup2(terminal, number)
"#;

/// Opens terminals of the host in every way that there is, reads them, and changes them.
const TAKES: &str = r#"
import os, sys, termios, time
READ, WRITE, BOTH = os.O_RDONLY, os.O_WRONLY, os.O_RDWR
def by_a_link(path, flags):
    os.symlink(path, "link")
    try:
        return os.open("link", flags)
    finally:
        os.unlink("link")
ways = {
    "plainly": os.open,
    "without waiting": lambda path, flags: os.open(path, flags | os.O_NONBLOCK),
    "not as its own": lambda path, flags: os.open(path, flags | os.O_NOCTTY),
    "as if to make it": lambda path, flags: os.open(path, flags | os.O_CREAT),
    "to cut it": lambda path, flags: os.open(path, flags | os.O_TRUNC),
    "by a link": by_a_link,
    "by a handle": lambda path, flags: os.open("/proc/self/fd/%d" % os.open(path, os.O_PATH), flags),
    "by a folder": lambda path, flags: os.open(os.path.basename(path), flags, dir_fd=os.open(os.path.dirname(path), READ)),
    "by the process": lambda path, flags: os.open("/proc/self/root" + path, flags),
}
paths = sys.argv[1:] + ["/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/vcs1", "/dev/kmsg", "/dev/loop0"]
for path in paths:
    for name, way in ways.items():
        for flags in (READ, WRITE, BOTH):
            try:
                file = way(path, flags)
            except OSError as error:
                continue
            print("OPENED", path, name, flags)
            try:
                modes = termios.tcgetattr(file)
                modes[3] &= ~termios.ECHO
                termios.tcsetattr(file, termios.TCSANOW, modes)
                os.set_blocking(file, False)
                time.sleep(0.3)
                print("GOT", os.read(file, 4))
            except (OSError, termios.error):
                pass
print("DONE")
"#;

/// What programs do with terminals that they make themselves.
const OWN: [&str; 5] = [
    "script -qec 'tty; test -t 0 && stty -echo && stty -a' /dev/null < /dev/null | grep -q /dev/pts/",
    "python3 -c 'import os, pty; assert pty.spawn([\"tty\"]) == 0' < /dev/null",
    "script -qec 'exec 3<> /dev/tty && echo to-the-terminal >&3' /dev/null < /dev/null | grep -q to-the-terminal",
    // As `expect` does: the other side is opened by its name, in a process that does not hold the first one.
    "python3 -c '
import os, pty
one, other = pty.openpty()
name = os.ttyname(other)
os.close(other)
child = os.fork()
if child == 0:
    os.close(one)
    os.setsid()
    os.write(os.open(name, os.O_RDWR), b\"x\\n\")
    os.close(os.open(name, os.O_RDONLY | os.O_NOCTTY))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert os.read(one, 10) == b\"x\\r\\n\"
'",
    "! stty -echo < /dev/tty 2> /dev/null && ! : < /dev/tty && ! : > /dev/tty && test -c /dev/tty",
];

fn at_a_terminal(cage: &Command) -> Command {
    let mut all = Command::new("/usr/bin/python3");
    all.args(["-c", &[LOGIN, TYPING].concat()]);
    all.arg(cage.get_program()).args(cage.get_args());
    all.stdin(Stdio::null());
    all
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn each(options: &[&str], test: impl Fn(&World, &str, User, &[&str]) -> Option<String>) {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let mut wrong = Vec::new();
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "terminal");
            let trial = world.caged(kind, "workspace", options, "true");
            if trial.status.code() == Some(99) {
                let why = String::from_utf8_lossy(&trial.stderr);
                left_out(kind, user, why.trim());
                continue;
            }
            if let Some(what) = test(&world, kind, user, options) {
                wrong.push(format!("{kind} as {} {options:?}: {what}", user.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn takes_nothing(world: &World, kind: &str, _: User, options: &[&str]) -> Option<String> {
    let script = "python3 -c \"$TAKES\" TERMINAL";
    let takes = format!("TAKES={TAKES}");
    let options = [options, &["--env", &takes]].concat();
    let cage = world.cage(kind, "workspace", &options, &["/bin/bash", "-c", script]);
    let seen = text(&world.run_as_its_user(at_a_terminal(&cage)));
    let is_fine = seen.contains("DONE") && seen.contains("MODES SAME");
    (!is_fine || seen.contains("OPENED")).then_some(seen)
}

#[test]
fn the_users_terminal_is_closed_to_commands() {
    each(&[], takes_nothing);
}

#[test]
fn the_users_terminal_is_closed_where_reading_is_judged() {
    each(&["--deny-like", "**/*.key"], takes_nothing);
}

#[test]
fn terminals_of_the_commands_own_work() {
    for options in [&[][..], &["--deny-like", "**/*.key"]] {
        each(options, |world, kind, _, options| {
            let wrong = OWN.iter().filter_map(|script| {
                let output = world.caged(kind, "workspace", options, script);
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                (!output.status.success()).then(|| format!("{script}: {}{told}", text(&output)))
            });
            let wrong: Vec<String> = wrong.collect();
            (!wrong.is_empty()).then(|| wrong.join("\n"))
        });
    }
}
