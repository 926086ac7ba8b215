use toolbay_contract::ShellWalls;
use toolbay_policy::{Access, Zone, Zones};

use super::*;

fn question() -> PermissionQuestion {
    PermissionQuestion {
        tool: "Write".into(),
        caller: None,
        call_id: "c".into(),
        input: "{}".into(),
        reason: "it may change things".into(),
        asked_by: None,
        granted: GrantSummary::reading(),
        view: View::Plain(String::new()),
        commands: Vec::new(),
        warnings: Vec::new(),
        rules: vec!["Write(//p/a)".into(), "Write(//p/b)".into()],
        no_rule: None,
        more_rules: vec!["Write".into()],
        scopes: vec![RuleScope::Session, RuleScope::Local],
        destructive: None,
    }
}

fn always(rules: &[&str], scope: RuleScope, origin: RuleOrigin) -> Answer {
    Answer::Always {
        rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        scope,
        origin,
    }
}

#[test]
fn an_answer_stays_within_what_was_offered() {
    use RuleOrigin::{Offered, Typed};
    use RuleScope::{Local, Session, User};

    let question = question();
    for (answer, refused) in [
        (Answer::Yes, None),
        (
            always(&["Write(//p/a)", "Write(//p/b)"], Session, Offered),
            None,
        ),
        (always(&["Write(//p/b)"], Local, Offered), None),
        (always(&["*"], Session, Offered), Some("`*`")),
        // What the tool itself suggests was not checked by the host.
        (always(&["Write"], Session, Offered), Some("`Write`")),
        (
            always(&["Write(//p/a)", "Bash"], Session, Offered),
            Some("`Bash`"),
        ),
        (always(&["Write(//p/a)"], User, Offered), Some("`user`")),
        (always(&["Write(//p/a)"], User, Typed), Some("`user`")),
        (always(&[], Session, Offered), Some("names none")),
        (always(&["Write"], Session, Typed), None),
    ] {
        match (question.check(&answer), refused) {
            (Ok(()), None) => {}
            (Err(why), Some(part)) if why.contains(part) => {}
            (other, _) => panic!("{answer:?}: {other:?}"),
        }
    }
}

#[test]
fn a_yes_grants_what_the_sentences_say() {
    let mut question = question();
    assert_eq!(question.grants(), ["reading only"]);
    question.granted.access = Access::ReadWrite {
        zones: Zones::new(vec![
            Zone::File("/p/new/a".into()),
            Zone::Folder("/q".into()),
        ]),
    };
    question.granted.new_folders = vec!["/p/new".into()];
    question.granted.readable = Zones::new(vec![Zone::File("/etc/hosts".into())]);
    question.granted.walls = ShellWalls {
        writable: vec!["/home/u/.cargo".into()],
        hosts: vec!["example.com".into()],
    };
    question.granted.runs_commands = true;
    question.granted.uncaged = vec!["docker ps".into()];
    assert_eq!(
        question.grants(),
        [
            "running this WITHOUT A CAGE: docker ps",
            "writing the file /p/new/a",
            "writing in /q/, but for protected names",
            "making the folder /p/new",
            "running its commands in a cage",
            "writing in /home/u/.cargo by commands",
            "network access to example.com by commands",
            "reading outside the project: /etc/hosts",
        ]
    );
}
