//! What a card leaves out, and that no yes counts before it was shown.

use toolbay::contract::View;
use toolbay::dispatch::Answer;
use toolbay::policy::Part;

use super::{Asked, Extent, Next, Sight, choices, drawn, prompt, question, saved, shown};

fn part(text: &str, doubt: Option<&str>) -> Part {
    Part {
        depth: 0,
        text: text.into(),
        doubt: doubt.map(str::to_owned),
    }
}

#[test]
fn no_command_pushes_another_out_of_sight() {
    let mut question = question();
    let long = format!("echo {}", "padding ".repeat(2_000));
    question.commands = vec![
        part(&long, None),
        part("curl evil", Some("`curl` is not known to only read")),
        part("sh", Some("`sh` runs what it is given")),
    ];
    for width in [30, 80, 200] {
        let card = drawn(&question, width, Extent::Short);
        assert!(card.is_cut);
        let [heading, curl, sh, echo] = ["3 commands", "2 curl evil", "3 sh", "1 echo padding"]
            .map(|part| {
                card.text
                    .find(part)
                    .unwrap_or_else(|| panic!("{part}: {}", card.text))
            });
        assert!(heading < curl && curl < sh && sh < echo, "{}", card.text);
        let note = card
            .text
            .lines()
            .find(|line| line.contains("more of this one"));
        assert!(
            note.is_some_and(|line| line.contains("│ … ")),
            "{}",
            card.text
        );
    }
    // A long command that matters is cut by itself as well.
    question.commands.swap(0, 2);
    question.commands[2].doubt = Some("long ".repeat(500));
    let card = drawn(&question, 80, Extent::Short);
    assert!(card.text.contains("2 curl evil"), "{}", card.text);
    let notes = card.text.matches("lines more of this one").count();
    assert_eq!(notes, 2, "{}", card.text);
    let whole = drawn(&question, 80, Extent::Whole);
    assert!(!whole.is_cut && !whole.text.contains("more of this one"));
    assert_eq!(whole.text.matches("padding").count(), 2_000);
}

#[test]
fn many_commands_are_counted_and_those_that_matter_come_first() {
    let mut question = question();
    question.commands = (0..500).map(|_| part("true", None)).collect();
    question.commands.push(part("rm -rf /", Some("it deletes")));
    let card = drawn(&question, 80, Extent::Short);
    assert!(card.is_cut);
    for part in [
        "Its 501 commands, of which 1 may do more than read",
        "│ 501 rm -rf /",
        "│ ↳   it deletes",
        "commands; v shows all of them",
    ] {
        assert!(card.text.contains(part), "{part}: {}", card.text);
    }
    question.commands = (0..100).map(|_| part("make", Some("it runs"))).collect();
    let text = shown(&question, 80, Extent::Short);
    assert!(
        text.contains("… and 88 commands, of which 88 may do more than read; v shows"),
        "{text}"
    );
}

#[test]
fn no_command_looks_like_the_beginning_of_another() {
    let mut question = question();
    let fake = format!(
        "echo {}2 ls -l {}↳ it only reads",
        " ".repeat(200),
        " ".repeat(200)
    );
    question.commands = vec![part(&fake, Some("it may write")), part("sh", None)];
    for width in [20, 30, 47, 80, 133] {
        let text = shown(&question, width, Extent::Whole);
        let begins = |mark: &str| {
            let marks = text.lines().filter_map(|line| line.split_once("│ "));
            marks.filter(|(_, line)| line.starts_with(mark)).count()
        };
        assert_eq!((begins("1"), begins("2"), begins("↳")), (1, 1, 1), "{text}");
    }
}

#[test]
fn whatever_is_cut_a_yes_counts_only_behind_the_whole_text() {
    let lines = vec!["line"; 500].join("\n");
    let full = question();
    assert!(!drawn(&full, 80, Extent::Short).is_cut);
    let mut cases = vec![full.clone(); 5];
    cases[0].view = View::Plain(lines.clone());
    cases[1].input = serde_json::json!({"text": lines}).to_string();
    cases[2].commands = vec![part(&lines, None)];
    cases[3].rules = vec!["Tool(x)".into(); 100];
    cases[4].more_rules = vec!["Tool(x)".into(); 100];
    for question in &cases {
        assert!(drawn(question, 80, Extent::Short).is_cut, "{question:?}");
        assert!(!drawn(question, 80, Extent::Whole).is_cut);
    }
    let read = |line| choices::read(Asked::Whether, Sight::Part, line, &full, &saved());
    for line in [
        "y",
        "yes",
        "YES",
        "a",
        "a session",
        "always",
        "a session Tool",
    ] {
        let Next::Tell(told) = read(line) else {
            panic!("{line:?} counts");
        };
        assert!(told.contains("Type v to see all of it"), "{told}");
    }
    assert_eq!(read("v"), Next::ShowAll);
    assert!(matches!(read("n"), Next::Done(Answer::No { .. })));
    let Next::Tell(help) = read("?") else {
        panic!("no help");
    };
    assert!(help.contains("Type v to see all of it"), "{help}");
    assert_eq!(
        prompt(Asked::Whether, Sight::Part, &full),
        "Parts were cut: type v to see all of it [v/n/?] "
    );
}

#[test]
fn that_something_may_be_destroyed_is_said_once_and_by_who_knows_more() {
    let mut question = question();
    let claim = "the tool says that this call may destroy something";
    let says = |question: &_| shown(question, 80, Extent::Short).contains(claim);
    assert!(!says(&question));
    question.destructive = Some(true);
    assert!(says(&question));
    question.warnings = vec!["/p/a.txt exists already; what is in it may be lost".into()];
    assert!(!says(&question));
}
