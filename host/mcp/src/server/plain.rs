//! Tools of servers under their own names, where that is wanted: a client that puts the name of its
//! server before each tool would otherwise see two names of servers in a row, and more letters
//! than some models take. Rules, questions and the log have the whole name all the same.

use std::collections::HashMap;

use rmcp::model::Tool;

use crate::name::ToolName;

/// The tools as a client sees them: a tool of a server by its own name, if no other has it.
pub(super) fn shown(mut list: Vec<Tool>) -> Vec<Tool> {
    let names = plain_names(&list);
    for tool in &mut list {
        if let Some(plain) = names.get(tool.name.as_ref()) {
            tool.name = plain.clone().into();
        }
    }
    list
}

/// The whole name of a tool that a client calls by its own.
pub(super) fn whole(list: &[Tool], called: &str) -> Option<String> {
    let names = plain_names(list);
    let found = names.into_iter().find(|(_, plain)| plain == called);
    found.map(|(whole, _)| whole)
}

/// What is called otherwise than it is, by its whole name.
fn plain_names(list: &[Tool]) -> HashMap<String, String> {
    let plain = |tool: &Tool| ToolName::parse(&tool.name).map(|name| name.tool().to_owned());
    let mut count: HashMap<String, usize> = HashMap::new();
    for tool in list {
        // Built-ins and plugins keep theirs, whoever comes.
        let name = plain(tool).unwrap_or_else(|| tool.name.to_string());
        *count.entry(name).or_default() += 1;
    }
    let only = |tool: &Tool| {
        let plain = plain(tool).filter(|plain| count.get(plain) == Some(&1))?;
        // No name of one server reads like one of another.
        (!plain.starts_with("mcp__")).then(|| (tool.name.to_string(), plain))
    };
    list.iter().filter_map(only).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_name_is_nobody_elses() {
        let tool = |name: &str| -> Tool {
            serde_json::from_value(json!({"name": name, "inputSchema": {}})).unwrap()
        };
        let list: Vec<Tool> = [
            "Read",
            "mcp__a__Read",
            "mcp__a__log",
            "mcp__b__log",
            "mcp__b__one",
            "mcp__c__mcp__b__two",
        ]
        .map(tool)
        .into();
        let names: Vec<String> = shown(list.clone())
            .into_iter()
            .map(|tool| tool.name.to_string())
            .collect();
        assert_eq!(
            names,
            [
                "Read",
                "mcp__a__Read",
                "mcp__a__log",
                "mcp__b__log",
                "one",
                "mcp__c__mcp__b__two"
            ]
        );
        assert_eq!(whole(&list, "one").as_deref(), Some("mcp__b__one"));
        for other in ["Read", "log", "mcp__b__one", "mcp__b__two", ""] {
            assert_eq!(whole(&list, other), None, "{other}");
        }
    }
}
