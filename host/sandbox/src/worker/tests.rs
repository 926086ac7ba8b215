use super::*;

#[test]
fn what_a_worker_leaves_behind_says_how_it_ended() {
    let exit = |code: i32| ExitStatus::from_raw(code << 8);
    let signal = ExitStatus::from_raw;
    for (status, words, expected) in [
        (exit(0), "", WorkerEnd::Done),
        (exit(0), "a warning", WorkerEnd::Done),
        (exit(SAID_WHY), "no", WorkerEnd::Refused("no".into())),
        (signal(libc::SIGXCPU), "", WorkerEnd::OutOfTime),
        (signal(libc::SIGKILL), "", WorkerEnd::OutOfTime),
        (signal(libc::SIGXFSZ), "", WorkerEnd::TooMuchOutput),
        (
            signal(libc::SIGABRT),
            "memory allocation of 8 bytes failed",
            WorkerEnd::OutOfMemory,
        ),
        (
            signal(libc::SIGABRT),
            "thread 'main' has overflowed its stack",
            WorkerEnd::Broke("its call stack overflowed".into()),
        ),
        (
            exit(101),
            "thread 'main' panicked at x:\nindex out of bounds\nnote: run with",
            WorkerEnd::Broke("exit code 101: index out of bounds".into()),
        ),
        (
            signal(libc::SIGSEGV),
            "",
            WorkerEnd::Broke("signal 11".into()),
        ),
    ] {
        assert_eq!(how_it_ended(status, words), expected, "{status} {words}");
    }
}
