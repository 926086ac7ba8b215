//! How much one file of a project may hold.
//!
//! Whoever made the project wrote it, and it is read at each start, before anybody has looked at it. A
//! file with more is broken: what it forbids cannot be honoured, so that no session starts with it.

use std::path::Path;

use anyhow::ensure;
use toolbay_policy::check_glob;

use super::layer::Layer;

/// Each is a program to start; people have a dozen.
const MOST_SERVERS: usize = 256;
/// Of all kinds. The longest lists that people keep have a few hundred.
const MOST_RULES: usize = 2000;
/// What the sets in all rules, such as `{a,b}`, stand for together.
const MOST_FORMS: usize = 20_000;
/// Each is started for calls that it wants to know of.
const MOST_HOOKS: usize = 256;

pub fn check_servers(file: &Path, count: usize) -> anyhow::Result<()> {
    ensure!(
        count <= MOST_SERVERS,
        "{}: {count} MCP servers; a file of a project may have at most {MOST_SERVERS}",
        file.display()
    );
    Ok(())
}

/// Before its rules are understood, which is what takes the time.
pub(super) fn check_rules<'a>(
    file: &Path,
    rules: impl Iterator<Item = &'a String> + Clone,
) -> anyhow::Result<()> {
    let count = rules.clone().count();
    ensure!(
        count <= MOST_RULES,
        "{}: {count} rules; a file of a project may have at most {MOST_RULES}",
        file.display()
    );
    // One that is too much by itself is refused by name when it is read, without being expanded.
    let readable = rules.filter(|rule| check_glob(content(rule)).is_ok());
    let forms = readable.fold(0, |sum: usize, rule| sum.saturating_add(forms(rule)));
    ensure!(
        forms <= MOST_FORMS,
        "{}: the sets in its rules, such as `{{a,b}}`, stand for more than {MOST_FORMS} patterns",
        file.display()
    );
    Ok(())
}

pub(super) fn check(layer: &Layer) -> anyhow::Result<()> {
    let file = &layer.place.file;
    let hooks = layer.hooks.count();
    ensure!(
        hooks <= MOST_HOOKS,
        "{}: {hooks} hooks; a file of a project may have at most {MOST_HOOKS}",
        file.display()
    );
    check_servers(file, layer.raw.mcp_servers.len())
}

/// What is in the parentheses of a rule.
fn content(rule: &str) -> &str {
    let inside = rule.split_once('(').map_or(rule, |(_, inside)| inside);
    let inside = inside.trim_end();
    inside.strip_suffix(')').unwrap_or(inside).trim()
}

/// How many patterns a rule stands for, at least: each set doubles them, and each comma adds one.
fn forms(rule: &str) -> usize {
    let sets = rule.bytes().filter(|byte| *byte == b'{').count();
    let doubled = u32::try_from(sets)
        .ok()
        .and_then(|sets| 1_usize.checked_shl(sets));
    let commas = rule.bytes().filter(|byte| *byte == b',').count();
    match sets {
        0 => 1,
        _ => doubled.unwrap_or(usize::MAX).saturating_mul(commas.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_project_needs_is_refused() {
        let file = Path::new("/p/a.json");
        let rules = |count: usize, text: &str| vec![text.to_owned(); count];
        for (rules, wanted) in [
            (rules(2000, "Read(./a/**)"), None),
            (rules(500, "Read(**/*.{js,ts,tsx})"), None),
            (rules(2001, "Read(./a/**)"), Some("2001 rules")),
            (
                rules(1, &format!("Read({})", "{a,b}".repeat(30))),
                Some("sets"),
            ),
            (
                rules(20, &format!("Read({})", "{a,b}".repeat(10))),
                Some("sets"),
            ),
        ] {
            let found = check_rules(file, rules.iter())
                .err()
                .map(|error| error.to_string());
            match (found, wanted) {
                (None, None) => {}
                (Some(found), Some(wanted)) => {
                    assert!(
                        found.contains(wanted) && found.contains("/p/a.json"),
                        "{found}"
                    );
                }
                (found, _) => panic!("{:.40}: {found:?}", rules[0]),
            }
        }
        assert!(check_servers(file, 256).is_ok() && check_servers(file, 257).is_err());
    }
}
