//! What is shown, and what answers mean, without a terminal.

/// What is left out of a card.
mod cut;

use std::path::Path;

use toolbay::contract::View;
use toolbay::dispatch::{Answer, GrantSummary, PermissionQuestion, RuleOrigin, RuleScope};
use toolbay::policy::{Access, Part, Zone, Zones};

use super::card::{CardText, Extent, Look, card};
use super::choices::{self, Asked, Next, Sight, prompt};
use super::saved::SavedIn;
use super::wrap::wrap;
use crate::style::Style;
use toolbay::Places;

fn question() -> PermissionQuestion {
    PermissionQuestion {
        tool: "Tool".into(),
        call_id: "c".into(),
        input: r#"{"path":"a.txt","text":"one\ntwo"}"#.into(),
        reason: "no rule allows it".into(),
        asked_by: None,
        caller: None,
        granted: GrantSummary {
            access: Access::ReadWrite {
                zones: Zones::new(vec![Zone::Folder("/p".into())]),
            },
            ..GrantSummary::reading()
        },
        view: View::Diff("--- a.txt\n+++ a.txt\n-one\n+two".into()),
        commands: Vec::new(),
        warnings: Vec::new(),
        rules: vec!["Tool(./a.txt)".into()],
        no_rule: None,
        more_rules: Vec::new(),
        scopes: RuleScope::ALL.to_vec(),
        destructive: None,
    }
}

fn saved() -> SavedIn {
    let places = Places {
        managed: "/none.json".into(),
        home: Some("/home/me".into()),
        cache: "/c".into(),
        state: "/s".into(),
        data: "/d".into(),
    };
    SavedIn::of(Path::new("/p"), &places)
}

fn shown(question: &PermissionQuestion, width: usize, extent: Extent) -> String {
    drawn(question, width, extent).text
}

/// An answer by a user who has seen the whole question.
fn read(asked: Asked, line: &str, question: &PermissionQuestion, saved: &SavedIn) -> Next {
    choices::read(asked, Sight::Whole, line, question, saved)
}

fn drawn(question: &PermissionQuestion, width: usize, extent: Extent) -> CardText {
    let style = Style::PLAIN;
    let look = Look {
        width,
        style,
        extent,
    };
    card(question, &saved(), look)
}

#[test]
fn a_card_says_everything_that_the_user_must_know() {
    let mut question = question();
    question.asked_by = Some("Tool (ask, /p/.toolbay/settings.json)".into());
    question.destructive = Some(true);
    question.warnings = vec!["it writes outside of the project".into()];
    question.more_rules = vec!["Tool".into()];
    question.commands = vec![
        Part {
            depth: 0,
            text: "cd x && make".into(),
            doubt: None,
        },
        Part {
            depth: 1,
            text: "make".into(),
            doubt: Some("make runs what a file says".into()),
        },
    ];
    let expected = "
Tool wants to run, and no rule allows it.
The rule is Tool (ask, /p/.toolbay/settings.json).
  │ --- a.txt
  │ +++ a.txt
  │ -one
  │ +two
Input
  │ {
  │   \"path\": \"a.txt\",
  │   \"text\": \"one\\ntwo\"
  │ }
Its 2 commands, of which 1 may do more than read
  │ 2   make
  │ ↳   make runs what a file says
  │ 1 cd x && make
Warnings
  ! it writes outside of the project
A yes grants
  writing in /p/, but for protected names
Rules that would cover it
  Tool(./a.txt)
They would be kept in
  session  no file: until toolbay ends
  local    /p/.toolbay/settings.local.json
  project  /p/.toolbay/settings.json
  user     /home/me/.toolbay/settings.json
The tool itself suggests, unchecked
  Tool
";
    assert_eq!(shown(&question, 80, Extent::Short), expected);
}

#[test]
fn a_card_says_when_no_rule_helps() {
    let mut question = question();
    question.rules = Vec::new();
    question.scopes = Vec::new();
    question.granted.access = Access::ReadOnly;
    question.input = "not { json".into();
    let text = shown(&question, 80, Extent::Short);
    for part in ["No rule can allow it", "reading only", "│ not { json\n"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("kept in"), "{text}");
}

#[test]
fn whatever_is_cut_is_said_and_can_be_seen() {
    let mut question = question();
    let lines: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
    question.view = View::Plain(lines.join("\n"));
    question.input = serde_json::json!({"text": lines.join("\n")}).to_string();
    question.warnings = lines.iter().map(|line| format!("warning {line}")).collect();
    let short = shown(&question, 80, Extent::Short);
    assert!(
        short.contains("  │ line 23\n  │ … 76 lines more; v shows all of it"),
        "{short}"
    );
    assert!(!short.contains("line 24\n  │"), "{short}");
    // Warnings are never cut.
    assert!(short.contains("warning line 99"), "{short}");
    let whole = shown(&question, 80, Extent::Whole);
    assert!(!whole.contains("lines more"), "{whole}");
    assert!(whole.contains("  │ line 99\n"), "{whole}");
    // Line ends in the input are written out, and the end of it is there.
    let joined: String = whole
        .lines()
        .filter_map(|line| line.strip_prefix("  │ "))
        .collect();
    assert!(joined.contains(r"line 98\nline 99"), "{joined}");
}

#[test]
fn a_card_is_as_wide_as_the_terminal() {
    let mut question = question();
    question.reason = "there is a reason of many words that goes on and on".into();
    question.view = View::Diff(format!(
        "+{}\n+\u{4e2d}\u{6587}{}",
        "x".repeat(300),
        "\u{4e2d}".repeat(90)
    ));
    question.input = serde_json::json!({"text": "y ".repeat(200)}).to_string();
    for width in [0, 1, 10, 20, 39, 40, 80, 200] {
        let text = shown(&question, width, Extent::Whole);
        for line in text.lines() {
            let columns = unicode_width::UnicodeWidthStr::width(line);
            assert!(columns <= width.max(12), "{width}: {columns} in {line:?}");
        }
        let letters = |text: &str, c: char| text.chars().filter(|found| *found == c).count();
        assert_eq!(letters(&text, '\u{4e2d}'), 91, "{width}");
        assert!(
            letters(&text, 'x') >= 300 && letters(&text, 'y') >= 200,
            "{width}"
        );
    }
}

#[test]
fn nothing_that_a_tool_says_reaches_the_terminal_as_a_command() {
    let nasty = "a\u{1b}[2J\u{9b}1A\r\u{7}\u{202e}b\nAllow it? [y/n] \u{1b}]0;t\u{7}";
    let mut question = question();
    question.tool = nasty.into();
    question.reason = nasty.into();
    question.asked_by = Some(nasty.into());
    question.input = serde_json::json!({"k\u{1b}": nasty}).to_string();
    question.rules = vec![nasty.into()];
    question.more_rules = vec![nasty.into()];
    question.warnings = vec![nasty.into()];
    question.granted.access = Access::ReadWrite {
        zones: Zones::new(vec![Zone::File(nasty.into())]),
    };
    question.commands = vec![Part {
        depth: 1_000_000,
        text: nasty.into(),
        doubt: Some(nasty.into()),
    }];
    let rows = vec![(nasty.to_owned(), nasty.to_owned())];
    let views = [
        View::Plain(nasty.into()),
        View::Markdown(nasty.into()),
        View::Diff(nasty.into()),
        View::Rows(rows),
    ];
    for view in views {
        question.view = view;
        let text = shown(&question, 60, Extent::Whole);
        let is_bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!text.contains(is_bad), "{text:?}");
        // No line of a tool's looks like one of ours.
        let fake = text.lines().find(|line| line.starts_with("Allow"));
        assert_eq!(fake, None, "{text}");
    }
    question.view = View::Plain(nasty.into());
    let text = shown(&question, 200, Extent::Whole);
    // Nothing vanishes: each character has a sign wherever the text is shown.
    let sign = "a␛[2J<U+009B>1A␍␇<U+202E>b";
    assert!(text.matches(sign).count() >= 9, "{text}");
    for asked in [Asked::Whether, Asked::Where] {
        let Next::Tell(help) = read(asked, "?", &question, &saved()) else {
            panic!("no help");
        };
        assert!(!help.contains('\u{1b}'), "{help:?}");
    }
}

#[test]
fn colours_end_with_the_line_and_go_on_in_the_next() {
    let style = Style::COLOURED;
    assert_eq!(
        wrap(&style.good("0123456789abcdefg"), 8),
        [
            "\u{1b}[32m01234567\u{1b}[0m",
            "\u{1b}[32m89abcdef\u{1b}[0m",
            "\u{1b}[32mg\u{1b}[0m",
        ]
    );
    let text = format!("{} tail", style.bold("one two three"));
    assert_eq!(
        wrap(&text, 10),
        ["\u{1b}[1mone two \u{1b}[0m", "\u{1b}[1mthree\u{1b}[0m tail"]
    );
}

#[test]
fn lines_are_broken_between_words_where_that_helps() {
    for (text, width, expected) in [
        ("", 10, &[""][..]),
        ("a\n\nb", 10, &["a", "", "b"]),
        ("one two three", 10, &["one two ", "three"]),
        ("a 0123456789abc", 10, &["a 01234567", "89abc"]),
        ("0123456789", 10, &["0123456789"]),
        ("\tx\n12\tx", 10, &["    x", "12  x"]),
        (
            "\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}",
            9,
            &["\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}", "\u{4e2d}"],
        ),
        ("e\u{301}e\u{301}", 8, &["e\u{301}e\u{301}"]),
    ] {
        assert_eq!(wrap(text, width), expected, "{text:?}");
    }
}

fn no(reason: &str) -> Next {
    Next::Done(Answer::No {
        reason: reason.into(),
    })
}

fn always(scope: RuleScope) -> Next {
    Next::Done(Answer::Always {
        rules: vec!["Tool(./a.txt)".into()],
        scope,
        origin: RuleOrigin::Offered,
    })
}

fn typed(rule: &str, scope: RuleScope) -> Next {
    Next::Done(Answer::Always {
        rules: vec![rule.into()],
        scope,
        origin: RuleOrigin::Typed,
    })
}

#[test]
fn a_line_means_one_thing() {
    use Asked::{Where, Whether};

    let question = question();
    let cases = [
        (Whether, "y", Next::Done(Answer::Yes)),
        (Whether, " YES \t", Next::Done(Answer::Yes)),
        (Whether, "", Next::Ask(Whether)),
        (Whether, "   ", Next::Ask(Whether)),
        (Whether, "n", no("the user said no")),
        (Whether, "No", no("the user said no")),
        (
            Whether,
            "n  use the Other one ",
            no("the user said no: use the Other one"),
        ),
        (
            Whether,
            "no\tnot\u{1b}[A here",
            no("the user said no: not␛[A here"),
        ),
        (Whether, "a", Next::Ask(Where)),
        (Whether, "always", Next::Ask(Where)),
        (Whether, "a session", always(RuleScope::Session)),
        (Whether, "a l", always(RuleScope::Local)),
        (
            Whether,
            "a local  Tool(./My dir/**)",
            typed("Tool(./My dir/**)", RuleScope::Local),
        ),
        (Whether, "v", Next::ShowAll),
        (Where, "session", always(RuleScope::Session)),
        (Where, "L", always(RuleScope::Local)),
        (Where, "p", always(RuleScope::Project)),
        (Where, "User", always(RuleScope::User)),
        (Where, "", Next::Ask(Whether)),
        (Where, "n too wide", no("the user said no: too wide")),
    ];
    for (asked, line, expected) in cases {
        assert_eq!(read(asked, line, &question, &saved()), expected, "{line:?}");
    }
}

#[test]
fn what_is_unclear_is_no_yes_and_is_told_what_is_possible() {
    let mut question = question();
    question.scopes = vec![RuleScope::Session, RuleScope::Local];
    let told = |asked, line: &str, question: &PermissionQuestion| match read(
        asked,
        line,
        question,
        &saved(),
    ) {
        Next::Tell(text) => text,
        other => panic!("{line:?} means {other:?}"),
    };
    for line in [
        "yy",
        "yes please",
        "ja",
        "1",
        "yn",
        "not",
        "v all",
        "\u{1b}[A",
        "y\u{0}",
    ] {
        let text = told(Asked::Whether, line, &question);
        assert!(text.contains("Type y, a, n, v or ?"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    for (asked, line) in [
        (Asked::Whether, "a user"),
        (Asked::Whether, "a somewhere"),
        (Asked::Where, "project"),
        (Asked::Where, "y"),
        (Asked::Where, "yes"),
        (Asked::Where, "se"),
        (Asked::Where, "session local"),
    ] {
        let text = told(asked, line, &question);
        assert!(text.contains("session, local"), "{text}");
    }
    let help = told(Asked::Whether, "?", &question);
    for part in [
        "n REASON",
        "from now on Tool(./a.txt)",
        "kept in /p/.toolbay/settings.local.json",
    ] {
        assert!(help.contains(part), "{help}");
    }
    assert!(!help.contains("project "), "{help}");

    // Where there is nothing to keep, or no place to keep it in.
    assert_eq!(
        prompt(Asked::Whether, Sight::Whole, &question),
        "Allow it? [y/a/n/v/?] "
    );
    assert_eq!(
        prompt(Asked::Where, Sight::Whole, &question),
        "Keep the rules where? [session/local] "
    );
    question.scopes = Vec::new();
    assert!(told(Asked::Whether, "a", &question).contains("owner of this machine"));
    question.rules = Vec::new();
    assert!(told(Asked::Whether, "a session", &question).contains("No rule can"));
    assert_eq!(
        prompt(Asked::Whether, Sight::Whole, &question),
        "Allow it? [y/n/v/?] "
    );
    assert!(!told(Asked::Whether, "?", &question).contains("from now on"));
}
