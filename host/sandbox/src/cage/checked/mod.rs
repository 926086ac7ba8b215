//! Files of a repository's control folder that git reads back without a look at the paths and programs
//! in them. A command that may write to a repository puts them in place by way of a lock file, as git
//! does; what is in them is looked at then.
//!
//! Else an index could hold `.git/hooks/post-checkout` or `../x`: the user's next `git checkout .` writes
//! such a file wherever it lies, and runs the hook.

mod index;

use std::ffi::OsStr;

use super::control::is_git;

/// More is no file that git wrote here: the index of the largest repositories has a tenth of it.
pub(crate) const MOST_BYTES: u64 = 512 << 20;

/// A file whose content is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    Index,
    /// What `git rerere` writes to.
    ResolvedPaths,
    /// How a cherry-pick or revert continues.
    SequencerOptions,
    /// What is checked out. Where it is nothing of the kind, git sees no repository, and takes the folder
    /// around it for one that has its looks.
    Head,
}

/// How long the names of objects are in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectNames {
    Sha1,
    Sha256,
}

impl ObjectNames {
    fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// As the settings of the repository say, which no command can write.
    pub(crate) fn of_settings(text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        let mut lines = text.lines().map(str::trim);
        let is_sha256 = |line: &str| line.contains("objectformat") && line.contains("sha256");
        match lines.any(is_sha256) {
            true => Self::Sha256,
            false => Self::Sha1,
        }
    }
}

impl Checked {
    /// What a path below the control folder is.
    pub(crate) fn of(inside: &[&OsStr]) -> Option<Self> {
        let names: Option<Vec<&str>> = inside.iter().map(|name| name.to_str()).collect();
        match names?.as_slice() {
            ["index"] => Some(Self::Index),
            [name] if name.starts_with("sharedindex.") && !name.ends_with(".lock") => {
                Some(Self::Index)
            }
            ["MERGE_RR"] => Some(Self::ResolvedPaths),
            ["sequencer", "opts"] => Some(Self::SequencerOptions),
            ["HEAD"] => Some(Self::Head),
            _ => None,
        }
    }

    /// Why git must not read this back.
    pub(crate) fn problem(self, content: &[u8], names: ObjectNames) -> Option<String> {
        match self {
            Self::Index => index::check(content, names).err(),
            Self::ResolvedPaths => resolved_paths(content).err(),
            Self::SequencerOptions => sequencer_options(content).err(),
            Self::Head => head(content).err(),
        }
    }
}

/// A path that git would write in the work tree and nowhere else.
fn check_path(path: &[u8]) -> Result<(), String> {
    use std::os::unix::ffi::OsStrExt;
    let is_fine = |name: &[u8]| {
        // Some file systems have this second name for it.
        let is_control = is_git(OsStr::from_bytes(name)) || name.eq_ignore_ascii_case(b"git~1");
        !matches!(name, b"" | b"." | b"..") && !is_control && !name.contains(&0)
    };
    if path.split(|byte| *byte == b'/').all(is_fine) {
        return Ok(());
    }
    let path = String::from_utf8_lossy(path);
    Err(format!("it lists `{}`", path.escape_debug()))
}

/// An object's name, a tab and a path, each with a zero byte behind it.
fn resolved_paths(content: &[u8]) -> Result<(), String> {
    let records = content.split(|byte| *byte == 0);
    for record in records.filter(|record| !record.is_empty()) {
        let mut parts = record.splitn(2, |byte| *byte == b'\t');
        let path = parts.nth(1).ok_or("a line has no path")?;
        check_path(path)?;
    }
    Ok(())
}

/// The name of a branch as git writes it, or of a commit.
fn head(content: &[u8]) -> Result<(), String> {
    let line = content.strip_suffix(b"\n").unwrap_or(content);
    let is_commit = matches!(line.len(), 40 | 64) && line.iter().all(u8::is_ascii_hexdigit);
    let is_name = |name: &[u8]| {
        let is_part = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
        let is_plain = |byte: &u8| !byte.is_ascii_control() && *byte != b' ';
        name.iter().all(is_plain) && name.split(|byte| *byte == b'/').all(is_part)
    };
    let branch = line.strip_prefix(b"ref: ");
    let is_branch = branch.is_some_and(|name| name.starts_with(b"refs/") && is_name(name));
    (is_commit || is_branch)
        .then_some(())
        .ok_or_else(|| "it names neither a branch nor a commit".into())
}

/// Strategies of git's own. Any other is a program that is started, whose name may be a path.
const STRATEGIES: [&str; 6] = ["octopus", "ort", "ours", "recursive", "resolve", "subtree"];

fn sequencer_options(content: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(content).map_err(|_| "it is not UTF-8 text".to_owned())?;
    // Whatever the settings' syntax makes of it: no such word, no such program.
    for line in text.lines().map(str::trim) {
        let lower = line.to_ascii_lowercase();
        let Some(rest) = lower.strip_prefix("strategy") else {
            let is_hidden = lower.starts_with('[') && lower.contains("strategy");
            if is_hidden || lower.ends_with('\\') {
                return Err(format!(
                    "git writes no line such as `{}`",
                    line.escape_debug()
                ));
            }
            continue;
        };
        if rest.starts_with("-option") {
            continue;
        }
        let value = rest
            .trim_start()
            .strip_prefix('=')
            .unwrap_or_default()
            .trim();
        if !STRATEGIES.contains(&value) {
            let shown = value.escape_debug();
            return Err(format!(
                "it starts the merge strategy `{shown}`, which is not git's own"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_git_reads_back_without_a_look_is_known_by_its_name() {
        for (path, wanted) in [
            ("index", Some(Checked::Index)),
            ("sharedindex.0123", Some(Checked::Index)),
            ("MERGE_RR", Some(Checked::ResolvedPaths)),
            ("sequencer/opts", Some(Checked::SequencerOptions)),
            ("HEAD", Some(Checked::Head)),
            ("refs/remotes/origin/HEAD", None),
            ("index.lock", None),
            ("sharedindex_x", None),
            ("sequencer/todo", None),
            ("refs/heads/index", None),
        ] {
            let parts: Vec<&OsStr> = Path::new(path).iter().collect();
            assert_eq!(Checked::of(&parts), wanted, "{path}");
        }
    }

    #[test]
    fn paths_lie_in_the_work_tree() {
        for (path, is_fine) in [
            ("a", true),
            ("a/b.c", true),
            (".gitignore", true),
            (".github/x", true),
            ("a..b", true),
            ("", false),
            ("/a", false),
            ("a//b", false),
            ("a/", false),
            ("../a", false),
            ("a/..", false),
            ("./a", false),
            (".git/hooks/x", false),
            ("sub/.GIT/x", false),
            (".g\u{200c}it/x", false),
            ("GIT~1/x", false),
        ] {
            assert_eq!(check_path(path.as_bytes()).is_ok(), is_fine, "{path}");
        }
    }

    #[test]
    fn resolved_paths_and_options_start_and_write_nothing_else() {
        use Checked::{ResolvedPaths, SequencerOptions};
        for (kind, text, is_fine) in [
            (ResolvedPaths, "", true),
            (ResolvedPaths, "0123\ta/b\0", true),
            (ResolvedPaths, "0123\ta\x000123\t../b\0", false),
            (ResolvedPaths, "0123\t.git/hooks/x\0", false),
            (ResolvedPaths, "0123", false),
            (SequencerOptions, "[options]\n\tsignoff = true\n", true),
            (
                SequencerOptions,
                "[options]\n\tstrategy = ort\n\tstrategy-option = theirs\n",
                true,
            ),
            (
                SequencerOptions,
                "[options]\n\tstrategy = /../evil\n",
                false,
            ),
            (SequencerOptions, "[options]\n\tSTRATEGY=evil\n", false),
            (SequencerOptions, "[options] strategy = evil\n", false),
            (
                SequencerOptions,
                "[options]\n\tstrategy = or\\\n../evil\n",
                false,
            ),
            (SequencerOptions, "[options]\n\tsignoff = x\\\n", false),
            (
                SequencerOptions,
                "[options]\n\tstrategy = \"/../evil\"\n",
                false,
            ),
        ] {
            let problem = kind.problem(text.as_bytes(), ObjectNames::Sha1);
            assert_eq!(problem.is_none(), is_fine, "{text:?}: {problem:?}");
        }
    }

    #[test]
    fn a_head_names_a_branch_or_a_commit() {
        let (short, long) = ("0123456789abcdef0123456789abcdef01234567", "ab".repeat(32));
        for (text, is_fine) in [
            ("ref: refs/heads/main\n", true),
            ("ref: refs/heads/a/b-c.d@x", true),
            ("ref: refs/heads/gr\u{fc}n\n", true),
            ("ref: refs/heads/.invalid\n", true),
            (short, true),
            (&format!("{long}\n"), true),
            ("", false),
            ("\n", false),
            ("ref: \n", false),
            ("ref: main\n", false),
            ("ref: refs/\n", false),
            ("ref: refs/../x\n", false),
            ("ref: refs/heads/x\0\n", false),
            ("ref: refs/heads/x\ny\n", false),
            ("0123\n", false),
            (&short[1..], false),
            ("no ref\n", false),
        ] {
            let problem = Checked::Head.problem(text.as_bytes(), ObjectNames::Sha1);
            assert_eq!(problem.is_none(), is_fine, "{text:?}: {problem:?}");
        }
    }

    #[test]
    fn settings_say_how_long_names_of_objects_are() {
        let sha256 = "[core]\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n";
        assert_eq!(ObjectNames::of_settings(sha256), ObjectNames::Sha256);
        assert_eq!(ObjectNames::of_settings("[core]\n"), ObjectNames::Sha1);
    }
}
