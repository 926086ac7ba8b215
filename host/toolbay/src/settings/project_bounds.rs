//! How much the files of a project may hold.
//!
//! Whoever made the project wrote them, and they are read at each start, before anybody has looked at
//! them. A file with more is broken: what it forbids cannot be honoured, so that no session starts
//! with it. What people write into files of their own has no such bounds.

use std::path::Path;

use anyhow::ensure;
use toolbay_policy::check_glob;

use super::layer::Layer;

/// Each is a program to start; people have a dozen.
const MOST_SERVERS: usize = 256;
/// Of all kinds, in all files of a project. The longest lists that people keep have a few hundred.
const MOST_RULES: usize = 2000;
/// What those have together: a few hundred rules of sixty characters are a tenth of it. Each byte
/// costs some hundred in memory once the patterns are compiled.
const MOST_RULE_BYTES: usize = 256 << 10;
/// Of one rule. No path that the kernel takes is longer.
const MOST_BYTES: usize = 4 << 10;
/// Of one rule, between its slashes. Some of the work grows with the square of the depth.
const MOST_PARTS: usize = 256;
/// What the sets in all rules, such as `{a,b}`, stand for together.
const MOST_FORMS: usize = 20_000;
/// Each is started for calls that it wants to know of.
const MOST_HOOKS: usize = 256;
/// Folders of other agents, each with two files of settings. There are not so many agents.
const MOST_IMPORTS: usize = 16;
/// Characters of a rule in a message about it.
const MOST_QUOTED: usize = 60;

/// The rules of a project that were read so far, over all its files.
#[derive(Debug, Default)]
pub(super) struct ProjectRules {
    count: usize,
    bytes: usize,
    forms: usize,
}

impl ProjectRules {
    /// Counts the rules of one more file. Goes before they are understood, which is what takes time
    /// and memory.
    pub(super) fn add<'a>(
        &mut self,
        file: &Path,
        rules: impl Iterator<Item = &'a String> + Clone,
    ) -> anyhow::Result<()> {
        let name = file.display();
        self.count = self.count.saturating_add(rules.clone().count());
        ensure!(
            self.count <= MOST_RULES,
            "{name}: the project's settings have {} rules up to here; they may have at most {MOST_RULES}",
            self.count
        );
        for rule in rules {
            let (bytes, parts) = (rule.len(), rule.split('/').count());
            ensure!(
                bytes <= MOST_BYTES,
                "{name}: `{}`: {bytes} bytes; a rule of a project may have at most {MOST_BYTES}",
                start_of(rule)
            );
            ensure!(
                parts <= MOST_PARTS,
                "{name}: `{}`: a path of {parts} parts; in a rule of a project it may have at most \
                 {MOST_PARTS}",
                start_of(rule)
            );
            self.bytes = self.bytes.saturating_add(bytes);
            ensure!(
                self.bytes <= MOST_RULE_BYTES,
                "{name}: `{}`: with this rule the rules of the project's settings have more than \
                 {MOST_RULE_BYTES} bytes, the most that they may have together",
                start_of(rule)
            );
            // One that is too much by itself is refused by name when it is read, without being
            // expanded.
            if check_glob(content(rule)).is_ok() {
                self.forms = self.forms.saturating_add(forms(rule));
            }
            ensure!(
                self.forms <= MOST_FORMS,
                "{name}: `{}`: with this rule the sets in the rules of the project's settings, such \
                 as `{{a,b}}`, stand for more than {MOST_FORMS} patterns",
                start_of(rule)
            );
        }
        Ok(())
    }
}

pub fn check_servers(file: &Path, count: usize) -> anyhow::Result<()> {
    ensure!(
        count <= MOST_SERVERS,
        "{}: {count} MCP servers; a file of a project may have at most {MOST_SERVERS}",
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
    let imports = layer.raw.import.len();
    ensure!(
        imports <= MOST_IMPORTS,
        "{}: {imports} folders in `import`; a file of a project may have at most {MOST_IMPORTS}",
        file.display()
    );
    check_servers(file, layer.raw.mcp_servers.len())
}

/// As much of a rule as tells which one it is.
fn start_of(rule: &str) -> String {
    let mut chars = rule.chars();
    let start: String = chars.by_ref().take(MOST_QUOTED).collect();
    match chars.next() {
        Some(_) => start + "…",
        None => start,
    }
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

    fn refused(files: &[Vec<String>]) -> Option<String> {
        let mut project = ProjectRules::default();
        let added: anyhow::Result<()> = files
            .iter()
            .enumerate()
            .try_for_each(|(at, rules)| project.add(Path::new(&format!("/p/{at}")), rules.iter()));
        added.err().map(|error| error.to_string())
    }

    #[test]
    fn what_no_project_needs_is_refused() {
        let rules = |count: usize, text: &str| vec![text.to_owned(); count];
        let one = |text: String| vec![vec![text]];
        let wide = format!("Read({})", "{a,b}".repeat(10));
        let long = |bytes: usize| format!("Bash({})", "x".repeat(bytes - 6));
        for (files, wanted) in [
            (vec![rules(2000, "Read(./a/**)")], &[][..]),
            (vec![rules(500, "Read(**/*.{js,ts,tsx})")], &[]),
            (vec![rules(600, &"x".repeat(200)); 2], &[]),
            (one(long(MOST_BYTES)), &[]),
            (one(format!("Read(./{}a)", "a/".repeat(254))), &[]),
            (
                vec![rules(2001, "Read(./a/**)")],
                &["/p/0", "2001 rules", "2000"],
            ),
            (
                vec![rules(1999, "A"), rules(2, "A")],
                &["/p/1", "2001 rules"],
            ),
            (
                one(long(MOST_BYTES + 1)),
                &["/p/0", "`Bash(xx", "4097 bytes", "4096"],
            ),
            (
                one(format!("Read(./{}a)", "a/".repeat(255))),
                &["/p/0", "`Read(./a/a", "257 parts", "256"],
            ),
            (
                vec![rules(40, &long(4_000)); 2],
                &["/p/1", "`Bash(xx", "262144 bytes"],
            ),
            (
                one(format!("Read({})", "{a,b}".repeat(30))),
                &["/p/0", "sets", "20000"],
            ),
            (
                vec![rules(1, &wide), rules(1, &wide)],
                &["/p/1", "`Read({a,b}", "sets"],
            ),
        ] {
            let found = refused(&files);
            assert_eq!(found.is_some(), !wanted.is_empty(), "{found:?}");
            let found = found.unwrap_or_default();
            for part in wanted {
                assert!(found.contains(part), "{part}: {found}");
            }
            assert!(found.len() < 300, "{found}");
        }
        assert!(
            check_servers(Path::new("/p"), 256).is_ok()
                && check_servers(Path::new("/p"), 257).is_err()
        );
    }
}
