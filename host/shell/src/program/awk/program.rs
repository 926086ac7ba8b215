//! Whether an awk program only reads its input and prints.

use super::token::{Token, tokens};
use crate::check::{Check, Finding};

const KEYWORDS: &[&str] = &[
    "BEGIN",
    "BEGINFILE",
    "END",
    "ENDFILE",
    "break",
    "case",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "exit",
    "for",
    "func",
    "function",
    "if",
    "in",
    "next",
    "nextfile",
    "print",
    "printf",
    "return",
    "switch",
    "while",
];

/// Functions of awk that only compute.
const FUNCTIONS: &[&str] = &[
    "and", "asort", "asorti", "atan2", "compl", "cos", "exp", "gensub", "gsub", "index", "int",
    "length", "log", "lshift", "match", "mktime", "or", "patsplit", "rand", "rshift", "sin",
    "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr", "systime",
    "tolower", "toupper", "typeof", "xor",
];

/// Names that run, write, or read something else than the input.
const REFUSED: &[&str] = &[
    "ARGC",
    "ARGIND",
    "ARGV",
    "ENVIRON",
    "FUNCTAB",
    "PROCINFO",
    "SYMTAB",
    "close",
    "extension",
    "fflush",
    "getline",
    "system",
];

pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Whether an argument may give this variable a value.
pub(super) fn may_be_set(name: &str) -> bool {
    !REFUSED.contains(&name) && !KEYWORDS.contains(&name) && !is_function(name)
}

pub(super) fn judge(text: &str) -> Result<(), Finding> {
    let tokens = tokens(text)?;
    let defined = defined_functions(&tokens)?;
    // The parentheses that are open inside a `print`; it ends at `;`, `}` or a closing one
    // that is not its own. A line end is no sure end: `print a,` goes on.
    let mut print: Option<usize> = None;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            Token::Name(name) => {
                known_name(name, tokens.get(at + 1), &defined)?;
                if matches!(name, "print" | "printf") {
                    print = Some(0);
                }
            }
            Token::Sign("(") => print = print.map(|open| open + 1),
            Token::Sign(")") | Token::HeadEnd => print = print.and_then(|open| open.checked_sub(1)),
            Token::Sign(";" | "{" | "}") => print = None,
            Token::Sign("|") => return Err(refused("a pipe")),
            Token::Sign(">>") => return Err(refused("`>>`")),
            Token::Sign(">" | ">=") if print == Some(0) => {
                return Err(refused("`>` behind `print`"));
            }
            Token::Sign(":") if tokens.get(at + 1) == Some(&Token::Sign(":")) => {
                return Err(refused("`::`"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The functions that the program has itself; their names must be new ones.
fn defined_functions<'a>(tokens: &[Token<'a>]) -> Result<Vec<&'a str>, Finding> {
    let mut names = Vec::new();
    for pair in tokens.windows(2) {
        if let [Token::Name("function" | "func"), Token::Name(name)] = pair {
            if !may_be_set(name) {
                return Err(refused(&format!("a function `{name}`")));
            }
            names.push(*name);
        }
    }
    Ok(names)
}

fn known_name(name: &str, next: Option<&Token<'_>>, defined: &[&str]) -> Result<(), Finding> {
    if REFUSED.contains(&name) {
        return Err(refused(&format!("`{name}`")));
    }
    let called = next == Some(&Token::Sign("("));
    let known = KEYWORDS.contains(&name) || is_function(name) || defined.contains(&name);
    if called && !known {
        return Err(refused(&format!("a function `{name}` that is not known")));
    }
    Ok(())
}

fn refused(what: &str) -> Finding {
    Check::UnsafeProgram.found(format!("{what} in an awk program"))
}
