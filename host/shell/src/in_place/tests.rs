use std::path::Path;

use super::*;

/// Texts on which both are tried.
const TEXTS: &[&str] = &[
    "",
    "foo",
    "foo\n",
    "foo bar foo\nFOO foo\n\nbar",
    "a.b.c\na/b/c\na|b\n",
    "  indented\n\ttabbed\r\nlast\r\n",
    "aaa aab ab b\n[x] (y) {z} +1 a+b a?b\n",
    "version = \"1.2.3\"\nname = 'x'\n$HOME ^start end$\n",
    "x=1;y=22;z=333\n#comment\n\\back\\slash\n&amp;\n",
];

const SCRIPTS: &[&str] = &[
    "sed -i 's/foo/bar/' f",
    "sed -i 's/foo/bar/g' f",
    "sed -i 's/foo/bar/2' f",
    "sed -i 's/foo/bar/I' f",
    "sed -i 's/foo/bar/gi' f",
    "sed -i s/foo/bar/ f",
    "sed -i \"s/foo/bar/\" f",
    "sed --in-place 's,a/b,c,' f",
    "sed -i 's|a/b|x|g' f",
    "sed -i 's,a,\\,x,g' f",
    "sed -i 's|a|b\\||' f",
    "sed -i 's#foo#b/r#' f",
    "sed -i -e 's/foo/x/' -e 's/x/y/g' f",
    "sed -i -E 's/(a+)(b?)/<\\2\\1>/g' f",
    "sed -i -r 's/[0-9]+/N/g' f",
    "sed -i 's/\\(a*\\)b/[\\1]/g' f",
    "sed -i 's/a\\+/x/' f",
    "sed -i 's/ab\\?/x/g' f",
    "sed -i 's/a*b/x/g' f",
    "sed -i 's/[^a-z ]/_/g' f",
    "sed -i 's/[]]/)/' f",
    "sed -i 's/[^]]x/)/' f",
    "sed -i 's/[a-]/-/g' f",
    "sed -i 's/[a-a]/-/g' f",
    "sed -i 's/[ab-c]/-/g' f",
    "sed -i 's/[-a]/-/g' f",
    "sed -i 's/[[:digit:]][[:digit:]]*/N/g' f",
    "sed -i 's/[[:space:]]*$/!/' f",
    "sed -i 's/[[:space:]][[:space:]]*$//' f",
    "sed -i 's/^/# /' f",
    "sed -i 's/$/;/' f",
    "sed -i 's/^#//' f",
    "sed -i 's/^[ ]*x/y/' f",
    "sed -i 's/a.b/X/g' f",
    "sed -i 's/a\\.b/X/g' f",
    "sed -i 's/\\[x\\]/y/' f",
    "sed -i 's/(y)/\\&&/' f",
    "sed -i 's/foo/&&/g' f",
    "sed -i 's/foo/a\\/b/' f",
    "sed -i 's/foo/a\\nb/g' f",
    "sed -i 's/foo/a\\tb/g' f",
    "sed -i 's/\\t/ /g' f",
    "sed -i 's/+1/-1/' f",
    "sed -i 's/a+b/sum/' f",
    "sed -i -E 's/a\\+b/sum/' f",
    "sed -i -E 's/\\(y\\)/z/' f",
    "sed -i 's/\\\\/\\//g' f",
    "sed -i 's/\"1\\.2\\.3\"/\"1.2.4\"/' f",
    "sed -i 's/\\$HOME/~/' f",
    "sed -i 's/o*o/0/g' f",
    "sed -i 's/;/\\n/g' f",
    "sed -i 's/.*/x/' f",
    "sed -i 's/..*/x/' f",
    "sed -i 's/a*$/x/' f",
];

/// What `sed` itself makes of it.
#[allow(clippy::disallowed_methods)]
fn by_sed(folder: &Path, script: &str, text: &str) -> Option<String> {
    let file = folder.join("f");
    std::fs::write(&file, text).unwrap();
    let ran = std::process::Command::new("bash")
        .args(["-c", script])
        .current_dir(folder)
        .status()
        .unwrap();
    ran.success()
        .then(|| std::fs::read_to_string(&file).unwrap())
}

#[test]
fn what_is_foretold_is_what_sed_does() {
    let folder = std::env::temp_dir().join(format!("toolbay-in-place-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut foretold = 0;
    for script in SCRIPTS {
        let Some(edit) = in_place(script) else {
            continue;
        };
        assert_eq!(edit.file, "f");
        for text in TEXTS {
            let ours = edit.apply(text).unwrap_or_else(|| (*text).to_owned());
            let theirs = by_sed(&folder, script, text);
            assert_eq!(Some(ours), theirs, "{script} on {text:?}");
        }
        foretold += 1;
    }
    std::fs::remove_dir_all(folder).unwrap();
    // Those that may match nothing are left to `sed`.
    let left: Vec<&&str> = SCRIPTS
        .iter()
        .filter(|one| in_place(one).is_none())
        .collect();
    assert_eq!(
        left,
        [
            &"sed -i 's/[[:space:]]*$/!/' f",
            &"sed -i 's/.*/x/' f",
            &"sed -i 's/a*$/x/' f",
        ],
        "{foretold} foretold"
    );
}

#[test]
fn anything_else_stays_a_command() {
    for script in [
        "sed 's/a/b/' f",
        "sed -i 's/a/b/gg' f",
        "sed -i 's/é/e/' f",
        "sed -i 's/a/b/w' f",
        "sed -i 's/[b-a]/x/' f",
        "sed -i 's/[a-Z]/x/' f",
        "sed -i 's/[a--]/x/' f",
        "sed -i 's/[+--]/x/' f",
        "sed -i 's/[a-c-e]/x/' f",
        "sed -i 's/\\d/x/' f",
        "sed -i -E 's/\\d/x/' f",
        "sed -i 's/a/b/2g' f",
        "sed -i 's/a/b/12' f",
        "sed -i 's,a,\\|,' f",
        "sed -n 's/a/b/' f",
        "sed -i.bak 's/a/b/' f",
        "sed -i'' 's/a/b/' f g",
        "sed -iE 's/a/b/' f",
        "sed -ni 's/a/b/p' f",
        "sed -i 's/a/b/' f g",
        "sed -i 's/a/b/' *",
        "sed -i 's/a/b/' ~/f",
        "sed -i 's/a/b/' $F",
        "sed -i 's/a/b/'",
        "sed -i 's/a/b/' \"$(ls)\"",
        "sed -i 's/a/b/' f; ls",
        "sed -i 's/a/b/' f && rm f",
        "sed -i 's/a/b/' f\nrm f",
        "sed -i 's/a/b/' f &",
        "sed -i 's/a/b/' f > g",
        "sed -i 's/a/b/' < f",
        "! sed -i 's/a/b/' f",
        "(sed -i 's/a/b/' f)",
        "X=1 sed -i 's/a/b/' f",
        "LANG=C sed -i 's/a/b/' f",
        "sudo sed -i 's/a/b/' f",
        "env sed -i 's/a/b/' f",
        "/bin/sed -i 's/a/b/' f",
        "./sed -i 's/a/b/' f",
        "gsed -i 's/a/b/' f",
        "\\sed -i 's/a/b/' f",
        "'sed' -i 's/a/b/' f",
        "sed '-i' 's/a/b/' f",
        "sed -i 's/a/b/w out' f",
        "sed -i 's/a/id/e' f",
        "sed -i 's/a/b/p' f",
        "sed -i 's/a/b/m' f",
        "sed -i 's/a/b/10' f",
        "sed -i 's/a/b/2g' f",
        "sed -i '1s/a/b/' f",
        "sed -i '/x/s/a/b/' f",
        "sed -i 's/a/b/;s/c/d/' f",
        "sed -i '1d' f",
        "sed -i 'y/a/b/' f",
        "sed -i 's//b/' f",
        "sed -i 's/a\\|b/c/' f",
        "sed -i -E 's/a|b/c/' f",
        "sed -i -E 's/(ab)*/c/' f",
        "sed -i -E 's/a{2}/c/' f",
        "sed -i 's/\\(a\\)\\1/c/' f",
        "sed -i 's/a/\\1/' f",
        "sed -i 's/a/\\U&/' f",
        "sed -i 's/\\w/x/' f",
        "sed -i 's/\\bfoo/x/' f",
        "sed -i 's/a**/x/' f",
        "sed -i 's/*a/x/' f",
        "sed -i 's/a^b/x/' f",
        "sed -i 's/a$b/x/' f",
        "sed -i 's/[a-Z]/x/' f",
        "sed -i 's/[!-~]/x/' f",
        "sed -i 's/[\\n]/x/' f",
        "sed -i 's/[[.a.]]/x/' f",
        "sed -i 's|a\\|b|x|' f",
        "sed -i 's/é/e/' f",
        "sed -i -f script f",
        "sed -i -s 's/a/b/' f",
        "sed -i -z 's/a/b/' f",
        "sed -i --follow-symlinks 's/a/b/' f",
        "sed -i 's/a/b",
        "sed -i s f",
        "sed",
        "",
    ] {
        assert!(in_place(script).is_none(), "{script}");
    }
}

#[test]
fn letters_of_other_languages_are_kept_where_it_is_certain() {
    let plain = in_place("sed -i 's/foo/bar/g' f").unwrap();
    assert_eq!(plain.apply("é foo ü").as_deref(), Some("é bar ü"));
    for script in [
        "sed -i 's/f.o/x/' f",
        "sed -i 's/foo/x/i' f",
        "sed -i 's/[a-z]/x/' f",
    ] {
        let edit = in_place(script).unwrap();
        assert_eq!(edit.apply("é foo"), None, "{script}");
    }
    assert_eq!(plain.apply("nothing to do\n"), None);
}

#[test]
fn a_script_that_is_too_long_stays_a_command() {
    for (bytes, wanted) in [(gate::MOST_BYTES, true), (gate::MOST_BYTES + 1, false)] {
        let around = "sed -i s/a// f".len();
        let script = format!("sed -i s/a/{}/ f", "x".repeat(bytes - around));
        assert_eq!(in_place(&script).is_some(), wanted, "{bytes}");
    }
}

/// What versions of `sed`, or languages, might read differently is not foretold.
#[test]
fn what_is_not_certain_is_not_foretold() {
    for script in [
        "sed -i s/a/b/ f\u{202e}",
        "sed -i 's/é/b/' f",
        "sed -i -e 's/a/x\\ny/' -e 's/y/z/' f",
        "sed -i 'sxa\\xbxyx' f",
        "sed -i 's/[0-a]/x/' f",
        "sed -i 's/[A-z]/x/' f",
        "sed -i 's/[z-a]/x/' f",
    ] {
        assert!(in_place(script).is_none(), "{script}");
    }
    for (script, text, wanted) in [
        ("sed -i 's,a\\,b,x,' f", "a,b\n", "x\n"),
        ("sed -i 's/[[a]/x/' f", "[b\n", "xb\n"),
        ("sed -i 's/[[:digit:]a]/x/' f", "7b\n", "xb\n"),
        ("sed -i 's/[0-9a-f]/x/' f", "zf\n", "zx\n"),
        ("sed -i -e 's/a/x/' -e 's/x/z/' f", "a\n", "z\n"),
    ] {
        let found = in_place(script).and_then(|one| one.apply(text));
        assert_eq!(found.as_deref(), Some(wanted), "{script}");
    }
}
