//! What a query asks for: tools by name, or words to rank tools by.

use crate::MOST_RESULTS;
use crate::words::parts;

/// Most characters of a query; twenty names of the longest kind fit.
pub const LONGEST: usize = 2_000;
/// Most words to rank by. Each is compared with every tool, and whoever writes more
/// has pasted a text.
const MOST_WORDS: usize = 50;
/// The word that starts a list of names.
const SELECT: &str = "select:";
/// Words that a sentence needs and a search does not.
const FILLERS: [&str; 24] = [
    "a", "an", "and", "are", "by", "can", "do", "for", "from", "i", "in", "is", "it", "me", "my",
    "of", "on", "or", "that", "the", "to", "tool", "tools", "with",
];

#[derive(Debug, PartialEq, Eq)]
pub enum Query {
    /// Exactly these, by name.
    Select(Vec<String>),
    Search(Search),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Search {
    /// Words that must be in the name.
    pub demanded: Vec<Word>,
    /// Words that only rank.
    pub wanted: Vec<Word>,
}

/// A word of the query.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// Its parts: one, unless it is itself a name such as `postMessage`.
    pub parts: Vec<String>,
    /// All parts together.
    pub whole: String,
}

impl Word {
    /// None for what has no letter and no digit.
    fn of(text: &str) -> Option<Self> {
        let parts = parts(text);
        let whole = parts.concat();
        (!whole.is_empty()).then_some(Self { parts, whole })
    }

    fn is_filler(&self) -> bool {
        FILLERS.contains(&self.whole.as_str())
    }
}

impl Query {
    /// Reads a query; what is wrong with it is told in a sentence for the model.
    pub fn parse(text: &str) -> Result<Self, String> {
        let length = text.chars().count();
        if length > LONGEST {
            return Err(format!(
                "the query has {length} characters; at most {LONGEST} are read: say in a few \
                 words what the tool should do"
            ));
        }
        let text = text.trim();
        match names_after_select(text) {
            Some(names) => select(names).map(Self::Select),
            None => search(text).map(Self::Search),
        }
    }
}

fn names_after_select(text: &str) -> Option<&str> {
    let (word, names) = text.split_at_checked(SELECT.len())?;
    word.eq_ignore_ascii_case(SELECT).then_some(names)
}

fn select(text: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(',').map(str::trim) {
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    match names.len() {
        0 => Err(
            "select: names no tool; write the names behind it, as in \"select:NameA,NameB\"".into(),
        ),
        count if count > MOST_RESULTS => Err(format!(
            "select: names {count} tools; at most {MOST_RESULTS} can be loaded at once"
        )),
        _ => Ok(names),
    }
}

fn search(text: &str) -> Result<Search, String> {
    let (mut demanded, mut wanted) = (Vec::new(), Vec::new());
    for text in text.split_whitespace() {
        let (words, word) = match text.strip_prefix('+') {
            Some(rest) => {
                let word = Word::of(rest).ok_or_else(|| {
                    "a + has no word behind it; write it directly before one, as in \
                     \"+slack send\""
                        .to_owned()
                })?;
                (&mut demanded, word)
            }
            None => match Word::of(text) {
                Some(word) => (&mut wanted, word),
                None => continue,
            },
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    // A query of nothing but fillers means them.
    if !demanded.is_empty() || !wanted.iter().all(Word::is_filler) {
        wanted.retain(|word| !word.is_filler());
    }
    match demanded.len() + wanted.len() {
        0 => Err(
            "the query has no words; say what the tool should do, or name it as in \
             \"select:NameA\""
                .into(),
        ),
        count if count > MOST_WORDS => Err(format!(
            "the query has {count} different words; at most {MOST_WORDS} are read: say in a few \
             words what the tool should do"
        )),
        _ => Ok(Search { demanded, wanted }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A query in the notation of these tests: `select A|B`, or `+demanded wanted`.
    fn read(text: &str) -> Result<String, String> {
        Query::parse(text).map(|query| match query {
            Query::Select(names) => format!("select {}", names.join("|")),
            Query::Search(search) => {
                let demanded = search
                    .demanded
                    .iter()
                    .map(|word| format!("+{}", word.whole));
                let wanted = search.wanted.iter().map(|word| word.parts.join("."));
                demanded.chain(wanted).collect::<Vec<_>>().join(" ")
            }
        })
    }

    #[test]
    fn queries_are_names_or_words() {
        for (text, wanted) in [
            ("select:A", "select A"),
            (" select: A , B,,A, ", "select A|B"),
            ("SELECT:mcp__x__y", "select mcp__x__y"),
            ("notebook  jupyter", "notebook jupyter"),
            ("NotebookEdit", "notebook.edit"),
            ("post_message post_message POST", "post.message post"),
            ("+slack send", "+slack send"),
            ("send +slack +Mcp__x", "+slack +mcpx send"),
            ("I need a tool for the notebook", "need notebook"),
            ("the tool", "the tool"),
            ("+the tool", "+the"),
            ("select A", "select"),
            ("selected: A", "selected"),
            ("\"jira\" - issue!", "jira issue"),
            ("é ß", "é ß"),
        ] {
            assert_eq!(read(text), Ok(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn queries_that_say_nothing_are_explained() {
        let many_words: String = (0..51).map(|number| format!("w{number} ")).collect();
        let many_names: Vec<String> = (0..21).map(|number| format!("T{number}")).collect();
        for (text, part) in [
            ("", "no words"),
            (" \n\t ", "no words"),
            ("!? --", "no words"),
            ("+", "no word behind"),
            ("+ slack", "no word behind"),
            ("+__ send", "no word behind"),
            ("select:", "names no tool"),
            ("select: , ,", "names no tool"),
            (
                &format!("select:{}", many_names.join(",")),
                "names 21 tools",
            ),
            (&many_words, "51 different words"),
            (&"x".repeat(2_001), "2001 characters"),
            (&"é".repeat(2_001), "2001 characters"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(part), "{text:?}: {problem}");
        }
    }

    #[test]
    fn odd_texts_break_nothing() {
        for text in [
            "sélect:A",
            "selecté",
            "\u{0}\u{1b}]0;x\u{7}",
            "+++++a",
            "🦀🦀🦀🦀🦀🦀🦀🦀",
            "a\u{301}\u{301}",
            "select:,é,\u{202e}",
            &"é".repeat(2_000),
            &"+a ".repeat(600),
        ] {
            // What it means is of no interest; that it has an answer is.
            let _ = read(text);
        }
        assert_eq!(read(&"+a ".repeat(600)), Ok("+a".into()));
    }
}
