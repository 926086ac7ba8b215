//! The words that a permission rule for a command would name.
//!
//! A rule made from them covers every command that starts so. Hence none for programs
//! that run whatever they are told, and two words for programs of many minds.

/// Shells, interpreters, wrappers and words of the shell itself: a rule for one of them
/// would be a rule for everything.
const RUNS_ANYTHING: &str = "sh bash zsh dash ksh csh tcsh fish busybox pwsh powershell python \
    pypy perl ruby node nodejs deno bun php lua luajit tclsh expect osascript awk gawk mawk nawk \
    sed find xargs parallel env sudo doas su ssh nohup nice ionice timeout time watch setsid \
    stdbuf script strace ltrace gdb chroot unshare nsenter flock npx uvx pipx uv exec eval \
    command builtin source . trap coproc if then else elif fi for while until do done case esac \
    in function select";

/// Programs whose second word says what they do.
const FAMILIES: &str = "git cargo npm pnpm yarn go gh docker podman kubectl rustup brew apt pip \
    systemctl";

/// Second words that run what comes after them.
const RUNNING_WORDS: &str = "run exec x dlx alias config";

/// `None` when every rule would be too wide, or the words are odd.
pub(crate) fn of(words: &[String]) -> Option<String> {
    let first = words.first().filter(|word| is_plain(word))?;
    // `/bin/bash` and `python3.12` are no less than `bash` and `python`.
    let program = first.rsplit('/').next().unwrap_or_default();
    let bare = program.trim_end_matches(|end: char| end.is_ascii_digit() || "-.".contains(end));
    if bare.is_empty() || lists(RUNS_ANYTHING, program) || lists(RUNS_ANYTHING, bare) {
        return None;
    }
    if !lists(FAMILIES, bare) {
        return Some(first.clone());
    }
    let second = words.get(1).filter(|word| is_plain(word))?;
    // A flag before the word may change everything (`git -c …`).
    if second.starts_with('-') || lists(RUNNING_WORDS, second) {
        return None;
    }
    Some(format!("{first} {second}"))
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._/+-".contains(character))
}

fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}
