//! Picks tools by their names, and knows what a wrong name may have meant.

use toolbay_sdk::tools::Entry;

use crate::words::parts;

/// How many tools are named in place of one that there is not.
const MOST_NEAR: usize = 3;
/// No tool's name is longer; what is longer resembles none.
const LONGEST_NAME: usize = 64;
/// A shorter name is in many others by chance.
const SHORTEST_PIECE: usize = 3;

/// A name that no tool has.
#[derive(Debug, PartialEq, Eq)]
pub struct Unknown {
    pub name: String,
    /// Names that it may have meant, nearest first.
    pub near: Vec<String>,
}

/// The tools of these names, each once, and the names that none has. A name in
/// another case counts if there is none in the same.
pub fn select<'a>(entries: &'a [Entry], names: &[String]) -> (Vec<&'a Entry>, Vec<Unknown>) {
    let mut found: Vec<&Entry> = Vec::new();
    let mut unknown = Vec::new();
    for name in names {
        let same = entries.iter().find(|entry| entry.name == *name);
        let alike = || {
            entries
                .iter()
                .find(|entry| entry.name.eq_ignore_ascii_case(name))
        };
        match same.or_else(alike) {
            Some(entry) if found.iter().any(|known| known.name == entry.name) => {}
            Some(entry) => found.push(entry),
            None => unknown.push(Unknown {
                name: name.clone(),
                near: near(entries, name),
            }),
        }
    }
    (found, unknown)
}

/// The names that differ by a slip of the pen, or hold the wrong one, or are most of it.
fn near(entries: &[Entry], name: &str) -> Vec<String> {
    let wrong = parts(name).concat();
    let length = wrong.chars().count();
    if length == 0 || length > LONGEST_NAME {
        return Vec::new();
    }
    let most = (length / 3).max(2);
    let holds = |long: &str, short: &str| short.len() >= SHORTEST_PIECE && long.contains(short);
    let mut all: Vec<(usize, &str)> = entries
        .iter()
        .filter_map(|entry| {
            let right = parts(&entry.name).concat();
            let is_most_of_it = right.len() * 2 >= wrong.len() && holds(&wrong, &right);
            let held = holds(&right, &wrong) || is_most_of_it;
            if !held && right.chars().count().abs_diff(length) > most {
                return None;
            }
            let distance = strsim::osa_distance(&wrong, &right);
            (held || distance <= most).then_some((distance, entry.name.as_str()))
        })
        .collect();
    all.sort_unstable();
    let nearest = all.into_iter().take(MOST_NEAR);
    nearest.map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::index;

    #[test]
    fn names_are_picked_in_any_case_and_once() {
        let index = index(&["Read!", "NotebookEdit", "mcp__a__b*", "twin", "Twin"]);
        for (names, wanted) in [
            ("NotebookEdit", "NotebookEdit"),
            ("notebookedit,Read,READ", "NotebookEdit Read"),
            ("MCP__A__B", "mcp__a__b"),
            ("Twin,twin", "Twin twin"),
            ("TWIN", "twin"),
            ("nothing,Read", "Read"),
        ] {
            let names: Vec<String> = names.split(',').map(Into::into).collect();
            let (found, _) = select(&index, &names);
            let found: Vec<&str> = found.iter().map(|tool| &*tool.name).collect();
            assert_eq!(found.join(" "), wanted, "{names:?}");
        }
    }

    #[test]
    fn wrong_names_lead_to_the_nearest() {
        let index = index(&[
            "Read!",
            "Edit!",
            "NotebookEdit",
            "mcp__slack__send_message",
            "mcp__slack__send_file",
            "mcp__slack__list",
            "Go",
        ]);
        for (name, wanted) in [
            ("Raed", "Read"),
            ("notebook_edit", "NotebookEdit"),
            ("NotebookEditor", "NotebookEdit"),
            ("Notebook", "NotebookEdit"),
            (
                "slack",
                "mcp__slack__list mcp__slack__send_file mcp__slack__send_message",
            ),
            (
                "slack_send",
                "mcp__slack__send_file mcp__slack__send_message",
            ),
            // Two letters lie in much by chance.
            ("ot", "Go"),
            ("Frobnicate", ""),
            ("?!", ""),
            (&"Read".repeat(17), ""),
        ] {
            let (found, unknown) = select(&index, &[name.to_owned()]);
            assert_eq!(found, Vec::<&Entry>::new(), "{name}");
            let near: Vec<String> = unknown.into_iter().flat_map(|one| one.near).collect();
            assert_eq!(near.join(" "), wanted, "{name}");
        }
    }
}
