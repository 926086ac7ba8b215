//! What conditions may look at.
#![allow(clippy::unwrap_used)]

use super::*;

fn words(text: &str) -> Vec<Word> {
    text.split(' ').map(Word::plain).collect()
}

#[test]
fn conditions_that_only_look_pass() {
    for text in [
        "-d src",
        "-d src ]",
        "! -e x",
        "-f a -a -f b",
        "-n x -o -z y",
        "( -f a )",
        "a = b ]",
        "a != b",
        "a == b",
        "a < b",
        "1 -eq 2",
        "-1 -lt +2",
        "a -nt b",
        "-t 1",
        "x",
        "x ]",
        "! ( -d a -o -L b )",
        "! x",
    ] {
        assert!(judge(&words(text)).is_ok(), "{text}");
    }
    assert!(judge(&[]).is_ok());
}

#[test]
fn what_runs_code_or_is_unclear_does_not() {
    for text in [
        "-v x",
        "-R x",
        "! -v x",
        "-f a -a -v x",
        "( -v x )",
        "-o errexit",
        "-v",
        "a[$(x)] -eq 0",
        "0 -lt a[$(x)]",
        "x -eq 1",
        "1 -eq x",
        "-f",
        "-f = x",
        "-f -a x",
        "-d a b",
        "a b",
        "a =",
        "( -f a",
        "-f a )",
        "-t x",
        "1 -eq",
        "= = =",
        "-n -v x",
        "-z = -v x",
        "-q x",
        "-a",
        "] ]",
        "1 -eq 1 -a x -eq 1",
    ] {
        assert!(judge(&words(text)).is_err(), "{text}");
    }
}

#[test]
fn files_are_reads() {
    let reads = judge(&words("-f /etc/passwd -a a -nt b -a -n c"))
        .unwrap()
        .reads;
    assert_eq!(reads, words("/etc/passwd a b"));
}

#[test]
fn quoted_operators_and_globs_are_refused() {
    let mut quoted = words("-f x");
    quoted[0].plain = 0;
    assert_eq!(judge(&quoted).unwrap_err().check, Check::ObfuscatedFlags);
    let mut glob = words("-f x");
    glob[1].glob = true;
    assert!(judge(&glob).is_err());
}

#[test]
fn conditions_are_read_down_to_a_depth() {
    for (depth, wanted) in [(MOST_DEPTH, true), (MOST_DEPTH + 1, false)] {
        let negated = format!("{}x", "! ".repeat(depth));
        let grouped = format!("{}x{}", "( ".repeat(depth), " )".repeat(depth));
        for text in [negated, grouped] {
            assert_eq!(judge(&words(&text)).is_ok(), wanted, "{text}");
        }
    }
}
