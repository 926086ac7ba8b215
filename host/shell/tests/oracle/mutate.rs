//! Small changes to scripts that are known: characters, quotes, words, flags, wrappers, joins.

use super::corpus::{Corpus, Known};
use super::random::Random;

/// Characters that mean something to bash.
const SIGNS: &[&str] = &[
    " ", "\t", "\n", "'", "\"", "\\", "$", "`", "#", ";", "|", "&", "<", ">", "(", ")", "{", "}",
    "[", "]", "*", "?", "~", "!", "=", ",", ".", "-", "+", "%", "@", ":", "^", "\\\n", "&&", "||",
    "2>", "''", "\"\"", "é", "0",
];
/// What lies in the fixture, and what does not.
const OPERANDS: &[&str] = &[
    ".",
    "src",
    "src/main.rs",
    "README.md",
    "data.csv",
    "names.txt",
    "*",
    "*.txt",
    "./*",
    "src/*.rs",
    "-rf",
    "--output=x",
    "-- -rf",
    "./-rf",
    "link",
    "missing",
    "sub/",
    "sub/deep/leaf.txt",
    "archive.tar.gz",
    "archive.zip",
    "data.json",
    "a b",
    "'a b'",
    "HEAD",
    "HEAD~1",
    "main",
    "feature",
    "1",
    "0",
    "10",
    "-1",
    "x",
    "''",
    "out",
    "HEAD:README.md",
    "src/../README.md",
    "/home/dev/project/README.md",
    "config.yaml",
    "empty",
    "binary.bin",
    "/dev/null",
    "/dev/stdin",
    "-o",
    "-o out",
    "-w",
    "-i",
    "--help",
    "--version",
    "-",
];
const WRAPPERS: &[&str] = &[
    "timeout 5 ",
    "command ",
    "nice ",
    "nice -n 5 ",
    "time ",
    "time -p ",
    "stdbuf -oL ",
    "builtin ",
    "env ",
    "nohup ",
    "xargs ",
    "sudo ",
    "exec ",
    "env A=1 ",
    "LC_ALL=C ",
    "NO_COLOR=1 ",
    "TZ=UTC ",
    "A=1 ",
    "! ",
    "find . -exec ",
    "command -p ",
    "command -v ",
    "setsid ",
    "timeout -s KILL 5 ",
    "LANG=C LC_ALL=C ",
    "GIT_PAGER=cat ",
    "PAGER=less ",
];
const ENDINGS: &[&str] = &[
    " >/dev/null",
    " 2>/dev/null",
    " 2>&1",
    " >/dev/null 2>&1",
    " < README.md",
    " | cat",
    " | head -3",
    " | sort -u",
    " | wc -l",
    " || true",
    " ; true",
    " # note",
    " &>/dev/null",
    " > out",
    " >> README.md",
    " | tee out",
    " 2>err",
    " | grep x",
    " | xargs cat",
    " | sed -n 1p",
    " | tail -n 2",
    " | uniq -c",
    " | tr a b",
    " | cut -c1-3",
];

/// A few characters put in, taken out, or exchanged.
pub fn characters(random: &mut Random, script: &str) -> String {
    let mut characters: Vec<char> = script.chars().collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(characters.len() + 1);
        match random.below(6) {
            0 if at < characters.len() => {
                characters.remove(at);
            }
            1 if at + 1 < characters.len() => characters.swap(at, at + 1),
            2 if at < characters.len() => {
                characters.remove(at);
                splice(&mut characters, at, random.pick(SIGNS));
            }
            3 => {
                // Quotes around a stretch of it.
                let end = (at + random.below(8)).min(characters.len());
                let quote = random.pick(&["'", "\"", "'", "\""]);
                splice(&mut characters, end, quote);
                splice(&mut characters, at, quote);
            }
            4 => splice(&mut characters, at, "\\"),
            _ => splice(&mut characters, at, random.pick(SIGNS)),
        }
    }
    characters.into_iter().collect()
}

fn splice(characters: &mut Vec<char>, at: usize, text: &str) {
    characters.splice(at..at, text.chars());
}

/// Changes that have a fair chance to leave a read-only command read-only, or to make it look so.
pub fn words(random: &mut Random, corpus: &Corpus, known: &Known) -> String {
    let mut script = random.of(&known.ok).clone();
    for _ in 0..1 + random.below(3) {
        script = match random.below(20) {
            0..=4 if !known.flags.is_empty() => {
                let flag = flag(random, known);
                insert(random, &script, &flag)
            }
            5 if !corpus.dashed.is_empty() => {
                let flag = random.of(&corpus.dashed);
                insert(random, &script, flag)
            }
            6..=7 => {
                let operand = random.pick(OPERANDS);
                insert(random, &script, operand)
            }
            8 => replace_last(random, &script),
            9..=11 => requote(random, &script),
            12 => random.pick(WRAPPERS).to_owned() + &script,
            13 => script + random.pick(ENDINGS),
            14 => {
                let other = random.of(&corpus.ok);
                let join =
                    random.pick(&[" && ", "; ", " | ", " || ", "\n", ";", "|", " && \\\n  "]);
                if random.once_in(2) {
                    script + join + other
                } else {
                    other.clone() + join + &script
                }
            }
            15 => match random.below(5) {
                0 => format!("({script})"),
                1 => format!("{{ {script}; }}"),
                2 => format!("cd src && {script}"),
                3 => format!("cd sub/deep; {script}"),
                _ => format!("! {script}"),
            },
            16 => swap_words(random, &script),
            17 => characters(random, &script),
            _ => requote(random, &script),
        };
    }
    script
}

/// A flag of the command's table, with a value if it takes one.
fn flag(random: &mut Random, known: &Known) -> String {
    let written = random.of(&known.flags).clone();
    match written.as_str() {
        "-NUM" => return "-3".to_owned(),
        "+NUM" => return "+2".to_owned(),
        _ => {}
    }
    let Some(at) = written.find(['=', '?']) else {
        return written;
    };
    let (name, kind) = written.split_at(at);
    let optional = kind.starts_with('?');
    let kind = &kind[1..];
    if optional && random.once_in(3) {
        return name.to_owned();
    }
    let value = match kind {
        "number" => random.pick(&["1", "3", "0", "-1", "+2", "1K"]).to_owned(),
        "" | "text" | "name" => random
            .pick(&[
                "x", "a,b", "'%h %s'", "name", "3", "out", "./x", "1,2", "json", "/tmp/x",
            ])
            .to_owned(),
        list if list.starts_with('(') => {
            let inner = list.trim_matches(['(', ')']);
            let choices: Vec<&str> = inner.split([',', '|']).collect();
            random.of(&choices).to_string()
        }
        _ => random
            .pick(&[
                "README.md",
                "names.txt",
                "src",
                "data.csv",
                "missing",
                "x",
                "out",
            ])
            .to_owned(),
    };
    match (optional, name.starts_with("--"), random.below(3)) {
        (false, true, 0) => format!("{name} {value}"),
        (_, true, _) => format!("{name}={value}"),
        (false, false, 0) => format!("{name} {value}"),
        (_, false, _) => format!("{name}{value}"),
    }
}

/// The places between words, as a simple eye sees them.
fn gaps(script: &str) -> Vec<usize> {
    let mut gaps: Vec<usize> = script.match_indices(' ').map(|(at, _)| at).collect();
    gaps.push(script.len());
    gaps
}

fn insert(random: &mut Random, script: &str, word: &str) -> String {
    let at = *random.of(&gaps(script));
    let (before, behind) = script.split_at(at);
    format!("{before} {word}{behind}")
}

fn replace_last(random: &mut Random, script: &str) -> String {
    let stem = script.rsplit_once(' ').map_or(script, |(stem, _)| stem);
    format!("{stem} {}", random.pick(OPERANDS))
}

fn swap_words(random: &mut Random, script: &str) -> String {
    let mut words: Vec<&str> = script.split(' ').collect();
    let (one, other) = (random.below(words.len()), random.below(words.len()));
    words.swap(one, other);
    words.join(" ")
}

/// Another spelling of the same word, or of nearly the same.
fn requote(random: &mut Random, script: &str) -> String {
    let words: Vec<&str> = script.split(' ').collect();
    let chosen = random.below(words.len());
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let mut word = (*word).to_owned();
        if at == chosen && !word.is_empty() && word.is_ascii() {
            let cut = random.below(word.len() + 1);
            word = match random.below(6) {
                0 => format!("'{word}'"),
                1 => format!("\"{word}\""),
                2 => format!("{}'{}'", &word[..cut], &word[cut..]),
                3 => format!("{}\"{}\"", &word[..cut], &word[cut..]),
                4 => format!("{}''{}", &word[..cut], &word[cut..]),
                _ => format!("{}\\{}", &word[..cut], &word[cut..]),
            };
        }
        out.push(word);
    }
    out.join(" ")
}
