//! Which scripts may change a repository: those that do nothing else.
//!
//! Whoever says yes to `git commit` means it, so a script of plain git commands gets a cage
//! in which git can write; its configuration and hooks stay closed even there. Any other
//! script finds repositories read-only, unless settings say otherwise.

use toolbay_shell::{Place, SimpleCommand, Verdict, inspect};

/// Whether a script that was permitted needs a repository that can be written to.
pub(super) fn is_all_it_writes(script: &str) -> bool {
    let report = inspect(script, &Place::anywhere());
    let commands = &report.commands;
    report.verdict != Verdict::TooComplex
        && commands.iter().any(is_plain_git)
        && commands
            .iter()
            .all(|command| command.is_read_only() || is_plain_git(command))
}

/// Options before the sub-command change what git runs; so do some variables.
fn is_plain_git(command: &SimpleCommand) -> bool {
    let [program, sub_command, ..] = command.words.as_slice() else {
        return false;
    };
    program == "git" && !sub_command.starts_with('-') && command.for_rules.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_git_commands_may_write_to_a_repository() {
        for (script, wanted) in [
            ("git commit -m 'two words'", true),
            ("git add -A && git commit -qm x", true),
            ("cd sub && git add . && git status && ls", true),
            ("git checkout -b new", true),
            // These do more.
            ("git add . && make", false),
            ("make && git add .", false),
            ("sh -c 'git commit -m x'", false),
            ("git -c core.hooksPath=/x commit -m x", false),
            ("git --exec-path=/x commit", false),
            ("GIT_DIR=/x git commit -m x", false),
            ("PATH=. git commit -m x", false),
            ("./git commit -m x", false),
            ("$(echo git) commit -m x", false),
            ("git commit -m \"$(cat x)\"", false),
            ("for i in 1 2; do git commit -m x; done", false),
            ("env git commit -m x", false),
            ("ls", false),
            ("git", false),
            ("", false),
        ] {
            assert_eq!(is_all_it_writes(script), wanted, "{script}");
        }
    }
}
