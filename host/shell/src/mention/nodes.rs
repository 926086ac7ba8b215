//! Forms of the language that compute a text: what stands in an index, a length or a comparison of
//! numbers is evaluated, and may hold commands that no node shows.

use tree_sitter::Node;

use super::heard;
use super::plain::may_decide;
use super::variables::{Seen, decides_what_runs, is_harmless, is_identifier};

/// Whether a node may run something that is not a command of the tree.
pub(super) fn may_run_unseen(script: &str, node: Node<'_>) -> bool {
    let text = script.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        // What its name means from here on is another matter than what programs are known for.
        "function_definition" => true,
        // `$"…"`: a catalogue of the project may translate it to anything, commands and all. To the
        // grammar it is two nodes, in one or not.
        "$" => node
            .next_sibling()
            .is_some_and(|next| next.kind() == "string" && next.start_byte() == node.end_byte()),
        "arithmetic_expansion" => computes_names(text),
        "c_style_for_statement" => {
            let mut cursor = node.walk();
            node.children(&mut cursor)
                .filter(|child| {
                    child.kind() != "for" && Some(*child) != node.child_by_field_name("body")
                })
                .any(|child| computes_names(script.get(child.byte_range()).unwrap_or_default()))
        }
        "compound_statement" => text.starts_with("((") && computes_names(text),
        "subscript" => node
            .child_by_field_name("index")
            .is_none_or(|index| !is_fixed(script.get(index.byte_range()).unwrap_or_default())),
        "expansion" => !is_plain_expansion(text),
        "test_command" => !is_plain_test(script, node),
        "variable_assignment" => {
            let seen = match node.parent().map(|parent| parent.kind()) {
                Some("command") => Seen::ByPrograms,
                _ => Seen::ByTheShell,
            };
            let is_element = node
                .child_by_field_name("name")
                .is_some_and(|name| name.kind() == "subscript");
            match is_element {
                // The first element of a variable is the variable.
                true => text.split('[').next().is_none_or(decides_what_runs),
                false => !is_harmless(&heard::word(script, node), seen),
            }
        }
        // `a=([index]=value)` computes the index, which has no node of its own.
        "array" => text.contains('['),
        "for_statement" => node
            .child_by_field_name("variable")
            .and_then(|name| script.get(name.byte_range()))
            .is_none_or(decides_what_runs),
        "file_redirect" => node
            .child_by_field_name("destination")
            .map(|target| heard::word(script, target))
            .is_some_and(|target| !text.starts_with('<') && may_decide(&target)),
        // Inside, a backslash takes away the meaning of the next sign once more.
        "command_substitution" => text.starts_with('`') && text.contains('\\'),
        "heredoc_content" | "heredoc_body" if node.child_count() == 0 => {
            !is_quoted_document(script, node) && has_live_form(text)
        }
        "word" | "regex" | "string_content" | "extglob_pattern" | "variable_name" => {
            node.child_count() == 0 && has_live_form(text)
        }
        _ => false,
    }
}

/// Whether a calculation has names in it: what they hold is computed in turn.
fn computes_names(text: &str) -> bool {
    let inside = text.trim_start_matches('$');
    inside.contains(|c: char| c.is_ascii_alphabetic() || matches!(c, '$' | '`' | '_'))
}

fn is_fixed(index: &str) -> bool {
    matches!(index, "@" | "*") || index.bytes().all(|byte| byte.is_ascii_digit())
}

/// `${name}` with an operator that only cuts, replaces or gives a default. Others compute (`:x:y`),
/// follow a name (`!x`) or expand again (`@P`).
fn is_plain_expansion(text: &str) -> bool {
    let Some(inside) = text
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
    else {
        return false;
    };
    let counted = inside.strip_prefix('#').unwrap_or(inside);
    let end = counted
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(counted.len());
    let (name, rest) = counted.split_at(end);
    let is_special = name.is_empty() && counted.starts_with(['@', '*', '#', '?', '$', '-', '!']);
    if is_special {
        return counted.len() == 1;
    }
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    if !is_identifier(name) && !is_number {
        return false;
    }
    // In a text in double quotes, and in a document, single quotes inside do not quote.
    if rest.contains('\'') && holds_code(rest) {
        return false;
    }
    let mut rest = rest;
    if let Some(index) = rest.strip_prefix('[') {
        // The node of the index is looked at by itself.
        let Some((_, behind)) = index.split_once(']') else {
            return false;
        };
        rest = behind;
    }
    let assigns = rest.starts_with('=') || rest.starts_with(":=");
    if assigns {
        return !decides_what_runs(name);
    }
    match rest.strip_prefix(':') {
        Some(behind) => {
            behind.starts_with(['-', '+', '?'])
                || behind
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b' ' | b'-'))
        }
        None => rest.is_empty() || rest.starts_with(['-', '+', '?', '#', '%', '/', '^', ',']),
    }
}

const COMPARE_NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// `[[ … ]]` computes both sides of a comparison of numbers; `-v` and `-R` look a name up in
/// either form.
fn is_plain_test(script: &str, node: Node<'_>) -> bool {
    let text = |node: Node<'_>| script.get(node.byte_range()).unwrap_or_default();
    let is_double = text(node).starts_with("[[");
    let mut cursor = node.walk();
    let mut pending: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let mut visited = 0;
    while let Some(next) = pending.pop() {
        visited += 1;
        if visited > MOST_VISITED || matches!(text(next), "-v" | "-R") {
            return false;
        }
        if next.kind() == "binary_expression" && is_double {
            let operator = next.child_by_field_name("operator").map(text);
            let sides = [
                next.child_by_field_name("left"),
                next.child_by_field_name("right"),
            ];
            let is_number = |side: &Option<Node<'_>>| {
                side.is_some_and(|side| {
                    let text = text(side).trim_matches('"');
                    is_fixed(text) || matches!(text, "$#" | "$?" | "${#}")
                })
            };
            let compares = operator.is_none_or(|operator| COMPARE_NUMBERS.contains(&operator));
            if compares && !sides.iter().all(is_number) {
                return false;
            }
        }
        // `[ $x ]`: as two words it may be `-v` and a name.
        if !is_double
            && next.kind() == "simple_expansion"
            && next
                .parent()
                .is_some_and(|parent| parent.kind() == "test_command")
        {
            return false;
        }
        let mut cursor = next.walk();
        pending.extend(next.children(&mut cursor));
    }
    true
}

/// Parts of one condition.
const MOST_VISITED: usize = 2_000;

fn is_quoted_document(script: &str, content: Node<'_>) -> bool {
    let mut above = content.parent();
    while let Some(node) = above {
        if node.kind() == "heredoc_redirect" {
            let mut cursor = node.walk();
            return node.children(&mut cursor).any(|child| {
                child.kind() == "heredoc_start"
                    && script
                        .get(child.byte_range())
                        .is_some_and(|start| start.contains(['\'', '"', '\\']))
            });
        }
        above = node.parent();
    }
    false
}

/// Whether a text would run something if it were evaluated.
pub(super) fn holds_code(text: &str) -> bool {
    ["$(", "${", "$[", "`", "<(", ">("]
        .iter()
        .any(|form| text.contains(form))
}

/// A substitution in a text that the grammar did not take for one.
pub(super) fn has_live_form(text: &str) -> bool {
    let mut is_escaped = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match character {
            '\\' => is_escaped = true,
            '`' => return true,
            '$' if matches!(characters.peek(), Some('(' | '{' | '[')) => return true,
            _ => {}
        }
    }
    false
}
