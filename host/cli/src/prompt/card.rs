//! What a person is shown who is asked. Only computes.
//!
//! Nearly every text here comes from a tool or a model that may want to be taken for somebody
//! else: each is made harmless first, a text of several lines stands behind a bar, and whatever is
//! left out is said.

use toolbay_contract::View;
use toolbay_dispatch::PermissionQuestion;
use toolbay_policy::Access;

use super::saved::SavedIn;
use super::wrap::wrap;
use crate::style::Style;
use crate::view::{draw, harmless};

/// Lines of the tool's own view that are shown at first: a screen should hold the whole card.
const VIEW_LINES: usize = 24;
const INPUT_LINES: usize = 12;
const COMMAND_LINES: usize = 24;
/// Of each list of sentences, such as warnings. Those that matter are few.
const LIST_LINES: usize = 12;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Short,
    Whole,
}

/// How it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Columns of the terminal.
    pub(super) width: usize,
    pub(super) style: Style,
    pub(super) extent: Extent,
}

/// The question, as lines that end in a line end each.
pub(super) fn card(question: &PermissionQuestion, saved: &SavedIn, look: Look) -> String {
    let mut card = Card {
        text: String::new(),
        look,
    };
    let style = look.style;
    card.line("");
    card.line(&format!(
        "{} wants to run, and {}.",
        style.bold(&one_line(&question.tool)),
        one_line(&question.reason)
    ));
    if let Some(rule) = &question.asked_by {
        card.line(&format!("The rule is {}.", one_line(rule)));
    }
    card.barred(&draw(&harmless_view(&question.view), style), VIEW_LINES);
    card.heading("Input");
    card.barred(&harmless(&pretty(&question.input)), INPUT_LINES);
    card.commands(question);
    card.warnings(question);
    card.heading("A yes grants");
    card.list(&[granted(&question.access)]);
    card.rules(question, saved);
    card.text
}

struct Card {
    text: String,
    look: Look,
}

impl Card {
    /// A line of our own.
    fn line(&mut self, text: &str) {
        self.indented(text, "", usize::MAX);
    }

    fn heading(&mut self, text: &str) {
        let text = self.look.style.bold(text);
        self.line(&text);
    }

    /// A text of somebody else, behind a bar.
    fn barred(&mut self, text: &str, most: usize) {
        let bar = match self.look.width {
            0..40 => "│ ",
            _ => "  │ ",
        };
        self.indented(text.trim_end_matches('\n'), bar, most);
    }

    fn list(&mut self, texts: &[String]) {
        let texts: Vec<String> = texts.iter().map(|text| one_line(text)).collect();
        self.indented(&texts.join("\n"), "  ", LIST_LINES);
    }

    fn indented(&mut self, text: &str, indent: &str, most: usize) {
        let columns = indent.chars().count();
        let lines = wrap(text, self.look.width.saturating_sub(columns));
        let shown = match self.look.extent {
            Extent::Short if lines.len() > most => most,
            Extent::Short | Extent::Whole => lines.len(),
        };
        for line in lines.iter().take(shown) {
            self.text.push_str(&self.look.style.dim(indent));
            self.text.push_str(line);
            self.text.push('\n');
        }
        if shown < lines.len() {
            let note = format!("… {} lines more; v shows all of them", lines.len() - shown);
            let note = self.look.style.warn(&note);
            self.indented(&note, indent, usize::MAX);
        }
    }

    /// The commands of a script as a tree, each with what is doubtful about it.
    fn commands(&mut self, question: &PermissionQuestion) {
        if question.commands.is_empty() {
            return;
        }
        self.heading("Its commands");
        let style = self.look.style;
        let mut lines = Vec::new();
        for part in &question.commands {
            // Deep ones must not run out of the screen.
            let indent = "  ".repeat(part.depth.min(8));
            lines.push(format!("{indent}{}", style.note(&one_line(&part.text))));
            if let Some(doubt) = &part.doubt {
                lines.push(format!("{indent}  {}", style.warn(&one_line(doubt))));
            }
        }
        self.barred(&lines.join("\n"), COMMAND_LINES);
    }

    fn warnings(&mut self, question: &PermissionQuestion) {
        let mut warnings: Vec<String> = question
            .warnings
            .iter()
            .map(|text| one_line(text))
            .collect();
        if question.destructive == Some(true) {
            warnings.push("the tool says of itself that this may destroy something".into());
        }
        if warnings.is_empty() {
            return;
        }
        self.heading("Warnings");
        let style = self.look.style;
        let lines: Vec<String> = warnings.iter().map(|line| style.warn(line)).collect();
        // None of these is ever left out.
        self.indented(&lines.join("\n"), "  ! ", usize::MAX);
    }

    /// The rules that would make the question needless, and where they would be kept.
    fn rules(&mut self, question: &PermissionQuestion, saved: &SavedIn) {
        if question.rules.is_empty() {
            self.line("No rule can allow it from now on.");
        } else {
            self.heading("Rules that would cover it");
            self.list(&question.rules);
        }
        if !question.scopes.is_empty() {
            self.heading("They would be kept in");
            let place = |scope| saved.place(scope);
            let places = question.scopes.iter();
            let places = places.map(|scope| format!("{:<8} {}", scope.word(), place(*scope)));
            self.list(&places.collect::<Vec<_>>());
        }
        if !question.more_rules.is_empty() {
            self.heading("The tool itself suggests, and nobody has checked");
            self.list(&question.more_rules);
        }
    }
}

/// Text that stays on its line: whoever could begin a new one could write a card of its own.
pub(super) fn one_line(text: &str) -> String {
    harmless(text).replace('\n', "⏎").replace('\t', " ")
}

fn harmless_view(view: &View) -> View {
    match view {
        View::Plain(text) => View::Plain(harmless(text)),
        View::Markdown(text) => View::Markdown(harmless(text)),
        View::Diff(text) => View::Diff(harmless(text)),
        View::Rows(rows) => {
            let rows = rows.iter();
            let rows = rows.map(|(key, value)| (one_line(key), one_line(value)));
            View::Rows(rows.collect())
        }
    }
}

/// The input on lines of its own; as it is, should it be no JSON.
fn pretty(input: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(input);
    value
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| input.to_owned())
}

fn granted(access: &Access) -> String {
    match access {
        Access::ReadOnly => "reading only".into(),
        Access::ReadWrite { zones } => {
            let zones = zones.iter().map(ToString::to_string);
            format!("writing in {}", zones.collect::<Vec<_>>().join(", "))
        }
    }
}
