//! A report for people.

use toolbay::shell::{Report, Verdict};

use crate::style::Style;
use crate::view::harmless_line;

/// What is shown of a script, line by line.
pub(super) fn lines(report: &Report, style: Style) -> Vec<String> {
    let mut lines = vec![verdict(report.verdict, style)];
    commands(report, style, &mut lines);
    checks(report, style, &mut lines);
    list(
        "reads",
        report.reads.iter().map(|path| path.display().to_string()),
        style,
        &mut lines,
    );
    list(
        "writes",
        report.writes.iter().map(|path| path.display().to_string()),
        style,
        &mut lines,
    );
    list(
        "warnings",
        report.warnings.iter().map(ToString::to_string),
        style,
        &mut lines,
    );
    let rules = report.prefixes.iter().map(|prefix| format!("{prefix}:*"));
    list("a rule that would cover it", rules, style, &mut lines);
    lines
}

fn verdict(verdict: Verdict, style: Style) -> String {
    match verdict {
        Verdict::ReadOnly => format!("{}: it changes nothing", style.good("read-only")),
        Verdict::Ask => format!("{}: it may change something", style.warn("ask")),
        Verdict::TooComplex => {
            format!(
                "{}: it cannot be told what it does",
                style.bad("too complex")
            )
        }
    }
}

/// The tree of commands: what joins them, how deep they are, and what each is.
fn commands(report: &Report, style: Style, lines: &mut Vec<String>) {
    if report.commands.is_empty() {
        let heard = report.mentions.iter().filter(|mention| mention.is_whole);
        let heard: Vec<String> = heard
            .map(|mention| harmless_line(&mention.words.join(" ")))
            .collect();
        list("commands that it mentions", heard.into_iter(), style, lines);
        return;
    }
    lines.push(style.bold("commands"));
    for (at, command) in report.commands.iter().enumerate() {
        let join = if at == 0 { "" } else { command.join.sign() };
        let words: Vec<String> = command.words.iter().map(|word| quoted(word)).collect();
        let mark = match &command.finding {
            None => style.good("reads"),
            Some(finding) => {
                style.warn(&format!("{} ({})", finding.message, finding.check.number()))
            }
        };
        lines.push(format!(
            "  {join:<2} {}{}  {mark}",
            "  ".repeat(command.depth),
            harmless_line(&words.join(" ")),
        ));
    }
}

fn checks(report: &Report, style: Style, lines: &mut Vec<String>) {
    if report.findings.is_empty() {
        return;
    }
    lines.push(style.bold("checks"));
    for finding in &report.findings {
        let entry = finding.check.entry();
        lines.push(format!(
            "  {:>3} {}: {}",
            finding.check.number(),
            entry.map_or("", |entry| entry.name),
            harmless_line(&finding.message),
        ));
        if let Some(entry) = entry {
            lines.push(format!("      {}", style.dim(entry.sentence)));
        }
    }
}

fn list(title: &str, items: impl Iterator<Item = String>, style: Style, lines: &mut Vec<String>) {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return;
    }
    lines.push(style.bold(title));
    lines.extend(
        items
            .iter()
            .map(|item| format!("  {}", harmless_line(item))),
    );
}

/// A word so that a person sees where it begins and ends.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:@%+,*?[]{}~^".contains(&byte));
    if is_plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use toolbay::shell::{Place, inspect};

    use super::*;

    fn shown(script: &str) -> String {
        lines(&inspect(script, &Place::new("/p")), Style::PLAIN).join("\n")
    }

    #[test]
    fn a_harmless_script_is_short() {
        assert_eq!(
            shown("cat a | wc -l"),
            "read-only: it changes nothing\n\
             commands\n\
             \x20    cat a  reads\n\
             \x20 |  wc -l  reads\n\
             reads\n\
             \x20 /p/a"
        );
    }

    #[test]
    fn what_speaks_against_a_script_is_named() {
        let shown = shown("ls && git push --force 'a b'");
        for part in [
            "ask: it may change something",
            "&& git push --force 'a b'",
            "106 UNKNOWN_ARGUMENT",
            "may overwrite remote history",
            "git push:*",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }

    #[test]
    fn nothing_of_a_script_reaches_the_terminal_as_it_is() {
        let shown = shown("echo \u{1b}[2K; rm x");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(shown.starts_with("too complex"), "{shown}");
    }
}
