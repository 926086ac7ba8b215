//! Profiles as they are, and paths that try to be more than paths.
#![allow(clippy::unwrap_used)]

use super::*;

/// Compares with a file; with `TOOLBAY_BLESS=1` in the environment it writes the file.
#[allow(clippy::disallowed_methods)]
fn check(name: &str, seatbelt: &Seatbelt) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/seatbelt");
    let file = folder.join(name);
    let text = profile(seatbelt).unwrap();
    if std::env::var_os("TOOLBAY_BLESS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&file).unwrap(), "{name}");
}

#[test]
fn a_command_that_only_reads_writes_to_its_private_folder_alone() {
    check(
        "read-only.sb",
        &Seatbelt {
            temporary: "/private/tmp/x".into(),
            deny_read: vec!["/Users/me/.ssh".into()],
            ..Seatbelt::default()
        },
    );
}

#[test]
fn a_command_in_a_workspace_writes_there_but_not_to_protected_names() {
    check(
        "workspace.sb",
        &Seatbelt {
            write: vec!["/Users/me/project".into()],
            temporary: "/private/tmp/x".into(),
            protect: vec!["/Users/me/project/ci/keys/release".into()],
            names: crate::names::of_tests().always,
            deny_read: vec!["/Users/me/.ssh".into(), "/Users/me/.aws".into()],
            proxy: Some(41_080),
        },
    );
}

#[test]
fn a_path_cannot_end_its_quotes() {
    for (path, expected) in [
        ("/a b", Some(r#""/a b""#)),
        (
            r#"/a")(allow default)("#,
            Some(r#""/a\")(allow default)(""#),
        ),
        (r"/a\", Some(r#""/a\\""#)),
        ("/a\n(allow default)", None),
        ("/a\0", None),
        ("relative", None),
    ] {
        let said = quoted(Path::new(path)).ok();
        assert_eq!(said.as_deref(), expected, "{path:?}");
    }
}

#[test]
fn every_rule_is_one_closed_list() {
    let text = profile(&Seatbelt {
        write: vec![r#"/a ")("#.into()],
        temporary: "/t".into(),
        ..Seatbelt::default()
    })
    .unwrap();
    let (mut depth, mut in_text, mut escaped) = (0_i32, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            // Raw texts of regular expressions hold backslashes as they are.
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            '(' if !in_text => depth += 1,
            ')' if !in_text => depth -= 1,
            _ => {}
        }
        assert!(depth >= 0);
    }
    assert_eq!((depth, in_text), (0, false));
}
