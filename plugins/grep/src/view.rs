//! How a search looks to people: one line for the call, one for its result.

use toolbay_sdk::Outcome;

use crate::input::Input;

/// What is searched for, and where.
pub fn headline(input: &Input) -> String {
    let mut line = format!("Search for `{}`", input.pattern);
    if let Some(path) = &input.path {
        line.push_str(&format!(" in {path}"));
    }
    for (name, value) in [("glob", &input.glob), ("type", &input.file_type)] {
        if let Some(value) = value {
            line.push_str(&format!(", {name} {value}"));
        }
    }
    line
}

/// How much was found; the text itself when the outcome has no data.
pub fn summary(outcome: &Outcome) -> String {
    let data: Option<serde_json::Value> = outcome
        .structured
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok());
    let Some(data) = data else {
        return outcome.plain_text();
    };
    let number = |name: &str| data.get(name).and_then(serde_json::Value::as_u64);
    let files = number("totalFiles").or(number("numFiles")).unwrap_or(0);
    let files = format!("{files} {}", if files == 1 { "file" } else { "files" });
    let found = match (number("numLines"), number("numMatches")) {
        (_, Some(0)) => "Nothing found".to_owned(),
        (_, Some(matches)) => format!("Found {matches} in {files}"),
        (_, None) => format!("Found {files}"),
    };
    let is_cut = data.get("truncated").is_some_and(|cut| cut == true);
    if is_cut {
        format!("{found}, cut")
    } else {
        found
    }
}

/// Several searches as one list.
pub fn grouped(inputs: &[Input]) -> Option<Vec<(String, String)>> {
    let rows = inputs.iter().map(|input| {
        let place = input.path.clone().unwrap_or_else(|| ".".to_owned());
        (input.pattern.clone(), place)
    });
    (inputs.len() > 1).then(|| rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_tell_how_much_was_found() {
        for (data, wanted) in [
            (
                r#"{"numFiles":2,"totalFiles":3,"truncated":true}"#,
                "Found 3 files, cut",
            ),
            (
                r#"{"numFiles":1,"numLines":9,"numMatches":4}"#,
                "Found 4 in 1 file",
            ),
            (
                r#"{"numFiles":0,"totalFiles":0,"numMatches":0}"#,
                "Nothing found",
            ),
        ] {
            let mut outcome = Outcome::text("text");
            outcome.structured = Some(data.into());
            assert_eq!(summary(&outcome), wanted, "{data}");
        }
        assert_eq!(summary(&Outcome::text("text")), "text");
    }
}
