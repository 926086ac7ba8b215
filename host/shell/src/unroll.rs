//! `for NAME in WORDS; do COMMANDS; done` as the commands that it comes to.
//!
//! The readings know no variables. A loop over words that are written out, with plain commands
//! that use its variable as a whole word, is the same as those commands one after the other with
//! each word in its place, so that text is read instead. This is one step that no second reader
//! checks, so it takes only letters of which none means anything else: no quotes but around the
//! variable, no `=` (the variable could be set), no brackets, no redirections, no comments.
//!
//! A pattern stands for all names that match it. In `"$f"` each stays one word, as behind the
//! command itself. In `$f` a name is split at blanks, and its parts may be flags, `..` or patterns
//! again; none of them but the first can hold a slash if only the last part of the pattern is one.
//! That is no matter to the few programs of [`TAKE_ANY_PARTS`].

use tree_sitter::Tree;

/// Read or print what they are given, have no flag that writes, runs or sends anything, and do
/// not look into folders.
const TAKE_ANY_PARTS: &[&str] = &["cat", "echo", "head", "nl", "wc"];

/// Words of a loop; with more, it is no loop that somebody reads.
const MOST_WORDS: usize = 20;

/// Words that would begin or end something else.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "in", "time", "!",
];

/// The commands of a loop, if the script is one and nothing else.
pub(crate) fn unrolled(script: &str, tree: &Tree) -> Option<String> {
    let header = script.trim().strip_prefix("for ")?;
    let (name, rest) = header.split_once(" in ")?;
    let (words, rest) = rest.split_once([';', '\n'])?;
    let body = rest.trim_start().strip_prefix("do")?;
    let body = body.strip_prefix([' ', '\n'])?.trim_end();
    let body = body.strip_suffix("done")?.trim_end_matches([' ', '\t']);
    let body = body.strip_suffix([';', '\n'])?.trim();
    let words: Vec<&str> = words.split_ascii_whitespace().collect();
    let is_loop = is_name(name)
        && !body.ends_with([';', '|', '&'])
        && !words.is_empty()
        && words.len() <= MOST_WORDS
        && words.iter().all(|word| is_word(word))
        && grammar_agrees(script, tree, name, &words);
    if !is_loop {
        return None;
    }
    let mut all = Vec::new();
    for word in words {
        all.push(with(body, name, word)?);
    }
    Some(all.join("\n"))
}

fn is_name(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        && !name.is_empty()
}

/// A word of letters, or a pattern in its last part. It is no flag, and leads neither up nor home.
fn is_word(word: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./*?".contains(&byte);
    let folder = word.rsplit_once('/').map_or("", |(folder, _)| folder);
    word.bytes().all(is_letter)
        && !word.starts_with('-')
        && !word.contains("..")
        && !folder.contains(['*', '?'])
        && !RESERVED.contains(&word)
}

/// The other reader sees one loop over the same words.
fn grammar_agrees(script: &str, tree: &Tree, name: &str, words: &[&str]) -> bool {
    let root = tree.root_node();
    let Some(node) = root.named_child(0) else {
        return false;
    };
    let text = |node: tree_sitter::Node<'_>| script.get(node.byte_range()).unwrap_or_default();
    let mut cursor = node.walk();
    let values: Vec<&str> = node
        .children_by_field_name("value", &mut cursor)
        .map(text)
        .collect();
    !root.has_error()
        && root.named_child_count() == 1
        && node.kind() == "for_statement"
        && node.child_by_field_name("variable").map(text) == Some(name)
        && values == words
}

/// The commands with a word in the variable's place; none if it is used in another way.
fn with(body: &str, name: &str, word: &str) -> Option<String> {
    let is_pattern = word.contains(['*', '?']);
    let mut done = String::new();
    let mut program: Option<&str> = None;
    for part in body.split_inclusive([' ', '\t', '\n', ';', '|', '&']) {
        let end = part.trim_end_matches([' ', '\t', '\n', ';', '|', '&']);
        let behind = &part[end.len()..];
        // Quotes around the variable and nothing else: in `""$f` it is not quoted.
        let quoted = end
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let inside = quoted.unwrap_or(end);
        let variable = inside.strip_prefix('$').map(|rest| {
            let braced = rest
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            braced.unwrap_or(rest)
        });
        if variable == Some(name) {
            let program = program?;
            if is_pattern && quoted.is_none() && !TAKE_ANY_PARTS.contains(&program) {
                return None;
            }
            done.push_str(word);
        } else if is_plain(end) {
            done.push_str(end);
            if !end.is_empty() && program.is_none() {
                program = Some(end);
            }
        } else {
            return None;
        }
        if !behind.trim().is_empty() || behind.contains('\n') {
            program = None;
        }
        done.push_str(behind);
    }
    Some(done)
}

/// Letters that mean themselves.
fn is_plain(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:@%+".contains(&byte);
    text.bytes().all(is_letter) && !RESERVED.contains(&text)
}

#[cfg(test)]
mod tests {
    use crate::{Place, Verdict, inspect};

    #[test]
    fn a_plain_loop_is_the_commands_that_it_comes_to() {
        for (script, wanted) in [
            ("for f in *.rs; do wc -l $f; done", &["wc -l *.rs"][..]),
            ("for f in *.rs; do wc -l \"$f\"; done", &["wc -l *.rs"]),
            ("for f in a b; do cat $f; done", &["cat a", "cat b"]),
            ("for f in a b\ndo\n  cat ${f}\ndone", &["cat a", "cat b"]),
            (
                "for f in a; do echo $f; head -5 \"${f}\" | wc -l; done",
                &["echo a", "head -5 a", "wc -l"],
            ),
            ("for d in src docs; do ls $d; done", &["ls src", "ls docs"]),
            ("for f in ./*; do head \"$f\"; done", &["head ./*"]),
        ] {
            let report = inspect(script, &Place::new("/p"));
            let commands: Vec<String> = report
                .commands
                .iter()
                .map(|command| command.words.join(" "))
                .collect();
            assert_eq!(commands, wanted, "{script}");
            assert_eq!(report.verdict, Verdict::ReadOnly, "{script}");
        }
    }

    #[test]
    fn the_grammar_sees_one_loop_over_the_same_words() {
        for (script, agrees) in [
            ("for f in a b; do ls; done", true),
            ("for f in a b; do ls; done; ls", false),
            ("for f in a b; do ls; done )", false),
            ("for f in a; do ls; done", false),
            ("for g in a b; do ls; done", false),
            ("ls", false),
            ("", false),
        ] {
            let tree = crate::syntax::parse(script).unwrap();
            let seen = super::grammar_agrees(script, &tree, "f", &["a", "b"]);
            assert_eq!(seen, agrees, "{script}");
        }
    }

    #[test]
    fn other_loops_are_not_read_only() {
        for script in [
            "for f in *; do $f; done",
            "for f in a; do \"$f\" x; done",
            "for f in a; do cat $g; done",
            "for f in a; do cat x$f; done",
            "for f in a; do cat $f$f; done",
            "for f in a; do f=/etc/passwd; cat $f; done",
            "for f in /etc/passwd; do cat $f; done",
            "for f in ../x; do cat $f; done",
            "for f in ~; do ls $f; done",
            "for f in $(x); do cat $f; done",
            "for f in `x`; do cat $f; done",
            "for f in {a,b}; do cat $f; done",
            "for f in 'a b'; do cat $f; done",
            "for f in a; do rm $f; done",
            "for f in *; do rm \"$f\"; done",
            "for f in *; do sort $f; done",
            "for f in *; do sha256sum $f; done",
            "for f in *; do sort \"$f\"; done",
            "for f in *; do uniq \"$f\"; done",
            "for f in *.rs; do ls $f; done",
            "for f in */x; do cat $f; done",
            "for f in -x; do cat $f; done",
            "for f in a; do cat $f > b; done",
            "for f in a; do cat $f & done",
            "for f in a; do cat $f; done; rm x",
            "for f in a; do cat $f; done > x",
            "for f in a; do cat $f; done | sh",
            "for f in a; do cat $f; done; done",
            "for f in a; do for g in b; do cat $g; done; done",
            "for f in a; do if cat $f; then ls; fi; done",
            "for f in a; do read f; cat $f; done",
            "for PATH in a; do cat $PATH; done",
            "for f; do cat $f; done",
            "for f in; do cat $f; done",
            "for f in a; do cat $f",
            "for f in a; do cat '$f'; done",
            "for f in a; do cat \\$f; done",
            "for f in a; do cat $f # x; done",
            "for f in a; do cat $f;; done",
            "for f in a; do eval $f; done",
            "for f in a; do cat \"$f; done",
            "for f in a; do cat $f\"; done",
            "for f in a; do cat $f\"\"; done",
            "for f in a; do cat \"\"$f; done",
            "for f in ./*; do sort \"\"$f; done",
            "for f in a; do cat \"\"$f\"\"; done",
            "for f in a; do ls; $f; done",
            "for f in *.rs; do cat a; ls $f; done",
            "for f in *.rs; do cat a\nls $f; done",
            "for f in *.rs; do cat a | sort $f; done",
            "select f in a; do cat $f; done",
        ] {
            assert!(!inspect(script, &Place::new("/p")).read_only(), "{script}");
        }
    }
}
