//! Texts that are no scripts at all: whatever comes, there is an answer, and a script is called
//! read-only only if both readings agree.

use toolbay_shell::{Place, Verdict, fuzzing};

use super::corpus::Corpus;
use super::random::Random;
use super::{generate, mutate};

/// Looks at so many; says what does not fit together. A panic ends the test.
pub fn inspect(wanted: usize, seed: u64, corpus: &Corpus) -> Vec<String> {
    let place = Place::new("/home/dev/project");
    let mut random = Random::new(seed);
    let mut wrong = Vec::new();
    for _ in 0..wanted {
        let script = text(&mut random, corpus);
        let report = toolbay_shell::inspect(&script, &place);
        let agreed = fuzzing::agreed(&script);
        if (report.verdict == Verdict::TooComplex) != agreed.is_none() {
            wrong.push(format!(
                "{script:?}: the report and the readings do not say the same"
            ));
        }
        if report.read_only() && (!report.findings.is_empty() || !report.writes.is_empty()) {
            wrong.push(format!(
                "{script:?} is called read-only with a finding or something it writes"
            ));
        }
    }
    println!("strays: {wanted} texts inspected");
    wrong
}

fn text(random: &mut Random, corpus: &Corpus) -> String {
    match random.below(4) {
        0 => {
            let length = random.below(80);
            let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        // Signs of the language in any order.
        1 => {
            let signs = " \t\n'\"\\$`#;|&<>(){}[]*?~!=,.-+%@:^ab10é";
            let signs: Vec<char> = signs.chars().collect();
            let length = random.below(60);
            (0..length).map(|_| *random.of(&signs)).collect()
        }
        2 => {
            let case = random.of(&corpus.no).clone();
            let once = mutate::characters(random, &case);
            mutate::characters(random, &once)
        }
        // The same again and again.
        _ => {
            let piece = generate::script(random);
            let times = 1 + random.below(40);
            vec![piece; times].join(random.pick(&[";", " ", "\n", "|", "(", "\"", ""]))
        }
    }
}
