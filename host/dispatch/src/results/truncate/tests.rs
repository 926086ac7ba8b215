use super::*;

#[test]
fn short_texts_are_left_alone() {
    for (text, limit) in [("", 0), ("abc", 3), ("äöü", 3), ("€€€", usize::MAX)] {
        for keep in [Keep::Start, Keep::End, Keep::Both] {
            assert!(matches!(truncate(text, limit, keep), Cow::Borrowed(kept) if kept == text));
        }
    }
}

#[test]
fn long_texts_lose_what_is_not_kept() {
    // The note and its line ends take 28 characters, so that 10 remain of 38.
    let text = format!("{}{}", "a".repeat(500), "z".repeat(500));
    for (keep, wanted) in [
        (Keep::Start, "aaaaaaaaaa\n[990 characters left out]"),
        (Keep::End, "[990 characters left out]\nzzzzzzzzzz"),
        (Keep::Both, "aaaaa\n[990 characters left out]\nzzzzz"),
    ] {
        assert_eq!(truncate(&text, 38, keep), wanted);
    }
}

#[test]
fn cuts_move_to_a_line_end_that_is_near() {
    let line_of = |letter: &str| format!("{}\n", letter.repeat(9));
    let text: String = ["a", "b", "c", "d", "e", "f", "g", "h"]
        .map(line_of)
        .concat();
    for (keep, limit, wanted) in [
        (
            Keep::Start,
            49,
            "aaaaaaaaa\nbbbbbbbbb\n[60 characters left out]",
        ),
        (
            Keep::End,
            49,
            "[60 characters left out]\nggggggggg\nhhhhhhhhh\n",
        ),
        (
            Keep::Both,
            49,
            "aaaaaaaaa\n[60 characters left out]\nhhhhhhhhh\n",
        ),
    ] {
        assert_eq!(truncate(&text, limit, keep), wanted, "{keep:?}");
    }
}

#[test]
fn whatever_the_text_the_limit_holds_and_nothing_is_invented() {
    let texts = [
        "x".repeat(1_000),
        "€".repeat(1_000),
        "\u{1f600}a".repeat(500),
        "line\r\n".repeat(200),
        "\n".repeat(1_000),
        "\r\n".repeat(500),
        format!("{}\n{}", "a".repeat(700), "b".repeat(700)),
        "e\u{301}".repeat(500),
    ];
    for text in &texts {
        let total = text.chars().count();
        for limit in (40..200).chain([500, 998, 999]) {
            for keep in [Keep::Start, Keep::End, Keep::Both] {
                let short = truncate(text, limit, keep);
                assert!(short.chars().count() <= limit, "{limit} {keep:?}");
                let (head, rest) = short.split_once('[').unwrap();
                let (number, tail) = rest.split_once(" characters left out]").unwrap();
                let tail = tail.strip_prefix('\n').unwrap_or(tail);
                let head_kept = if text.starts_with(head) {
                    head
                } else {
                    head.strip_suffix('\n').unwrap()
                };
                assert!(text.starts_with(head_kept) && text.ends_with(tail));
                // A head that ends a line may have got that line end from us.
                let kept = tail.chars().count() + head_kept.chars().count();
                let left_out: usize = number.parse().unwrap();
                assert!(
                    [total, total + 1].contains(&(kept + left_out)),
                    "{limit} {keep:?}"
                );
            }
        }
    }
}

#[test]
fn a_limit_without_room_leaves_the_note() {
    for limit in [0, 1, 20] {
        for keep in [Keep::Start, Keep::End, Keep::Both] {
            let short = truncate("some text that is far too long", limit, keep);
            assert_eq!(short, "[30 characters left out]");
        }
    }
}

#[test]
fn beginnings_end_at_lines_in_their_second_half() {
    let cases: [(&str, usize, &str); 16] = [
        ("", 4, ""),
        ("abc", 4, "abc"),
        ("abcdefgh", 4, "abcd"),
        ("\nbcdefgh", 4, "\nbcd"),
        ("a\ncdefgh", 4, "a\n"),
        ("ab\ndefgh", 4, "ab\n"),
        ("abc\nefgh", 4, "abc\n"),
        ("abcd\nfgh", 4, "abcd"),
        ("a\nc\nefgh", 4, "a\nc\n"),
        ("abc\r\nfgh", 4, "abc"),
        ("ab\r\nefgh", 4, "ab\r\n"),
        ("abcd\r\ngh", 4, "abcd"),
        ("a€€", 4, "a€"),
        ("a€€", 3, "a"),
        ("€", 2, ""),
        ("abc", 0, ""),
    ];
    for (text, most, wanted) in cases {
        assert_eq!(beginning(text, most.div_ceil(2), most), wanted, "{text:?}");
    }
}

#[test]
fn endings_begin_at_lines_in_their_first_half() {
    let cases: [(&str, usize, &str); 18] = [
        ("", 4, ""),
        ("abc", 4, "abc"),
        ("abcdefgh", 4, "efgh"),
        ("abcdefg\n", 4, "efg\n"),
        ("abcdef\nh", 4, "ef\nh"),
        ("abcde\ngh", 4, "gh"),
        ("abcd\nfgh", 4, "fgh"),
        ("abc\nefgh", 4, "efgh"),
        ("ab\nd\nfgh", 4, "fgh"),
        ("abc\r\nfgh", 4, "fgh"),
        ("ab\r\nefgh", 4, "efgh"),
        ("abcdef\r\n", 1, ""),
        ("abcdef\r\n", 2, "\r\n"),
        ("€€a", 4, "€a"),
        ("€€a", 3, "a"),
        ("€", 2, ""),
        ("abc", 0, ""),
        ("a\n", 0, ""),
    ];
    for (text, most, wanted) in cases {
        assert_eq!(ending(text, most.div_ceil(2), most), wanted, "{text:?}");
    }
}
