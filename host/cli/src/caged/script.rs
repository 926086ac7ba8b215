//! A script as the shell gets it, with a mark at its end that says in which folder it ended.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use toolbay_contract::HostFailure;

/// Says where the shell is when it ends, on a copy of its first output: what the script does to
/// the outputs does not matter. A script that sets a trap of its own says nothing.
const AROUND: &str = r#"exec {toolbay_out}>&1
trap 'printf "\n%s%s\n" "'"$2"'" "$PWD" >&$toolbay_out' EXIT
set -- "$1"
eval "set --
$1""#;

/// Who runs scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShellKind {
    #[default]
    Bash,
    Zsh,
}

impl ShellKind {
    pub fn program(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
        }
    }

    /// The words before a script: no start-up file of the person is read, since a script must do
    /// the same for everybody. (zsh reads the machine's `/etc/zshenv` whatever one says.)
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Bash => &["bash", "-c"],
            Self::Zsh => &["zsh", "-f", "-c"],
        }
    }

    /// What runs a script as it is.
    pub(super) fn plainly(self, script: &str) -> Vec<OsString> {
        let words = self.words().iter().copied();
        words.chain([script]).map(OsString::from).collect()
    }
}

/// A script with a mark that nobody else knows beforehand.
pub(super) struct Script {
    shell: ShellKind,
    text: String,
    mark: String,
}

impl Script {
    pub(super) fn new(shell: ShellKind, text: &str) -> Result<Self, HostFailure> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| HostFailure::Failed(format!("no randomness: {error}")))?;
        let mut mark = String::from("toolbay-ended-in-");
        for byte in random {
            mark.push_str(&format!("{byte:02x}"));
        }
        mark.push(':');
        Ok(Self {
            shell,
            text: text.to_owned(),
            mark,
        })
    }

    /// What is run.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let more = [self.shell.program(), &self.text, &self.mark];
        let mut all = self.shell.plainly(AROUND);
        all.extend(more.map(OsString::from));
        all
    }

    /// What takes the mark out of the output.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            // The line end before it is ours, too.
            mark: format!("\n{}", self.mark).into_bytes(),
            ..Filter::nothing()
        }
    }
}

/// Takes marks out of output that comes in pieces. A command can read the mark where its shell was
/// given it, and print one itself: then that line is taken out, and what follows it is shown like
/// everything else. The last mark counts, which is the shell's own.
pub(super) struct Filter {
    /// Empty if there is none.
    mark: Vec<u8>,
    /// The end of what came, if a mark may begin there, or one whose line has not ended.
    held: Vec<u8>,
    /// How much of that was handed out all the same.
    given: usize,
    /// What stood behind the last mark.
    folder: Option<PathBuf>,
}

/// Longer paths the kernel does not know.
const LONGEST_PATH: usize = 4096;

impl Filter {
    /// Lets everything pass.
    pub(super) fn nothing() -> Self {
        Self {
            mark: Vec::new(),
            held: Vec::new(),
            given: 0,
            folder: None,
        }
    }

    /// The part of this piece, and of those before it, that is known to be no mark.
    pub(super) fn pass(&mut self, piece: &[u8]) -> Vec<u8> {
        if self.mark.is_empty() {
            return piece.to_vec();
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(piece);
        let mut passed = Vec::new();
        while let Some(at) = find(&all, &self.mark) {
            let behind = &all[at + self.mark.len()..];
            let end = behind.iter().position(|byte| *byte == b'\n');
            match end {
                Some(end) if end <= LONGEST_PATH => {
                    let folder = PathBuf::from(OsString::from_vec(behind[..end].to_vec()));
                    self.folder = folder.is_absolute().then_some(folder);
                    let rest = behind[end + 1..].to_vec();
                    all.truncate(at);
                    passed.extend(self.without_given(all));
                    all = rest;
                }
                None if behind.len() <= LONGEST_PATH => {
                    self.held = all.split_off(at);
                    passed.extend(self.without_given_unless_empty(all));
                    return passed;
                }
                // No path is that long: it is no mark.
                Some(_) | None => {
                    let rest = all.split_off(at + self.mark.len());
                    passed.extend(self.without_given(all));
                    all = rest;
                }
            }
        }
        let most = self.mark.len().min(all.len() + 1) - 1;
        let begins = (1..=most).rev().find(|n| all.ends_with(&self.mark[..*n]));
        self.held = all.split_off(all.len() - begins.unwrap_or(0));
        passed.extend(self.without_given_unless_empty(all));
        passed
    }

    /// What was handed out belongs to the bytes that come first, if any do.
    fn without_given_unless_empty(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        match bytes.is_empty() {
            true => bytes,
            false => self.without_given(bytes),
        }
    }

    fn without_given(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        let given = std::mem::take(&mut self.given);
        bytes.drain(..given.min(bytes.len()));
        bytes
    }

    /// What is held back, for somebody who cannot wait. Should a mark come of it, its line end
    /// was shown, and nothing else.
    pub(super) fn so_far(&mut self) -> Vec<u8> {
        if self.given == 0 && self.held == b"\n" {
            self.given = 1;
            return self.held.clone();
        }
        Vec::new()
    }

    /// What was held back although no mark came.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.without_given(held)
    }

    /// The folder that stood behind the last mark.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }
}

/// The first place of some bytes in others. They start with a line end, so that few places are
/// looked at.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut starts = starts.map(|(at, _)| at);
    starts.find(|at| bytes[*at..].starts_with(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs it without a cage.
    #[allow(clippy::disallowed_methods)]
    fn run(shell: ShellKind, text: &str) -> (Option<i32>, String, Option<PathBuf>) {
        let script = Script::new(shell, text).unwrap();
        let arguments = script.arguments();
        let ran = std::process::Command::new(&arguments[0])
            .args(&arguments[1..])
            .current_dir("/")
            .output()
            .unwrap();
        // However it comes: at once, or byte by byte.
        let [whole, pieces] = [ran.stdout.len().max(1), 1].map(|size| {
            let mut filter = script.filter();
            let mut output = Vec::new();
            for piece in ran.stdout.chunks(size) {
                output.extend(filter.pass(piece));
            }
            output.extend(filter.rest());
            (String::from_utf8(output).unwrap(), filter.folder())
        });
        assert_eq!(whole, pieces);
        (ran.status.code(), whole.0, whole.1)
    }

    #[test]
    fn a_line_end_that_was_handed_out_is_not_handed_out_again() {
        let script = Script::new(ShellKind::Bash, "").unwrap();
        let mark = format!("{}/\n", script.mark);
        for (pieces, wanted) in [
            (vec!["a\n", "b"], "a\n|b"),
            (vec!["a\n", &mark], "a\n|"),
            (vec!["a\n", &mark[..9], &mark[9..]], "a\n||"),
            (vec!["a\n", "\n", &mark], "a\n|\n|"),
            (vec!["a\n", "toolbay-x"], "a\n|toolbay-x"),
            // One that the command printed hides nothing that comes after it.
            (vec!["a\n", &mark, "b\n", "\n", &mark], "a\n||b\n|\n|"),
            (vec!["a\n", &mark, "b"], "a\n||b"),
        ] {
            let mut filter = script.filter();
            let mut parts: Vec<String> = Vec::new();
            for piece in &pieces {
                let mut part = filter.pass(piece.as_bytes());
                part.extend(filter.so_far());
                parts.push(String::from_utf8(part).unwrap());
            }
            let rest = String::from_utf8(filter.rest()).unwrap();
            assert_eq!(parts.join("|") + &rest, wanted, "{pieces:?}");
        }
    }

    #[test]
    fn a_mark_that_a_command_read_from_its_shell_hides_nothing() {
        let forged = "tr '\\0' '\\n' < /proc/$PPID/cmdline | grep -m 1 ^toolbay-ended-in > /dev/null; \
            m=$(tr '\\0' '\\n' < /proc/$$/cmdline | grep ^toolbay-ended-in); \
            printf '\\n%s/etc\\n' \"$m\"; echo hidden";
        let (code, output, folder) = run(ShellKind::Bash, forged);
        assert_eq!(code, Some(0));
        assert_eq!(output, "hidden\n");
        assert_eq!(folder, Some("/".into()));
        let endless = format!("\n{}{}\n", "MARK", "x".repeat(LONGEST_PATH + 1));
        let mut filter = Script::new(ShellKind::Bash, "").unwrap().filter();
        let mark = String::from_utf8(filter.mark.clone()).unwrap();
        let endless = endless.replace("\nMARK", &mark);
        let mut shown = filter.pass(endless.as_bytes());
        shown.extend(filter.rest());
        assert_eq!(String::from_utf8(shown).unwrap(), endless);
        assert_eq!(filter.folder(), None);
    }

    #[test]
    fn a_script_runs_as_it_would_alone_and_says_where_it_ended() {
        says_where_it_ended(ShellKind::Bash);
        let broken = run(ShellKind::Bash, "if");
        assert_eq!(broken, (Some(2), String::new(), Some("/".into())));
    }

    #[test]
    #[allow(clippy::print_stderr, clippy::disallowed_methods)]
    fn the_same_by_zsh() {
        let is_there = ["/usr/bin/zsh", "/bin/zsh", "/usr/local/bin/zsh"];
        if !is_there
            .iter()
            .any(|path| std::path::Path::new(path).is_file())
        {
            let what = "LEFT OUT: scripts by zsh (there is no zsh)";
            assert!(std::env::var_os("CI").is_none(), "{what}");
            return eprintln!("{what}");
        }
        says_where_it_ended(ShellKind::Zsh);
    }

    fn says_where_it_ended(shell: ShellKind) {
        let name = shell.program();
        let zeroth = format!("0  {name}\n");
        for (text, code, output, folder) in [
            ("echo a", 0, "a\n", Some("/")),
            ("printf a", 0, "a", Some("/")),
            (
                "printf 'a\\n\\n\\ntoolbay-ended-in-'",
                0,
                "a\n\n\ntoolbay-ended-in-",
                Some("/"),
            ),
            ("cd /usr; false", 1, "", Some("/usr")),
            ("cd /usr && exit 7", 7, "", Some("/usr")),
            ("(cd /usr)", 0, "", Some("/")),
            ("echo \"$# $1 $0\"", 0, zeroth.as_str(), Some("/")),
            ("cat <<X\na\nX", 0, "a\n", Some("/")),
            ("echo a # b", 0, "a\n", Some("/")),
            ("trap 'echo mine' EXIT", 0, "mine\n", None),
            ("exec true", 0, "", None),
            ("exec >/dev/null; echo a; cd /usr", 0, "", Some("/usr")),
            ("echo 'it''s'; echo \"$(echo b)\"", 0, "its\nb\n", Some("/")),
            ("set -e; false; echo no", 1, "", Some("/")),
        ] {
            let found = run(shell, text);
            let wanted = (Some(code), output.to_owned(), folder.map(PathBuf::from));
            assert_eq!(found, wanted, "{name}: {text}");
        }
    }
}
