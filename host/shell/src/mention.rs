//! Every command that a script mentions anywhere, for rules that forbid.
//!
//! The opposite of the two readings: it takes whatever the grammar can make of the text, looks into
//! substitutions, loops, strings for other shells and behind wrappers, and would rather hear a
//! command too many. What it cannot hear makes the script opaque. It never decides that something
//! is allowed.

mod builtins;
mod heard;
mod misread;
mod nodes;
mod plain;
mod removal;
mod runners;
mod transparent;
mod variables;

use tree_sitter::{Node, Tree};

use crate::check::{Check, Finding};
use crate::{syntax, wrapper};
use heard::Heard;

/// A command that was heard somewhere in the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Its words without quotes; what would be expanded is left out.
    pub words: Vec<String>,
    /// All its words are there; otherwise flags in front were left out.
    pub is_whole: bool,
}

#[derive(Default)]
pub(crate) struct Mentioned {
    pub(crate) mentions: Vec<Mention>,
    pub(crate) is_opaque: bool,
    pub(crate) findings: Vec<Finding>,
    /// Commands that the script itself has.
    pub(crate) count: usize,
}

/// Shells in strings of shells in strings.
const DEEPEST: usize = 8;
/// Nodes of all trees together: a bound on the time.
const MOST_NODES: usize = 60_000;
/// Texts that are parsed as scripts of their own.
const MOST_SCRIPTS: usize = 64;
/// Words of all mentions together, with all the ways to read one.
const MOST_WORDS: usize = 12_000;

const CONTINUATION: &str = "\\\n";

/// Listens to a script. `tree` is its parsed form, if parsing came to an end.
pub(crate) fn find(script: &str, tree: Option<&Tree>) -> Mentioned {
    let mut listener = Listener {
        nodes: MOST_NODES,
        scripts: MOST_SCRIPTS,
        words: MOST_WORDS,
        bytes: crate::gate::MOST_BYTES,
        ..Listener::default()
    };
    match tree {
        Some(tree) => listener.tree(script, tree, 0),
        None => listener.crude(script, 0),
    }
    listener.found.is_opaque |= misread::may_be_misread(script);
    // A word may go on behind a line end, where the grammar begins another.
    if script.contains(CONTINUATION) {
        listener.script(&script.replace(CONTINUATION, ""), 0);
    }
    listener.fed_to_shells();
    listener.found
}

#[derive(Default)]
struct Listener {
    found: Mentioned,
    nodes: usize,
    scripts: usize,
    words: usize,
    /// Of texts in texts.
    bytes: usize,
    /// Texts that may reach a shell through a pipe or a document.
    fed: Vec<String>,
    /// A shell runs what it is fed.
    has_hungry_shell: bool,
    /// It leaves its folder on the way.
    has_moved: bool,
}

impl Listener {
    /// A text that is run as a script.
    fn script(&mut self, script: &str, depth: usize) {
        if depth > DEEPEST || self.scripts == 0 || script.len() > self.bytes {
            self.found.is_opaque = true;
            return;
        }
        self.scripts -= 1;
        self.bytes -= script.len();
        self.found.is_opaque |= misread::may_be_misread(script);
        match syntax::parse(script) {
            Some(tree) => self.tree(script, &tree, depth),
            None => self.crude(script, depth),
        }
    }

    fn tree(&mut self, script: &str, tree: &Tree, depth: usize) {
        let mut cursor = tree.walk();
        loop {
            if self.nodes == 0 {
                self.found.is_opaque = true;
                break;
            }
            self.nodes -= 1;
            self.node(script, cursor.node(), depth);
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    if tree.root_node().has_error() {
                        self.crude(script, depth);
                    }
                    return;
                }
            }
        }
    }

    fn node(&mut self, script: &str, node: Node<'_>, depth: usize) {
        self.found.is_opaque |= nodes::may_run_unseen(script, node);
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => {
                if depth == 0 {
                    self.found.count += 1;
                }
                let words = heard::words(script, node);
                self.command(&words, depth);
            }
            "test_command" if depth == 0 => self.found.count += 1,
            "heredoc_body" | "herestring_redirect" => {
                let text = heard::document(script, node);
                self.fed.push(text);
            }
            "command_substitution" => {
                let text = script.get(node.byte_range()).unwrap_or_default();
                // One in another: the inner ones are escaped.
                if text.starts_with('`') && text.contains("\\`") {
                    self.script(&text.trim_matches('`').replace("\\`", "`"), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// A text that the grammar cannot read, cut at everything that could end a command, quoted
    /// or not.
    fn crude(&mut self, script: &str, depth: usize) {
        self.found.is_opaque = true;
        for part in script.split([';', '|', '&', '\n', '(', ')', '{', '}', '`']) {
            let words: Vec<Heard> = part
                .split([' ', '\t', '<', '>'])
                .map(|word| word.replace(['\'', '"', '\\', '$'], ""))
                .filter(|word| !word.is_empty())
                .map(Heard::sure)
                .collect();
            self.command(&words, depth);
        }
    }

    fn command(&mut self, words: &[Heard], depth: usize) {
        let Some(name) = words.first() else { return };
        if self.words < words.len() {
            self.found.is_opaque = true;
            return;
        }
        if !name.is_sure || name.text.contains(['*', '?', '[', '{', '~']) && name.text != "[" {
            self.found.is_opaque = true;
        }
        self.mention(words);
        if let Some(what) = removal::danger(words) {
            let finding = Check::DangerousRemoval.found(what);
            if !self.found.findings.contains(&finding) {
                self.found.findings.push(finding);
            }
        }
        if depth >= DEEPEST {
            self.found.is_opaque = true;
            return;
        }
        if let Some(inner) = wrapper::inner(words).filter(|_| !only_tells(words)) {
            let mut inner = inner.to_vec();
            if wrapper::basename(&name.text) == "xargs" {
                transparent::fill_in(words, &mut inner);
            }
            self.command(&inner, depth + 1);
        }
        self.run(words, depth);
        self.doubt(words);
    }

    /// The command as it stands, by its bare name, and as if the flags in front were not there.
    fn mention(&mut self, words: &[Heard]) {
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let Some((name, rest)) = texts.split_first() else {
            return;
        };
        let base = wrapper::basename(name.strip_prefix('=').unwrap_or(name));
        for start in starts(rest) {
            let mut words = vec![base.to_owned()];
            words.extend_from_slice(&rest[start..]);
            self.push(words, start == 0);
        }
        if base != name {
            self.push(texts, true);
        }
    }

    fn push(&mut self, words: Vec<String>, is_whole: bool) {
        self.words = self.words.saturating_sub(words.len());
        let mention = Mention { words, is_whole };
        if self.found.mentions.last() != Some(&mention) {
            self.found.mentions.push(mention);
        }
    }

    /// What a shell without a script of its own is given: whatever is printed anywhere.
    fn fed_to_shells(&mut self) {
        if !self.has_hungry_shell {
            return;
        }
        self.found.is_opaque = true;
        let printed: Vec<String> = self
            .found
            .mentions
            .iter()
            .filter(|mention| matches!(mention.words[0].as_str(), "echo" | "printf" | "cat"))
            .map(|mention| mention.words[1..].join(" "))
            .collect();
        let fed = std::mem::take(&mut self.fed);
        for text in fed.iter().chain(&printed) {
            self.script(text, 1);
        }
    }
}

/// `command -v name` says where a program lies and does not run it.
fn only_tells(words: &[Heard]) -> bool {
    let [name, flag, ..] = words else {
        return false;
    };
    name.text == "command" && flag.is_sure && matches!(flag.text.as_str(), "-v" | "-V")
}

/// Where the sub-command may begin: at once, or behind flags, each with or without a value.
fn starts(rest: &[String]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut at = 0;
    while let Some(&start) = starts.get(at) {
        at += 1;
        let is_flag = rest
            .get(start)
            .is_some_and(|word| word.starts_with(['-', '+']));
        if is_flag {
            for next in [start + 1, start + 2] {
                if next < rest.len() && next <= 12 && !starts.contains(&next) {
                    starts.push(next);
                }
            }
        }
    }
    starts
}

#[cfg(test)]
mod tests;
