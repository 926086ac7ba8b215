//! The system calls that computing takes. Every other one fails, whatever a later kernel adds.

use crate::kernel::bpf::{Action, Condition, Rule, Test};

/// Allowed whatever their arguments: memory, threads, waiting, and files that are open.
const COMPUTING: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_ppoll,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// The older form of `ppoll`.
#[cfg(target_arch = "x86_64")]
const COMPUTING_HERE: &[i64] = &[libc::SYS_poll];
#[cfg(not(target_arch = "x86_64"))]
const COMPUTING_HERE: &[i64] = &[];

pub(super) fn rules() -> Vec<Rule> {
    let plain = |call: &i64| Rule {
        call: *call,
        when: Vec::new(),
        then: Action::Allow,
    };
    let only = |call, argument, mask: libc::c_int, value: libc::c_int| Rule {
        call,
        when: vec![Condition {
            argument,
            mask: mask as u32,
            test: Test::Is(value as u32),
        }],
        then: Action::Allow,
    };
    let own = std::process::id() as libc::c_int;
    let mut rules: Vec<Rule> = COMPUTING.iter().chain(COMPUTING_HERE).map(plain).collect();
    rules.extend([
        // Nothing that is written here is run here.
        only(libc::SYS_mmap, 2, libc::PROT_EXEC, 0),
        only(libc::SYS_mprotect, 2, libc::PROT_EXEC, 0),
        // Threads, and no processes. The newer form has its flags in memory: the C library
        // takes this one where that one is not there.
        only(libc::SYS_clone, 0, libc::CLONE_THREAD, libc::CLONE_THREAD),
        Rule {
            call: libc::SYS_clone3,
            when: Vec::new(),
            then: Action::Fail(libc::ENOSYS as u16),
        },
        // Names of threads; how a panic ends the process.
        only(libc::SYS_prctl, 0, -1, libc::PR_SET_NAME),
        only(libc::SYS_tgkill, 0, -1, own),
    ]);
    rules
}
