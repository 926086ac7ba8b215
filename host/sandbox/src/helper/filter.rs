//! Which system calls a caged process may make.
//!
//! All are allowed but those listed: what reaches into other processes, what changes the
//! cage or the machine, what goes around the checks of others (io_uring, calls whose flags
//! lie in memory), and families of sockets that are not for everyday work.

use libc::{EACCES, EAFNOSUPPORT, ENOSYS, ENOTSUP, EPERM};

use crate::cage::plan::Walls;
use crate::kernel::bpf::{Action, Condition, Rule, Test};

const WHOLE: u32 = u32::MAX;

/// Calls that are refused whatever their arguments.
const REFUSED: &[i64] = &[
    // Into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Mounts, namespaces, roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Files by handles, watching files of others, quotas, accounting.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    // Parts of the kernel with a history.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    LSM_SET_SELF_ATTR,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

const OPEN_TREE_ATTR: i64 = 467;
const LSM_SET_SELF_ATTR: i64 = 460;
const FCHMODAT2: i64 = 452;

/// Calls that are answered as if the kernel had never heard of them: programs then use an
/// older way, whose arguments can be seen.
const ABSENT: &[i64] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_memfd_secret,
];

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32
    | 0x80; // CLONE_NEWTIME

/// Bits of a mode that let a file run as its owner or group.
const SET_ID: u32 = 0o6000;

/// Whether the doorman is asked before a program starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starts {
    Free,
    Asked,
}

/// Whether the doorman is asked before a file is opened to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    Free,
    Asked,
}

/// Whether attributes of files can be changed, lists of who may use a file among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    Free,
    Absent,
}

/// What of a list depends on the command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choices {
    pub(crate) starts: Starts,
    pub(crate) reads: Reads,
    pub(crate) attributes: Attributes,
}

/// The whole list for a cage.
pub(crate) fn rules(walls: Walls, choices: Choices) -> Vec<Rule> {
    let Choices {
        starts,
        reads,
        attributes,
    } = choices;
    let mut rules = Vec::with_capacity(128);
    for call in REFUSED.iter().chain(REFUSED_HERE) {
        rules.push(rule(*call, vec![], fail(EPERM)));
    }
    for call in ABSENT {
        rules.push(rule(*call, vec![], fail(ENOSYS)));
    }
    let any = |argument, bits| when(argument, bits, Test::IsNot(0));
    let is = |argument, value: i32| when(argument, WHOLE, Test::Is(value as u32));
    rules.push(rule(
        libc::SYS_clone,
        vec![any(0, NEW_NAMESPACES)],
        fail(EPERM),
    ));
    // Limits of others; one's own are asked for with 0.
    rules.push(rule(
        libc::SYS_prlimit64,
        vec![when(0, WHOLE, Test::IsNot(0))],
        fail(EPERM),
    ));
    // The ordinary personality, asking for it, and switching off address randomisation.
    for allowed in [0, 0xffff_ffff, 0x0004_0000] {
        let same = when(0, WHOLE, Test::Is(allowed));
        rules.push(rule(libc::SYS_personality, vec![same], Action::Allow));
    }
    rules.push(rule(libc::SYS_personality, vec![], fail(EPERM)));
    // Typing into a terminal, and the console's own commands.
    for command in [0x5412, 0x541c] {
        rules.push(rule(libc::SYS_ioctl, vec![is(1, command)], fail(EPERM)));
    }
    rules.extend(attribute_rules());
    rules.extend(set_id_rules());
    if walls == Walls::Kernel {
        rules.extend(scheduling_rules());
        // As on a kernel without them: there is no namespace that has its own.
        rules.extend(SHARED.iter().map(|call| rule(*call, vec![], fail(ENOSYS))));
    }
    if attributes == Attributes::Absent {
        let calls = ATTRIBUTES.iter();
        rules.extend(calls.map(|call| rule(*call, vec![], fail(ENOTSUP))));
    }
    rules.extend(socket_rules(walls));
    rules.extend(doorman_rules());
    // Their memory would be counted nowhere.
    rules.push(rule(libc::SYS_memfd_create, vec![], Action::Ask));
    if reads == Reads::Asked {
        rules.extend(opens().into_iter().map(|(call, flags)| {
            // A handle that can do nothing: what it is used for is judged then.
            let reads = when(flags, libc::O_PATH as u32, Test::Is(0));
            rule(call, vec![reads], Action::Ask)
        }));
    }
    if starts == Starts::Asked {
        let starts = [libc::SYS_execve, libc::SYS_execveat];
        rules.extend(starts.map(|call| rule(call, vec![], Action::Ask)));
    }
    rules
}

/// Where the processes of the host can be seen, their speed is not for a command to set.
fn scheduling_rules() -> Vec<Rule> {
    let others = |call, argument| {
        let not_self = when(argument, WHOLE, Test::IsNot(0));
        rule(call, vec![not_self], fail(EPERM))
    };
    vec![
        others(libc::SYS_setpriority, 1),
        others(libc::SYS_ioprio_set, 1),
        others(libc::SYS_sched_setaffinity, 0),
        others(libc::SYS_sched_setscheduler, 0),
        others(libc::SYS_sched_setparam, 0),
        others(libc::SYS_sched_setattr, 0),
    ]
}

/// Commands to files that change more than their content, of a file that is open for reading: no
/// mount stands before them where there is none, and Landlock looks at none of them.
fn attribute_rules() -> Vec<Rule> {
    let command = |mask, value| vec![when(1, mask, Test::Is(value))];
    let refused = |when| rule(libc::SYS_ioctl, when, fail(ENOTSUP));
    let shares = SHARES_CONTENT.iter();
    let shares = shares.map(|value| rule(libc::SYS_ioctl, command(WHOLE, *value), Action::Allow));
    let types = MAKES_NAMES.iter();
    let types = types.map(|kind| refused(command(0xff00, kind << 8)));
    let single = FILE_COMMANDS.iter();
    let single = single.map(|value| refused(command(WHOLE, *value)));
    let call = rule(FILE_SETATTR, vec![], fail(ENOTSUP));
    shares.chain(types).chain(single).chain([call]).collect()
}

fn set_id_rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    for (call, argument) in [
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (FCHMODAT2, 2),
        (libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
    ] {
        let sets = when(argument, SET_ID, Test::IsNot(0));
        rules.push(rule(call, vec![sets], fail(EPERM)));
    }
    for (call, flags) in opens() {
        let makes = when(flags, libc::O_CREAT as u32, Test::IsNot(0));
        let sets = when(flags + 1, SET_ID, Test::IsNot(0));
        rules.push(rule(call, vec![makes, sets], fail(EPERM)));
    }
    rules
}

fn socket_rules(walls: Walls) -> Vec<Rule> {
    let is = |argument, mask, value: i32| when(argument, mask, Test::Is(value as u32));
    let mut rules = Vec::new();
    // Without a network of its own a command gets no sockets at all.
    if walls != Walls::Kernel {
        for family in [libc::AF_INET, libc::AF_INET6] {
            for kind in [libc::SOCK_STREAM, libc::SOCK_DGRAM] {
                rules.push(rule(
                    libc::SYS_socket,
                    vec![is(0, WHOLE, family), is(1, 0xf, kind)],
                    Action::Allow,
                ));
            }
        }
        // Which addresses there are; other protocols of this family are not for everyday.
        rules.push(rule(
            libc::SYS_socket,
            vec![
                is(0, WHOLE, libc::AF_NETLINK),
                is(2, WHOLE, libc::NETLINK_ROUTE),
            ],
            Action::Allow,
        ));
    }
    // Sockets with paths lead to services of the host, and no mount hides one for sure.
    rules.push(rule(
        libc::SYS_socket,
        vec![is(0, WHOLE, libc::AF_UNIX)],
        fail(EACCES),
    ));
    rules.push(rule(libc::SYS_socket, vec![], fail(EAFNOSUPPORT)));
    // Pairs are for talking to oneself. One of datagrams could be pointed elsewhere later.
    for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
        rules.push(rule(
            libc::SYS_socketpair,
            vec![is(0, WHOLE, libc::AF_UNIX), is(1, 0xf, kind)],
            Action::Allow,
        ));
    }
    rules.push(rule(libc::SYS_socketpair, vec![], fail(EAFNOSUPPORT)));
    rules
}

/// Calls that open, and which of their arguments holds the flags.
fn opens() -> Vec<(i64, u8)> {
    vec![
        (libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 1),
    ]
}

fn doorman_rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    for (call, flags) in opens() {
        let makes = when(flags, libc::O_CREAT as u32, Test::IsNot(0));
        rules.push(rule(call, vec![makes], Action::Ask));
        let bits = (libc::O_ACCMODE | libc::O_TRUNC) as u32;
        let writes = when(flags, bits, Test::IsNot(0));
        rules.push(rule(call, vec![writes], Action::Ask));
    }
    let asked = MAKES.iter().chain(REMOVES).chain(METADATA);
    let asked = asked.chain([&libc::SYS_truncate]);
    rules.extend(asked.map(|call| rule(*call, vec![], Action::Ask)));
    rules
}

#[cfg(target_arch = "x86_64")]
const MAKES: &[i64] = &[
    libc::SYS_creat,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
];
#[cfg(not(target_arch = "x86_64"))]
const MAKES: &[i64] = &[
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
];

#[cfg(target_arch = "x86_64")]
const REMOVES: &[i64] = &[libc::SYS_unlink, libc::SYS_unlinkat, libc::SYS_rmdir];
#[cfg(not(target_arch = "x86_64"))]
const REMOVES: &[i64] = &[libc::SYS_unlinkat];

/// What Landlock does not look at.
const METADATA: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// The same for attributes, which everyday work does without where no mount refuses them.
const ATTRIBUTES: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
];
/// Memory, queues and semaphores that processes find by numbers and names of their own, which no
/// rule about files is asked about.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// `FS_IOC_FSSETXATTR` as a call.
const FILE_SETATTR: i64 = 469;
/// `FICLONE`, `FICLONERANGE` and `FIDEDUPERANGE`: they belong to btrfs by their numbers, and copy
/// into files that are open for writing, or change nothing that can be read.
const SHARES_CONTENT: &[u32] = &[0x4004_9409, 0x4020_940d, 0xc018_9436];
/// btrfs and bcachefs: subvolumes and snapshots are names that nobody was asked about, and can be
/// filled before they get them.
const MAKES_NAMES: &[u32] = &[0x94, 0xbc];
const FILE_COMMANDS: &[u32] = &[
    0x4008_6602, // FS_IOC_SETFLAGS, and as 32-bit programs say it
    0x4004_6602,
    0x4008_7602, // FS_IOC_SETVERSION, the same
    0x4004_7602,
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x4004_7211, // FAT_IOCTL_SET_ATTRIBUTES
    0x4018_6f04, // OCFS2_IOC_REFLINK, which makes a name
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x800c_6613, // FS_IOC_SET_ENCRYPTION_POLICY
    0xc050_6617, // FS_IOC_ADD_ENCRYPTION_KEY
    0xc040_6618, // FS_IOC_REMOVE_ENCRYPTION_KEY, and for all users
    0xc040_6619,
    0xc004_5877, // FIFREEZE, FITHAW, FITRIM
    0xc004_5878,
    0xc018_5879,
];

const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;

fn rule(call: i64, when: Vec<Condition>, then: Action) -> Rule {
    Rule { call, when, then }
}

fn when(argument: u8, mask: u32, test: Test) -> Condition {
    Condition {
        argument,
        mask,
        test,
    }
}

fn fail(error: i32) -> Action {
    Action::Fail(error as u16)
}
