//! What the user is shown who is asked. Only computes.
//!
//! Nearly every text here comes from a tool or a model that may imitate the host: each is made
//! visible first, and a text of several lines is indented behind a bar. Whatever is cut is counted,
//! and a card that is cut says so, so that no yes counts yet.

use toolbay::contract::{View, visible, visible_line};
use toolbay::dispatch::PermissionQuestion;
use toolbay::policy::Part;

use super::saved::SavedIn;
use super::wrap::wrap;
use crate::style::Style;
use crate::view::draw;

/// Lines of the tool's own view that are shown at first: a screen should hold the whole card.
const VIEW_LINES: usize = 24;
const INPUT_LINES: usize = 12;
/// Of all commands together.
const COMMANDS_LINES: usize = 24;
/// Of one command, so that a long one does not push the others out of sight.
const COMMAND_LINES: usize = 3;
const DOUBT_LINES: usize = 2;
/// Of each list of sentences, such as rules. Those that matter are few.
const LIST_LINES: usize = 12;
/// Deeper groups are not indented further: they must not run out of the screen.
const DEEPEST: usize = 8;

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

/// What is on the screen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CardText {
    /// Lines that end in a line end each.
    pub(super) text: String,
    /// Whether anything at all was left out.
    pub(super) is_cut: bool,
}

/// The question as text.
pub(super) fn card(question: &PermissionQuestion, saved: &SavedIn, look: Look) -> CardText {
    let mut card = Card {
        text: String::new(),
        is_cut: false,
        look,
    };
    let style = look.style;
    card.line("");
    let tool = style.bold(&visible_line(&question.tool));
    let reason = visible_line(&question.reason);
    match &question.caller {
        // What a call sets in motion is shown with the call.
        Some(caller) => {
            let caller = style.bold(&visible_line(caller));
            card.line(&format!(
                "{caller} → {tool}: it wants to run this, and {reason}."
            ));
        }
        None => card.line(&format!("{tool} wants to run, and {reason}.")),
    }
    if let Some(rule) = &question.asked_by {
        card.line(&format!("The rule is {}.", visible_line(rule)));
    }
    card.barred(&draw(&visible_view(&question.view), style), VIEW_LINES);
    card.heading("Input");
    card.barred(&visible(&pretty(&question.input)), INPUT_LINES);
    card.commands(question);
    card.warnings(question);
    card.heading("A yes grants");
    card.list(&question.grants());
    card.rules(question, saved);
    CardText {
        text: card.text,
        is_cut: card.is_cut,
    }
}

struct Card {
    text: String,
    is_cut: bool,
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

    /// What stands before each line of a text of others.
    fn bar(&self) -> &'static str {
        match self.look.width {
            0..40 => "│ ",
            _ => "  │ ",
        }
    }

    /// A text of others, behind a bar.
    fn barred(&mut self, text: &str, most: usize) {
        self.indented(text.trim_end_matches('\n'), self.bar(), most);
    }

    fn list(&mut self, texts: &[String]) {
        let texts: Vec<String> = texts.iter().map(|text| visible_line(text)).collect();
        self.indented(&texts.join("\n"), "  ", LIST_LINES);
    }

    fn indented(&mut self, text: &str, indent: &str, most: usize) {
        let columns = indent.chars().count();
        let lines = wrap(text, self.look.width.saturating_sub(columns));
        let shown = self.fitting(lines.len(), most);
        for line in lines.iter().take(shown) {
            self.push(indent, line);
        }
        if shown < lines.len() {
            let left = counted(lines.len() - shown, "line");
            let note = format!("… {left} more; v shows all of it");
            let note = self.look.style.warn(&note);
            self.indented(&note, indent, usize::MAX);
        }
    }

    /// How many lines of a text are shown, if it has this many. Remembers that some are not.
    fn fitting(&mut self, lines: usize, most: usize) -> usize {
        match self.look.extent {
            Extent::Short if lines > most => {
                self.is_cut = true;
                most
            }
            Extent::Short | Extent::Whole => lines,
        }
    }

    fn push(&mut self, indent: &str, line: &str) {
        self.text.push_str(&self.look.style.dim(indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The commands of a script, each with its number and with what is doubtful about it. Those
    /// with a doubt come first: they are what the question is about.
    fn commands(&mut self, question: &PermissionQuestion) {
        let all = &question.commands;
        if all.is_empty() {
            return;
        }
        let numbered = || (1..).zip(all);
        let doubtful = numbered().filter(|(_, part)| part.doubt.is_some());
        let rest = numbered().filter(|(_, part)| part.doubt.is_none());
        let ordered: Vec<(usize, &Part)> = doubtful.chain(rest).collect();
        self.heading(&format!("Its {}", summary(&ordered)));
        // The column of numbers is ours: no text can imitate the beginning of a command.
        let column = all.len().to_string().len() + 1;
        let mut room = COMMANDS_LINES;
        for (place, (number, part)) in ordered.iter().enumerate() {
            let lines = self.command(*number, part, column);
            if self.look.extent == Extent::Short && lines.len() > room {
                let left = ordered.get(place..).unwrap_or_default();
                let note = format!("… and {}; v shows all of them", summary(left));
                self.is_cut = true;
                self.barred(&self.look.style.warn(&note), usize::MAX);
                return;
            }
            room = room.saturating_sub(lines.len());
            for (mark, line) in lines {
                self.push(&format!("{}{mark:<column$}", self.bar()), &line);
            }
        }
    }

    /// The lines of one command, each with what stands in the column of numbers.
    fn command(&mut self, number: usize, part: &Part, column: usize) -> Vec<(String, String)> {
        let style = self.look.style;
        let taken = self.bar().chars().count() + column;
        let indent = "  ".repeat(part.depth.min(DEEPEST));
        let width = self.look.width.saturating_sub(taken);
        let mut lines = Vec::new();
        let text = format!("{indent}{}", style.note(&visible_line(&part.text)));
        self.limited(
            &mut lines,
            number.to_string(),
            wrap(&text, width),
            COMMAND_LINES,
        );
        if let Some(doubt) = &part.doubt {
            let doubt = format!("{indent}{}", style.warn(&visible_line(doubt)));
            self.limited(&mut lines, "↳".into(), wrap(&doubt, width), DOUBT_LINES);
        }
        lines
    }

    /// Adds lines under a mark, and below them how many were cut.
    fn limited(
        &mut self,
        lines: &mut Vec<(String, String)>,
        mark: String,
        new: Vec<String>,
        most: usize,
    ) {
        let shown = self.fitting(new.len(), most);
        let left = new.len() - shown;
        let marks = std::iter::once(mark).chain(std::iter::repeat(String::new()));
        lines.extend(marks.zip(new).take(shown));
        if left > 0 {
            let note = format!("{} more of this one", counted(left, "line"));
            lines.push(("…".into(), self.look.style.warn(&note)));
        }
    }

    fn warnings(&mut self, question: &PermissionQuestion) {
        let mut warnings: Vec<String> = question
            .warnings
            .iter()
            .map(|text| visible_line(text))
            .collect();
        // Where the host knows what may be lost, it has said that.
        if question.destructive == Some(true) && warnings.is_empty() {
            warnings.push("the tool says that this call may destroy something".into());
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
            match &question.no_rule {
                Some(why) => {
                    let why = visible_line(why);
                    self.line(&format!("There is no rule for just this: {why}."));
                }
                None => self.line("No rule can allow it from now on."),
            }
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
            self.heading("The tool itself suggests, unchecked");
            self.list(&question.more_rules);
        }
    }
}

/// How many commands there are, and how many of them matter.
fn summary(commands: &[(usize, &Part)]) -> String {
    let doubtful = commands.iter().filter(|(_, part)| part.doubt.is_some());
    let all = counted(commands.len(), "command");
    match (commands.len(), doubtful.count()) {
        (_, 0) => all,
        (1, _) => format!("{all}, which may do more than read"),
        (_, doubtful) => format!("{all}, of which {doubtful} may do more than read"),
    }
}

fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

fn visible_view(view: &View) -> View {
    match view {
        View::Plain(text) => View::Plain(visible(text)),
        View::Markdown(text) => View::Markdown(visible(text)),
        View::Diff(text) => View::Diff(visible(text)),
        View::Rows(rows) => {
            let rows = rows.iter();
            let rows = rows.map(|(key, value)| (visible_line(key), visible_line(value)));
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
