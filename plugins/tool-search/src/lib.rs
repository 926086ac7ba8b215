//! The `ToolSearch` tool: finds deferred tools and asks the host to load them.
//!
//! Definitions of tools that are seldom needed stay out of the model's list. This
//! tool reads the host's index, answers with the definitions that fit, and wishes
//! for their loading; what is then on the list is the host's own doing.

mod definition;
mod find;
mod query;
mod rank;
mod report;
mod select;
mod words;

use serde::Deserialize;
use toolbay_sdk::{
    Info, OnInterrupt, Outcome, Prompt, Render, Result, Setting, Tool, ToolError, View, tools,
};

use query::Query;

/// How many tools a search by words loads unless told otherwise: enough for a family
/// of tools, few enough that a poor query does not fill the list.
const DEFAULT_RESULTS: usize = 5;
/// Most tools that one call loads. Whoever needs more has not said what for.
const MOST_RESULTS: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    query: String,
    max_results: Option<i64>,
}

impl Input {
    fn most(&self) -> Result<usize, ToolError> {
        let Some(wanted) = self.max_results else {
            return Ok(DEFAULT_RESULTS);
        };
        usize::try_from(wanted)
            .ok()
            .filter(|most| (1..=MOST_RESULTS).contains(most))
            .ok_or_else(|| {
                ToolError::invalid(format!(
                    "max_results is {wanted}; it must be between 1 and {MOST_RESULTS}"
                ))
            })
    }
}

struct ToolSearch;

impl Tool for ToolSearch {
    type Input = Input;

    const INFO: Info = Info::new(
        "ToolSearch",
        "Finds tools that are not on the model's list yet and loads them.",
    )
    .schema(include_str!("../schema.json"))
    .output_schema(include_str!("../output.json"))
    .on_interrupt(OnInterrupt::Cancel);

    fn is_read_only(_: &Input) -> bool {
        true
    }

    fn is_concurrency_safe(_: &Input) -> bool {
        true
    }

    fn call(input: Input) -> Result {
        let most = input.most()?;
        let query = Query::parse(&input.query).map_err(ToolError::InvalidInput)?;
        let entries = tools::entries()?;
        let found = find::find(&entries, &query, most);
        Ok(report::outcome(&input.query, &entries, &found))
    }
}

impl Prompt for ToolSearch {
    fn describe(input: &Input) -> String {
        report::headline(&input.query)
    }

    fn prompt(_: &Setting) -> String {
        include_str!("../prompt.md").into()
    }
}

impl Render for ToolSearch {
    fn render_use(input: &Input) -> View {
        View::Plain(report::headline(&input.query))
    }

    fn render_result(_: &Input, outcome: &Outcome) -> View {
        View::Plain(report::summary(outcome))
    }

    fn render_error(_: &Input, error: &ToolError) -> View {
        View::Plain(format!("ToolSearch: {}", error.sentence()))
    }
}

toolbay_sdk::export!(ToolSearch: prompt, render);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_number_of_results_has_bounds() {
        for (json, wanted) in [
            (r#"{"query":"a"}"#, Some(5)),
            (r#"{"query":"a","max_results":null}"#, Some(5)),
            (r#"{"query":"a","max_results":1}"#, Some(1)),
            (r#"{"query":"a","max_results":20}"#, Some(20)),
            (r#"{"query":"a","max_results":0}"#, None),
            (r#"{"query":"a","max_results":21}"#, None),
            (r#"{"query":"a","max_results":-1}"#, None),
            (r#"{"query":"a","max_results":9223372036854775807}"#, None),
        ] {
            let input: Input = serde_json::from_str(json).unwrap();
            let most = input.most().map_err(|error| error.sentence());
            match wanted {
                Some(wanted) => assert_eq!(most, Ok(wanted), "{json}"),
                None => assert!(most.unwrap_err().contains("between 1 and 20"), "{json}"),
            }
        }
    }

    #[test]
    fn the_schema_says_the_same_bounds() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../schema.json")).unwrap();
        let results = &schema["properties"]["max_results"];
        assert_eq!(results["default"], DEFAULT_RESULTS);
        assert_eq!(results["maximum"], MOST_RESULTS);
        let query = &schema["properties"]["query"];
        assert_eq!(query["maxLength"], query::LONGEST);
    }

    #[test]
    fn unknown_fields_and_other_types_are_refused() {
        for json in [
            "{}",
            r#"{"query":1}"#,
            r#"{"query":"a","limit":1}"#,
            r#"{"query":"a","max_results":1.5}"#,
        ] {
            assert!(serde_json::from_str::<Input>(json).is_err(), "{json}");
        }
    }
}
