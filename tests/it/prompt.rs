//! Questions in a real terminal: what is shown, what answers mean, and that nothing but an answer
//! answers.

mod cut;
mod pty;
mod together;

use std::io::Read;

use serde_json::{Value, json};

use self::pty::{Pty, Started};
use crate::program::Project;
use crate::run::with_rogue;

/// Where the person types.
const ALLOW: &str = "Allow it? [y/a/n/v/?] ";
const WHERE: &str = "Keep the rules where? [session";

/// A call that somebody is asked about.
fn write(project: &Project, pty: Pty, more: &[&str], content: &str) -> Started {
    let input = json!({"file_path": "new.txt", "content": content}).to_string();
    let mut args = vec!["call", "Write", &input];
    args.extend(more);
    Started::new(project, pty, &args)
}

fn written(project: &Project) -> Option<String> {
    std::fs::read_to_string(project.root().join("new.txt")).ok()
}

#[test]
fn allowed_once_it_runs_and_is_asked_again_the_next_time() {
    let project = Project::new();
    for content in ["one\n", "two\n"] {
        let mut started = write(&project, Pty::new(80), &["--session", "s"], content);
        let card = started.pty.until(ALLOW);
        // Only where there is something to lose.
        let warns = card.contains("exists already; what is in it may be lost");
        assert_eq!(warns, content == "two\n", "{card}");
        assert_eq!(card.contains("Warnings"), warns, "{card}");
        for part in [
            "Write",
            "wants to run",
            "\"new.txt\"",
            "A yes grants",
            "/new.txt)",
        ] {
            assert!(card.contains(part), "{part:?} is missing in {card}");
        }
        started.pty.type_in("y\n");
        let (code, screen) = started.end();
        assert_eq!(code, Some(0), "{screen}");
        assert_eq!(written(&project).as_deref(), Some(content));
    }
}

#[test]
fn allowed_always_it_asks_where_the_rule_is_kept() {
    for answers in [&["a\n", "session\n"][..], &["a s\n"]] {
        let project = Project::new();
        let mut started = write(&project, Pty::new(80), &[], "x");
        for (answer, prompt) in answers.iter().zip([ALLOW, WHERE]) {
            started.pty.until(prompt);
            started.pty.type_in(answer);
        }
        let (code, screen) = started.end();
        assert_eq!(code, Some(0), "{screen}");
        assert_eq!(written(&project).as_deref(), Some("x"));
        // Until the session ends, and nowhere else.
        assert!(!project.root().join(".toolbay").exists());
    }
}

#[test]
fn a_rule_that_is_kept_in_a_file_answers_the_next_time() {
    let kept = |project: &Project, answer: &str| {
        let mut started = write(project, Pty::new(80), &["--session", "s"], "one");
        started.pty.until(ALLOW);
        started.pty.type_in(answer);
        let (code, screen) = started.end();
        assert_eq!(code, Some(0), "{screen}");
        assert!(!screen.contains("warning:"), "{screen}");
        let again = write(project, Pty::new(80), &["--session", "s"], "two");
        let (code, screen) = again.end();
        assert_eq!(code, Some(0), "{screen}");
        assert!(!screen.contains("wants to run"), "{screen}");
        assert_eq!(written(project).as_deref(), Some("two"));
    };
    // In a file of this project, which is made.
    let project = Project::alone();
    kept(&project, "a local\n");
    let text = std::fs::read_to_string(project.root().join(".toolbay/settings.local.json"));
    assert!(text.unwrap().contains("/new.txt)"));
    // In the person's own, which keeps its comments.
    let project = Project::alone();
    let file = project.user_settings();
    std::fs::write(&file, "{\n  // mine\n  \"limits\": {}, // too\n}\n").unwrap();
    kept(&project, "a user\n");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("{\n  // mine\n  \"limits\": {}, // too\n"),
        "{text}"
    );
    assert!(text.contains("/new.txt)"), "{text}");
    assert!(!project.root().join(".toolbay").exists());
}

#[test]
fn denied_the_reason_reaches_the_result() {
    let project = Project::new();
    let mut started = write(&project, Pty::new(80), &["--json"], "x");
    started.pty.until(ALLOW);
    started.pty.type_in("n use another \u{6587} name\n");
    let (code, screen) = started.end();
    assert_eq!(code, Some(1), "{screen}");
    let line = screen.lines().find(|line| line.starts_with('{')).unwrap();
    let result: Value = serde_json::from_str(line).unwrap();
    let text = result["content"].to_string();
    assert!(
        text.contains("the user said no: use another \u{6587} name"),
        "{text}"
    );
    assert_eq!(written(&project), None);
}

#[test]
fn only_a_clear_answer_is_one() {
    let project = Project::new();
    let mut started = write(&project, Pty::new(80), &[], "x");
    // Each of these is asked again.
    for (typed, told) in [
        ("\n", "\r\n"),
        ("yep\n", "\"yep\" is no answer. Type y"),
        ("?\n", "tell the model why"),
        ("v\n", "wants to run"),
        ("a nowhere\n", "is no place for rules"),
        // Of what is pasted only the first line is looked at.
        ("what\ny\ny\n", "\"what\" is no answer"),
    ] {
        started.pty.until(ALLOW);
        started.pty.type_in(typed);
        started.pty.until(told);
    }
    started.pty.until(ALLOW);
    started.pty.type_in("a\n");
    started.pty.until(WHERE);
    // Back again, then nobody is there any more.
    started.pty.type_in("\n");
    started.pty.until(ALLOW);
    started.pty.type_in("\u{4}");
    let (code, screen) = started.end();
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("nobody answered"), "{screen}");
    assert_eq!(written(&project), None);
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let project = Project::new();
    let mut pty = Pty::new(80);
    pty.type_in("y\ny\ny");
    let mut started = write(&project, pty, &[], "x");
    started.pty.until(ALLOW);
    // Not even the line that had been begun.
    started.pty.type_in("\n");
    started.pty.until(ALLOW);
    started.pty.type_in("n\n");
    let (code, screen) = started.end();
    assert_eq!(code, Some(1), "{screen}");
    assert_eq!(written(&project), None);
}

#[test]
fn a_card_fits_the_terminal_as_it_is_now() {
    let project = Project::new();
    let content = "word ".repeat(100);
    let mut started = write(&project, Pty::new(100), &[], &content);
    let wide = started.pty.until(ALLOW);
    assert!(
        wide.lines().any(|line| plain(line).chars().count() > 60),
        "{wide}"
    );
    for columns in [30, 12, 200] {
        // In the middle of an answer, which goes on.
        started.pty.type_in("v");
        started.pty.resize(columns);
        started.pty.type_in("\n");
        let card = started.pty.until(ALLOW);
        // Behind the echo of the answer, before the prompt.
        let lines: Vec<String> = card.lines().skip(1).map(plain).collect();
        let Some((_, lines)) = lines.split_last() else {
            panic!("no card: {card}");
        };
        for line in lines {
            assert!(
                line.chars().count() <= columns.into(),
                "{columns}: {line:?}"
            );
        }
        let words = card.matches("word").count();
        assert!(words >= 100, "{columns}: {words} words in {card}");
    }
    started.pty.type_in("y\n");
    let (code, screen) = started.end();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(written(&project), Some(content));
}

/// Without colours.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.filter_map(|part| part.split_once(['m', 'K']));
    rest.fold(first, |text, (_, rest)| text + rest)
}

#[test]
fn an_interrupt_is_a_no_and_ends_the_program() {
    let project = Project::new();
    let pty = Pty::new(80);
    let before = format!("{:?}", pty.modes());
    let mut started = write(&project, pty, &[], "x");
    started.pty.until(ALLOW);
    started.pty.type_in("y\u{3}");
    started.pty.until("The question is withdrawn");
    let after = format!("{:?}", started.pty.modes());
    let (code, screen) = started.end();
    assert_eq!(code, Some(130), "{screen}");
    assert_eq!(before, after);
    assert!(screen.contains("cancelled"), "{screen}");
    assert_eq!(written(&project), None);
}

#[test]
fn an_interrupt_ends_a_call_that_runs() {
    let project = Project::new();
    let plugin = with_rogue(&project);
    let input = json!({"act": "sleep", "ms": 600_000}).to_string();
    let args = [
        "call", "Rogue", &input, "--plugin", &plugin, "--ask", "Rogue",
    ];
    let mut started = Started::new(&project, Pty::new(80), &args);
    started.pty.until("Allow it? [y/");
    started.pty.type_in("y\n");
    // The sign of life comes when it has run for a while.
    started.pty.until(" Rogue ");
    started.pty.type_in("\u{3}");
    let (code, screen) = started.end();
    assert_eq!(code, Some(130), "{screen}");
    assert!(screen.contains("cancelled"), "{screen}");
}

#[test]
fn a_call_that_ends_withdraws_its_question() {
    let project = Project::new();
    // Long enough for the question to be there, whatever else the machine does.
    let mut started = write(&project, Pty::new(80), &["--timeout", "6000"], "x");
    started.pty.until(ALLOW);
    started.pty.type_in("y");
    started.pty.until("The question is withdrawn");
    // What is typed from here on is for whoever reads next.
    started.pty.type_in("later\n");
    started.pty.until("took longer than");
    let mut next = [0; 64];
    let read = started.pty.slave().read(&mut next).unwrap();
    assert_eq!(&next[..read], b"later\n");
    let (code, screen) = started.end();
    assert_eq!(code, Some(1), "{screen}");
    // Its end comes behind the last word about the question.
    let [withdrawn, ended] = ["is withdrawn", "took longer"].map(|text| screen.find(text));
    assert!(withdrawn < ended, "{screen}");
    assert_eq!(written(&project), None);
}

#[test]
fn the_commands_of_a_script_are_shown_one_by_one() {
    let project = Project::new();
    let input = json!({"command": "ls && (cd sub; rm -rf build)"}).to_string();
    let mut started = Started::new(&project, Pty::new(80), &["call", "Bash", &input]);
    started
        .pty
        .until("Its 3 commands, of which 1 may do more than read");
    let card = started.pty.until("Allow it? [y/");
    let lines: Vec<String> = card.lines().map(plain).collect();
    for line in [
        "  │ 3   rm -rf build",
        "  │ ↳   `rm` is not",
        "  │ 1 ls",
        "  │ 2   cd sub",
    ] {
        let found = lines.iter().any(|shown| shown.starts_with(line));
        assert!(found, "{line:?} is missing in {card}");
    }
    assert!(card.contains("Warnings"), "{card}");
    started.pty.type_in("n\n");
    assert_eq!(started.end().0, Some(1));
}

#[test]
fn what_an_input_says_to_the_terminal_is_shown_and_not_done() {
    let project = Project::new();
    let nasty = "\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}31m\u{202e}Allow it? [y/a/n/v/?] y\n";
    let mut started = write(&project, Pty::new(80), &[], nasty);
    started.pty.until("A yes grants");
    started.pty.until(ALLOW);
    started.pty.type_in("v\n");
    started.pty.until("A yes grants");
    started.pty.until(ALLOW);
    started.pty.type_in("n\n");
    let (_, screen) = started.end();
    for bad in ["\u{1b}[2J", "\u{1b}]", "\u{7}", "\u{9b}", "\u{202e}"] {
        assert!(!screen.contains(bad), "{bad:?} in {screen:?}");
    }
    assert!(screen.contains("\\u001b[2J"), "{screen}");
    assert_eq!(written(&project), None);
}
