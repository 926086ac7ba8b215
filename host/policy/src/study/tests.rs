use super::*;

fn commands(scripts: &[&str]) -> Vec<Subject> {
    let command = |script: &&str| Subject::Command((*script).to_owned());
    scripts.iter().map(command).collect()
}

fn study(scripts: &[&str]) -> Study {
    Study::of(&commands(scripts), &Place::new("/p"))
}

#[test]
fn a_study_counts_only_for_the_scripts_that_it_saw() {
    let studied = study(&["ls", "pwd"]);
    let path = Subject::Path("/p/a".into());
    for (subjects, wanted) in [
        (commands(&["ls"]), true),
        (commands(&["pwd", "ls"]), true),
        (commands(&["ls", "rm x"]), false),
        (vec![path], true),
        (Vec::new(), true),
    ] {
        assert_eq!(studied.covers(&subjects), wanted, "{subjects:?}");
    }
    assert!(!Study::default().covers(&commands(&["ls"])));
}

#[test]
fn a_warning_is_given_once_however_many_commands_deserve_it() {
    assert_eq!(study(&["ls"]).warnings(), Vec::<String>::new());
    let one = study(&["git reset --hard"]).warnings();
    assert!(one.len() == 1 && one[0].contains(' '), "{one:?}");
    let twice = study(&["git reset --hard", "git reset --hard HEAD"]).warnings();
    assert_eq!(twice, one);
}

#[test]
fn parts_are_shown_with_what_the_script_does_beside_them() {
    let shown = |script: &str| -> Vec<(String, bool)> {
        let parts = study(&[script]).shown_parts();
        let shown = |part: Part| (part.text, part.doubt.is_some());
        parts.into_iter().map(shown).collect()
    };
    let part = |text: &str, is_doubtful| (text.to_owned(), is_doubtful);
    let whole = part("the script as a whole", true);
    assert_eq!(shown("ls -l"), [part("ls -l", false)]);
    assert_eq!(shown("ls; rm x"), [part("ls", false), part("rm x", true)]);
    assert_eq!(shown("ls > x"), [part("ls", false), whole]);
    // Nothing is listed of what was not understood.
    assert_eq!(shown("while x; do"), []);
}

#[test]
fn every_word_of_a_script_that_was_not_understood_may_be_a_path() {
    let place = Place::new("/p").with_home("/home/me");
    let subjects = commands(&["while read x; do cat '.env' ~/.ssh/id; done"]);
    let study = Study::of(&subjects, &place);
    let heard: Vec<&Path> = study.heard().collect();
    for wanted in ["/p/.env", "/home/me/.ssh/id"] {
        assert!(heard.contains(&Path::new(wanted)), "{wanted}: {heard:?}");
    }
    assert_eq!(super::tests::study(&["cat .env"]).heard().count(), 0);
}
