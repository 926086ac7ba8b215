use super::*;
use crate::{Place, inspect};

#[test]
fn every_check_hits_and_misses_as_it_says() {
    let place = Place::new("/home/dev/project").with_home("/home/dev");
    let mut wrong = Vec::new();
    for entry in CATALOGUE {
        for (scripts, wanted) in [(entry.hits, true), (entry.misses, false)] {
            for script in scripts {
                let report = inspect(script, &place);
                let checks: Vec<_> = report.findings.iter().map(|f| f.check.number()).collect();
                if report.has(entry.check) != wanted || (wanted && report.read_only()) {
                    wrong.push(format!("{}: {script:?} {checks:?}", entry.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_no_short_case_shows() {
    let place = Place::new("/p");
    let long = format!("echo {}", "x".repeat(20_000));
    assert!(inspect(&long, &place).has(Check::TooLong));
    let many = vec!["true"; 51].join(";");
    assert!(inspect(&many, &place).has(Check::TooManyCommands));
    // Whatever the commands are: what is not looked into is not vouched for.
    for filler in ["LANG=C", "(true)", "[ -f x ]", "! true"] {
        let hidden = format!("{}touch x", format!("{filler};").repeat(60));
        let report = inspect(&hidden, &place);
        assert!(report.has(Check::TooManyCommands), "{filler}");
        assert!(!report.read_only(), "{filler}");
    }
    let many = format!("for i in a; do {} done", "true; ".repeat(60));
    assert!(inspect(&many, &place).has(Check::TooManyCommands));
    let enough = vec!["true"; 50].join(";");
    assert!(inspect(&enough, &place).read_only());
    // In what is not understood, those that the script itself has are counted, not those in texts that it runs.
    let many = "true; ".repeat(60);
    for (body, too_many) in [
        ("true; ".repeat(49), false),
        ("true; ".repeat(50), true),
        ("[ -f x ]; ".repeat(49), false),
        ("[ -f x ]; ".repeat(50), true),
        (format!("eval '{many}'; "), false),
        (format!("eval '{}'; ", many.replace("true", "[ a ]")), false),
        (format!("git -c 'alias.x=!{many}' x; "), false),
        (format!("env -S '{many}'; "), false),
        (format!("bash -c '{many}'; "), false),
        (format!("trap '{many}' EXIT; "), false),
        (format!("ssh host '{many}'; "), false),
        (format!("rg --pre '{many}' x; "), false),
        (format!("watch '{many}'; "), false),
        (format!("npx '{many}'; "), false),
        (
            format!("echo `echo \\`{}\\` a`; ", "true; ".repeat(30)),
            false,
        ),
    ] {
        let script = format!("while true; do {body} done");
        let report = inspect(&script, &place);
        assert_eq!(report.has(Check::TooManyCommands), too_many, "{script}");
    }
}

#[test]
fn numbers_are_in_order_and_the_shared_ones_complete() {
    let numbers: Vec<u16> = CATALOGUE.iter().map(|entry| entry.check.number()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    assert_eq!(numbers[..23], (1..=23).collect::<Vec<_>>());
    for entry in CATALOGUE {
        assert_eq!(
            entry.check.entry().map(|found| found.name),
            Some(entry.name)
        );
    }
}
