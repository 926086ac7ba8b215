//! The other reading: tree-sitter's grammar of bash, of which only the kinds of node that
//! stand here are believed.
//!
//! A tree with an error, a node that was made up, a kind that is not known, or a byte that no leaf
//! covers is refused. Nothing here looks at what our own lexer says.

mod word;

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use crate::check::{Check, Finding};
use crate::reading::{Assignment, Command, Join, Operator, Reading, Redirection, Word};

/// Groups in groups. Nobody writes that many; the walk is recursive.
const DEEPEST: usize = 32;
/// How often the parser may report before it is stopped. It does so every hundred steps; an
/// honest script of the greatest length takes a tenth of them.
const MOST_REPORTS: usize = 2_000;
/// Characters that mean something to the grammar. With more, a script is no command line.
const MOST_SPECIAL: usize = 1_500;
/// Pipes and redirections. The parser's time grows with their square: ten thousand take seconds.
const MOST_PIPES: usize = 150;
/// Brackets of all kinds; the same.
const MOST_BRACKETS: usize = 400;

thread_local! {
    /// Making a parser costs more than most scripts.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// Parses a script, within bounds. Steps are counted, and what makes single steps slow is
/// counted before: this crate has no clock.
pub(crate) fn parse(script: &str) -> Option<Tree> {
    if !is_bearable(script) {
        return None;
    }
    PARSER.with_borrow_mut(|slot| {
        let parser = match slot {
            Some(parser) => parser,
            None => {
                let mut parser = Parser::new();
                parser
                    .set_language(&tree_sitter_bash::LANGUAGE.into())
                    .ok()?;
                slot.insert(parser)
            }
        };
        parser.reset();
        let mut reports = 0;
        let mut stop_in_time = |state: &ParseState| {
            reports += 1;
            // What it does to get over an error may take for ever, and is of no use.
            if reports > MOST_REPORTS || state.has_error() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut stop_in_time);
        let bytes = script.as_bytes();
        parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or_default(),
            None,
            Some(options),
        )
    })
}

fn is_bearable(script: &str) -> bool {
    let count = |is_one: fn(u8) -> bool| script.bytes().filter(|byte| is_one(*byte)).count();
    let special = count(|byte| b"|&;<>(){}[]$`'\"\\\n".contains(&byte));
    let pipes = count(|byte| b"|<>".contains(&byte));
    let brackets = count(|byte| b"(){}[]".contains(&byte));
    special <= MOST_SPECIAL && pipes <= MOST_PIPES && brackets <= MOST_BRACKETS
}

/// A word of a tree, if nothing in it is expanded.
pub(crate) fn word(script: &str, node: Node<'_>) -> Option<Word> {
    word::read(script, node).ok()
}

/// Reads a parsed script, or says what is in the way.
pub(crate) fn read(script: &str, tree: &Tree) -> Result<Reading, Finding> {
    let root = tree.root_node();
    if root.has_error() {
        return Err(Check::TooComplex.found("the grammar does not know such a script"));
    }
    let mut reader = Reader {
        script,
        commands: Vec::new(),
        depth: 0,
        negated: false,
    };
    reader.blank(0, root.start_byte())?;
    reader.blank(root.end_byte(), script.len())?;
    reader.sequence(root, Join::Then)?;
    Ok(Reading {
        commands: reader.commands,
    })
}

struct Reader<'a> {
    script: &'a str,
    commands: Vec<Command>,
    depth: usize,
    /// A `!` came before the next command.
    negated: bool,
}

impl<'a> Reader<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.script.get(node.byte_range()).unwrap_or_default()
    }

    /// Between two nodes nothing may stand that could mean something.
    fn blank(&self, from: usize, to: usize) -> Result<(), Finding> {
        let between = self.script.get(from..to).unwrap_or("?");
        let mut rest = between;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n']);
            match rest.strip_prefix("\\\n") {
                Some(behind) => rest = behind,
                None => break,
            }
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(Check::TooComplex.found("the grammar leaves a part of the script out"))
        }
    }

    /// The children of a node, if between them there is nothing.
    fn children<'t>(&self, node: Node<'t>) -> Result<Vec<Node<'t>>, Finding> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        let mut at = node.start_byte();
        for child in &children {
            if child.is_missing() || child.is_error() {
                return Err(unknown(*child));
            }
            self.blank(at, child.start_byte())?;
            at = child.end_byte();
        }
        self.blank(at, node.end_byte())?;
        Ok(children)
    }

    /// The children of a node that stands on one line. The grammar has been seen to put the next
    /// line's words to a command.
    fn inline<'t>(&self, node: Node<'t>) -> Result<Vec<Node<'t>>, Finding> {
        let children = self.children(node)?;
        let breaks = children.windows(2).any(|pair| {
            let between = self.script.get(pair[0].end_byte()..pair[1].start_byte());
            between.is_none_or(|between| between.replace("\\\n", "").contains('\n'))
        });
        if breaks {
            Err(unknown(node))
        } else {
            Ok(children)
        }
    }

    /// Statements one after the other: a program, or what a group holds.
    fn sequence(&mut self, node: Node<'_>, first: Join) -> Result<(), Finding> {
        let mut join = first;
        for child in self.children(node)? {
            match child.kind() {
                ";" => join = Join::Then,
                "(" | ")" | "{" | "}" | "\n" if !child.is_named() => {}
                "comment" => {}
                _ => {
                    self.statement(child, join)?;
                    join = Join::Line;
                }
            }
        }
        Ok(())
    }

    fn statement(&mut self, node: Node<'_>, join: Join) -> Result<(), Finding> {
        match node.kind() {
            "command" | "test_command" => self.command(node, join),
            "variable_assignment" => {
                let mut command = self.begin(join);
                command.assignments.push(self.assignment(node)?);
                self.commands.push(command);
                Ok(())
            }
            "variable_assignments" => {
                let mut command = self.begin(join);
                for child in self.inline(node)? {
                    command.assignments.push(self.assignment(child)?);
                }
                self.commands.push(command);
                Ok(())
            }
            "list" => self.joined(node, join),
            "pipeline" => self.joined(node, join),
            "redirected_statement" => self.redirected(node, join),
            "negated_command" => {
                for child in self.inline(node)? {
                    if child.kind() == "!" {
                        self.negated = true;
                    } else {
                        self.statement(child, join)?;
                    }
                }
                Ok(())
            }
            "subshell" | "compound_statement" => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(Check::TooComplex.found("it is nested too deeply"));
                }
                self.sequence(node, join)?;
                self.depth -= 1;
                Ok(())
            }
            _ => Err(unknown(node)),
        }
    }

    fn begin(&mut self, join: Join) -> Command {
        Command {
            join,
            negated: std::mem::take(&mut self.negated),
            depth: self.depth,
            ..Command::default()
        }
    }

    /// Statements with operators between them. A long list is a tree that leans to the left,
    /// as deep as it is long.
    fn joined(&mut self, node: Node<'_>, first: Join) -> Result<(), Finding> {
        let mut spine = vec![node];
        let mut leftmost = node;
        while let Some(child) = leftmost.child(0)
            && child.kind() == node.kind()
        {
            spine.push(child);
            leftmost = child;
        }
        let mut join = first;
        while let Some(part) = spine.pop() {
            for child in self.children(part)? {
                match child.kind() {
                    "&&" => join = Join::And,
                    "||" => join = Join::Or,
                    "|" => join = Join::Pipe,
                    kind if kind == node.kind() && child.start_byte() == node.start_byte() => {}
                    "comment" => {}
                    _ => self.statement(child, join)?,
                }
            }
        }
        Ok(())
    }

    fn redirected(&mut self, node: Node<'_>, join: Join) -> Result<(), Finding> {
        for child in self.inline(node)? {
            if child.kind() == "file_redirect" {
                let redirection = self.redirection(child)?;
                match self.commands.last_mut() {
                    Some(last) => last.redirections.push(redirection),
                    None => return Err(unknown(child)),
                }
            } else {
                self.statement(child, join)?;
            }
        }
        Ok(())
    }

    fn command(&mut self, node: Node<'_>, join: Join) -> Result<(), Finding> {
        let mut command = self.begin(join);
        if node.kind() == "test_command" {
            self.test(node, &mut command.words)?;
        } else {
            for child in self.inline(node)? {
                match child.kind() {
                    "variable_assignment" => command.assignments.push(self.assignment(child)?),
                    "command_name" => {
                        for part in self.inline(child)? {
                            command.words.push(self.word(part)?);
                        }
                    }
                    "file_redirect" => command.redirections.push(self.redirection(child)?),
                    _ => command.words.push(self.word(child)?),
                }
            }
        }
        self.commands.push(command);
        Ok(())
    }

    /// `[ … ]` and `[[ … ]]`: their parts are the words of a command like any other.
    fn test(&self, node: Node<'_>, words: &mut Vec<Word>) -> Result<(), Finding> {
        for child in self.inline(node)? {
            match child.kind() {
                "[" | "]" | "[[" | "]]" | "!" | "=" | "!=" | "==" | "test_operator" => {
                    words.push(Word::plain(self.text(child)));
                }
                "unary_expression" | "binary_expression" => self.test(child, words)?,
                _ => words.push(self.word(child)?),
            }
        }
        Ok(())
    }

    fn assignment(&self, node: Node<'_>) -> Result<Assignment, Finding> {
        let children = self.inline(node)?;
        match *children.as_slice() {
            [name, equals] if is_assignment(name, equals) => Ok(Assignment {
                name: self.text(name).to_owned(),
                value: String::new(),
            }),
            [name, equals, value] if is_assignment(name, equals) => {
                let word = self.word(value)?;
                if word.tilde || word.glob {
                    return Err(unknown(value));
                }
                Ok(Assignment {
                    name: self.text(name).to_owned(),
                    value: word.text,
                })
            }
            _ => Err(unknown(node)),
        }
    }

    fn redirection(&self, node: Node<'_>) -> Result<Redirection, Finding> {
        let mut children = self.inline(node)?;
        let mut descriptor = None;
        if let Some(first) = children.first()
            && first.kind() == "file_descriptor"
        {
            descriptor = self.text(*first).parse().ok();
            if descriptor.is_none() {
                return Err(unknown(*first));
            }
            children.remove(0);
        }
        let (operator, target) = match *children.as_slice() {
            [operator] if matches!(operator.kind(), ">&-" | "<&-") => {
                let duplicated = match operator.kind() {
                    ">&-" => Operator::DuplicateOutput,
                    _ => Operator::DuplicateInput,
                };
                (duplicated, Word::plain("-"))
            }
            [operator, target] => (self.operator(operator, target)?, self.word(target)?),
            _ => return Err(unknown(node)),
        };
        Ok(Redirection {
            descriptor,
            operator,
            target,
        })
    }

    fn operator(&self, operator: Node<'_>, target: Node<'_>) -> Result<Operator, Finding> {
        let to_descriptor = self.text(target).bytes().all(|byte| byte.is_ascii_digit());
        Ok(match operator.kind() {
            "<" => Operator::Read,
            ">" => Operator::Write,
            ">>" => Operator::Append,
            ">|" => Operator::Clobber,
            "&>" => Operator::WriteBoth,
            "&>>" => Operator::AppendBoth,
            ">&" if to_descriptor => Operator::DuplicateOutput,
            ">&" => Operator::WriteBoth,
            "<&" if to_descriptor => Operator::DuplicateInput,
            _ => return Err(unknown(operator)),
        })
    }

    fn word(&self, node: Node<'_>) -> Result<Word, Finding> {
        word::read(self.script, node)
    }
}

fn is_assignment(name: Node<'_>, equals: Node<'_>) -> bool {
    name.kind() == "variable_name" && equals.kind() == "="
}

fn unknown(node: Node<'_>) -> Finding {
    Check::TooComplex.found(format!(
        "{} is more than a plain command",
        node.kind().replace('_', " ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_too_long_to_parse_is_not_parsed() {
        for (script, wanted) in [
            ("ls".to_owned(), true),
            ("\n".repeat(MOST_SPECIAL), true),
            ("\n".repeat(MOST_SPECIAL + 1), false),
            ("|".repeat(MOST_PIPES), true),
            ("|".repeat(MOST_PIPES + 1), false),
            ("(".repeat(MOST_BRACKETS), true),
            ("(".repeat(MOST_BRACKETS + 1), false),
        ] {
            assert_eq!(is_bearable(&script), wanted, "{} bytes", script.len());
        }
    }

    #[test]
    fn groups_are_read_down_to_a_depth() {
        for (depth, wanted) in [(DEEPEST, true), (DEEPEST + 1, false)] {
            let script = format!("{}ls{}", "{ ".repeat(depth), "; }".repeat(depth));
            let read = parse(&script).map(|tree| read(&script, &tree).is_ok());
            assert_eq!(read, Some(wanted), "{depth}");
        }
    }
}
