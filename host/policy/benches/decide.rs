//! How long a decision takes: `cargo bench -p toolbay-policy`.
//!
//! Ten thousand rules of all kinds and a thousand calls. The floor is the same calls under one
//! rule. Looking at commands is measured apart: it is done while hooks run.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use toolbay_policy::{
    Anchors, Claims, Closed, HookWord, Opinion, Policy, Reach, Request, Rule, Rules, Study, Subject,
};

const RULES: usize = 10_000;
const CALLS: usize = 1_000;

fn main() {
    let started = Instant::now();
    let rules = rules(RULES);
    let parsed = started.elapsed();
    let started = Instant::now();
    let many = policy(rules);
    let built = started.elapsed();
    let one = policy(Rules {
        deny: vec![rule("Shell(program1 sub1:*)".into())],
        ..Rules::default()
    });
    let calls: Vec<Request> = (0..CALLS).map(|n| call(n, &many)).collect();

    // Once without measure: patterns are compiled when they are first needed.
    let cold = measure(&many, &calls, 1);
    let warm = measure(&many, &calls, 5);
    let floor = measure(&one, &calls, 5);
    println!("| {CALLS} calls | p50 | p99 | slowest | goal |");
    println!("|---|---:|---:|---:|---|");
    row(&format!("{RULES} rules, first time"), &cold, "p99 < 200 µs");
    row(&format!("{RULES} rules"), &warm, "p99 < 200 µs");
    row("one rule", &floor, "");
    let ratio = |part| at(&warm, part).as_secs_f64() / at(&floor, part).as_secs_f64();
    println!(
        "{:.2}× the floor at p50, {:.2}× at p99",
        ratio(0.5),
        ratio(0.99)
    );

    let studied = study(&many, &calls);
    println!();
    row("the look at commands before it", &studied, "");
    println!(
        "parsing the rules took {:.0} ms, the index {:.0} ms",
        parsed.as_secs_f64() * 1e3,
        built.as_secs_f64() * 1e3
    );
}

fn anchors() -> Anchors {
    Anchors {
        home: Some("/home/me".into()),
        cwd: "/home/me/project".into(),
        settings: "/home/me/project".into(),
    }
}

fn rule(text: String) -> Rule {
    Rule::parse(&text, &anchors()).unwrap()
}

fn policy(rules: Rules) -> Policy {
    let roots = vec!["/home/me/project".into()];
    Policy::new(rules, roots, &Closed::default())
}

/// A third each that denies, asks and allows, of every kind of content.
fn rules(count: usize) -> Rules {
    let mut rules = Rules::default();
    for n in 0..count {
        let text = match n % 12 {
            0 => format!("Shell(program{n} sub{n}:*)"),
            1 => format!("Shell(git sub{n}:*)"),
            2 => format!("Shell(npm run script{n})"),
            3 => format!("Shell(tool{n} * main)"),
            4 => format!("Look(./folder{n}/**)"),
            5 => format!("Read(./src/**/generated{n}.rs)"),
            6 => format!("Edit(*.kind{n})"),
            7 => format!("Read(//opt/data{n}/*.csv)"),
            8 => format!("Fetch(domain:host{n}.example.com)"),
            9 => format!("Fetch(domain:*.zone{n}.example)"),
            10 => format!("mcp__server{n}__*"),
            _ => format!("mcp__server{n}"),
        };
        let list = match (n / 12) % 3 {
            0 => &mut rules.deny,
            1 => &mut rules.ask,
            _ => &mut rules.allow,
        };
        list.push(rule(text));
    }
    rules
}

/// Calls that rules speak about and calls that none does.
fn call(n: usize, policy: &Policy) -> Request {
    let number = n * 7 % RULES;
    let path = |path: String| Subject::Path(format!("/home/me/project/{path}").into());
    let (tool, subject) = match n % 10 {
        0 => (
            "Shell",
            Subject::Command(format!("program{number} sub{number} x")),
        ),
        1 => (
            "Shell",
            Subject::Command(format!("git sub{number} && npm run script{number}")),
        ),
        2 => ("Shell", Subject::Command("rg TODO src | head -5".into())),
        3 => (
            "Shell",
            Subject::Command(format!("tool{number} push origin main; cargo test")),
        ),
        4 => ("Look", path(format!("folder{number}/deep/a.txt"))),
        5 => ("Look", path(format!("src/a/b/generated{number}.rs"))),
        6 => ("Change", path(format!("docs/x.kind{number}"))),
        7 => ("Change", path("src/main.rs".into())),
        8 => (
            "Fetch",
            Subject::Url(format!("https://host{number}.example.com/x")),
        ),
        _ => (
            "Fetch",
            Subject::Url(format!("https://a.zone{number}.example/x")),
        ),
    };
    let subjects = vec![subject];
    let study = policy.study(&subjects, "/home/me/project".as_ref());
    Request {
        call_id: "1".into(),
        tool: tool.into(),
        input: "{}".into(),
        subjects,
        aliases: Vec::new(),
        claims: Claims::STRICT,
        reach: Reach::ALL,
        opinion: Opinion::None,
        hooks: HookWord::None,
        cage: toolbay_policy::CageWish::Inside,
        study,
    }
}

/// Each call several times; the best counts, because whatever else runs only ever adds.
fn measure(policy: &Policy, calls: &[Request], times: usize) -> Vec<Duration> {
    let best = |call: &Request| {
        let once = |_| {
            let request = call.clone();
            let started = Instant::now();
            let decision = policy.decide(request);
            let took = started.elapsed();
            drop(decision);
            took
        };
        (0..times).map(once).min().unwrap()
    };
    sorted(calls.iter().map(best))
}

fn study(policy: &Policy, calls: &[Request]) -> Vec<Duration> {
    let look = |call: &Request| {
        let started = Instant::now();
        let study: Study = policy.study(&call.subjects, "/home/me/project".as_ref());
        let took = started.elapsed();
        drop(study);
        took
    };
    let is_command = |call: &&Request| matches!(call.subjects[0], Subject::Command(_));
    sorted(calls.iter().filter(is_command).map(look))
}

fn sorted(times: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut all: Vec<Duration> = times.collect();
    all.sort();
    all
}

fn at(times: &[Duration], part: f64) -> Duration {
    times[((times.len() - 1) as f64 * part) as usize]
}

fn row(what: &str, times: &[Duration], goal: &str) {
    let micros = |part| at(times, part).as_secs_f64() * 1e6;
    println!(
        "| {what} | {:.1} µs | {:.1} µs | {:.1} µs | {goal} |",
        micros(0.5),
        micros(0.99),
        micros(1.0)
    );
}
