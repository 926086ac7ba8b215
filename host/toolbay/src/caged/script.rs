//! A script as the shell gets it, with words around it that say in which folder it ended.
//!
//! The folder travels on a pipe of its own, never among the outputs: those are passed on as they
//! are. What a script starts inherits the pipe, so that all that comes may be invented; it is a
//! folder to start the next script in, and judged like any other.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use toolbay_sandbox::process::LastWord;

/// The first zero byte ends whatever others have begun to say. The pipe comes as the input, which a script finds empty. A script that sets a trap of its own,
/// or closes the pipe, says nothing; a pipe to which nobody listens any more does not end it. (A
/// redirection of `printf` alone would write to what the shell keeps of its output meanwhile, if the
/// script has closed the pipe: that gets the same number.)
const AROUND: &str = r#"exec {toolbay_end}>&0 </dev/null
trap 'trap "" PIPE; exec 2>/dev/null; exec >&${toolbay_end-} && printf "\0%s\0" "$PWD"' EXIT
eval "set --
$1""#;

/// Longer paths the kernel does not know.
const LONGEST_PATH: usize = 4096;

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

/// What runs a script so that it says in which folder it ended.
pub(super) fn reporting(shell: ShellKind, script: &str) -> Vec<OsString> {
    let mut all = shell.plainly(AROUND);
    all.extend([shell.program(), script].map(OsString::from));
    all
}

/// The folder in which a script ended, as it says itself.
pub(super) fn folder(word: &LastWord) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(word.get()?));
    let is_path = path.is_absolute() && path.as_os_str().len() <= LONGEST_PATH;
    is_path.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolbay_sandbox::cage::{Bounds, How, Leash};
    use toolbay_sandbox::process::{Bare, run_bare_with_word};

    use super::*;

    /// Runs it without a cage.
    fn run(shell: ShellKind, text: &str) -> (Option<i32>, String, Option<PathBuf>) {
        let bare = Bare {
            arguments: reporting(shell, text),
            folder: "/".into(),
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        };
        let leash = Leash::with(Bounds {
            time: Duration::from_secs(60),
            output: 1 << 20,
            pace: None,
        });
        let mut word = LastWord::default();
        let mut output = Vec::new();
        let mut sink = |bytes: &[u8]| output.extend_from_slice(bytes);
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let ended = runtime
            .block_on(run_bare_with_word(&bare, &leash, &mut word, &mut sink))
            .unwrap();
        let code = match ended.how {
            How::Exit(code) => Some(code),
            _ => None,
        };
        (code, String::from_utf8(output).unwrap(), folder(&word))
    }

    /// Prints all that it finds of its shell, and writes wherever the shell could be heard.
    const CURIOUS: &str = r#"
import glob, os, sys
shell = os.getppid()
found = open("/proc/%d/cmdline" % shell, "rb").read().split(b"\0")
found += open("/proc/%d/environ" % shell, "rb").read().split(b"\0")
for text in found:
    for line in [text, *text.split(b"\n"), *text.split()]:
        os.write(1, b"\n" + line + b"/etc")
own = [os.readlink(path) for path in ("/proc/self/fd/1", "/proc/self/fd/2")]
for path in glob.glob("/proc/self/fd/*") + glob.glob("/proc/%d/fd/*" % shell):
    try:
        if os.readlink(path) not in own:
            with open(path, "wb", buffering=0) as file:
                file.write(b"/etc\0half")
    except OSError:
        pass
"#;

    fn hides_nothing(shell: ShellKind) {
        let script = format!("python3 -c '{CURIOUS}' > told; cat told; echo next");
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        let script = format!("cd {}; {script}", place.display());
        let (code, output, ended_in) = run(shell, &script);
        let told = std::fs::read_to_string(place.join("told")).unwrap();
        assert_eq!(code, Some(0));
        assert!(told.contains(AROUND), "{told}");
        assert_eq!(output, told + "next\n");
        // The shell has the last word about the folder, unless a script takes care that it says none.
        assert_eq!(ended_in, Some(place));
        let lie = "printf '/etc\\0' >&$toolbay_end; trap - EXIT";
        assert_eq!(
            run(shell, lie),
            (Some(0), String::new(), Some("/etc".into()))
        );
        for nonsense in ["etc", "", "/$(printf %5000s)"] {
            let lie = format!("printf '%s\\0' \"{nonsense}\" >&$toolbay_end; trap - EXIT");
            assert_eq!(
                run(shell, &lie),
                (Some(0), String::new(), None),
                "{nonsense}"
            );
        }
        // Who floods the pipe ends neither the shell nor changes how it ended.
        let flood = "(yes >&$toolbay_end) 2>/dev/null; echo a; exit 3";
        assert_eq!(run(shell, flood), (Some(3), "a\n".into(), None));
        for end in [
            "exec {toolbay_end}>&-",
            "unset toolbay_end; set -u",
            "toolbay_end=77",
        ] {
            let closed = format!("{end}; echo a; exit 3");
            assert_eq!(run(shell, &closed), (Some(3), "a\n".into(), None), "{end}");
        }
        // Nobody waits for what is left in the background.
        let left = "sleep 100 >/dev/null 2>&1 & cd /usr";
        assert_eq!(
            run(shell, left),
            (Some(0), String::new(), Some("/usr".into()))
        );
    }

    #[test]
    fn nothing_that_a_command_finds_of_its_shell_hides_output() {
        hides_nothing(ShellKind::Bash);
    }

    #[test]
    fn a_script_runs_as_it_would_alone_and_says_where_it_ended() {
        says_where_it_ended(ShellKind::Bash);
        let broken = run(ShellKind::Bash, "if");
        assert!(broken.1.contains("syntax error"), "{broken:?}");
        assert_eq!((broken.0, broken.2), (Some(2), Some("/".into())));
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
        hides_nothing(ShellKind::Zsh);
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
            ("cat; read x; echo $?", 0, "1\n", Some("/")),
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
