use std::sync::Mutex;

use toolbay_policy::{Closed, Managed, Rules, Trusting};

use super::*;

fn policy(managed: Managed) -> Policy {
    let roots = vec![PathBuf::from("/p")];
    let trusting = Trusting::default();
    Policy::governed(
        Rules::default(),
        roots,
        &Closed::default(),
        trusting,
        managed,
    )
}

fn allowed(rulebook: &Rulebook) -> Vec<String> {
    let policy = rulebook.current();
    let rules = policy.rules().allow.iter();
    rules.map(|rule| rule.text().to_owned()).collect()
}

#[test]
fn what_was_allowed_in_the_session_outlives_an_edit_of_the_settings() {
    #[derive(Default)]
    struct Edited(Mutex<Option<Policy>>);
    impl Keeper for Edited {
        fn refresh(&self) -> Option<Policy> {
            self.0.lock().unwrap().take()
        }
    }
    let keeper = Arc::new(Edited::default());
    let rulebook = Rulebook::new(policy(Managed::default()), keeper.clone());
    let before = rulebook.current();
    let rules = ["A".to_owned(), "B(x)".to_owned()];
    rulebook.allow(&rules, RuleScope::Session).unwrap();
    rulebook.allow(&rules, RuleScope::Session).unwrap();
    rulebook.enter(Mode::Plan).unwrap();
    assert_eq!(allowed(&rulebook), rules);
    assert_eq!(rulebook.session_rules(), rules);
    assert!(
        before.rules().allow.is_empty(),
        "a call under way keeps its policy"
    );
    *keeper.0.lock().unwrap() = Some(policy(Managed::default()));
    assert_eq!(allowed(&rulebook), rules);
    assert_eq!(rulebook.current().mode(), Mode::Plan);
    // An owner who takes the word away does so for what was said before, too.
    *keeper.0.lock().unwrap() = Some(policy(Managed {
        only_managed_rules: true,
        ..Managed::default()
    }));
    assert!(allowed(&rulebook).is_empty());
    assert!(rulebook.places(&rulebook.current()).is_empty());
}

#[test]
fn a_rule_that_is_none_changes_nothing() {
    let rulebook = Rulebook::unchanging(policy(Managed::default()));
    let rules = ["A".to_owned(), "B(".to_owned()];
    assert!(rulebook.allow(&rules, RuleScope::Session).is_err());
    assert!(allowed(&rulebook).is_empty());
}

#[test]
fn rules_that_cannot_be_kept_hold_for_the_session_and_that_is_said() {
    let rulebook = Rulebook::unchanging(policy(Managed::default()));
    let said = rulebook.allow(&["A".to_owned()], RuleScope::User);
    assert!(said.unwrap_err().contains("no settings"));
    assert_eq!(allowed(&rulebook), ["A"]);
}

#[test]
fn the_mode_that_asks_nothing_is_not_entered_from_within() {
    let rulebook = Rulebook::unchanging(policy(Managed::default()));
    assert!(rulebook.enter(Mode::Bypass).is_err());
    assert_eq!(rulebook.current().mode(), Mode::Default);
}
