//! Calls that shells and scripting languages cannot make easily, each tried once. For the
//! cases of the tests: success means that the call was let through.
#![allow(unsafe_code)]

use std::process::ExitCode;

/// Tries a call by its name.
pub fn attempt(name: &str) -> ExitCode {
    let passed = match name {
        "int80" => int80(),
        "x32" => call(0x4000_0000 | libc::SYS_getpid, [0; 4]) >= 0,
        "io-uring" => io_uring(),
        "clone3-user" => clone3_user(),
        "clone-user" => {
            let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
            forked(call(libc::SYS_clone, [flags as i64, 0, 0, 0]))
        }
        "unshare-user" => call(libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0]) == 0,
        "openat2" => openat2(),
        "seccomp-listener" => listener(),
        // A number that no kernel of today knows.
        "future" => {
            call(600, [0; 4]) >= 0
                || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
        }
        _ => return ExitCode::from(2),
    };
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn call(number: i64, arguments: [i64; 4]) -> i64 {
    let [a, b, c, d] = arguments;
    // SAFETY: the callers pass numbers, or pointers to what lives through the call.
    unsafe { libc::syscall(number, a, b, c, d) }
}

/// The child of a call that should not have worked ends at once.
fn forked(answer: i64) -> bool {
    if answer == 0 {
        // SAFETY: runs nothing of ours any more.
        unsafe { libc::_exit(0) }
    }
    answer > 0
}

/// `getpid` through the door of 32-bit programs.
#[cfg(target_arch = "x86_64")]
fn int80() -> bool {
    let answer: i32;
    // SAFETY: the call takes nothing and changes only the register that is named; the
    // 32-bit door clobbers r8 to r11.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("eax") 20 => answer,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    answer > 0
}

#[cfg(not(target_arch = "x86_64"))]
fn int80() -> bool {
    false
}

fn io_uring() -> bool {
    let parameters = [0_u8; 120];
    call(
        libc::SYS_io_uring_setup,
        [1, parameters.as_ptr() as i64, 0, 0],
    ) >= 0
}

fn clone3_user() -> bool {
    let mut arguments = [0_u64; 11];
    arguments[0] = libc::CLONE_NEWUSER as u64;
    arguments[4] = libc::SIGCHLD as u64;
    let size = std::mem::size_of_val(&arguments) as i64;
    forked(call(
        libc::SYS_clone3,
        [arguments.as_ptr() as i64, size, 0, 0],
    ))
}

fn openat2() -> bool {
    let how = [(libc::O_CREAT | libc::O_WRONLY) as u64, 0o644, 0];
    let path = c".mcp.json";
    let pointers = [path.as_ptr() as i64, how.as_ptr() as i64];
    call(
        libc::SYS_openat2,
        [libc::AT_FDCWD.into(), pointers[0], pointers[1], 24],
    ) >= 0
}

/// A filter of its own whose calls it would answer itself.
fn listener() -> bool {
    const NEW_LISTENER: i64 = 8;
    let mut allow = [libc::sock_filter {
        code: 6,
        jt: 0,
        jf: 0,
        k: 0x7fff_0000,
    }];
    let program = libc::sock_fprog {
        len: 1,
        filter: allow.as_mut_ptr(),
    };
    let program = &raw const program;
    call(libc::SYS_seccomp, [1, NEW_LISTENER, program as i64, 0]) >= 0
}
