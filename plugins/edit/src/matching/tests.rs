#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::Manner::{Exact, LineEnds, Quotes};
use super::*;

#[test]
fn one_place_is_replaced_and_everything_else_stays() {
    for (case, file, old, new, wanted, manner) in [
        ("a word", "a b c", "b", "B", "a B c", Exact),
        (
            "a deletion is exact",
            "a\nb\nc\n",
            "b",
            "",
            "a\n\nc\n",
            Exact,
        ),
        ("no line end at the end", "a\nb", "b", "c", "a\nc", Exact),
        ("umlauts", "für\n", "ü", "ue", "fuer\n", Exact),
        (
            "CRLF in new for a file without",
            "a\nb\n",
            "a",
            "x\r\ny",
            "x\r\ny\nb\n",
            Exact,
        ),
        (
            "CRLF file, one line",
            "a\r\nb\r\n",
            "b",
            "B",
            "a\r\nB\r\n",
            LineEnds,
        ),
        (
            "CRLF file, two lines",
            "a\r\nb\r\nc\r\n",
            "a\nb",
            "A\nB",
            "A\r\nB\r\nc\r\n",
            LineEnds,
        ),
        (
            "CRLF file, more lines",
            "a\r\nb\r\n",
            "a\n",
            "a\nx\ny\n",
            "a\r\nx\r\ny\r\nb\r\n",
            LineEnds,
        ),
        (
            "CRLF file, CRLF in new",
            "a\r\nb\r\n",
            "a",
            "x\r\ny",
            "x\r\ny\r\nb\r\n",
            LineEnds,
        ),
        (
            "CRLF file, a line goes",
            "a\r\nb\r\nc",
            "b\n",
            "",
            "a\r\nc",
            LineEnds,
        ),
        (
            "CRLF in old for a file without",
            "a\nb\nc",
            "a\r\nb",
            "A\r\nB",
            "A\nB\nc",
            LineEnds,
        ),
        (
            "line ends changed on purpose",
            "a\r\nb\r\n",
            "a\r\nb",
            "a\nb",
            "a\nb\r\n",
            Exact,
        ),
        (
            "old starts at a line end",
            "a\r\nb\r\n",
            "\nb",
            "\nc",
            "a\r\nc\r\n",
            LineEnds,
        ),
        (
            "mixed, kept around the change",
            "a\r\nb\nc\r\nd\n",
            "a\nb\nc\nd",
            "a\nb\nX\nd",
            "a\r\nb\nX\r\nd\n",
            LineEnds,
        ),
        (
            "mixed, new lines as near by",
            "a\r\nb\nc\n",
            "b\n",
            "b\nx\n",
            "a\r\nb\nx\nc\n",
            LineEnds,
        ),
        (
            "mixed, the last line",
            "a\nb\r\nc",
            "c",
            "c\nd",
            "a\nb\r\nc\r\nd",
            LineEnds,
        ),
        ("lone CR stays", "a\rb\n", "b", "c", "a\rc\n", Exact),
        (
            "curly file",
            "say “hi” now",
            "say \"hi\"",
            "say \"ho\"",
            "say “ho” now",
            Quotes,
        ),
        (
            "curly apostrophe",
            "I don’t know",
            "don't",
            "can't",
            "I can’t know",
            Quotes,
        ),
        (
            "new quotes turn",
            "“a”",
            "\"a\"",
            "\"a\" and \"b\"",
            "“a” and “b”",
            Quotes,
        ),
        (
            "straight file, curly old",
            "say \"hi\"",
            "“hi”",
            "“ho”",
            "say \"ho\"",
            Quotes,
        ),
        (
            "odd quotes next to the change stay",
            "x”a”",
            "\"a\"",
            "\"b\"",
            "x”b”",
            Quotes,
        ),
        (
            "curly and CRLF",
            "“a”\r\nb\r\n",
            "\"a\"\nb",
            "\"a\"\nc\nd",
            "“a”\r\nc\r\nd\r\n",
            Quotes,
        ),
        (
            "exact beats lenient",
            "'a' ‘a’",
            "'a'",
            "'b'",
            "'b' ‘a’",
            Exact,
        ),
        ("curly on purpose", "“a”", "“a”", "\"a\"", "\"a\"", Exact),
    ] {
        let plan = plan(file, old, new, Scope::One);
        let plan = plan.unwrap_or_else(|miss| panic!("{case}: {miss:?}"));
        assert_eq!(
            (plan.text.as_str(), plan.manner),
            (wanted, manner),
            "{case}"
        );
    }
}

#[test]
fn every_place_is_replaced_when_asked() {
    for (case, file, old, new, wanted, lines) in [
        ("words", "a b\na\n", "a", "x", "x b\nx\n", vec![1, 2]),
        ("one is enough", "a", "a", "b", "b", vec![1]),
        ("new holds old", "aa", "a", "aa", "aaaa", vec![1, 1]),
        (
            "line ends",
            "a\r\nb\r\na\r\n",
            "a\n",
            "",
            "b\r\n",
            vec![1, 3],
        ),
        (
            "each with its line end",
            "a\r\na\n",
            "a\n",
            "a\nb\n",
            "a\r\nb\r\na\nb\n",
            vec![1, 2],
        ),
        (
            "quotes, each in its style",
            "‘a’ “x”\n“a”",
            "\"",
            "\"\"",
            "‘a’ “”x””\n“”a””",
            vec![1, 1, 2, 2],
        ),
    ] {
        let plan = plan(file, old, new, Scope::Every);
        let plan = plan.unwrap_or_else(|miss| panic!("{case}: {miss:?}"));
        assert_eq!((plan.text.as_str(), plan.lines), (wanted, lines), "{case}");
    }
}

#[test]
fn what_cannot_be_placed_is_a_miss() {
    for (case, file, old, new, wanted) in [
        ("absent", "a\n", "b", "c", Miss::NotFound),
        ("too far down", "a\nb\n", "b\n\n", "c", Miss::NotFound),
        ("twice", "a\nb\na\n", "a", "c", Miss::Ambiguous(vec![1, 3])),
        (
            "twice on a line",
            "a a",
            "a",
            "c",
            Miss::Ambiguous(vec![1, 1]),
        ),
        (
            "twice with other line ends",
            "a\r\na\n",
            "a\n",
            "c",
            Miss::Ambiguous(vec![1, 2]),
        ),
        (
            "overlapping",
            "}\n}\n}\n",
            "}\n}",
            "x",
            Miss::Ambiguous(vec![1, 2]),
        ),
        (
            "the same but for quotes",
            "“a”",
            "\"a\"",
            "“a”",
            Miss::NoChange,
        ),
    ] {
        assert_eq!(plan(file, old, new, Scope::One), Err(wanted), "{case}");
    }
}

#[test]
fn many_places_take_linear_time() {
    let file = "word “quoted”\r\n".repeat(100_000);
    let plan = plan(&file, "\"quoted\"", "\"q\"", Scope::Every).unwrap();
    assert_eq!(plan.lines.len(), 100_000);
    assert_eq!(plan.text, "word “q”\r\n".repeat(100_000));
}
