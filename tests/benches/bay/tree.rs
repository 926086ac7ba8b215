//! Files to work on, made once below the target folder and the same every time.

use std::fmt::Write;
use std::path::{Path, PathBuf};

const FILES: usize = 8_000;
/// Together a good hundred megabytes.
const BYTES_A_FILE: usize = 13_500;
/// One file in so many holds the rare word.
pub const RARE_EVERY: usize = 400;
/// Names the recipe: another one makes the tree anew.
const STAMP: &str = "tree 1";

const WORDS: [&str; 40] = [
    "request", "buffer", "index", "parser", "token", "handler", "state", "config", "session",
    "value", "cursor", "reader", "writer", "stream", "packet", "header", "length", "offset",
    "record", "column", "schema", "filter", "result", "worker", "thread", "signal", "module",
    "object", "method", "string", "number", "vector", "matrix", "weight", "budget", "window",
    "layout", "render", "update", "commit",
];
const KINDS: [&str; 5] = ["rs", "py", "ts", "c", "md"];

/// The folder that cargo builds into.
pub fn target() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap().to_path_buf()
}

/// A tree of source-like text, about a hundred megabytes in nested folders.
pub fn tree() -> PathBuf {
    made("bench-tree", STAMP, |root| {
        println!("making {FILES} files below {} …", root.display());
        let mut dice = Dice(0x5eed);
        // Ignore rules are part of what a search costs.
        std::fs::write(root.join(".ignore"), "*.tmp\nbuilt/\n").unwrap();
        for number in 0..FILES {
            let folder = root.join(format!(
                "area{}/{}{}/{}{}",
                number % 16,
                WORDS[number / 16 % 8],
                number / 16 % 8,
                WORDS[number / 128 % 11 + 8],
                number / 128 % 11,
            ));
            std::fs::create_dir_all(&folder).unwrap();
            let name = format!("{}_{number}.{}", dice.word(), KINDS[number % KINDS.len()]);
            let mut text = source(&mut dice, BYTES_A_FILE / 2 + dice_size(number));
            if number % RARE_EVERY == 7 {
                text.push_str("    check_zanzibar_overflow(budget, \"Zanzibar Limit\");\n");
            }
            std::fs::write(folder.join(name), text).unwrap();
        }
    })
}

/// A folder below the target folder that is made once for each stamp.
pub fn made(name: &str, stamp: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let root = target().join(name);
    let mark = root.with_extension("stamp");
    if std::fs::read_to_string(&mark).is_ok_and(|found| found == stamp) {
        return root;
    }
    // Whatever is there is of another recipe, or half made.
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).unwrap();
    make(&root);
    std::fs::write(mark, stamp).unwrap();
    root
}

/// Lines of text that look like source, at least so many bytes of them.
pub fn source(dice: &mut Dice, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    while text.len() < bytes {
        let (a, b, c) = (dice.word(), dice.word(), dice.word());
        let number = dice.next() % 10_000;
        // Writing to a string cannot fail.
        let _ = match dice.next() % 8 {
            0 => writeln!(
                text,
                "fn {a}_{b}({c}: &{a}::{b}, {b}: usize) -> Result<{c}> {{"
            ),
            1 => writeln!(text, "    let {a} = self.{b}.{c}({number})?;"),
            2 => writeln!(text, "    if {a}.{b} > {number} && {c}.is_valid() {{"),
            3 => writeln!(text, "        return Err({a}Error::{b}({c}));"),
            4 => writeln!(
                text,
                "    // The {a} of a {b} counts towards its {c} of {number}."
            ),
            5 => writeln!(text, "    {a}.{b}.push({c}::new(\"{a} {number}\"));"),
            6 => writeln!(text, "}}\n"),
            _ => writeln!(text, "    for {a} in {b}.{c}().skip({number}) {{"),
        };
    }
    text
}

/// From small to three times the mean, the same for the same number.
fn dice_size(number: usize) -> usize {
    number * 7_919 % BYTES_A_FILE
}

/// Predictable numbers.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.next() % WORDS.len()]
    }
}
