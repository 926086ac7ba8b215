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

/// Sub-commands that change a repository and start nothing that their words name. All others may,
/// or are aliases, or need no repository that can be written to.
const PLAIN: &[&str] = &[
    "add",
    "am",
    "apply",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "fetch",
    "gc",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "rebase",
    "remote",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
    "update-index",
    "update-ref",
];

/// Sub-commands that only look: in another folder they do not count as commands that read.
const READING: &[&str] = &[
    "blame",
    "describe",
    "diff",
    "log",
    "ls-files",
    "merge-base",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
];

/// Options whose value is a command, in full. git takes every beginning that is clear.
const COMMANDS: &[&str] = &["--exec", "--receive-pack", "--upload-pack"];

/// The same as letters, by sub-command.
const COMMAND_LETTERS: &[(&str, char)] = &[("rebase", 'x')];

/// Any other strategy is a program `git-merge-NAME`.
const STRATEGIES: &[&str] = &["octopus", "ort", "ours", "recursive", "resolve", "subtree"];

/// Sub-commands that take a strategy, and those of them to which `-s` means one.
const MERGES: &[&str] = &["cherry-pick", "merge", "pull", "rebase", "revert"];
const MERGES_BY_LETTER: &[&str] = &["merge", "pull", "rebase"];

/// Letters that take the rest of their word for a value.
const WITH_VALUE: &[char] = &['S', 'X'];

/// Sub-commands that take the place of a repository, and what stands in one between the name of a
/// program `git-remote-NAME` and what that is told.
const REMOTES: &[&str] = &["fetch", "pull", "push", "remote"];
const HELPER: &str = "::";

/// Options before the sub-command change what git runs; so do some variables.
fn is_plain_git(command: &SimpleCommand) -> bool {
    let [program, sub_command, rest @ ..] = command.words.as_slice() else {
        return false;
    };
    let is_known = |list: &[&str]| list.contains(&sub_command.as_str());
    let is_plain = program == "git" && (is_known(PLAIN) || is_known(READING));
    is_plain && command.for_rules.is_some() && !names_a_command(sub_command, rest)
}

/// Whether a word tells git what to start. A value that looks like such a word counts as one.
fn names_a_command(sub_command: &str, words: &[String]) -> bool {
    let merges = MERGES.contains(&sub_command);
    let by_letter = MERGES_BY_LETTER.contains(&sub_command);
    let following = words.iter().skip(1).map(Some).chain([None]);
    words.iter().zip(following).any(|(word, next)| {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.as_str(), next.map(String::as_str)),
        };
        let may_mean = |whole: &str| option.len() > 2 && whole.starts_with(option);
        let is_command = option.starts_with("--") && COMMANDS.iter().any(|one| may_mean(one));
        let letters = match word.strip_prefix('-') {
            Some(letters) if !letters.starts_with('-') => letters,
            Some(_) | None => "",
        };
        let has_letter = COMMAND_LETTERS
            .iter()
            .any(|(of, letter)| *of == sub_command && letters.contains(*letter));
        let strategy = match letters.split_once('s') {
            Some((before, _)) if !by_letter || before.contains(WITH_VALUE) => None,
            Some((_, "")) => value,
            Some((_, name)) => Some(name),
            None if merges && may_mean("--strategy") => value,
            None => None,
        };
        let is_foreign = strategy.is_some_and(|name| !STRATEGIES.contains(&name));
        let is_helper = REMOTES.contains(&sub_command) && word.contains(HELPER);
        is_command || has_letter || is_foreign || is_helper
    })
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
            ("git switch main && git merge -q --no-ff -s ours new", true),
            ("git merge --strategy=ort -X theirs new", true),
            ("git rebase --onto main a b && git rebase --continue", true),
            ("git rebase -i -s recursive main", true),
            ("git stash push -m 'x y' && git stash pop", true),
            ("git tag -a v1 -m one", true),
            (
                "git fetch ../other && git pull -q --rebase ../other main",
                true,
            ),
            ("git worktree list && git commit -m x", true),
            ("git revert --no-edit HEAD", true),
            ("git cherry-pick -s a && git merge -Xours b", true),
            ("git commit -s -m 'see a::b'", true),
            ("cd sub && git log -S a::b && git commit -qm x", true),
            // These start what their words say.
            ("git rebase -x ./x main", false),
            ("git rebase -ix ./x main", false),
            ("git rebase --exec=./x main", false),
            ("git rebase --ex ./x main", false),
            ("git rebase -s foreign main", false),
            ("git merge -qsforeign new", false),
            ("git merge --strat foreign new", false),
            ("git pull --strategy=foreign", false),
            ("git cherry-pick --strategy foreign x", false),
            ("git bisect run ./x", false),
            ("git submodule foreach ./x", false),
            ("git submodule update", false),
            ("git filter-branch --tree-filter ./x", false),
            ("git difftool -x ./x", false),
            ("git mergetool --tool=x", false),
            ("git worktree add ../x", false),
            ("git init .git/x", false),
            ("git clone . .git/x", false),
            ("git config alias.x '!./x'", false),
            ("git an-alias", false),
            ("git maintenance run", false),
            ("git fetch --upload-pack ./x ../other", false),
            ("git fetch --upload-p=./x ../other", false),
            ("git pull --upload-pack=./x ../other", false),
            ("git push --receive-pack ./x ../other", false),
            ("git push --exec=./x ../other", false),
            ("git fetch 'ext::./x'", false),
            ("git pull helper::x", false),
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
