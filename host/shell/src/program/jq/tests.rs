//! What is, and is not, a jq call that only reads.
#![allow(clippy::unwrap_used)]

use super::{judge, only_indexes};
use crate::check::Check;
use crate::reading::Word;

/// Words of a call, divided by `¦` so that blanks can stand in them. What begins with a
/// dash was written plainly, the rest in quotes.
fn words(call: &str) -> Vec<Word> {
    call.split('¦')
        .map(|text| Word {
            plain: if text.starts_with('-') { text.len() } else { 0 },
            ..Word::plain(text)
        })
        .collect()
}

#[test]
fn everyday_calls_pass() {
    for call in [
        ".¦package.json",
        "-r¦.name¦package.json",
        "-rc¦.items[] | {id, name}¦data.json",
        "length¦data.json",
        ".a // \"none\"¦data.json",
        "-n¦[1,2,3] | add",
        "--arg¦v¦-f¦.x == $v¦data.json",
        "--argjson¦n¦5¦.x + $n¦data.json",
        "--arg¦env¦prod¦.[$env]¦data.json",
        "--indent¦4¦.¦data.json",
        "--tab¦-S¦.¦data.json",
        "-s¦map(.count) | add¦a.json¦b.json",
        "--version",
        "-h",
        "-n¦$ARGS.positional¦--args¦a¦/etc/passwd",
        ".env",
        ".a.env.system",
        ".[\"env\"]",
        ".\"env\"",
        "\"system(x) env $ENV\"",
        "{env: .a, system}",
        "{name, env}",
        "{\"env\": 1}",
        ".environment | .exec?",
        "to_entries[] | \"\\(.key)=\\(.value)\"",
        "\"a \\(.x | \"b \\(.y)\") c\"",
        "..|.env?",
        ".[] | select(.name | test(\"^a\\\\.b\")) | .version",
        "if .a then .b else .c end",
        "reduce .[] as $x (0; . + $x)",
        "def f: .a; f",
        "[limit(3; .[])]",
        "[range(0; 5)]",
        ".dependencies | keys[] # all of them",
        "@base64 \"x\\(.a)\"",
        "@tsv",
        ".a.while",
        "input_filename",
        "[., inputs]",
        "env_name",
        "--¦.¦-odd.json",
    ] {
        let verdict = judge(&words(call));
        assert!(verdict.is_ok(), "{call}: {verdict:?}");
    }
}

#[test]
fn everything_else_is_refused() {
    for (call, check) in [
        ("system(\"touch x\")", Check::JqSystemFunction),
        (
            "-r¦def f: system(\"touch x\"); f¦d.json",
            Check::JqSystemFunction,
        ),
        (".x | system (\"touch x\")", Check::JqSystemFunction),
        (".x|system\n(\"touch x\")", Check::JqSystemFunction),
        ("\"\\(system(\"x\"))\"", Check::JqSystemFunction),
        ("\"\\(\"\\(system)\")\"", Check::JqSystemFunction),
        (".x | system", Check::JqSystemFunction),
        ("exec(\"x\")", Check::JqSystemFunction),
        ("{a: system}", Check::JqSystemFunction),
        ("{(system): 1}", Check::JqSystemFunction),
        ("[1, system, 2]", Check::JqSystemFunction),
        (
            "{a: if . then 1, env, 2 else 3 end}",
            Check::JqFileArguments,
        ),
        ("$ENV", Check::JqFileArguments),
        ("-n¦$ENV.API_KEY", Check::JqFileArguments),
        ("-n¦$ ENV.API_KEY", Check::JqFileArguments),
        ("-n¦$\n#x\nENV", Check::JqFileArguments),
        ("{$ENV}", Check::JqFileArguments),
        ("env", Check::JqFileArguments),
        ("env.HOME", Check::JqFileArguments),
        (".a|env|.b", Check::JqFileArguments),
        (". env", Check::JqFileArguments),
        ("..env", Check::JqFileArguments),
        ("1.env", Check::JqFileArguments),
        ("\"\\(env.HOME)\"", Check::JqFileArguments),
        ("@sh \"\\(env)\"", Check::JqFileArguments),
        ("include \"x\"; f", Check::JqFileArguments),
        ("import \"x\" as x; x::f", Check::JqFileArguments),
        ("x::f", Check::JqFileArguments),
        ("\"x\" | modulemeta", Check::JqFileArguments),
        ("repeat(.)", Check::Endless),
        ("[.]|until(false; .)", Check::Endless),
        ("while(true; .)", Check::Endless),
        ("range(infinite)", Check::Endless),
        ("# a \\\n \" \n env \"", Check::UnsafeProgram),
        ("\"open", Check::UnsafeProgram),
        ("(.a", Check::UnsafeProgram),
        (".a)", Check::UnsafeProgram),
        ("[.a}", Check::UnsafeProgram),
        ("`x`", Check::UnsafeProgram),
        ("\\x", Check::UnsafeProgram),
        ("-f¦x.jq¦d.json", Check::JqFileArguments),
        ("--from-file¦x.jq", Check::JqFileArguments),
        ("--from-file=x.jq", Check::JqFileArguments),
        ("-nrf¦x.jq", Check::JqFileArguments),
        (".¦-f¦x.jq", Check::JqFileArguments),
        ("-L¦lib¦.", Check::JqFileArguments),
        ("-Llib¦.", Check::JqFileArguments),
        ("--slurpfile¦a¦/etc/passwd¦.", Check::JqFileArguments),
        ("--rawfile¦a¦/etc/passwd¦$a", Check::JqFileArguments),
        ("--argfile¦a¦x¦$a", Check::JqFileArguments),
        ("--run-tests¦x", Check::JqFileArguments),
        ("--args¦.¦--rawfile¦a¦x", Check::JqFileArguments),
        ("--raw¦.", Check::UnknownArgument),
        ("-i¦.", Check::UnknownArgument),
        ("-", Check::UnknownArgument),
        ("--arg¦a", Check::UnknownArgument),
        ("--indent¦-f¦.", Check::UnknownArgument),
        ("--debug-dump-disasm¦.", Check::UnknownArgument),
    ] {
        match judge(&words(call)) {
            Ok(used) => panic!("{call}: {used:?}"),
            Err(finding) => assert_eq!(finding.check, check, "{call}: {}", finding.message),
        }
    }
}

#[test]
fn files_are_what_is_read() {
    let reads = |call: &str| -> Vec<String> {
        let used = judge(&words(call)).unwrap();
        used.reads.into_iter().map(|word| word.text).collect()
    };
    assert_eq!(reads("-r¦.¦a.json¦/etc/passwd"), ["a.json", "/etc/passwd"]);
    assert_eq!(reads("a.json¦-r¦--¦-b.json"), ["-b.json"]);
    assert!(reads("--args¦.¦a¦b").is_empty());
    assert!(reads("-n¦1").is_empty());
}

#[test]
fn quoted_options_are_a_disguise() {
    for text in ["-r", "--arg", "--from-file"] {
        let word = Word {
            plain: 1,
            ..Word::plain(text)
        };
        assert_eq!(judge(&[word]).unwrap_err().check, Check::ObfuscatedFlags);
    }
}

#[test]
fn globs_are_fine_where_they_cannot_change_roles() {
    let glob = |text: &str| Word {
        glob: true,
        ..Word::plain(text)
    };
    let dot = Word::plain(".");
    let end = Word::plain("--");
    assert!(judge(&[dot.clone(), glob("src/*.json")]).is_ok());
    assert!(judge(&[dot.clone(), glob("*.json")]).is_err());
    assert!(judge(&[dot.clone(), end, glob("*.json")]).is_ok());
    assert!(judge(&[glob(".items[0].name")]).is_ok());
    assert!(judge(&[glob("[e]nv")]).is_err());
    assert!(judge(&[glob("*")]).is_err());
    assert!(judge(&[Word::plain("--arg"), glob("*"), Word::plain("x"), dot]).is_err());

    for (text, fine) in [
        (".[]", true),
        (".a[].b", true),
        (".a[0][1].b[]", true),
        (".a[].b[]", false),
        (".a[].b[0]", false),
        (".a[1:2]", false),
        (".a[].b?", false),
        ("[e]nv", false),
    ] {
        assert_eq!(only_indexes(text), fine, "{text}");
    }
}
