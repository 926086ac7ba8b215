//! Exports that lie, change their answer, or panic: the host takes the strict
//! answer, or refuses the component.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use toolbay_contract::{
    CallEnvironment, Discard, Failure, KillSwitch, Outcome, Phase, Powers, Review, RulesNow,
    Session, Tool, Verdict, View,
};
use toolbay_policy::Claims;
use toolbay_runtime::Limits;
use toolbay_tests::bay::TestBay;
use toolbay_tests::guests;

use super::{act, assert_no_slot_lost, assert_still_serves, own_bay, rogue_bay};

/// Why the one guest of the bay cannot be opened.
fn problem(bay: &TestBay) -> String {
    let [problem] = bay.problems() else {
        panic!("{} problems", bay.problems().len());
    };
    problem.to_string()
}

/// The rogue is served by the same runtime after a guest was refused.
async fn assert_others_are_served(refused: &TestBay) {
    let bay = TestBay::with_runtime(refused.runtime());
    let running = bay.guest(guests::ROGUE).await.ready().await;
    assert_still_serves(&running).await;
}

fn environment() -> CallEnvironment {
    CallEnvironment {
        roots: Arc::new([]),
        working_directory: "/".into(),
        path_rules: RulesNow::default(),
        nested: None,
        session: Arc::new(Session::new(1)),
        powers: Powers::default(),
        audit: Arc::new(Discard),
        progress: Arc::new(|_, _| {}),
        kill: KillSwitch::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_changes_its_name_gets_one_name() {
    let mut names = Vec::new();
    for _ in 0..3 {
        // Without a cache each of them asks anew.
        let runtime = toolbay_runtime::Runtime::new(Default::default()).unwrap();
        let bay = TestBay::with_runtime(runtime).guest(guests::SHIFTY).await;
        let running = bay.start();
        let info = running.tools[0].info().clone();
        // Its answers change with each question to one instance; no instance is
        // asked twice.
        let claims = running.tools[0].claims(&"{}".into()).await.unwrap();
        names.push((info.name.clone(), claims));
        let result = running.call(&info.name, json!({})).await;
        assert!(!result.is_error, "{}", result.text());
        assert_no_slot_lost(&running);
    }
    println!("shifty: {}", names[0].0);
    assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_section_that_lies_is_found_out_before_the_first_call() {
    let running = own_bay()
        .guest(guests::TWO_FACED)
        .await
        .allow("Harmless")
        .start();
    for _ in 0..2 {
        let result = running
            .call("Harmless", json!({"command": "rm -rf /"}))
            .await;
        let text = result.sentence();
        assert!(
            matches!(result.failure, Some(Failure::BadComponent { .. })),
            "{text}"
        );
        assert!(
            text.starts_with("plugin Harmless cannot be loaded: "),
            "{text}"
        );
        assert!(text.contains("disagree about the name"), "{text}");
    }
    assert_no_slot_lost(&running);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_schema_is_named() {
    let bay = own_bay().guest(guests::BAD_SCHEMA).await;
    let text = problem(&bay);
    assert!(text.contains("the input schema is not JSON"), "{text}");
    assert!(
        text.starts_with("plugin guest.wasm cannot be loaded: "),
        "{text}"
    );
    assert_others_are_served(&bay).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_a_hundred_megabytes_is_not_taken_over() {
    // Time enough for a slow machine to build it: the size is what is refused.
    let limits = Limits {
        inspect_ms: 60_000,
        ..Limits::default()
    };
    let started = Instant::now();
    let bay = own_bay().limits(limits).guest(guests::HUGE_SCHEMA).await;
    let text = problem(&bay);
    println!("huge schema: {text} ({:?})", started.elapsed());
    assert!(
        text.contains("guest.wasm") && text.contains("info"),
        "{text}"
    );
    assert!(text.contains("at most"), "{text}");
    assert_others_are_served(&bay).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_takes_too_long_to_say_who_it_is_cannot_be_loaded() {
    let limits = Limits {
        inspect_ms: 1,
        ..Limits::default()
    };
    let bay = own_bay().limits(limits).guest(guests::HUGE_SCHEMA).await;
    assert_eq!(
        problem(&bay),
        "plugin guest.wasm broke in info: it took longer than the 1ms it may take"
    );
    assert_others_are_served(&bay).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_panics_in_info_cannot_be_loaded() {
    let bay = own_bay().guest(guests::PANICS_IN_INFO).await;
    let text = problem(&bay);
    assert!(
        text.starts_with("plugin guest.wasm broke in info: it panicked or aborted"),
        "{text}"
    );
    assert_others_are_served(&bay).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_at_a_question_counts_as_the_strict_answer() {
    let running = own_bay()
        .guest(guests::PANICS)
        .await
        .says_yes()
        .ready()
        .await;
    let plugin = running.tools[0].clone();
    let input: Arc<str> = r#"{"a":1}"#.into();
    let environment = environment();

    assert_eq!(plugin.claims(&input).await.unwrap(), Claims::STRICT);
    let broken = plugin.is_enabled().await.unwrap_err();
    assert!(
        broken.to_string().contains("broke in is-enabled"),
        "{broken}"
    );
    let rejection = plugin.review(&input, &environment).await.unwrap_err();
    assert!(
        rejection
            .message
            .starts_with("plugin Panics broke in validate-input: "),
        "{rejection:?}"
    );
    assert!(
        rejection.message.contains("in validate-input"),
        "{rejection:?}"
    );
    let valid: Arc<str> = r#"{"valid":true}"#.into();
    let verdict = plugin.review(&valid, &environment).await;
    let Ok(Review {
        verdict: Verdict::Ask(reason),
        ..
    }) = verdict
    else {
        panic!("{verdict:?}");
    };
    assert!(
        reason.starts_with("plugin Panics broke in check-permissions: "),
        "{reason}"
    );
    assert_eq!(plugin.prompt(&[]).await, "Panics at every question.");
    assert_eq!(
        plugin.render_use(&input).await,
        View::Plain(r#"Panics {"a":1}"#.into())
    );
    let outcome = Outcome {
        content: vec![toolbay_contract::Content::Text("came of it".into())],
        ..Outcome::default()
    };
    assert_eq!(
        plugin.render_result(&input, &outcome).await,
        View::Plain("came of it".into())
    );
    assert_no_slot_lost(&running);

    // Through the dispatch the first question is the last.
    let result = running.call("Panics", json!({"a": 1})).await;
    assert!(
        matches!(
            &result.failure,
            Some(Failure::Broke {
                phase: Phase::IsEnabled,
                ..
            })
        ),
        "{:?}",
        result.failure
    );
    assert_no_slot_lost(&running);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_call_breaks_the_call() {
    // Its `validate-input` would reject before, so the permit comes from the policy.
    let running = own_bay().guest(guests::PANICS).await.ready().await;
    let plugin = running.tools[0].clone();
    let policy = toolbay_policy::Policy::new(Default::default(), Vec::new(), &Default::default());
    let decision = policy.decide(toolbay_policy::Request {
        cage: toolbay_policy::CageWish::Inside,
        call_id: "c".into(),
        tool: "Panics".into(),
        input: "{}".into(),
        subjects: Vec::new(),
        aliases: Vec::new(),
        claims: Claims::STRICT,
        reach: plugin.reach().await.unwrap(),
        opinion: toolbay_policy::Opinion::None,
        hooks: toolbay_policy::HookWord::None,
        study: toolbay_policy::Study::default(),
    });
    let permit = match decision {
        toolbay_policy::Decision::Ask(question) => question.grant(),
        toolbay_policy::Decision::Allow(permit) => permit,
        toolbay_policy::Decision::Deny { reason } => panic!("{reason}"),
    };
    let failure = plugin.call(permit, environment()).await.unwrap_err();
    let Failure::Broke {
        plugin,
        phase,
        reason,
    } = failure
    else {
        panic!("{failure:?}");
    };
    assert_eq!((plugin.as_str(), phase), ("Panics", Phase::Call));
    assert!(reason.contains("in call"), "{reason}");
    assert_no_slot_lost(&running);
}

#[tokio::test(flavor = "multi_thread")]
async fn absent_interfaces_mean_the_defaults() {
    let running = own_bay().guest(guests::QUIET).await.ready().await;
    let plugin = running.tools[0].clone();
    let input: Arc<str> = r#"{"a":1}"#.into();
    let environment = environment();
    let claims = plugin.claims(&input).await.unwrap();
    assert_eq!(claims.destructive, None);
    assert_eq!(plugin.is_enabled().await, Ok(true));
    assert_eq!(
        plugin.review(&input, &environment).await,
        Ok(Review::SILENT)
    );
    assert_eq!(
        plugin.prompt(&[]).await,
        "Says back its input, with nothing optional."
    );
    assert_eq!(
        plugin.render_use(&input).await,
        View::Plain(r#"Quiet {"a":1}"#.into())
    );
    let result = running.call("Quiet", json!({"a": 1})).await;
    assert_eq!(result.text(), r#"{"a":1}"#);
    assert_no_slot_lost(&running);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allow_of_an_untrusted_guard_is_no_opinion() {
    let running = rogue_bay().await.ready().await;
    let input = |verdict: &str| json!({"claims_verdict": verdict, "claims_read_only": false});
    for (verdict, part) in [
        ("allow", "the test says no"),
        ("passthrough", "the test says no"),
        ("ask", "the test says no"),
        ("deny", "the tool itself refuses: the rogue says so"),
    ] {
        let result = act(&running, "ok", input(verdict)).await;
        assert!(
            matches!(&result.failure, Some(Failure::Denied(reason)) if reason.contains(part)),
            "{verdict}: {:?}",
            result.failure
        );
        assert_still_serves(&running).await;
    }
    // Tightening counts, even against an allow rule and a claim of read-only.
    let running = rogue_bay().await.allow("Rogue").ready().await;
    for (verdict, denied) in [("deny", true), ("ask", true), ("allow", false)] {
        let result = act(&running, "ok", json!({"claims_verdict": verdict})).await;
        assert_eq!(
            matches!(result.failure, Some(Failure::Denied(_))),
            denied,
            "{verdict}: {:?}",
            result.failure
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_the_guard_would_rather_have_is_decided_about_anew() {
    let running = rogue_bay().await.file("a.txt", "a").ready().await;
    let swapped = json!({"act": "echo", "text": "swapped"});
    let result = act(&running, "ok", json!({"updated_input": swapped})).await;
    assert_eq!(result.text(), "swapped");
    // It gains nothing: what it would rather run is asked about like anything else.
    let writes = json!({"act": "echo", "text": "x", "claims_read_only": false});
    let result = act(&running, "ok", json!({"updated_input": writes})).await;
    assert!(
        matches!(&result.failure, Some(Failure::Denied(_))),
        "{:?}",
        result.failure
    );
    for (updated, part) in [
        (json!({"no_act": 1}), "act"),
        (
            json!({"act": "ok", "updated_input": {"act": "echo", "text": "third"}}),
            "yet another input",
        ),
    ] {
        let result = act(&running, "ok", json!({"updated_input": updated})).await;
        assert!(
            result.is_error && result.text().contains(part),
            "{}",
            result.text()
        );
    }
    assert_still_serves(&running).await;
}
