//! From a query and the host's index to the tools found.

use toolbay_sdk::tools::Entry;

use crate::query::Query;
use crate::rank::rank;
use crate::select::{Unknown, select};

/// What a query found.
#[derive(Debug, Default, PartialEq)]
pub struct Found<'a> {
    /// Best first, or as they were named.
    pub tools: Vec<&'a Entry>,
    /// Names that no tool has.
    pub unknown: Vec<Unknown>,
    /// How many more would fit.
    pub left_out: usize,
}

/// Looks for the tools that a query means; words find at most so many.
pub fn find<'a>(entries: &'a [Entry], query: &Query, most: usize) -> Found<'a> {
    match query {
        Query::Select(names) => {
            let (tools, unknown) = select(entries, names);
            Found {
                tools,
                unknown,
                left_out: 0,
            }
        }
        Query::Search(search) => {
            let mut tools = rank(entries, search);
            let left_out = tools.len().saturating_sub(most);
            tools.truncate(most);
            Found {
                tools,
                left_out,
                ..Found::default()
            }
        }
    }
}

/// An index for tests: a line is a tool, `name | hint | summary`. A name with `!` is
/// never deferred, one with `*` is loaded already.
#[cfg(test)]
pub fn index(lines: &[&str]) -> Vec<Entry> {
    let entry = |line: &&str| {
        let mut fields = line.split('|').map(str::trim);
        let mut field = || fields.next().unwrap_or_default();
        let (name, hint, summary) = (field(), field(), field());
        let deferred = !name.ends_with('!');
        Entry {
            name: name.trim_end_matches(['!', '*']).into(),
            summary: summary.into(),
            search_hint: (!hint.is_empty()).then(|| hint.into()),
            input_schema: "{ \"type\": \"object\" }".into(),
            deferred,
            loaded: !deferred || name.ends_with('*'),
        }
    };
    lines.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn words_find_the_best_few_and_count_the_others() {
        let index = index(&["chat_a", "chat_b", "chat_c", "Chat!", "other"]);
        for (query, most, wanted, left_out) in [
            ("chat", 5, "chat_a chat_b chat_c", 0),
            ("chat", 3, "chat_a chat_b chat_c", 0),
            ("chat", 2, "chat_a chat_b", 1),
            ("chat", 1, "chat_a", 2),
            ("none", 1, "", 0),
            // Whoever names tools gets them all.
            ("select:chat_c,chat_a,Chat", 1, "chat_c chat_a Chat", 0),
        ] {
            let found = find(&index, &Query::parse(query).unwrap(), most);
            let names: Vec<&str> = found.tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(names.join(" "), wanted, "{query} {most}");
            assert_eq!(found.left_out, left_out, "{query} {most}");
        }
    }
}
