//! Searching: the Grep tool, through all of the dispatch, beside ripgrep itself.

use serde_json::{Value, json};
use toolbay_runtime::search::default_threads;
use toolbay_tests::RG;

use crate::measure::{Effort, Times, pretty, ratio, take_turns, time};
use crate::program;
use crate::session::{Bench, call};
use crate::table::{Goal, Table};
use crate::tree;

struct Search {
    name: &'static str,
    pattern: &'static str,
    ignore_case: bool,
    /// So few lines match that all of them can be shown.
    rare: bool,
}

const SEARCHES: [Search; 5] = [
    Search {
        name: "rare literal",
        pattern: "check_zanzibar_overflow",
        ignore_case: false,
        rare: true,
    },
    Search {
        name: "common literal",
        pattern: "return Err",
        ignore_case: false,
        rare: false,
    },
    Search {
        name: "case-insensitive",
        pattern: "zanzibar limit",
        ignore_case: true,
        rare: true,
    },
    Search {
        name: "alternation",
        pattern: "zanzibar|quicksilver|overflow_guard|halcyon",
        ignore_case: false,
        rare: true,
    },
    Search {
        name: "regex",
        pattern: r"fn \w+_parser\(.*\) -> Result<(commit|budget)>",
        ignore_case: false,
        rare: false,
    },
];

/// The tool's output modes, and how ripgrep says the same.
const MODES: [(&str, &[&str]); 3] = [
    ("files_with_matches", &["-l"]),
    ("count", &["-c"]),
    ("content", &["-n", "--no-heading"]),
];

pub fn run(effort: Effort, table: &mut Table) {
    let root = tree::tree();
    let bench = Bench::new(&root);
    for (mode, flags) in MODES {
        let searches = SEARCHES
            .iter()
            // The tool shows twenty thousand characters; ripgrep would print them all.
            .filter(|search| mode != "content" || search.rare);
        let mut worst: Option<(f64, &str, [Times; 2])> = None;
        for search in searches {
            let [ours, theirs] = compare(&bench, search, mode, flags, effort);
            let factor = ratio(ours.p50(), theirs.p50());
            println!(
                "{mode:<20} {:<18} ours {:>9} (p99 {:>9})  rg {:>9} (p99 {:>9})  {factor:.2}×",
                search.name,
                pretty(ours.p50()),
                pretty(ours.p99()),
                pretty(theirs.p50()),
                pretty(theirs.p99()),
            );
            if worst.as_ref().is_none_or(|(most, ..)| factor > *most) {
                worst = Some((factor, search.name, [ours, theirs]));
            }
        }
        let (_, name, [ours, theirs]) = worst.expect("each mode has searches");
        table.compare(
            &format!("Grep, {mode}, 100 MB; worst of the patterns: {name}"),
            &ours,
            ("rg", &theirs),
            Goal::AtMost(1.25),
        );
    }
}

fn compare(
    bench: &Bench,
    search: &Search,
    mode: &str,
    flags: &[&str],
    effort: Effort,
) -> [Times; 2] {
    let dispatch = bench.session();
    let mut serial = 0;
    let mut ask = || {
        serial += 1;
        let mut input = json!({
            "pattern": search.pattern, "output_mode": mode, "-i": search.ignore_case,
            // As large as can be, and never the same: claims are asked anew.
            "head_limit": 1_000_000 + serial,
        });
        input["path"] = Value::from(bench.root().to_str().unwrap());
        bench.waiting.block_on(call(&dispatch, "Grep", input))
    };
    let rg = || {
        let mut command = program::command(RG, bench.root());
        command
            .args(["--no-config", "--no-messages", "--hidden"])
            .args(["--glob", "!.git", "--glob", "!.svn", "--glob", "!.hg"])
            .arg(format!("-j{}", default_threads()))
            .args(flags)
            .args(search.ignore_case.then_some("-i"))
            .args(["-e", search.pattern])
            .arg(bench.root());
        program::run(&mut command)
    };

    let found = number(
        &ask().structured,
        if mode == "content" {
            "numLines"
        } else {
            "totalFiles"
        },
    );
    let lines = rg().1.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(found, lines, "the two disagree about {}", search.pattern);
    take_turns(
        effort.rounds(40),
        [Box::new(|| time(&mut ask)), Box::new(|| rg().0)],
    )
}

fn number(structured: &Option<String>, field: &str) -> usize {
    let value: Value = serde_json::from_str(structured.as_deref().unwrap()).unwrap();
    value[field].as_u64().unwrap() as usize
}
