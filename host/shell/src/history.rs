//! git prints what files hold or held, from objects that no path rule of the kernel closes. So the
//! files that such a command names are told to path rules, and whether it prints more than those.

use std::path::PathBuf;

use crate::mention::Mention;
use crate::place::Place;

/// When a sub-command prints contents.
enum Prints {
    Always,
    /// Unless a flag asks for a summary instead.
    UnlessSummary,
    /// Only with a flag that asks for them.
    WithPatch,
}

const SUBCOMMANDS: &[(&str, Prints)] = &[
    ("annotate", Prints::Always),
    ("archive", Prints::Always),
    ("blame", Prints::Always),
    ("bundle", Prints::Always),
    ("cat-file", Prints::UnlessSummary),
    ("diff", Prints::UnlessSummary),
    ("diff-files", Prints::WithPatch),
    ("diff-index", Prints::WithPatch),
    ("diff-tree", Prints::WithPatch),
    ("fast-export", Prints::Always),
    ("format-patch", Prints::Always),
    ("grep", Prints::UnlessSummary),
    ("log", Prints::WithPatch),
    ("range-diff", Prints::UnlessSummary),
    ("reflog", Prints::WithPatch),
    ("rev-list", Prints::WithPatch),
    ("show", Prints::UnlessSummary),
    ("stash", Prints::WithPatch),
    ("unpack-file", Prints::Always),
    ("whatchanged", Prints::WithPatch),
];

/// Flags that ask for a summary; a long one may have a value.
const SUMMARIES: &[&str] = &[
    "--stat",
    "--numstat",
    "--shortstat",
    "--compact-summary",
    "--summary",
    "--dirstat",
    "--name-only",
    "--name-status",
    "--raw",
    "--no-patch",
    "-s",
    "--quiet",
    "-q",
    // Of `cat-file` and `grep`
    "-t",
    "-e",
    "-l",
    "-L",
    "-c",
    "--count",
    "--batch-check",
    "--files-with-matches",
    "--files-without-match",
];

/// Letters of flags that ask for contents, alone or in a cluster.
const PATCH_LETTERS: &str = "puUWL";
const PATCHES: &[&str] = &[
    "--patch",
    "--patch-with-stat",
    "--patch-with-raw",
    "--unified",
    "--cc",
    "--dd",
    "-c",
    "--word-diff",
    "--color-words",
    "--full-diff",
    "--binary",
    "--function-context",
    "--remerge-diff",
];

/// What a script prints out of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Printed {
    /// The files that it names.
    pub(crate) paths: Vec<PathBuf>,
    /// It prints contents of files that it does not name.
    pub(crate) unnamed: bool,
}

pub(crate) fn printed(mentions: &[Mention], place: &Place) -> Printed {
    let mut printed = Printed::default();
    for mention in mentions {
        let Some(words) = contents(&mention.words) else {
            continue;
        };
        printed.unnamed |= !names_all(&mention.words[1], words);
        for text in words.iter().flat_map(|word| possible_paths(word)) {
            let from_roots = place.roots().iter().map(|root| root.join(text));
            let paths = place
                .both(text)
                .chain(from_roots)
                .filter(|path| !printed.paths.contains(path))
                .collect::<Vec<_>>();
            printed.paths.extend(paths);
        }
    }
    printed
}

/// Whether a command prints contents of files that it does not name.
pub fn prints_history(words: &[String]) -> bool {
    // Flags of git itself come first.
    (1..words.len().min(MOST_FLAGS)).any(|at| {
        let mut command = vec!["git".to_owned()];
        command.extend_from_slice(&words[at..]);
        let is_git = crate::wrapper::basename(&words[0]) == "git";
        is_git && contents(&command).is_some_and(|rest| !names_all(&command[1], rest))
    })
}

/// Words before the sub-command that are looked at.
const MOST_FLAGS: usize = 12;

/// The words behind the sub-command, if it prints contents.
fn contents(words: &[String]) -> Option<&[String]> {
    let [name, subcommand, rest @ ..] = words else {
        return None;
    };
    let (_, prints) = SUBCOMMANDS.iter().find(|(known, _)| known == subcommand)?;
    let flags = || rest.iter().take_while(|word| *word != "--");
    let has_patch = || flags().any(|word| is_patch(word));
    let is_content = match prints {
        Prints::Always => true,
        Prints::UnlessSummary => {
            let is_diff = matches!(subcommand.as_str(), "show" | "diff");
            is_diff && has_patch() || !flags().any(|word| is_summary(word))
        }
        Prints::WithPatch => has_patch(),
    };
    (name == "git" && is_content).then_some(rest)
}

fn is_patch(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let is_cluster = word.starts_with('-') && !word.starts_with("--");
    PATCHES.contains(&name) || is_cluster && word[1..].starts_with(|c| PATCH_LETTERS.contains(c))
}

fn is_summary(word: &str) -> bool {
    SUMMARIES.contains(&word.split('=').next().unwrap_or(word))
}

/// Whether every file that is printed is named: behind `--`, as `revision:path`, or as the file
/// that `blame` is about.
fn names_all(subcommand: &str, words: &[String]) -> bool {
    if matches!(subcommand, "blame" | "annotate") {
        return true;
    }
    let operands = || words.iter().take_while(|word| *word != "--");
    let mut paths = words
        .iter()
        .skip_while(|word| *word != "--")
        .skip(1)
        .peekable();
    if paths.peek().is_some() {
        return paths.all(|path| is_one_file(path));
    }
    let mut named = operands().filter(|word| !word.starts_with('-')).peekable();
    let takes_blob = matches!(subcommand, "show" | "cat-file");
    let is_blob = |word: &String| {
        word.split_once(':').is_some_and(|(revision, path)| {
            is_commit(revision) && !path.is_empty() && !path.starts_with(['/', '(', '!', '^'])
        })
    };
    takes_blob && named.peek().is_some() && named.all(|word| is_blob(word) || is_type(word))
}

/// Whether a revision is a commit for sure, so that a path behind it starts at the top; without one it
/// is the index. A number or a tag may be that of a folder, and a tag may have the name of a branch.
fn is_commit(revision: &str) -> bool {
    let steps = ["HEAD", "@"]
        .iter()
        .find_map(|head| revision.strip_prefix(head));
    let is_step = |c: char| matches!(c, '~' | '^') || c.is_ascii_digit();
    revision.is_empty() || steps.is_some_and(|steps| steps.chars().all(is_step))
}

/// The kind of object, before its name.
fn is_type(word: &str) -> bool {
    matches!(word, "blob" | "tree" | "commit" | "tag")
}

/// A path that looks like one file, not like a folder or a pattern: what lies in a folder is not
/// named.
fn is_one_file(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    let has_ending = last.char_indices().any(|(at, c)| c == '.' && at > 0);
    has_ending && !path.starts_with(':') && !path.contains(['*', '?', '[']) && last != ".."
}

/// What may be a path in a word: all of it, and what stands behind a colon or a magic word.
fn possible_paths(word: &str) -> Vec<&str> {
    let behind_first = word.split_once(':').map(|(_, path)| path);
    let behind_last = word.rsplit_once(':').map(|(_, path)| path);
    let behind_magic = word.rsplit_once(')').map(|(_, path)| path);
    let whole = Some(word).filter(|word| !word.starts_with('-'));
    let all = [whole, behind_first, behind_last, behind_magic];
    let mut paths: Vec<&str> = all
        .into_iter()
        .flatten()
        .map(|path| path.trim_start_matches(['/', '!', '^']))
        .filter(|path| !path.is_empty())
        .collect();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect;

    #[test]
    fn words_of_a_command_say_whether_it_prints_what_it_does_not_name() {
        for (words, wanted) in [
            ("git show", true),
            ("git --no-pager log -p", true),
            ("/usr/bin/git diff", true),
            ("git show HEAD:a", false),
            ("git show HEAD~2^1:a", false),
            ("git show @:a", false),
            ("git cat-file blob :a", false),
            ("git show :0:a", false),
            // These may be folders, in which the path is another one.
            ("git show main:a", true),
            ("git show 1f2e3d4:a", true),
            ("git cat-file -p HEAD^{tree}:a", true),
            ("git show HEADS:a", true),
            ("git log", false),
            ("svn diff", false),
            ("show", false),
            ("git", false),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(prints_history(&words), wanted, "{words:?}");
        }
        assert!(!prints_history(&[]));
    }

    #[test]
    fn what_git_prints_is_named_or_not() {
        for (script, path, unnamed) in [
            ("git show HEAD:.env", Some("/p/.env"), false),
            ("git show :.env", Some("/p/.env"), false),
            ("git show :0:.env", Some("/p/.env"), false),
            ("git show HEAD~2:config/.env", Some("/p/config/.env"), false),
            ("git cat-file -p HEAD:.env", Some("/p/.env"), false),
            ("git cat-file blob HEAD:.env", Some("/p/.env"), false),
            ("git --no-pager show HEAD:.env", Some("/p/.env"), false),
            ("git log -p -- .env", Some("/p/.env"), true),
            ("git log -p -- a.rs", Some("/p/a.rs"), false),
            ("git log -L1,5:.env", Some("/p/.env"), true),
            ("git diff .env", Some("/p/.env"), true),
            ("git diff HEAD -- .env a.rs", Some("/p/.env"), true),
            ("git grep x -- .env", Some("/p/.env"), true),
            ("git grep x .env", Some("/p/.env"), true),
            ("git blame .env", Some("/p/.env"), false),
            ("git archive HEAD .env", Some("/p/.env"), true),
            ("git diff -- ':(top).env'", Some("/p/.env"), true),
            ("x=$(git show HEAD:.env)", Some("/p/.env"), false),
            ("bash -c 'git show HEAD:.env'", Some("/p/.env"), false),
            ("git diff", None, true),
            ("git show", None, true),
            ("git show HEAD", None, true),
            ("git log -p", None, true),
            ("git log -1 -p", None, true),
            ("git log --patch", None, true),
            ("git show --stat -p", None, true),
            ("git stash show -p", None, true),
            ("git cat-file -p abc123", None, true),
            ("git cat-file --batch", None, true),
            ("git diff -- src", None, true),
            ("git diff -- '*.env'", None, true),
            ("git show HEAD:$f", None, true),
            ("git log", None, false),
            ("git log --oneline -5", None, false),
            ("git log --stat", None, false),
            ("git status", None, false),
            ("git diff --stat", None, false),
            ("git diff --name-only", None, false),
            ("git show --stat", None, false),
            ("git show --name-only HEAD", None, false),
            ("git show -s HEAD", None, false),
            ("git cat-file -t HEAD", None, false),
            ("git grep -l x", None, false),
            ("git branch", None, false),
        ] {
            let report = inspect(script, &Place::new("/p"));
            assert_eq!(report.prints_history, unnamed, "{script}");
            if let Some(path) = path {
                assert!(
                    report.reads.contains(&path.into()),
                    "{script}: {:?}",
                    report.reads
                );
            }
        }
    }
}
