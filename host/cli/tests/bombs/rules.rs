//! Rules of a project that nobody has trusted, made to stop or to end the host that reads them.
//!
//! What is within the bounds is held, in a few seconds and little memory; what is beyond them ends with
//! a sentence that names the file and the rule.

use super::{Place, Ran};

/// Of a host with nothing but these rules.
const MOST_MEMORY: u64 = 512 << 20;
/// In a debug build, on a busy machine.
const MOST_SECONDS: u64 = 20;

const CALLS: [&[&str]; 2] = [
    &["call", "Glob", r#"{"pattern":"**/*"}"#],
    &["call", "--allow", "Bash", "Bash", r#"{"command":"true"}"#],
];

/// A project whose files hold these rules, which deny.
fn project(files: &[(&str, &[String])]) -> Place {
    let place = Place::new();
    let root = place.path("project");
    std::fs::create_dir_all(root.join(".toolbay")).unwrap();
    std::fs::create_dir_all(root.join("a/aab/aaab")).unwrap();
    for number in 0..200 {
        std::fs::write(root.join(format!("a/aab/aaab/aabaaab{number}")), "").unwrap();
    }
    for (name, rules) in files {
        let text = serde_json::json!({"permissions": {"deny": rules}}).to_string();
        std::fs::write(root.join(".toolbay").join(name), text).unwrap();
    }
    place
}

#[track_caller]
fn call(place: &Place, what: &str, args: &[&str]) -> Ran {
    let ran = place.run(args, "");
    println!(
        "{:>6.2} s {:>4} MiB  {} {what}",
        ran.took.as_secs_f32(),
        ran.peak >> 20,
        args.join(" ")
    );
    let both = format!("{}{}", ran.out, ran.err);
    assert!(ran.status.code().is_some(), "{what}: {both}");
    assert!(!both.contains("panicked"), "{what}: {both}");
    assert!(ran.peak < MOST_MEMORY, "{what}: {} bytes", ran.peak);
    assert!(ran.took.as_secs() < MOST_SECONDS, "{what}: {:?}", ran.took);
    ran
}

/// As many rules as fit, of so many bytes each: `Read(…)` about what `part`, over and over, is.
fn full(part: &str, bytes: usize) -> Vec<String> {
    let count = ((256 << 10) / bytes).min(2000);
    (0..count)
        .map(|number| {
            let end = format!("{number})");
            let most = (bytes - end.len() - "Read(./".len()) / part.len();
            // Neither more parts of a path than a rule may have, nor more wildcards than a pattern.
            let slashes = part.matches('/').count().max(1);
            let signs = part.matches(['*', '?', '[', ',']).count().max(1);
            let times = most.min(250 / slashes).min(990 / signs);
            format!("Read(./{}{end}", part.repeat(times))
        })
        .collect()
}

#[test]
fn rules_within_the_bounds_are_held_at_little_cost() {
    // The program's own tools are compiled once, which is not what is measured here.
    let place = project(&[]);
    for args in CALLS {
        place.run(args, "");
    }
    for part in [
        "a/",
        "*/",
        "a*/",
        "**/a/",
        "*a",
        "?",
        "[a-z]",
        "[!é-ü]*",
        "x",
    ] {
        for bytes in [131, 1_000, 4_096] {
            let place = project(&[("settings.json", &full(part, bytes))]);
            for args in CALLS {
                let ran = call(&place, &format!("{bytes} bytes of {part}"), args);
                assert_eq!(ran.status.code(), Some(0), "{part}: {}", ran.err);
            }
        }
    }
    for content in ["a;", "a ", "'a'", "*a "] {
        let rules: Vec<String> = (0..64)
            .map(|number| format!("Bash({}{number})", content.repeat(4_000 / content.len())))
            .collect();
        let place = project(&[("settings.json", &rules)]);
        for args in CALLS {
            let ran = call(&place, &format!("commands of {content}"), args);
            assert_eq!(ran.status.code(), Some(0), "{content}: {}", ran.err);
        }
    }
}

#[test]
fn rules_beyond_the_bounds_end_with_a_sentence() {
    let numbered = |text: &str| -> Vec<String> {
        (0..1_900)
            .map(|number| text.replace("NUMBER", &number.to_string()))
            .collect()
    };
    let deep = vec![format!("Read(./{})", "a/".repeat(2_000_000 / 2))];
    let stars = numbered(&format!("Read(./{}/NUMBER)", "a*/".repeat(600)));
    let anywhere = numbered(&format!("Read({}/NUMBER)", "**/a".repeat(400)));
    let commands = numbered(&format!("Bash({}NUMBER)", "a;".repeat(1_000)));
    let short = numbered(&format!("Read({}/NUMBER)", "**/a".repeat(30)));
    for (what, files, says) in [
        ("one deep path", vec![("settings.json", &deep)], "4096"),
        (
            "many stars",
            vec![("settings.json", &stars), ("settings.local.json", &stars)],
            "of 603 parts",
        ),
        (
            "many folders",
            vec![("settings.json", &anywhere)],
            "of 402 parts",
        ),
        (
            "many commands",
            vec![("settings.json", &commands)],
            "more than 262144 bytes",
        ),
        (
            "two files",
            vec![("settings.json", &short), ("settings.local.json", &short)],
            "rules up to here",
        ),
    ] {
        let files: Vec<(&str, &[String])> = files
            .iter()
            .map(|(name, rules)| (*name, rules.as_slice()))
            .collect();
        let place = project(&files);
        for args in CALLS {
            let ran = call(&place, what, args);
            assert_eq!(ran.status.code(), Some(2), "{what}: {}", ran.err);
            for part in [says, ".toolbay/settings"] {
                assert!(ran.err.contains(part), "{what}: {}", ran.err);
            }
            assert!(ran.err.len() < 1_000, "{what}: {} bytes", ran.err.len());
        }
    }
}
