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

/// A script with a mark that nobody else knows beforehand.
pub(super) struct Script {
    text: String,
    mark: String,
}

impl Script {
    pub(super) fn new(text: &str) -> Result<Self, HostFailure> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| HostFailure::Failed(format!("no randomness: {error}")))?;
        let mut mark = String::from("toolbay-ended-in-");
        for byte in random {
            mark.push_str(&format!("{byte:02x}"));
        }
        mark.push(':');
        Ok(Self {
            text: text.to_owned(),
            mark,
        })
    }

    /// What is run.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let all = ["bash", "-c", AROUND, "bash", &self.text, &self.mark];
        all.map(OsString::from).into()
    }

    /// The part of some output that comes before the mark.
    pub(super) fn without_mark<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        match find(bytes, self.mark.as_bytes()) {
            // The line end before it is ours, too.
            Some(at) => &bytes[..at.saturating_sub(1)],
            None => bytes,
        }
    }

    /// Takes the mark off the end, and the folder with it.
    pub(super) fn take_mark(&self, output: &mut Vec<u8>) -> Option<PathBuf> {
        let at = find(output, self.mark.as_bytes())?;
        let rest = output.split_off(at);
        if output.last() == Some(&b'\n') {
            output.pop();
        }
        let folder = &rest[self.mark.len()..];
        let folder = folder.strip_suffix(b"\n")?;
        let folder = PathBuf::from(OsString::from_vec(folder.to_vec()));
        folder.is_absolute().then_some(folder)
    }
}

/// The last place of some bytes in others.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|part| part == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs it without a cage.
    #[allow(clippy::disallowed_methods)]
    fn run(text: &str) -> (Option<i32>, String, Option<PathBuf>) {
        let script = Script::new(text).unwrap();
        let arguments = script.arguments();
        let ran = std::process::Command::new(&arguments[0])
            .args(&arguments[1..])
            .current_dir("/")
            .output()
            .unwrap();
        let mut output = ran.stdout;
        let folder = script.take_mark(&mut output);
        (
            ran.status.code(),
            String::from_utf8(output).unwrap(),
            folder,
        )
    }

    #[test]
    fn a_script_runs_as_it_would_alone_and_says_where_it_ended() {
        for (text, code, output, folder) in [
            ("echo a", 0, "a\n", Some("/")),
            ("printf a", 0, "a", Some("/")),
            ("cd /usr; false", 1, "", Some("/usr")),
            ("cd /usr && exit 7", 7, "", Some("/usr")),
            ("(cd /usr)", 0, "", Some("/")),
            ("echo $#-$1-$0", 0, "0--bash\n", Some("/")),
            ("cat <<X\na\nX", 0, "a\n", Some("/")),
            ("echo a # b", 0, "a\n", Some("/")),
            ("trap 'echo mine' EXIT", 0, "mine\n", None),
            ("exec true", 0, "", None),
            ("exec >/dev/null; echo a; cd /usr", 0, "", Some("/usr")),
            ("echo 'it''s'; echo \"$(echo b)\"", 0, "its\nb\n", Some("/")),
            ("if", 2, "", Some("/")),
            ("set -e; false; echo no", 1, "", Some("/")),
        ] {
            let found = run(text);
            let wanted = (Some(code), output.to_owned(), folder.map(PathBuf::from));
            assert_eq!(found, wanted, "{text}");
        }
    }
}
