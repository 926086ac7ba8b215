//! That the program starts and explains itself. Its being here also makes cargo
//! build the program before any test runs; the tests in `tests/` rely on that.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::process::Command;

#[test]
fn every_command_has_a_help_text() {
    let help = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_toolbay"))
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let all = help(&["--help"]);
    for command in ["tour", "tools", "call", "inspect", "doctor", "completions"] {
        assert!(all.contains(command), "{command} is not in the help");
        assert!(help(&[command, "--help"]).contains("Usage"), "{command}");
    }
}
