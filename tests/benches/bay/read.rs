//! Reading: the Read tool, through all of the dispatch, beside reading the file
//! natively.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::measure::{Effort, Side, take_turns, time};
use crate::session::{Bench, call};
use crate::table::{Goal, Table};
use crate::tree::{Dice, source};

/// What the tool shows of a file at most.
const SHOWN_LINES: usize = 2_000;
const SHOWN_CHARACTERS: usize = 100_000;

const SIZES: [(&str, usize, usize, Goal); 3] = [
    ("4 KB", 4 << 10, 2_000, Goal::None),
    ("1 MB", 1 << 20, 400, Goal::AtMost(6.0)),
    ("10 MB", 10 << 20, 60, Goal::None),
];

pub fn run(effort: Effort, table: &mut Table) {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new(folder.path());
    for (name, bytes, rounds, goal) in SIZES {
        let path = bench.root().join(format!("{bytes}.rs"));
        let mut text = source(&mut Dice(0x5eed), bytes);
        text.truncate(bytes);
        std::fs::write(&path, text).unwrap();
        let [ours, native, formatted] = take_turns(
            effort.rounds(rounds),
            [
                through_the_tool(&bench, &path),
                Box::new(|| time(|| std::fs::read_to_string(&path).unwrap())),
                Box::new(|| time(|| show(&path))),
            ],
        );
        ours.print(&format!("Read, {name}"));
        native.print(&format!("read_to_string, {name}"));
        formatted.print(&format!("read_to_string and numbered lines, {name}"));
        table.compare(
            &format!("Read, {name}"),
            &ours,
            ("`read_to_string`", &native),
            goal,
        );
        table.compare(
            &format!("Read, {name}"),
            &ours,
            ("the same with numbered lines", &formatted),
            Goal::None,
        );
    }
}

/// A fresh session each time, or the tool would say that nothing has changed; and
/// never the same input twice, so that its claims are asked anew.
fn through_the_tool<'a>(bench: &'a Bench, path: &'a Path) -> Side<'a> {
    let mut serial = 0;
    Box::new(move || {
        let dispatch = bench.session();
        serial += 1;
        let input = json!({ "file_path": path, "limit": SHOWN_LINES, "pages": " ".repeat(serial) });
        bench.waiting.block_on(async {
            let started = Instant::now();
            let result = call(&dispatch, "Read", input).await;
            let took = started.elapsed();
            assert!(result.text().len() > 4_000);
            took
        })
    })
}

/// What the tool shows, made natively.
fn show(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let mut shown = String::new();
    for (at, line) in text.lines().take(SHOWN_LINES).enumerate() {
        if shown.len() + line.len() + 8 > SHOWN_CHARACTERS {
            break;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{:>6}\t{line}", at + 1);
    }
    let (blocks, rest) = text.as_bytes().as_chunks::<240>();
    let ends = |bytes: &[u8]| -> u8 { bytes.iter().map(|byte| u8::from(*byte == b'\n')).sum() };
    let lines: usize = blocks.iter().map(|block| usize::from(ends(block))).sum();
    let _ = write!(shown, "({} lines)", lines + usize::from(ends(rest)));
    shown
}
