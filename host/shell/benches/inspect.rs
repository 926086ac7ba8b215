//! How long it takes to look at a command: `cargo bench -p toolbay-shell`.
//!
//! The commands are the cases of the tables; files of JSON lines with a `command` each may be named
//! to take those instead. The floor is tree-sitter's parse of the same text alone.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use toolbay_shell::{Place, inspect};

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let scripts = if files.is_empty() {
        of_tables()
    } else {
        of_files(&files)
    };
    let place = Place::new("/home/dev/project").with_home("/home/dev");
    for script in &scripts {
        inspect(script, &place);
    }
    let (ours, floor) = compare(&scripts, &place);
    println!("| what | p50 | p99 | slowest | goal |");
    println!("|---|---:|---:|---:|---|");
    row("a command, looked at", &ours, "p50 ≤ 50 µs, p99 ≤ 1 ms");
    row("the same, only parsed", &floor, "");
    let ratio = ours[ours.len() / 2].as_secs_f64() / floor[floor.len() / 2].as_secs_f64();
    println!("{} commands; {ratio:.2}× the parse alone\n", scripts.len());
    hostile(&place);
    just_borne(&place);
}

/// Each script several times, both ways in turn; the best of each counts, because whatever else
/// runs on the machine only ever adds.
fn compare(scripts: &[String], place: &Place) -> (Vec<Duration>, Vec<Duration>) {
    let mut parser = tree_sitter::Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for script in scripts {
        let mut best = [Duration::MAX; 2];
        for _ in 0..5 {
            best[0] = best[0].min(time(|| drop(inspect(script, place))));
            best[1] = best[1].min(time(|| drop(parser.parse(script, None))));
        }
        ours.push(best[0]);
        floor.push(best[1]);
    }
    ours.sort();
    floor.sort();
    (ours, floor)
}

const PIECES: &[&str] = &[
    "(",
    "$(",
    "${",
    "`",
    "{",
    "[",
    "((",
    "[[ ",
    "'",
    "\"",
    "\\",
    "a|",
    "a&&",
    "a;",
    "a\n",
    "<<A\n",
    "<(",
    "$((",
    "if ",
    "case x in ",
    "for i in ",
    "\"$(",
    "a=",
    "-",
    "x ",
    "#",
    "{a,",
    "*",
    "~",
    "!",
    "$'",
    "&",
    "<",
    ">",
    "f(){ ",
    "bash -c '",
    "env ",
    "sudo ",
    "find -exec ",
    "eval ",
    "ls -l; ",
    "$a",
    "${a:-",
    "a'b'\"c\"",
    "\t",
    "é",
    "a | ",
    "a > b ",
    "a < b ",
    "${a} ",
    "$(a) ",
    "`a` ",
    "(a) ",
    "{ a; } ",
    "a \\\n",
    "'a' ",
    "\"a\" ",
    "[ a ] ",
];

/// Texts of the greatest length that is read, made to cost.
fn hostile(place: &Place) {
    println!("| 10,000 characters of | time | goal |");
    println!("|---|---:|---|");
    for piece in PIECES {
        let script: String = piece.chars().cycle().take(10_000).collect();
        let script = &script[..script.floor_char_boundary(10_000)];
        let took = (0..3)
            .map(|_| time(|| drop(inspect(script, place))))
            .min()
            .unwrap();
        let verdict = if took < Duration::from_millis(20) {
            "≤ 20 ms"
        } else {
            "≤ 20 ms, MISSED"
        };
        println!(
            "| `{}` | {:.2} ms | {verdict} |",
            piece.escape_debug(),
            took.as_secs_f64() * 1e3
        );
    }
}

/// The same pieces, as often as the parser is still asked.
fn just_borne(place: &Place) {
    println!("\n| as often as is still parsed | time | goal |");
    println!("|---|---:|---|");
    let mut worst = (Duration::ZERO, String::new());
    for piece in PIECES {
        for times in [70, 140, 280, 390, 700, 1_400, 2_900] {
            let script = piece.repeat(times);
            if script.len() > 10_000 {
                continue;
            }
            let took = (0..3)
                .map(|_| time(|| drop(inspect(&script, place))))
                .min()
                .unwrap();
            if took > worst.0 {
                worst = (took, format!("{times} times `{}`", piece.escape_debug()));
            }
        }
    }
    let verdict = if worst.0 < Duration::from_millis(20) {
        "≤ 20 ms"
    } else {
        "≤ 20 ms, MISSED"
    };
    println!(
        "| the slowest: {} | {:.2} ms | {verdict} |",
        worst.1,
        worst.0.as_secs_f64() * 1e3
    );
}

fn time(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn row(what: &str, times: &[Duration], goal: &str) {
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    println!(
        "| {what} | {:.1} µs | {:.1} µs | {:.1} µs | {goal} |",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

fn of_files(files: &[String]) -> Vec<String> {
    let mut scripts = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            scripts.push(line["command"].as_str().unwrap().to_owned());
        }
    }
    scripts
}

fn of_tables() -> Vec<String> {
    let mut scripts = Vec::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tables");
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        collect(&text.parse().unwrap(), &mut scripts);
    }
    scripts
}

fn collect(table: &toml::Table, scripts: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => collect(inner, scripts),
            toml::Value::Array(cases) if key == "ok" || key == "no" => {
                scripts.extend(
                    cases
                        .iter()
                        .filter_map(|case| Some(case.as_str()?.to_owned())),
                );
            }
            _ => {}
        }
    }
}
