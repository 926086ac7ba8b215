//! All memory of a cage counts, once, whatever it is and whoever holds it.

use std::path::Path;
use std::process::Output;
use std::sync::Mutex;

use crate::world::{ALONE, KINDS, User, World, left_out};

const NO_CAGE: i32 = 99;

/// What the scripts share.
const BEGIN: &str = r#"
import ctypes, mmap, os, socket, time
MB = 1 << 20
libc = ctypes.CDLL(None, use_errno=True)
def fill(file, size):
    for _ in range(size):
        os.write(file, b"x" * MB)
def touch(memory, first, last):
    for at in range(first * MB, last * MB, 4096):
        memory[at] = 1
def hidden(keep):
    global kept
    kept = []
    for _ in range(6):
        file = os.memfd_create("x")
        fill(file, 50)
        kept.append(keep(file))
        os.close(file)
def sent(file):
    ends = socket.socketpair()
    socket.send_fds(ends[0], [b"x"], [file])
    return ends
def again(flags):
    return lambda file: os.open("/proc/self/fd/%d" % file, flags)
def fork(many, work):
    for number in range(many):
        if os.fork() == 0:
            work(number)
            wait()
            os._exit(0)
def segment(size):
    key = libc.shmget(0, size * MB, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    place = libc.shmat(key, None, 0)
    assert key >= 0 and place not in (None, 2**64 - 1)
    libc.shmctl(key, 0, None)
    return (ctypes.c_char * (size * MB)).from_address(place)
"#;

/// A name, whether it needs System V memory, and what it does.
type Script = (&'static str, Needs, &'static str);

#[derive(PartialEq)]
enum Needs {
    Nothing,
    SystemV,
}

/// 300 MB each.
const TOO_MUCH: [Script; 13] = [
    (
        "private, by children of a second thread",
        Needs::Nothing,
        "import threading; threading.Thread(target=lambda: (fork(3, lambda n: globals().update(x=bytearray(b'x' * (100 * MB)))), wait())).start()",
    ),
    // One page of each two megabytes is looked at, and takes a page of tables.
    (
        "tables for pages that are empty",
        Needs::Nothing,
        "m = [mmap.mmap(-1, 16 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ) for _ in range(10)]; \
         [m[n // 8192][n % 8192 << 21] for n in range(81920)]",
    ),
    (
        "private",
        Needs::Nothing,
        "fork(3, lambda n: globals().update(x=bytearray(b'x' * (100 * MB))))",
    ),
    (
        "private and shared",
        Needs::Nothing,
        "x = bytearray(150 * MB); touch(x, 0, 150); m = mmap.mmap(-1, 150 * MB); touch(m, 0, 150)",
    ),
    (
        "a file in memory, written",
        Needs::Nothing,
        "fill(os.memfd_create('x'), 300)",
    ),
    (
        "a file in memory, mapped",
        Needs::Nothing,
        "f = os.memfd_create('x'); os.ftruncate(f, 300 * MB); m = mmap.mmap(f, 300 * MB); touch(m, 0, 300)",
    ),
    (
        "files in memory, each closed with one page mapped",
        Needs::Nothing,
        "hidden(lambda f: mmap.mmap(f, 4096))",
    ),
    (
        "files in memory on their way through a socket",
        Needs::Nothing,
        "hidden(sent)",
    ),
    (
        "files in memory that are open for reading alone",
        Needs::Nothing,
        "hidden(again(os.O_RDONLY))",
    ),
    (
        "files in memory that only handles keep",
        Needs::Nothing,
        "hidden(again(os.O_PATH))",
    ),
    (
        "a shared mapping",
        Needs::Nothing,
        "m = mmap.mmap(-1, 300 * MB); touch(m, 0, 300)",
    ),
    (
        "a shared mapping, filled by four",
        Needs::Nothing,
        "m = mmap.mmap(-1, 300 * MB); fork(4, lambda n: touch(m, n * 75, n * 75 + 75))",
    ),
    (
        "System V memory",
        Needs::SystemV,
        "m = segment(300); ctypes.memset(m, 1, 300 * MB)",
    ),
];

/// 100 MB each, by ten processes.
const SHARED: [Script; 4] = [
    (
        "a shared mapping",
        Needs::Nothing,
        "m = mmap.mmap(-1, 100 * MB); fork(10, lambda n: touch(m, 0, 100))",
    ),
    (
        "a file in memory",
        Needs::Nothing,
        "f = os.memfd_create('x'); os.ftruncate(f, 100 * MB); m = mmap.mmap(f, 100 * MB); \
         fork(10, lambda n: touch(m, 0, 100))",
    ),
    (
        "System V memory",
        Needs::SystemV,
        "m = segment(100); fork(10, lambda n: ctypes.memset(m, 1, 100 * MB))",
    ),
    (
        "files in memory, one after the other",
        Needs::Nothing,
        "exec('for _ in range(20):\\n f = os.memfd_create(\"x\"); fill(f, 50); os.close(f); time.sleep(0.05)')",
    ),
];

fn ran(world: &World, kind: &str, limit: &str, wait: &str, script: &str) -> Output {
    let wait = format!("def wait():\n    {wait}\n");
    let script = format!("{BEGIN}{wait}{script}\nwait()\n");
    let command = ["python3", "-c", &script];
    let options = ["--memory", limit];
    world
        .cage(kind, "workspace", &options, &command)
        .output()
        .unwrap()
}

/// Runs a test in each kind of cage that can be had, as each user.
fn in_every_cage(test: impl Fn(&World, &str, User)) {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for user in User::all() {
        let world = World::new(Path::new("/tmp"), user, "memory");
        for kind in KINDS {
            let trial = world.caged(kind, "workspace", &[], "true");
            if trial.status.code() == Some(NO_CAGE) {
                let why = String::from_utf8_lossy(&trial.stderr);
                left_out(kind, user, why.trim());
                continue;
            }
            test(&world, kind, user);
        }
    }
}

#[test]
fn all_memory_of_a_cage_counts() {
    let missed = Mutex::new(Vec::new());
    in_every_cage(|world, kind, user| {
        for (name, needs, script) in TOO_MUCH {
            let ended = ran(world, kind, "200000000", "time.sleep(60)", script);
            let told = String::from_utf8_lossy(&ended.stderr);
            let is_refused = kind == "degraded" && needs == Needs::SystemV;
            let wanted = if is_refused {
                "AssertionError"
            } else {
                "cage: OutOfMemory"
            };
            if !told.contains(wanted) {
                let what = format!("{kind}, {}, {name}: {told}", user.name());
                missed.lock().unwrap().push(what);
            }
        }
    });
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn threads_and_children_of_threads_count_as_processes() {
    const MANY: [&str; 2] = [
        "import threading\nfor _ in range(80): threading.Thread(target=time.sleep, args=(5,)).start()",
        "import threading\nthreading.Thread(target=lambda: (fork(80, lambda n: None), wait())).start()",
    ];
    in_every_cage(|world, kind, user| {
        for script in MANY {
            let script = format!("{BEGIN}def wait(): time.sleep(5)\n{script}\nwait()\n");
            let command = ["python3", "-c", &script];
            let options = ["--processes", "50"];
            let ended = world.cage(kind, "workspace", &options, &command).output();
            let ended = ended.unwrap();
            let told = String::from_utf8_lossy(&ended.stderr);
            // Of an ordinary user in namespaces of its own, the kernel counts.
            let is_refused = ["Resource temporarily unavailable", "can't start new thread"];
            let is_bounded =
                told.contains("TooManyProcesses") || is_refused.iter().any(|it| told.contains(it));
            assert!(is_bounded, "{kind}, {}, {script}: {told}", user.name());
        }
    });
}

#[test]
fn shared_memory_counts_once() {
    in_every_cage(|world, kind, user| {
        for (name, needs, script) in SHARED {
            if kind == "degraded" && needs == Needs::SystemV {
                continue;
            }
            // Long enough to be counted a few times.
            let ended = ran(world, kind, "300000000", "time.sleep(1)", script);
            assert!(
                ended.status.success(),
                "{kind}, {}, {name}: {ended:?}",
                user.name()
            );
        }
    });
}

#[test]
fn a_command_goes_first_when_the_machine_has_no_memory_left() {
    in_every_cage(|world, kind, user| {
        let ended = world.caged(kind, "workspace", &[], "cat /proc/self/oom_score_adj");
        let told = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(told.trim(), "1000", "{kind}, {}", user.name());
    });
}
