//! Asks at the terminal.

use std::io::{BufRead, IsTerminal, Write};

use tokio::sync::Mutex;
use toolbay_contract::BoxFuture;
use toolbay_dispatch::{Answer, Approver, PermissionQuestion};
use toolbay_policy::Access;

use crate::spinner::Quiet;
use crate::style::Style;
use crate::view::{draw, harmless};

/// A person at the terminal. Questions queue: one is asked at a time.
#[derive(Default)]
pub struct Terminal {
    turn: Mutex<()>,
}

/// Whether there is a person to ask.
pub fn somebody_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

impl Approver for Terminal {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let asked = tokio::task::spawn_blocking(move || {
                let _quiet = Quiet::please();
                ask(&question)
            })
            .await;
            asked.unwrap_or_else(|error| Answer::No {
                reason: format!("the question could not be asked: {error}"),
            })
        })
    }
}

fn ask(question: &PermissionQuestion) -> Answer {
    let style = Style::for_errors();
    let no = |reason: &str| Answer::No {
        reason: reason.to_owned(),
    };
    let grant = match &question.access {
        Access::ReadOnly => "reading only".to_owned(),
        Access::ReadWrite { zones } => {
            let zones: Vec<String> = zones
                .iter()
                .map(|zone| zone.display().to_string())
                .collect();
            format!("writing in {}", zones.join(", "))
        }
    };
    eprintln!(
        "\n{} wants to run, and {}.",
        style.bold(&question.tool),
        harmless(&question.reason)
    );
    eprintln!("{}", draw(&question.view, style));
    eprintln!("  input   {}", harmless(&question.input));
    eprintln!("  grants  {}", harmless(&grant));
    if question.destructive == Some(true) {
        eprintln!(
            "  {}",
            style.warn("it says itself that it destroys something")
        );
    }
    if let Some(flags) = question.flags() {
        eprintln!("  ({} answers this beforehand)", harmless(&flags));
    }
    loop {
        eprint!("Allow it this once? [y/n] ");
        // A prompt that cannot be shown is answered below, by the read that fails.
        let _ = std::io::stderr().flush();
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return no("nobody answered"),
            Ok(_) => {}
        }
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Answer::Yes,
            "n" | "no" => return no("the user said no"),
            _ => eprintln!("Please answer y or n."),
        }
    }
}
