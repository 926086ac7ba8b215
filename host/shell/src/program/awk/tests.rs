//! What is, and is not, an awk call that only reads.
#![allow(clippy::unwrap_used)]

use super::{judge, program};
use crate::check::Check;
use crate::reading::Word;

#[test]
fn everyday_programs_pass() {
    for text in [
        "{print $1}",
        "{ print $NF }",
        "NR>1 {s+=$2} END {print s}",
        "/foo/ {print $2, $NF}",
        "!seen[$0]++",
        "length > 80",
        "length($0) > 80 {print FILENAME \":\" FNR}",
        "{printf \"%s\\n\", $1}",
        "{printf(\"%s %d\\n\", $1, $2 > 3)}",
        "{ if ($3 > 10) print $1 }",
        "{print ($1 > 2)}",
        "{print ($1 > 2) ? \"a\" : \"b\"}",
        "NR==10,NR==20",
        "/start/,/end/",
        "$1 ~ /^a.*b$/ && $2 !~ /c\\/d/",
        "$0 ~ \"system(\" { n++ } END { print n }",
        "/system|getline|>/",
        "/a|b/ || /c/",
        "{ a[$1]++ } END { for (k in a) print k, a[k] }",
        "{ for (i = 1; i <= NF; i++) if ($i > m) m = $i } END { print m }",
        "BEGIN { FS = \",\"; OFS = \"\\t\" } { $1 = $1; print }",
        "{ x = $1 / $2; y = (x + 1) / 2; z /= 2; print x / y }",
        "{ print a[1] / 2, 4 / 2 }",
        "{ sub(/a/, \"b\"); gsub(/[0-9]+/, \"\"); print toupper($0) }",
        "{ n = split($0, p, /[,;]/); print p[n] }",
        "/[[:digit:]]+/ { c++ }",
        "/[^,]*/",
        "/=/ { print }",
        "1",
        "NF",
        "END{print NR}",
        "# count\n{ c += $1 } # sum\nEND { print c }",
        "function f(a, b) { return a > b ? a : b } { print f($1, $2) }",
        "{ print substr($0, 1, 20) }",
        "{ print $1 \"|\" $2 }",
        "{ print \"a \\\" > b | c\" }",
        "$3 >= 5",
        "{ total = total + $5; if (total > 100) exit } END { print total }",
        "{print $1; x = $2 > 3}",
        "match($0, /x[0-9]+/) { print substr($0, RSTART, RLENGTH) }",
        "{ while (i < 3) { i++; print i } do { i-- } while (i > 0) }",
        "BEGIN { x[\"a\"]; if (\"a\" in x) print \"yes\"; delete x[\"a\"] }",
        "$2 == \"é\"",
        "{ print 2**3, 2^3, -$1, 7 % 2, .5, 1e3 }",
    ] {
        let verdict = program::judge(text);
        assert!(verdict.is_ok(), "{text}: {verdict:?}");
    }
}

#[test]
fn programs_that_do_more_are_refused() {
    for text in [
        "BEGIN{system(\"touch x\")}",
        "BEGIN { system (\"touch x\") }",
        "BEGIN { x = system }",
        "{ print > \"x\" }",
        "{print>\"x\"}",
        "{ print >> \"x\" }",
        "{ print $1 > $2 }",
        "{ print $1 >= \"x\" }",
        "{ print(1)(2) > \"x\" }",
        "{ printf(\"%s\", $1) > \"x\" }",
        "{ printf \"%s\", $1 > \"/tmp/x\" }",
        "{ print $1,\n$2 > \"x\" }",
        "{ print a[1 > 2] }",
        "BEGIN { for (;; print \"x\" > \"y\") {} }",
        "BEGIN { for (i = 0; i < 1; print \"x\" > \"y\") i++ }",
        "{ if (1) print $1 > \"x\" }",
        "NR > 1 { if ($1 > 2) print (3) > \"x\" }",
        "{ print | \"sh\" }",
        "{ print $0 | \"sh\" }",
        "BEGIN { \"date\" | getline x }",
        "BEGIN { \"date\" |& getline x }",
        "BEGIN { while ((getline l < \"/etc/passwd\") > 0) print l }",
        "{ getline; print }",
        "BEGIN { print ENVIRON[\"HOME\"] }",
        "BEGIN { print PROCINFO[\"uid\"] }",
        "BEGIN { ARGV[1] = \"/etc/passwd\"; ARGC = 2 } 1",
        "BEGIN { SYMTAB[\"x\"] = 1 }",
        "{ close(\"x\") }",
        "{ fflush() }",
        "@include \"x\"",
        "@load \"x\"",
        "{ f = \"system\"; @f(\"x\") }",
        "BEGIN { extension(\"x.so\") }",
        "BEGIN { unknown(1) }",
        "BEGIN { unknown (1) }",
        "function system(x) { }",
        "function f(x) { system(x) } { f($1) }",
        "awk::system(\"x\")",
        // A regular expression for some versions, a division for others.
        "{ if (1) /\"/ ; system(\"x\") ; /\"/ }",
        "{ if (1)\n/\"/ ; system(\"x\") ; /\"/ }",
        "{ x++ /\"/ ; system(\"x\") ; /\"/ }",
        "{ length /\"/ ; system(\"x\") ; /\"/ }",
        "/[/]/ { x }",
        "/[]/]/ { x }",
        "/[\\]/]/ { x }",
        "/a/ /b/",
        "/open",
        "\"open",
        "\"a\\\n\"",
        "# x \\\n{ print }",
        "{ print \\\n $1 }",
        "{ x & y }",
        "{ x ` y }",
        "{ é }",
    ] {
        match program::judge(text) {
            Ok(()) => panic!("{text}"),
            Err(finding) => assert_eq!(finding.check, Check::UnsafeProgram, "{text}"),
        }
    }
}

/// Words of a call, divided by `¦`. What begins with a dash was written plainly.
fn words(call: &str) -> Vec<Word> {
    call.split('¦')
        .map(|text| Word {
            plain: if text.starts_with('-') { text.len() } else { 0 },
            ..Word::plain(text)
        })
        .collect()
}

#[test]
fn options_are_two_and_operands_are_read() {
    for (call, reads) in [
        ("{print $1}¦f", "f"),
        ("-F,¦{print $1}¦a¦b", "a b"),
        ("-F¦-f¦{print $1}¦a", "a"),
        ("-F:¦-v¦x=1¦-vy=2¦{print x}¦/etc/passwd", "/etc/passwd"),
        ("--field-separator=,¦--assign=x=1¦1¦f", "f"),
        ("--¦1¦-f", "-f"),
        ("1¦FS=,¦f¦-¦a/b=c", "f a/b=c"),
        ("--version", ""),
        ("1", ""),
    ] {
        let used = judge(&words(call)).unwrap_or_else(|finding| panic!("{call}: {finding:?}"));
        let texts: Vec<_> = used.reads.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(texts.join(" "), reads, "{call}");
    }
    for call in [
        "-f¦x.awk¦f",
        "-fx.awk",
        "-v¦x=1¦-f¦x.awk¦f",
        "-i¦inplace¦1¦f",
        "-l¦x",
        "-e¦1",
        "-E¦x",
        "-W¦exec¦x",
        "--file=x",
        "--field-sep=,¦1",
        "--include=inplace¦1",
        "-o¦1",
        "-p¦1",
        "-d¦1",
        "-v",
        "-F",
        "-v¦x",
        "-v¦ARGC=2¦1",
        "-vENVIRON=2¦1",
        "-version",
        "1¦ARGV=x",
        "1¦-f¦x",
        "1¦--¦x",
        "-",
    ] {
        assert!(judge(&words(call)).is_err(), "{call}");
    }
}

#[test]
fn quotes_and_globs() {
    let flag = |text: &str, plain| Word {
        plain,
        ..Word::plain(text)
    };
    let one = Word::plain("1");
    assert!(judge(&[flag("-F,", 2), one.clone()]).is_ok());
    let disguised = judge(&[flag("-F,", 1), one.clone()]).unwrap_err();
    assert_eq!(disguised.check, Check::ObfuscatedFlags);

    let glob = |text: &str| Word {
        glob: true,
        ..Word::plain(text)
    };
    assert!(judge(&[glob("a[1]"), Word::plain("f")]).is_err());
    assert!(judge(&[one.clone(), glob("*.txt")]).is_err());
    assert!(judge(&[one.clone(), glob("src/*.txt")]).is_ok());
    assert!(judge(&[Word::plain("--"), one, glob("*.txt")]).is_ok());
}
