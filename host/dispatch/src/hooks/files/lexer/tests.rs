use super::*;

/// The words, with stars for what is filled in and names in braces.
fn words(text: &str) -> Vec<String> {
    let tokens = lex(text).unwrap();
    let words = tokens.into_iter().filter_map(|token| match token {
        Token::Word(word) if !word.is_inner => Some(restored(&word.text)),
        Token::Word(_) | Token::End | Token::Into | Token::From => None,
    });
    words.collect()
}

#[test]
fn words_are_cut_as_a_shell_cuts_them() {
    for (text, wanted) in [
        ("a b\tc", &["a", "b", "c"][..]),
        ("'a b'", &["a b"]),
        ("\"a b\"c'd'", &["a bcd"]),
        ("a\\ b", &["a b"]),
        ("hooks/gua,rd.py", &["hooks/gua,rd.py"]),
        ("$'p\\x79\\'s\\157'", &["py'so"]),
        ("\"$A/b c\"", &["${A}/b c"]),
        ("${A:-b/c}/d", &["${A:-b/c}/d", "b/c"]),
        ("a # it's one", &["a"]),
        ("a#b", &["a#b"]),
        ("x=\"$(cat 'a b')\"", &["x=${}", "cat", "a b"]),
        ("`cat a`", &["${}", "cat", "a"]),
        ("a<b>c 2>&1", &["a", "b", "c", "1"]),
        ("a <(b c)", &["a", "${}", "b", "c"]),
        ("g*.p? [ab]c {x,y}/z {}", &["g*.p?", "?c", "{x,y}/z", "{}"]),
        ("'g*'", &["g*"]),
        ("~/x ~", &["${HOME}/x", "${HOME}"]),
        (
            "sh <<'E'\ndon't a\nE\nb 'c d'",
            &["sh", "b", "c d", "dont", "a"],
        ),
        ("sh <<E\na", &["sh", "a"]),
        ("it's a", &["its", "a"]),
        ("\"a", &["a"]),
        ("a\\\nb", &["ab"]),
    ] {
        let mut found = words(text);
        let mut wanted: Vec<String> = wanted.iter().map(|word| (*word).to_owned()).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn what_is_compared_is_told_from_what_is_filled_in() {
    let text = "case $f in *.py|(*.sh) run h*;; esac; [[ $f == x/* && a ]] && sh y*";
    let compared: Vec<String> = lex(text)
        .unwrap()
        .into_iter()
        .filter_map(|token| match token {
            Token::Word(word) if word.is_compared => Some(restored(&word.text)),
            Token::Word(_) | Token::End | Token::Into | Token::From => None,
        })
        .collect();
    assert_eq!(compared, ["*.py", "*.sh", "[[", "${f}", "==", "x/*", "a"]);
}

#[test]
fn a_text_in_quotes_is_read_as_a_command_as_well() {
    for (text, wanted) in [
        ("sh -c \"cd 'a b' && ./c\"", &["cd", "a b", "./c"][..]),
        ("bash -lc 'sh \"a b\" <<<\"c d\"'", &["sh", "a b", "c d"]),
        ("x \"$(sh 'a b')\"", &["sh", "a b"]),
    ] {
        let tokens = lex(text).unwrap();
        for wanted in wanted {
            let is_wanted =
                |token: &Token| matches!(token, Token::Word(word) if word.text == *wanted);
            assert!(tokens.iter().any(is_wanted), "{text}: {wanted}: {tokens:?}");
        }
    }
}

#[test]
fn texts_without_end_are_refused() {
    let deep = "$(".repeat(1000);
    assert!(lex(&deep).is_err());
}
