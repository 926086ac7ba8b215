//! Cases for the cutting of lines; each runs in one piece and byte by byte.

use super::*;

const ROOM: usize = 100_000;

fn collect(text: &[u8], first: u64, limit: u64, room: usize) -> Shown {
    let run = |chunk: usize| {
        let mut lines = Lines::new(Window { first, limit }, room);
        for part in text.chunks(chunk) {
            lines.feed(part);
        }
        lines.finish()
    };
    let whole = run(text.len().max(1));
    for chunk in [1, 2, 3, 7, 1000] {
        assert_eq!(run(chunk), whole, "in chunks of {chunk}");
    }
    whole
}

#[test]
fn lines_are_numbered_and_counted() {
    for (text, first, limit, wanted, lines, total) in [
        (&b""[..], 1, 10, "", 0, 0),
        (b"a", 1, 10, "     1\ta", 1, 1),
        (b"a\n", 1, 10, "     1\ta", 1, 1),
        (b"a\nb", 1, 10, "     1\ta\n     2\tb", 2, 2),
        (b"\n", 1, 10, "     1\t", 1, 1),
        (b"\n\n", 1, 10, "     1\t\n     2\t", 2, 2),
        (b"a\r\nb\r\n", 1, 10, "     1\ta\n     2\tb", 2, 2),
        (b"a\rb\n", 1, 10, "     1\ta\rb", 1, 1),
        (b"a\nb\nc\nd\n", 2, 2, "     2\tb\n     3\tc", 2, 4),
        (b"a\nb\nc", 3, 9, "     3\tc", 1, 3),
        (b"a\nb\nc", 4, 9, "", 0, 3),
        (b"a\nb\n", 3, 9, "", 0, 2),
        (b"a\nb\nc", 1, 1, "     1\ta", 1, 3),
        ("ä\nö€\n".as_bytes(), 2, 1, "     2\tö€", 1, 2),
        (b"a\0b", 1, 1, "     1\ta\u{2400}b", 1, 1),
    ] {
        let shown = collect(text, first, limit, ROOM);
        assert_eq!(
            (shown.text.as_str(), shown.lines, shown.total),
            (wanted, lines, total),
            "{text:?}"
        );
    }
}

#[test]
fn numbers_stay_aligned_until_they_outgrow_the_column() {
    let text = "x\n".repeat(12);
    assert_eq!(
        collect(text.as_bytes(), 9, 2, ROOM).text,
        "     9\tx\n    10\tx"
    );
    let text = "\n".repeat(1_000_000);
    assert_eq!(
        collect(text.as_bytes(), 999_999, 2, ROOM).text,
        "999999\t\n1000000\t"
    );
}

#[test]
fn lines_that_are_not_shown_are_counted_all_the_same() {
    for lines in [1, 2, 120, 239, 240, 241, 242, 1_000] {
        for line in ["\n", "x\n", "\u{e4}bc\r\n"] {
            let shown = collect(line.repeat(lines).as_bytes(), 1, 1, ROOM);
            assert_eq!((shown.lines, shown.total), (1, lines as u64), "{line:?}");
        }
    }
}

#[test]
fn long_lines_are_cut_by_characters_with_a_note() {
    for (length, unit, cut) in [
        (2_000, "x", 0),
        (2_001, "x", 1),
        (2_000, "€", 0),
        (2_001, "𝄞", 1),
        (50_000, "ä", 1),
    ] {
        let text = format!("{}\nnext", unit.repeat(length));
        let shown = collect(text.as_bytes(), 1, 10, ROOM);
        assert_eq!(
            (shown.cut, shown.lines, shown.lossy),
            (cut, 2, false),
            "{length} {unit}"
        );
        let first = shown.text.lines().next().unwrap();
        assert_eq!(first.contains("line cut"), cut == 1, "{length} {unit}");
        assert!(
            first.matches(unit).count() >= length.min(LINE_CHARS),
            "{length} {unit}"
        );
    }
}

#[test]
fn the_room_ends_the_text_before_a_line_that_does_not_fit() {
    let shown = collect(b"aaaa\nbbbb\ncccc\n", 1, 10, 25);
    assert_eq!(shown.text, "     1\taaaa\n     2\tbbbb");
    assert_eq!((shown.lines, shown.total, shown.out_of_room), (2, 3, true));
}

#[test]
fn bytes_that_are_no_utf8_are_replaced_and_told() {
    let shown = collect(b"Stra\xdfe\n", 1, 10, ROOM);
    assert_eq!(shown.text, "     1\tStra\u{fffd}e");
    assert!(shown.lossy);
}
