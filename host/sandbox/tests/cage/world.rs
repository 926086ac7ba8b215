//! What a command in a cage finds around it: a project, a home with secrets, services that
//! listen, a process of the host; and one way to run commands there.

use std::ffi::OsString;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use toolbay_sandbox::ProtectedNames;

use crate::shared::SharedObjects;

/// The number of an ordinary user that owns nothing on any system.
const NOBODY: u32 = 65534;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// Whoever runs the tests.
    This,
    /// An ordinary user; only root can become one.
    Ordinary,
}

impl User {
    /// The users that these tests can be.
    pub fn all() -> Vec<Self> {
        if is_root() {
            vec![Self::This, Self::Ordinary]
        } else {
            not_run("cages of other users (needs root)");
            vec![Self::This]
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::This if is_root() => "root",
            Self::This | Self::Ordinary => "ordinary user",
        }
    }
}

pub fn is_root() -> bool {
    fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .any(|line| line.starts_with("Uid:\t0\t"))
}

/// Tests that count what is left must not run beside others.
pub static ALONE: RwLock<()> = RwLock::new(());

pub const KINDS: [&str; 3] = ["namespaces", "bubblewrap", "degraded"];

/// Everything around a command. Goes away when dropped.
pub struct World {
    top: PathBuf,
    user: User,
    host: Child,
    pub port: u16,
    udp: u16,
    abstract_name: String,
    shared: SharedObjects,
}

impl World {
    /// Below a folder that cages cover, or anywhere else.
    pub fn new(below: &Path, user: User, name: &str) -> Self {
        // Tests run beside each other.
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let top = below.join(format!("cage-{}-{number}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        for folder in [
            "project",
            "outside",
            "home/.ssh",
            "home/.aws",
            "home/.gnupg/private-keys-v1.d",
            "run",
            "helpers",
            "host-tmp",
        ] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        for (file, text) in [
            ("outside/existing", "original\n"),
            ("home/.bashrc", "# mine\n"),
            ("home/.ssh/id_rsa", "KEY\n"),
            ("home/.ssh/known_hosts", "host\n"),
            ("home/.aws/credentials", "KEY\n"),
            ("home/.gnupg/private-keys-v1.d/k.key", "KEY\n"),
            ("home/.netrc", "KEY\n"),
            ("home/.npmrc", "//registry/:_authToken=KEY\n"),
            ("home/.git-credentials", "KEY\n"),
            ("home/.config/gh/hosts.yml", "KEY\n"),
            ("home/.docker/config.json", "KEY\n"),
            ("home/.kube/config", "KEY\n"),
        ] {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), text).unwrap();
        }
        let helper = top.join("helpers/cage");
        fs::copy(env!("CARGO_BIN_EXE_toolbay-cage-helper"), &helper).unwrap();
        wait_until_it_runs(&helper);
        fs::set_permissions(&top, fs::Permissions::from_mode(0o755)).unwrap();
        let (port, udp, abstract_name) = listen(&top);
        let mut world = Self {
            host: Command::new("sleep").arg("3600").spawn().unwrap(),
            top,
            user,
            port,
            udp,
            shared: SharedObjects::new(format!("/{abstract_name}")),
            abstract_name,
        };
        world.own(&world.top);
        let _ = world.host.kill();
        let _ = world.host.wait();
        world.host = world
            .as_user(Command::new("sleep").arg("3600"))
            .env("HOST_SECRET", "leaked")
            .spawn()
            .unwrap();
        world.fresh_project();
        world
    }

    /// The files stay the ordinary user's; the host is whoever runs the tests.
    pub fn with_this_host(mut self) -> Self {
        self.user = User::This;
        self
    }

    pub fn path(&self, part: &str) -> PathBuf {
        self.top.join(part)
    }

    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// The project as it was at first.
    pub fn fresh_project(&self) {
        let project = self.project();
        // The folder itself stays: somebody may stand in it.
        for entry in fs::read_dir(&project).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                fs::remove_dir_all(entry.path()).unwrap();
            } else {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        for repository in ["", "nested", "deep/a/b/c/d"] {
            let folder = project.join(repository).join(".git");
            for part in [
                "hooks",
                "info",
                "objects/info",
                "objects/pack",
                "refs/heads",
                "refs/tags",
            ] {
                fs::create_dir_all(folder.join(part)).unwrap();
            }
            let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
            fs::write(folder.join("config"), config).unwrap();
            fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        fs::create_dir_all(project.join(".claude")).unwrap();
        fs::write(project.join(".claude/settings.json"), "{}\n").unwrap();
        fs::write(project.join("README"), "read me\n").unwrap();
        fs::write(self.path("outside/existing"), "original\n").unwrap();
        for left in ["outside/new", "run/dgram_got", "run/stream_got"] {
            let _ = fs::remove_file(self.path(left));
        }
        self.own(&project);
        self.own(&self.path("outside"));
    }

    /// Everything that the variables of the cases are about.
    pub fn variables(&self) -> Vec<(String, String)> {
        let path = |part: &str| self.path(part).to_str().unwrap().to_owned();
        [
            ("PROJECT", path("project")),
            ("OUTSIDE", path("outside")),
            ("HOME", path("home")),
            ("TMPDIR", path("host-tmp")),
            ("HELPERS", path("helpers")),
            ("RUN", path("run")),
            ("PATHSOCK", path("run/stream.sock")),
            ("DGRAMSOCK", path("run/dgram.sock")),
            ("ABSSOCK", self.abstract_name.clone()),
            ("HOSTPID", self.host.id().to_string()),
            ("HARNESSPID", std::process::id().to_string()),
            ("HOSTPORT", self.port.to_string()),
            ("HOSTUDP", self.udp.to_string()),
            ("HOSTSHM", self.shared.memory.to_string()),
            ("HOSTQUEUE", self.shared.queue.to_string()),
            ("HOSTSEM", self.shared.semaphores.to_string()),
            ("HOSTMQ", self.shared.name.clone()),
            ("PATH", search_path()),
            ("LANG", "C.UTF-8".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// Runs a script in a cage, with the options of the helper program beside the usual ones.
    pub fn caged(&self, kind: &str, profile: &str, options: &[&str], script: &str) -> Output {
        self.cage(kind, profile, options, &["/bin/bash", "-c", script])
            .output()
            .unwrap()
    }

    pub fn cage(&self, kind: &str, profile: &str, options: &[&str], command: &[&str]) -> Command {
        let words = |list: &[&str]| list.iter().map(Into::into).collect::<Vec<OsString>>();
        self.cage_of(kind, profile, &words(options), &words(command))
    }

    /// The same with words that need not be text.
    pub fn cage_of(
        &self,
        kind: &str,
        profile: &str,
        options: &[OsString],
        command: &[OsString],
    ) -> Command {
        let mut all = Command::new(self.path("helpers/cage"));
        all.args([kind, profile, "--time", "20000"]);
        for (option, part) in [
            ("--root", "project"),
            ("--home", "home"),
            ("--read", "helpers"),
        ] {
            all.arg(option).arg(self.path(part));
        }
        for (name, value) in self.variables() {
            all.arg("--env").arg(format!("{name}={value}"));
        }
        // Bubblewrap may lie elsewhere on a machine where it is not installed.
        if let Ok(folder) = std::env::var("TOOLBAY_CAGE_BWRAP") {
            all.args(["--search", &folder]);
        }
        all.args(options).arg("--").args(command);
        all.env("HOST_SECRET", "leaked").current_dir(self.project());
        all.stdin(Stdio::null());
        self.as_user(&mut all);
        all
    }

    /// A command of the user's own, outside of every cage, in the project.
    pub fn outside(&self, command: &[&str]) -> Command {
        let mut all = Command::new(command[0]);
        all.args(&command[1..]).current_dir(self.project());
        all.env_clear().envs(self.variables());
        self.as_user(&mut all);
        all
    }

    /// A command of the tests' own, in the project.
    pub fn run_as_its_user(&self, mut command: Command) -> Output {
        command.current_dir(self.project());
        self.as_user(&mut command).output().unwrap()
    }

    fn as_user<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match self.user {
            User::This => command,
            User::Ordinary => command.uid(NOBODY).gid(NOBODY),
        }
    }

    /// Gives a path, and all below it, to the user of this world.
    pub fn own(&self, path: &Path) {
        if self.user == User::This {
            return;
        }
        lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        if path.is_dir() && !path.is_symlink() {
            for entry in fs::read_dir(path).unwrap() {
                self.own(&entry.unwrap().path());
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.host.kill();
        let _ = self.host.wait();
        let _ = fs::remove_dir_all(&self.top);
    }
}

/// Says that a kind of cage cannot be tried on this machine.
pub fn left_out(kind: &str, user: User, why: &str) {
    not_run(&format!("{kind} as {}: {why}", user.name()));
}

/// Says that something cannot be tried on this machine. In CI that is a failure: it runs as root, and
/// its step `system` has installed what every test needs.
pub fn not_run(what: &str) {
    let is_ci = std::env::var_os("CI").is_some();
    assert!(!is_ci, "LEFT OUT: {what}");
    println!("LEFT OUT: {what}");
}

/// Where programs are, without folders of one user.
pub fn search_path() -> String {
    "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into()
}

/// The names that the tests of this crate go by, as the helper program does.
pub fn names() -> ProtectedNames {
    let list = |text: &str| text.lines().map(str::to_owned).collect();
    ProtectedNames {
        always: list(include_str!("../names/always.txt")),
        but_for_git: list(include_str!("../names/but-for-git.txt")),
    }
}

/// Services of the host that leave a mark when somebody reaches them.
fn listen(top: &Path) -> (u16, u16, String) {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let udp_port = udp.local_addr().unwrap().port();
    let name = format!("cage-{}-{port}", std::process::id());
    let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
    let nameless = UnixListener::bind_addr(&address).unwrap();
    let stream = UnixListener::bind(top.join("run/stream.sock")).unwrap();
    let datagrams = UnixDatagram::bind(top.join("run/dgram.sock")).unwrap();
    for socket in ["stream.sock", "dgram.sock"] {
        let path = top.join("run").join(socket);
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let mark = |name: &str| {
        let file = top.join("run").join(name);
        move || drop(fs::write(&file, "reached"))
    };
    let (tcp_mark, udp_mark) = (mark("tcp_got"), mark("udp_got"));
    let (stream_mark, datagram_mark) = (mark("stream_got"), mark("dgram_got"));
    let nameless_mark = mark("abs_got");
    thread::spawn(move || {
        while tcp.accept().is_ok() {
            tcp_mark()
        }
    });
    thread::spawn(move || {
        while udp.recv(&mut [0; 64]).is_ok() {
            udp_mark()
        }
    });
    thread::spawn(move || {
        while nameless.accept().is_ok() {
            nameless_mark()
        }
    });
    thread::spawn(move || {
        while stream.accept().is_ok() {
            stream_mark()
        }
    });
    thread::spawn(move || {
        while datagrams.recv(&mut [0; 64]).is_ok() {
            datagram_mark()
        }
    });
    (port, udp_port, name)
}

/// A child that another test starts meanwhile holds our open file until it has become its own
/// program, and what is open for writing cannot be run.
fn wait_until_it_runs(program: &Path) {
    let is_busy = || {
        let tried = Command::new(program).output();
        tried.is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy)
    };
    while is_busy() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
