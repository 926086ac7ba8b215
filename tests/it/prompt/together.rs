//! Several questions at once: one is on the screen at a time, and none that has become needless.

use std::sync::Arc;

use serde_json::{Value, json};
use toolbay_cli::prompt::{SavedIn, Terminal};
use toolbay_contract::{KillReason, KillSwitch};
use toolbay_dispatch::ToolResult;
use toolbay_tests::bay::{Running, TestBay};

use super::ALLOW;
use super::pty::Pty;

/// A bay whose questions are asked in a terminal.
async fn bay(pty: &Pty) -> Arc<Running> {
    let device = pty.slave().try_clone().unwrap().into();
    let terminal = Terminal::on(device, SavedIn::default());
    let bay = TestBay::new().builtins().await.asks(Arc::new(terminal));
    Arc::new(bay.ready().await)
}

fn start(
    bay: &Arc<Running>,
    input: Value,
    kill: KillSwitch,
) -> tokio::task::JoinHandle<ToolResult> {
    let bay = bay.clone();
    tokio::spawn(async move { bay.call_with("Write", input, kill).await })
}

fn file(name: &str) -> Value {
    json!({"file_path": name, "content": name})
}

/// Waits on a thread of its own: the calls go on meanwhile.
async fn until(mut pty: Pty, text: &'static str) -> (Pty, String) {
    tokio::task::spawn_blocking(move || {
        let seen = pty.until(text);
        (pty, seen)
    })
    .await
    .unwrap()
}

/// Which of the files a card is about.
#[track_caller]
fn about(card: &str) -> &'static str {
    let names = ["a.txt", "b.txt", "c.txt"];
    let mut about = names.iter().filter(|name| card.contains(*name));
    let found = about
        .next()
        .unwrap_or_else(|| panic!("about nothing: {card}"));
    assert_eq!(about.next(), None, "two questions at once: {card}");
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_queue_and_never_mix() {
    let pty = Pty::new(80);
    let bay = bay(&pty).await;
    let kill = KillSwitch::new();
    let names = ["a.txt", "b.txt", "c.txt"];
    let calls = names.map(|name| (name, start(&bay, file(name), kill.below())));
    let mut pty = pty;
    let mut order = Vec::new();
    for answer in ["n first\n", "y\n", "n third\n"] {
        let (back, card) = until(pty, ALLOW).await;
        pty = back;
        order.push(about(&card));
        pty.type_in(answer);
    }
    for (name, call) in calls {
        let result = call.await.unwrap();
        let at = order.iter().position(|asked| *asked == name);
        match at {
            Some(1) => assert!(!result.is_error, "{}", result.text()),
            Some(0) => assert!(result.text().contains("first"), "{}", result.text()),
            Some(2) => assert!(result.text().contains("third"), "{}", result.text()),
            _ => panic!("{name} was not asked about: {order:?}"),
        }
        assert_eq!(bay.root().join(name).exists(), at == Some(1), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_an_answer_made_needless_is_not_asked() {
    let pty = Pty::new(80);
    let bay = bay(&pty).await;
    let kill = KillSwitch::new();
    let first = start(&bay, file("a.txt"), kill.below());
    let (mut pty, _) = until(pty, ALLOW).await;
    // It waits in the queue by the time the first one is answered, or comes later; both are well.
    let second = start(&bay, file("a.txt"), kill.below());
    pty.type_in("a session\n");
    let [first, second] = [first.await.unwrap(), second.await.unwrap()];
    assert!(!first.is_error, "{}", first.text());
    // Whether the tool likes to be called twice is its own affair: nobody was asked.
    let denied = second
        .failure
        .as_ref()
        .is_some_and(|failure| failure.class() == "denied");
    assert!(!denied, "{}", second.text());
    let rules = bay.dispatch.rulebook().session_rules();
    assert!(
        matches!(&rules[..], [rule] if rule.ends_with("/a.txt)")),
        "{rules:?}"
    );
    // The next question is about something else.
    let third = start(&bay, file("b.txt"), kill.below());
    let (mut pty, card) = until(pty, ALLOW).await;
    assert_eq!(about(&card), "b.txt");
    pty.type_in("n\n");
    assert!(third.await.unwrap().is_error);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_question_makes_room_for_the_next() {
    let pty = Pty::new(80);
    let bay = bay(&pty).await;
    let [one, two] = [KillSwitch::new(), KillSwitch::new()];
    let first = start(&bay, file("a.txt"), one.below());
    let (mut pty, card) = until(pty, ALLOW).await;
    assert_eq!(about(&card), "a.txt");
    let second = start(&bay, file("b.txt"), two.below());
    // Half an answer to the first is none to the second.
    pty.type_in("y");
    one.throw(KillReason::Cancelled);
    let (pty, _) = until(pty, "The question is withdrawn").await;
    assert!(first.await.unwrap().text().contains("cancelled"));
    let (mut pty, card) = until(pty, ALLOW).await;
    assert_eq!(about(&card), "b.txt");
    pty.type_in("\n");
    let (mut pty, _) = until(pty, ALLOW).await;
    pty.type_in("y\n");
    let second = second.await.unwrap();
    assert!(!second.is_error, "{}", second.text());
    assert!(!bay.root().join("a.txt").exists());

    // One that is withdrawn before its turn is never seen.
    let open = start(&bay, file("c.txt"), KillSwitch::new());
    let (mut pty, _) = until(pty, ALLOW).await;
    let waiting = start(&bay, file("a.txt"), one.below());
    assert!(waiting.await.unwrap().is_error);
    pty.type_in("n\n");
    assert!(open.await.unwrap().is_error);
    // The three that had their turn.
    assert_eq!(
        pty.seen().matches("wants to run").count(),
        3,
        "{}",
        pty.seen()
    );
}
