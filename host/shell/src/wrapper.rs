//! Commands that run another command: where it begins among their words.

use crate::reading::Word;

/// A wrapper: its flags that take a value in a word of their own, and how many operands of
/// its own come before the command.
struct Wrapper {
    name: &'static str,
    /// Flags with a value in the next word.
    valued: &'static [&'static str],
    operands: usize,
    /// `NAME=value` words may come before the command.
    assigns: bool,
}

const fn row(
    name: &'static str,
    valued: &'static [&'static str],
    operands: usize,
    assigns: bool,
) -> Wrapper {
    Wrapper {
        name,
        valued,
        operands,
        assigns,
    }
}

const WRAPPERS: &[Wrapper] = &[
    row("builtin", &[], 0, false),
    row("busybox", &[], 0, false),
    row("caffeinate", &["-t", "-w"], 0, false),
    row("catchsegv", &[], 0, false),
    row(
        "chpst",
        &["-u", "-U", "-b", "-n", "-l", "-L", "-/", "-C", "-d", "-m"],
        0,
        false,
    ),
    row("chronic", &[], 0, false),
    row("chroot", &["--userspec", "--groups"], 1, false),
    row("chrt", &["-T", "-P", "-D", "-p"], 1, false),
    row("command", &[], 0, false),
    row("coproc", &[], 0, false),
    row(
        "dbus-run-session",
        &["--config-file", "--dbus-daemon"],
        0,
        false,
    ),
    row("doas", &["-u", "-C"], 0, true),
    row("entr", &[], 0, false),
    row(
        "env",
        &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"],
        0,
        true,
    ),
    row("exec", &["-a"], 0, false),
    row("fakeroot", &["-l", "-s", "-i", "-b"], 0, false),
    row("firejail", &[], 0, false),
    row(
        "flock",
        &["-w", "--timeout", "-E", "--conflict-exit-code"],
        1,
        false,
    ),
    row("gosu", &[], 1, false),
    row("ionice", &["-c", "-n", "--class", "--classdata"], 0, false),
    row("ltrace", &["-o", "-e", "-p", "-s", "-n", "-u"], 0, false),
    row("nice", &["-n", "--adjustment"], 0, false),
    row("nocorrect", &[], 0, false),
    row("noglob", &[], 0, false),
    row("nohup", &[], 0, false),
    row("nsenter", &["-t", "-S", "-G"], 0, false),
    row("numactl", &["-i", "-m", "-N", "-C", "-p"], 0, false),
    row(
        "parallel",
        &[
            "-j",
            "--jobs",
            "-a",
            "--arg-file",
            "--colsep",
            "-n",
            "-N",
            "-I",
        ],
        0,
        false,
    ),
    row("perf", &[], 1, false),
    row("prlimit", &[], 0, false),
    row("proot", &["-r", "-b", "-w"], 0, false),
    row("runuser", &["-u", "-g", "-G"], 0, false),
    row("setarch", &[], 1, false),
    row("setpriv", &["--reuid", "--regid", "--groups"], 0, false),
    row("setsid", &[], 0, false),
    row("softlimit", &["-m", "-d", "-s"], 0, false),
    row("sponge", &[], 0, false),
    row("ssh-agent", &["-a", "-t", "-E"], 0, false),
    row(
        "stdbuf",
        &["-i", "-o", "-e", "--input", "--output", "--error"],
        0,
        false,
    ),
    row(
        "strace",
        &[
            "-o", "-e", "-p", "-s", "-u", "-E", "-a", "-b", "-I", "-O", "-P", "-S", "-X",
        ],
        0,
        false,
    ),
    row(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group",
        ],
        0,
        true,
    ),
    row(
        "systemd-run",
        &["-u", "--unit", "-p", "--property", "-E", "--setenv"],
        0,
        false,
    ),
    row("taskset", &[], 1, false),
    row("time", &["-o", "-f", "--output", "--format"], 0, false),
    row(
        "timeout",
        &["-k", "-s", "--kill-after", "--signal"],
        1,
        false,
    ),
    row("torsocks", &[], 0, false),
    row("unbuffer", &[], 0, false),
    row(
        "unshare",
        &["-S", "-G", "-R", "-w", "--root", "--wd"],
        0,
        false,
    ),
    row("valgrind", &[], 0, false),
    row("watch", &["-n", "--interval", "-q"], 0, false),
    row("wine", &[], 0, false),
    row(
        "xargs",
        &[
            "-a",
            "-d",
            "-E",
            "-I",
            "-L",
            "-n",
            "-P",
            "-s",
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--replace",
            "--process-slot-var",
        ],
        0,
        false,
    ),
    row("xvfb-run", &["-n", "-s", "-e", "-f", "-p"], 0, false),
];

pub(crate) fn is_wrapper(name: &str) -> bool {
    find(name).is_some()
}

fn find(name: &str) -> Option<&'static Wrapper> {
    let base = basename(name);
    WRAPPERS.iter().find(|wrapper| wrapper.name == base)
}

/// The name without its folders.
pub(crate) fn basename(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The command inside, by its words; `None` if there is no wrapper or nothing in it. Guesses
/// where it must: for rules that forbid.
pub(crate) fn inner<T: AsRef<str>>(words: &[T]) -> Option<&[T]> {
    let wrapper = find(words.first()?.as_ref())?;
    let mut at = 1;
    let mut operands = wrapper.operands;
    while let Some(word) = words.get(at) {
        let word = word.as_ref();
        if word == "--" {
            at += 1;
            break;
        }
        if word.len() > 1 && word.starts_with('-') {
            at += if wrapper.valued.contains(&word) { 2 } else { 1 };
        } else if wrapper.assigns && word.contains('=') {
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    // Behind a `--` operands of the wrapper's own may still come.
    words.get(at + operands..).filter(|inner| !inner.is_empty())
}

/// The command inside a wrapper that changes neither what it does nor with what powers; exact,
/// because it decides what needs no question.
pub(crate) fn harmless(words: &[Word]) -> Option<&[Word]> {
    let (name, rest) = words.split_first()?;
    if words.iter().any(|word| word.glob && word.text == name.text) {
        return None;
    }
    let plain = |word: &&Word| word.plain == word.text.len();
    let inner = match name.text.as_str() {
        "command" | "builtin" => rest,
        "nice" => match rest.first().filter(plain).map(|flag| flag.text.as_str()) {
            Some("-n") if is_number(rest.get(1)?) => &rest[2..],
            _ => rest,
        },
        "timeout" if is_duration(rest.first()?) => &rest[1..],
        "stdbuf" => {
            let flag = rest.first().filter(plain)?;
            let is_mode = matches!(
                flag.text.as_str(),
                "-oL" | "-o0" | "-eL" | "-e0" | "-iL" | "-i0"
            );
            if !is_mode {
                return None;
            }
            &rest[1..]
        }
        _ => return None,
    };
    let first = inner.first()?;
    (!first.text.starts_with('-')).then_some(inner)
}

fn is_number(word: &Word) -> bool {
    let digits = word.text.strip_prefix('-').unwrap_or(&word.text);
    !digits.is_empty() && digits.len() < 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_duration(word: &Word) -> bool {
    let digits = word.text.trim_end_matches(['s', 'm', 'h', 'd']);
    word.text.len() - digits.len() < 2
        && !digits.is_empty()
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_command_is_found_behind_flags_and_operands() {
        for (command, wanted) in [
            ("env A=1 -u B curl x", "curl x"),
            ("env", ""),
            ("sudo -u root -- curl x", "curl x"),
            ("timeout -k 5 10 curl x", "curl x"),
            ("timeout --kill-after=5 10 curl x", "curl x"),
            ("nice -n 5 curl x", "curl x"),
            ("nice -5 curl x", "curl x"),
            ("/usr/bin/nice curl", "curl"),
            ("xargs -n 1 -I{} curl {}", "curl {}"),
            ("stdbuf -oL curl", "curl"),
            ("taskset 1 curl", "curl"),
            ("flock -w 3 lock curl", "curl"),
            ("command -- curl", "curl"),
            ("curl x", ""),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let found = inner(&words).unwrap_or_default().join(" ");
            assert_eq!(found, wanted, "{command}");
        }
    }

    #[test]
    fn only_plain_wrappers_are_harmless() {
        for (command, wanted) in [
            ("command ls -l", Some("ls -l")),
            ("time ls", None),
            ("nice -n 5 ls", Some("ls")),
            ("timeout 5 ls", Some("ls")),
            ("timeout 1.5m ls", Some("ls")),
            ("timeout -s KILL 5 ls", None),
            ("stdbuf -oL ls", Some("ls")),
            ("time -o f ls", None),
            ("nohup ls", None),
            ("sudo ls", None),
            ("env ls", None),
            ("xargs ls", None),
            ("command -v ls", None),
            ("command", None),
        ] {
            let words: Vec<Word> = command.split(' ').map(Word::plain).collect();
            let found = harmless(&words).map(|inner| {
                inner
                    .iter()
                    .map(|word| word.text.as_str())
                    .collect::<Vec<_>>()
                    .join(" ")
            });
            assert_eq!(found.as_deref(), wanted, "{command}");
        }
    }
}
