//! What `sed` may do, and what not.
#![allow(clippy::unwrap_used)]

use super::*;

fn words(texts: &[&str]) -> Vec<Word> {
    texts.iter().map(|text| Word::plain(text)).collect()
}

fn passes(texts: &[&str]) -> bool {
    judge(&words(texts)).is_ok()
}

#[test]
fn scripts_that_print_pass() {
    for script in [
        "5p",
        "1,10p",
        "$p",
        "$=",
        "10q",
        "1,5 p; 9q",
        "/a/p",
        "/a/I,/b/p",
        "/a/,+3p",
        "/a/,~4p",
        "0~3d",
        "2~5p",
        "s/a/b/",
        "s/a/b/gI",
        "s/a/b/2p",
        "s|/usr|/opt|g",
        "s#a#b#;s,c,d,",
        "s/\\//_/g",
        "s/[^/]*$//;p".split(';').next_back().unwrap(),
        "y/abc/xyz/",
        "/^$/d",
        "s/^[[:space:]]*//",
        "s/[]a]/x/",
        "s/a/\\n/",
        "N;P;D",
        "l 5",
        "q3",
        "1p\n2p",
        "G",
        "s/\\[x\\]/y/",
        "/\\[/p",
        "",
    ] {
        assert!(passes(&["-n", script, "f"]), "{script}");
    }
}

#[test]
fn scripts_that_write_run_or_loop_do_not() {
    for script in [
        "w out",
        "1w out",
        "/a/w out",
        "$w out",
        "1p;w out",
        "W out",
        "r /etc/passwd",
        "R f",
        "e",
        "e touch x",
        "1e touch x",
        "s/a/b/w out",
        "s/a/b/e",
        "s/a/b/ge",
        "s/a/b/gw out",
        "sxaxbxe",
        "sxaxbx",
        "s a b ",
        "s\\a\\b\\",
        "s/a/b",
        "s/a/b/;e",
        "s/a/b\\",
        "s/a/b\\\nc/",
        "s/a/b/\nw out",
        "a text",
        "i text",
        "c text",
        "a\\",
        ":a",
        "ba",
        ":a;N;ba",
        "t",
        "T",
        "1!p",
        "1!w out",
        "{p}",
        "1{w out\n}",
        "p}",
        "F",
        "z",
        "v",
        "#n",
        "p # x",
        "p w out",
        "\\,a,p",
        "\\,a,w out",
        "s/[/]/e/w out/",
        "s/[/]/x/",
        "/[/w out",
        "p\u{e4}",
        "pp",
        "p q",
        "1,p",
        "1~p",
        ",5p",
        "+3p",
        "s/a/b/\u{a0}",
        "p\tw",
        "=w",
        "y/a/b/w x",
        "M",
        "s/a/b/m;w o",
    ] {
        assert!(!passes(&["-n", script, "f"]), "{script}");
        assert!(!passes(&["-e", "p", "-e", script, "f"]), "-e {script}");
    }
}

#[test]
fn flags_are_told_from_files() {
    assert!(passes(&["-n", "-e", "1p", "-e2p", "--expression=3p", "f"]));
    assert!(passes(&["-nE", "s/(a)/\\1/p", "f", "g"]));
    assert!(passes(&["-ne1p", "f"]));
    assert!(passes(&["p", "f", "-n"]));
    assert!(passes(&["-n", "--", "p", "-i"]));
    for flags in [
        &["-i", "s/a/b/", "f"][..],
        &["-i.bak", "s/a/b/", "f"],
        &["-ni", "1p", "f"],
        &["s/a/b/", "f", "-i"],
        &["--in-place", "s/a/b/", "f"],
        &["--in-place=x", "s/a/b/", "f"],
        &["--in", "p", "f"],
        &["--quie", "p", "f"],
        &["-f", "x.sed", "f"],
        &["--file=x.sed", "f"],
        &["-n", "1p", "f", "-e", "w out"],
        &["-n", "1p", "f", "-ew out"],
        &["--expression=w out", "f"],
        &["-n"],
        &["-e"],
        &["-l", "5", "p"],
    ] {
        assert!(!passes(flags), "{flags:?}");
    }
}

#[test]
fn files_are_reads_and_quoted_flags_are_named() {
    let reads = judge(&words(&["-n", "1p", "a", "-", "/etc/passwd"]))
        .unwrap()
        .reads;
    assert_eq!(reads, words(&["a", "/etc/passwd"]));
    let mut quoted = words(&["-n", "p", "f"]);
    quoted[0].plain = 0;
    assert_eq!(judge(&quoted).unwrap_err().check, Check::ObfuscatedFlags);
}

#[test]
fn globs_cannot_be_flags_or_scripts() {
    let glob = |text: &str| Word {
        glob: true,
        ..Word::plain(text)
    };
    let script = Word::plain("p");
    assert!(judge(&[script.clone(), glob("src/*")]).is_ok());
    assert!(judge(&[script.clone(), Word::plain("--"), glob("*")]).is_ok());
    assert!(judge(&[script, glob("*")]).is_err());
    assert!(judge(&[glob("s/*/a/"), Word::plain("f")]).is_err());
}
