//! What holds for every reading of a script, whoever made it.

use toolbay_shell::fuzzing::ReadCommand;

/// A reading makes nothing up: it has no more than the script has.
pub fn check(script: &str, commands: &[ReadCommand]) {
    let mut bytes = 0;
    for command in commands {
        for assignment in &command.assignments {
            bytes += assignment.name.len() + assignment.value.len() + 1;
        }
        for redirection in &command.redirections {
            bytes += redirection.target.text.len() + 1;
        }
        for word in &command.words {
            assert!(word.plain <= word.text.len());
            assert!(word.text.is_char_boundary(word.plain));
            assert!(!word.tilde || word.text.starts_with('~'));
            bytes += word.text.len();
        }
    }
    assert!(bytes <= script.len(), "a reading is longer than its script");
}
