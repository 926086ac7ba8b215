//! What `find` may do, and what not.
#![allow(clippy::unwrap_used)]

use super::*;

fn words(text: &str) -> Vec<Word> {
    text.split(' ')
        .filter(|text| !text.is_empty())
        .map(Word::plain)
        .collect()
}

#[test]
fn looking_passes() {
    for text in [
        "",
        ".",
        "src -maxdepth 2 -type d",
        ". -name *.rs",
        "-L . -iname x -print0",
        ". ( -name a -o -name b ) -prune -o -print",
        ". ! -name x",
        ". -size +1M",
        "-name x",
        ". -newermt 2024-01-01",
        ". -newer f",
        ". -newerma f",
        ". -printf %p\\n",
        ". -mtime -7",
        ". -perm -u+x",
        ". -regextype posix-extended -regex .*",
        ". -empty -ls",
        "a b c -quit",
    ] {
        assert!(judge(&words(text)).is_ok(), "{text}");
    }
}

#[test]
fn writing_and_running_does_not() {
    for text in [
        ". -delete",
        ". -exec touch x ;",
        ". -execdir ls ;",
        ". -ok ls ;",
        ". -okdir ls ;",
        ". -fprint x",
        ". -fprint0 x",
        ". -fprintf x %p",
        ". -fls x",
        ". -files0-from x",
        "-files0-from x",
        ". -name",
        ". -name x y",
        ". -D all",
        ". -nosuch",
        "-D exec .",
        ". -exec",
        ". -exec ls",
        ". -exec ;",
        ". -newerxy f",
        ". --delete",
        ". -name x -o -delete",
        "-H -delete",
        ". -del",
        "-- -delete",
        ". -O3",
    ] {
        assert!(judge(&words(text)).is_err(), "{text}");
    }
}

#[test]
fn an_inner_command_is_judged() {
    for text in [
        ". -name x -exec cat {} ;",
        "src -exec wc -l {} +",
        ". -exec grep -l foo {} ; -print",
        ". -type f -exec sed -n 1p {} ;",
        ". -exec basename {} ;",
        ". -exec uniq {} ;",
        ". -exec sed -n 1p {} +",
    ] {
        assert!(judge(&words(text)).is_ok(), "{text}");
    }
    for text in [
        ". -exec rm {} ;",
        ". -exec sh -c {} ;",
        ". -exec {} ;",
        ". -exec sort -o {} {} ;",
        ". -exec cat x{} ;",
        ". -exec find {} -delete ;",
        ". -exec xargs cat {} ;",
        ". -exec sed {} f ;",
        ". -exec sed -n {} {} ;",
        ". -exec awk {} f ;",
        ". -exec jq {} f ;",
        ". -exec /bin/cat {} ;",
        ". -exec ./cat {} ;",
        ". -exec cat {} + -delete",
        ". -exec cat {} ; -exec rm {} ;",
        ". -exec uniq {} {} ;",
        ". -exec uniq {} +",
        ". -exec uniq -c {} +",
        ". -exec xxd {} +",
        ". -exec grep {} +",
        ". -exec cat a + {} ",
        ". -exec env cat {} ;",
    ] {
        assert!(judge(&words(text)).is_err(), "{text}");
    }
}

#[test]
fn paths_are_reads() {
    let reads = |text: &str| judge(&words(text)).unwrap().reads;
    assert_eq!(reads("-name x"), words("."));
    assert_eq!(
        reads("/etc src -newer /a -samefile b"),
        words("/etc src /a b")
    );
    assert_eq!(
        reads(". -exec cat /etc/passwd {} ;"),
        words(". /etc/passwd")
    );
}

#[test]
fn disguises_and_globs_are_refused() {
    let mut quoted = words(". -print");
    quoted[1].plain = 2;
    assert_eq!(judge(&quoted).unwrap_err().check, Check::ObfuscatedFlags);
    let glob = |at: usize, text: &str| {
        let mut words = words(text);
        words[at].glob = true;
        judge(&words).is_ok()
    };
    assert!(glob(0, "src/* -print"));
    assert!(!glob(0, "* -print"));
    assert!(!glob(2, ". -name *.rs"));
    assert!(!glob(0, "src/* -exec cat {} ;"));
}
