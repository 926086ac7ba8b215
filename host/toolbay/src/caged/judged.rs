//! Which scripts start the programs that they name and no others.
//!
//! A script that only reads is one. So is one whose other commands are known to start nothing: then
//! the commands that were let through because they read, such as `git status`, must not start
//! what a repository names either. A script with a program that may start others was permitted with
//! all that this program starts.

use toolbay_shell::{Place, SimpleCommand, Verdict, inspect};

/// Whether all that a script starts is known by its words.
pub(super) fn by_its_words(script: &str) -> bool {
    let report = inspect(script, &Place::anywhere());
    let mut commands = report.commands.iter();
    report.verdict != Verdict::TooComplex
        && commands.all(|command| command.is_read_only() || starts_nothing(command))
}

fn starts_nothing(command: &SimpleCommand) -> bool {
    // What changes a repository starts the hooks that its user has put there.
    let name = command.words.first();
    let is_git = name.is_some_and(|name| name.rsplit('/').next() == Some("git"));
    // By itself: beside another folder's `git` every command counts as one that may start others.
    let alone = command.for_rules.as_deref();
    let is_plain = alone.is_some_and(|text| !inspect(text, &Place::anywhere()).is_opaque);
    !is_git && is_plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_judged_by_its_words_if_nothing_in_it_starts_others() {
        for (script, wanted) in [
            ("git status", true),
            ("git status; touch x", true),
            ("mkdir -p a && cp b a && git diff --stat", true),
            ("git status > out", true),
            // The user's own hooks belong to these.
            ("git commit -m x", false),
            ("git status && git commit -m x", false),
            // In another folder git is not among the commands that only read.
            ("cd sub && git status; touch x", false),
            // These start what they like.
            ("make && git status", false),
            ("./x; git status", false),
            ("npm test", false),
            ("$x; git status", false),
            ("cp evil bin/git; git status", false),
            ("PATH=. touch x; git status", false),
            ("if", false),
        ] {
            assert_eq!(by_its_words(script), wanted, "{script}");
        }
    }
}
