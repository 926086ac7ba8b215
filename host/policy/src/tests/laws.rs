//! Laws that hold for all policies and all calls, tried on many random ones.

use super::random::Random;
use crate::claims::{HookWord, Opinion, Subject};
use crate::verb::Verb;
use crate::{
    Behavior, Closed, Decision, Managed, Mode, Policy, Provenance, Request, Rule, Rules, Source,
    Trusting,
};

/// Each round is a policy and a call. Fewer would miss rare pairs of patterns; more are slow
/// without optimisation.
const ROUNDS: u64 = 500;

fn policy(rules: Rules, random: &mut Random) -> Policy {
    let closed = Closed {
        unwritable_names: vec![".own".into()],
        ..Closed::default()
    };
    let trusting = Trusting {
        project: random.below(2) == 0,
        local: random.below(2) == 0,
    };
    let managed = Managed {
        only_managed_rules: random.below(8) == 0,
        no_bypass: random.below(8) == 0,
        ..Managed::default()
    };
    let mode = Mode::ALL[random.below(Mode::ALL.len())];
    Policy::governed(rules, vec!["/p".into()], &closed, trusting, managed)
        .with_home("/home/me")
        .with_mode(mode)
}

fn behavior(policy: &Policy, request: &Request) -> Behavior {
    match policy.decide(request.clone()) {
        Decision::Allow(_) => Behavior::Allow,
        Decision::Ask(_) => Behavior::Ask,
        Decision::Deny { .. } => Behavior::Deny,
    }
}

#[test]
fn a_decision_and_its_explanation_never_differ() {
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let rules = random.rules(12);
        let policy = policy(rules, &mut random);
        let request = random.request();
        let explanation = policy.explain(&request);
        let (decision, ruling) = policy.decide_and_say(request);
        let (behavior, reason) = match &decision {
            Decision::Allow(permit) => (Behavior::Allow, permit.reason()),
            Decision::Ask(question) => (Behavior::Ask, question.reason()),
            Decision::Deny { reason } => (Behavior::Deny, reason.as_str()),
        };
        assert_eq!(behavior, explanation.behavior, "seed {seed}");
        assert_eq!(reason, explanation.reason, "seed {seed}");
        assert_eq!(ruling.winner, explanation.winner, "seed {seed}");
        // A winner is among those that were looked at.
        if let Some(winner) = &explanation.winner {
            let is_shown = explanation
                .looked_at
                .iter()
                .any(|looked| looked.rule == winner.rule && looked.effect == winner.effect);
            assert!(is_shown, "seed {seed}: {winner:?}");
        }
    }
}

#[test]
fn the_index_finds_what_asking_each_rule_finds() {
    for seed in 0..ROUNDS * 2 {
        let mut random = Random::new(seed);
        let rules = random.rules(30);
        let policy = policy(rules, &mut random);
        let request = policy.studied(random.request());
        let (tool, subjects, study) = (&request.tool, &request.subjects, &request.study);
        for list in [Behavior::Deny, Behavior::Ask] {
            let rules = policy.list(list);
            let plain = rules
                .iter()
                .position(|rule| rule.touches(tool, subjects, study));
            let found = policy.touching(list, &request);
            assert_eq!(found, plain, "seed {seed}: {list} {subjects:?}");
        }
        let allow = policy.list(Behavior::Allow);
        let plain = plainly_covering(allow, &request);
        assert_eq!(
            policy.covering(&request),
            plain,
            "seed {seed}: {subjects:?}"
        );
    }
}

/// The rule for allow rules in its simplest form.
fn plainly_covering(rules: &[Rule], request: &Request) -> Option<usize> {
    let named = |rule: &Rule| rule.names(&request.tool);
    let whole = |rule: &Rule| named(rule) && rule.content().is_none();
    if let Some(place) = rules.iter().position(whole) {
        return Some(place);
    }
    let find = |covers: &dyn Fn(&crate::rule::Content) -> bool| {
        rules
            .iter()
            .position(|rule| named(rule) && rule.content().is_some_and(covers))
    };
    let mut used = None;
    for subject in &request.subjects {
        let Subject::Command(script) = subject else {
            used = used.or(Some(find(&|content| content.covers(subject))?));
            continue;
        };
        let report = request.study.on(script)?;
        let every = find(&|content| content.command == crate::command::CommandPattern::Every);
        let whole = || find(&|content| content.allows_whole(script, report));
        if let Some(place) = every.or_else(whole) {
            used = used.or(Some(place));
            continue;
        }
        if !report.may_be_allowed_by_parts() {
            return None;
        }
        for command in &report.commands {
            let place = find(&|content| content.command.covers(command));
            if place.is_none() && !command.is_read_only() {
                return None;
            }
            used = used.or(place);
        }
    }
    used
}

#[test]
fn adding_a_deny_or_an_ask_never_allows_more() {
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let rules = random.rules(8);
        let (deny, ask) = (random.rule(), random.rule());
        let before = policy(rules.clone(), &mut random);
        let request = random.request();
        let mut more = rules;
        let at = random.below(more.deny.len() + 1);
        more.deny.insert(at, deny);
        let denied = before.with_rules(more.clone());
        let first = behavior(&before, &request);
        let second = behavior(&denied, &request);
        assert!(second >= first, "seed {seed}: {first} became {second}");
        more.ask.push(ask);
        let third = behavior(&denied.with_rules(more), &request);
        assert!(third >= second, "seed {seed}: {second} became {third}");
    }
}

#[test]
fn neither_order_nor_source_changes_a_deny() {
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let rules = random.rules(8);
        let before = policy(rules.clone(), &mut random);
        let request = random.request();
        let mut other = rules.clone();
        for list in [&mut other.deny, &mut other.ask, &mut other.allow] {
            random.shuffle(list);
        }
        let first = behavior(&before, &request);
        // Order changes nothing at all.
        let second = behavior(&before.with_rules(other.clone()), &request);
        assert_eq!(first, second, "seed {seed}");
        // Sources of deny rules change no deny. In bypass an owner's deny also asks.
        for rule in &mut other.deny {
            *rule = rule.clone().from(Provenance::of(random.source()));
        }
        let third = behavior(&before.with_rules(other), &request);
        let same = (first == Behavior::Deny) == (third == Behavior::Deny);
        assert!(same, "seed {seed}: {first} became {third}");
    }
}

#[test]
fn a_compound_is_never_allowed_more_than_its_parts() {
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let rules = random.rules(10);
        let has_path_rules = rules
            .deny
            .iter()
            .any(|rule| Verb::of(rule.tool()).is_some());
        let policy = policy(rules, &mut random);
        let (one, two) = (random.command(), random.command());
        let joint = random.pick(&[" && ", " || ", "; ", " | ", "\n", " & "]);
        let whole = format!("{one}{joint}{two}");
        let base = random.request_about(vec![]);
        let decide = |script: &str| {
            let read_only =
                toolbay_shell::inspect(script, &toolbay_shell::Place::anywhere()).read_only();
            let mut request = Request {
                subjects: vec![Subject::Command(script.into())],
                ..base.clone()
            };
            request.claims.read_only = read_only;
            request.reach = crate::Reach::ALL;
            behavior(&policy, &request)
        };
        let strictest = decide(one).max(decide(two));
        let found = decide(&whole);
        let is_fine = if has_path_rules {
            // What a compound opens may be impossible to tell; then it is asked about.
            found > Behavior::Allow || strictest == Behavior::Allow
        } else {
            found >= strictest
        };
        assert!(
            is_fine,
            "seed {seed}: {whole:?} {found}, its parts {strictest}"
        );
    }
}

#[test]
fn strict_modes_only_tighten_and_no_mode_loosens_a_deny() {
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let rules = random.rules(8);
        let policy = policy(rules, &mut random);
        let request = random.request();
        let plain = behavior(&policy.clone().with_mode(Mode::Default), &request);
        for mode in Mode::ALL {
            let found = behavior(&policy.clone().with_mode(mode), &request);
            match mode {
                Mode::Default => assert_eq!(found, plain),
                Mode::Plan | Mode::DontAsk => assert!(found >= plain, "seed {seed} {mode}"),
                Mode::AcceptEdits | Mode::Bypass => {
                    assert!(
                        plain != Behavior::Deny || found == plain,
                        "seed {seed} {mode}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_allow_of_a_hook_or_a_tool_loosens_more_than_a_rule_could() {
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let rules = random.rules(6);
        let policy = policy(rules.clone(), &mut random);
        let mut request = random.request();
        request.hooks = HookWord::None;
        request.opinion = Opinion::None;
        let mut allowing = rules;
        let tool = Rule::parse(
            &request.tool,
            &crate::Anchors {
                home: None,
                cwd: "/p".into(),
                settings: "/p".into(),
            },
        );
        allowing
            .allow
            .push(tool.unwrap().from(Provenance::of(Source::Managed)));
        let by_rule = behavior(&policy.with_rules(allowing), &request);
        request.hooks = HookWord::Allow("x".into());
        request.opinion = Opinion::Allow("x".into());
        let by_word = behavior(&policy, &request);
        assert!(
            by_word >= by_rule,
            "seed {seed}: {by_word}, by a rule {by_rule}"
        );
    }
}
