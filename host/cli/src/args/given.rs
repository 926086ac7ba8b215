//! The command line as it was given, and what is said about one that cannot be used.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Error, Parser};

use super::Args;
use crate::view::harmless_line;

/// The arguments. Ends the program with help, with the version, or with what is wrong with them.
pub fn given() -> Args {
    let all: Vec<OsString> = std::env::args_os().collect();
    parsed(&all).unwrap_or_else(|end| end.exit())
}

fn parsed(all: &[OsString]) -> Result<Args, Error> {
    Args::try_parse_from(all).map_err(|error| match error.use_stderr() {
        true => harmless(all),
        false => error,
    })
}

/// The error that these arguments lead to. It repeats parts of them, and whoever put them together may
/// have taken them from elsewhere: so it is about what they look like.
fn harmless(all: &[OsString]) -> Error {
    let seen = all
        .iter()
        .map(|word| harmless_line(&word.to_string_lossy()));
    match Args::try_parse_from(seen) {
        Err(error) if error.use_stderr() => error,
        Ok(_) | Err(_) => Args::command().error(
            ErrorKind::InvalidUtf8,
            "an argument is not UTF-8, or it has characters in it that cannot be seen",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn said(words: &[&[u8]]) -> String {
        let all = [&[&b"toolbay"[..]], words].concat();
        let all: Vec<OsString> = all
            .into_iter()
            .map(|word| OsString::from_vec(word.to_vec()))
            .collect();
        let error = parsed(&all).expect_err("no command line");
        error.render().to_string()
    }

    #[test]
    fn what_is_repeated_of_a_command_line_is_shown_harmless() {
        for (words, part) in [
            (
                &[&b"--permission-mode"[..], b"\x1b[2J", b"tools"][..],
                "␛[2J",
            ),
            (&[b"--\x1b]0;x\x07"], "␛]0;x␇"),
            (&[b"\x1b[2Jtools"], "␛[2Jtools"),
            (
                &[b"tools", b"a", b"\x1b[2J\nerror: none"],
                "␛[2J⏎error: none",
            ),
            (&[b"tools", "--\u{202e}x".as_bytes()], "<U+202E>"),
            (&[b"call", b"\xff\x1b[2J"], "not UTF-8"),
            (&[b"tools", b"\xff\x1b[2J"], "not UTF-8"),
        ] {
            let said = said(words);
            for raw in [
                "\u{1b}[2J",
                "\u{1b}]0",
                "\u{7}",
                "\u{202e}",
                "\nerror: none",
            ] {
                assert!(!said.contains(raw), "{raw:?}: {said:?}");
            }
            assert!(said.contains(part), "{part}: {said:?}");
        }
    }

    #[test]
    fn help_and_good_command_lines_are_what_they_are() {
        let of = |words: &[&str]| parsed(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(of(&["toolbay", "tools"]).is_ok());
        let help = of(&["toolbay", "--help"]).expect_err("help");
        assert_eq!(help.kind(), ErrorKind::DisplayHelp);
    }
}
