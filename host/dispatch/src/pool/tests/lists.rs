//! What the pool tells others of its tools, and when.

use super::*;

#[test]
fn deferred_tools_join_the_end_in_the_order_of_loading() {
    let mut tools = built_ins();
    tools.push(brought("Agenda").deferred());
    tools.push(brought("Zip"));
    let pool = pool(tools);
    let before = pool.messages_definitions();
    assert_eq!(names_of(&before), ["Edit", "Read", "Write", "Zip"]);
    assert!(pool.find("Agenda").unwrap().deferred_unloaded);
    assert!(!pool.find("Zip").unwrap().deferred_unloaded);

    let load = |names: &[&str]| pool.load(&names.map_to_owned());
    assert_eq!(load(&["Agenda", "Agenda", "Read", "None"]), ["Agenda"]);
    assert_eq!(load(&["Agenda"]), [""; 0]);
    assert_eq!(load(&["Notebook"]), ["Notebook"]);
    let after = pool.messages_definitions();
    assert_eq!(after[..before.len()], before);
    assert_eq!(names_of(&after[before.len()..]), ["Agenda", "Notebook"]);
    assert!(!pool.find("Agenda").unwrap().deferred_unloaded);
    assert_eq!(pool.loaded(), ["Agenda", "Notebook"]);

    let listed: Vec<(String, bool, bool)> = pool
        .entries()
        .into_iter()
        .map(|entry| (entry.name, entry.deferred, entry.loaded))
        .filter(|(_, deferred, _)| *deferred)
        .collect();
    assert_eq!(
        listed,
        [
            ("Notebook".into(), true, true),
            ("Agenda".into(), true, true)
        ]
    );
}

/// Owned names out of a table of texts.
trait MapToOwned {
    fn map_to_owned(&self) -> Vec<String>;
}

impl MapToOwned for [&str] {
    fn map_to_owned(&self) -> Vec<String> {
        self.iter().map(|name| (*name).to_owned()).collect()
    }
}

#[test]
fn what_was_loaded_can_be_loaded_again_in_another_session() {
    let one = pool(vec![
        FakeTool::named("A").deferred(),
        FakeTool::named("B").deferred(),
    ]);
    one.load(&["B", "A"].map_to_owned());
    let other = pool(vec![
        FakeTool::named("A").deferred(),
        FakeTool::named("B").deferred(),
    ]);
    other.load(&one.loaded());
    assert_eq!(other.messages_definitions(), one.messages_definitions());
}

#[test]
fn definitions_have_the_form_of_their_readers() {
    let input = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let output = json!({"type": "object"});
    let tool = || {
        FakeTool::named("Count")
            .schema(&input)
            .deferred()
            .info(|info| {
                info.output_schema = Some(output.to_string());
                info.annotations = [
                    ("title", "Counts"),
                    ("readOnlyHint", "true"),
                    ("idempotentHint", "perhaps"),
                ]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .to_vec();
            })
    };
    let pool = pool(vec![tool(), FakeTool::named("Plain")]);
    pool.load(&["Count".to_owned()]);
    let plain = json!({"type": "object"});
    assert_eq!(
        pool.messages_definitions(),
        [
            json!({"name": "Plain", "description": "What Plain does", "input_schema": plain}),
            json!({"name": "Count", "description": "What Count does", "input_schema": input}),
        ]
    );
    assert_eq!(
        pool.mcp_definitions(),
        [
            json!({
                "name": "Count", "description": "What Count does", "inputSchema": input,
                "outputSchema": output,
                "annotations": {"title": "Counts", "readOnlyHint": true},
            }),
            json!({
                "name": "Plain", "description": "What Plain does", "inputSchema": plain,
                "annotations": {},
            }),
        ]
    );
}
