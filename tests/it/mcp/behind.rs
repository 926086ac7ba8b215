//! Servers behind ours: their prompts, what they offer to be read, and what they ask of the client.

use serde_json::{Value, json};

use super::http::wire::Server;
use super::{Client, accept};
use crate::program::Project;
use crate::run::{Talk, text};

const BEHIND: &str = include_str!("../../conformance/behind.py");

fn project() -> Project {
    let project = Project::new();
    project.file("behind.py", BEHIND);
    project
}

/// The entry of the server, with more of it.
fn given(more: Value) -> String {
    let mut entry = json!({"command": "/usr/bin/python3", "args": ["behind.py"]});
    let all = entry.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    json!({"mcpServers": {"behind": entry}}).to_string()
}

fn start(project: &Project, entry: Value, args: &[&str], capabilities: Value) -> Client {
    let config = given(entry);
    let all = [&["--mcp-config", config.as_str()][..], args].concat();
    Client::start(project, &all, capabilities)
}

fn names(list: &Value) -> Vec<&str> {
    let all = list.as_array().unwrap_or_else(|| panic!("{list}"));
    let name = |one: &'_ Value| one["name"].as_str().map(str::to_owned);
    let names: Vec<String> = all.iter().filter_map(name).collect();
    names.into_iter().map(|name| &*name.leak()).collect()
}

#[test]
fn prompts_are_listed_and_fetched_and_their_words_are_their_servers() {
    let project = project();
    let mut client = start(&project, json!({}), &[], json!({}));
    let listed = client.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(
        names(&listed),
        [
            "test_simple_prompt",
            "test_prompt_with_arguments",
            "test_prompt_with_embedded_resource",
            "test_prompt_with_image",
            "test_input_required_result_prompt"
        ]
    );
    let said = listed[0]["description"].as_str().unwrap();
    assert!(
        said.starts_with("Of the MCP server `behind`, which says of it: A prompt"),
        "{said}"
    );
    assert_eq!(listed[1]["arguments"][0]["required"], true, "{listed}");
    // The name with the server in it always leads there too.
    let filled = json!({"arg1": "one", "arg2": "two"});
    for name in [
        "test_prompt_with_arguments",
        "mcp__behind__test_prompt_with_arguments",
    ] {
        let params = json!({"name": name, "arguments": filled});
        let told = client.ask("prompts/get", params)["result"].clone();
        let message = &told["messages"][0];
        assert_eq!(message["role"], "user", "{told}");
        let words = "Prompt with arguments: arg1='one', arg2='two'";
        assert_eq!(message["content"]["text"], words);
    }
    let params = json!({"name": "test_prompt_with_image"});
    let told = client.ask("prompts/get", params)["result"].clone();
    let picture = &told["messages"][0]["content"];
    assert_eq!(picture["type"], "image", "{told}");
    assert_eq!(picture["mimeType"], "image/png", "{told}");
    for (params, code, word) in [
        (json!({"name": "nothing"}), -32602, "nothing"),
        (
            json!({"name": "test_prompt_with_arguments"}),
            -32602,
            "arg1",
        ),
        (
            json!({"name": "test_simple_prompt", "arguments": {"x": "y"}}),
            -32602,
            "x",
        ),
    ] {
        let answer = client.ask("prompts/get", params);
        assert_eq!(answer["error"]["code"], code, "{answer}");
        let said = answer["error"]["message"].to_string();
        assert!(said.contains(word), "{said}");
    }
    client.close();
    // All of it is in the log.
    project
        .run(&["audit", "show"])
        .exits(0)
        .prints(&["mcp__behind__test_prompt_with_arguments  call"]);
}

#[test]
fn what_can_be_read_is_listed_and_read_by_address_or_template() {
    let project = project();
    let mut client = start(&project, json!({}), &[], json!({}));
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(names(&listed), ["text", "picture", "watched", "folder"]);
    let templates = client.ask("resources/templates/list", json!({}));
    let template = &templates["result"]["resourceTemplates"][0];
    assert_eq!(template["uriTemplate"], "test://template/{id}/data");
    let mut read = |uri: &str| client.ask("resources/read", json!({"uri": uri}));
    let told = read("test://static-text");
    assert_eq!(
        told["result"]["contents"][0]["text"],
        "This text never changes."
    );
    let told = read("test://static-binary");
    assert!(told["result"]["contents"][0]["blob"].is_string(), "{told}");
    let told = read("test://template/7/data").to_string();
    assert!(told.contains("Data for ID: 7"), "{told}");
    for odd in ["test://elsewhere", "test://template/1/2/data", "", "x"] {
        let answer = read(odd);
        assert_eq!(answer["error"]["code"], -32002, "{odd}: {answer}");
    }
    client.close();
}

#[test]
fn what_was_begun_is_completed_by_the_server_that_knows() {
    let project = project();
    let mut client = start(&project, json!({}), &[], json!({}));
    let prompt = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
    let template = json!({"type": "ref/resource", "uri": "test://template/{id}/data"});
    for reference in [prompt, template] {
        let asked = json!({"ref": reference, "argument": {"name": "arg1", "value": "par"}});
        let told = client.ask("completion/complete", asked);
        let values = &told["result"]["completion"]["values"];
        assert_eq!(*values, json!(["paris", "park", "party"]), "{told}");
    }
    let odd = json!({"type": "ref/prompt", "name": "nothing"});
    let asked = json!({"ref": odd, "argument": {"name": "a", "value": ""}});
    let told = client.ask("completion/complete", asked);
    assert_eq!(told["error"]["code"], -32602, "{told}");
    client.close();
}

#[test]
fn rules_hold_for_prompts_and_resources_as_for_tools() {
    let project = project();
    let deny = ["--deny", "mcp__behind"];
    let mut client = start(&project, json!({}), &deny, json!({}));
    assert_eq!(
        client.ask("prompts/list", json!({}))["result"]["prompts"],
        json!([])
    );
    assert_eq!(
        client.ask("resources/list", json!({}))["result"]["resources"],
        json!([])
    );
    for (method, params) in [
        ("prompts/get", json!({"name": "test_simple_prompt"})),
        ("resources/read", json!({"uri": "test://static-text"})),
    ] {
        let answer = client.ask(method, params);
        assert!(answer["error"].is_object(), "{answer}");
    }
    client.close();
    // One whose every request may change something is asked about; without anybody it is no.
    let stateful = json!({"stateful": true});
    let mut client = start(&project, stateful.clone(), &[], json!({}));
    for (method, params) in [
        ("prompts/get", json!({"name": "test_simple_prompt"})),
        ("resources/read", json!({"uri": "test://static-text"})),
    ] {
        let answer = client.ask(method, params);
        let said = answer["error"]["message"].to_string();
        assert!(
            said.contains("elicitation") && said.contains("--allow"),
            "{answer}"
        );
    }
    client.close();
    let mut client = start(&project, stateful, &[], json!({"elicitation": {}}));
    let params = json!({"name": "test_simple_prompt"});
    let (asked, answer) = client.ask_and_answer("prompts/get", params, accept("allow once"));
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("mcp__behind__test_simple_prompt wants"),
        "{message}"
    );
    assert_eq!(answer["messages"][0]["role"], "user", "{answer}");
    client.close();
}

#[test]
fn what_a_server_asks_reaches_the_client_as_the_servers_question() {
    let project = project();
    let allow = ["--allow", "mcp__behind"];
    let form = json!({
        "message": "Your name?\u{202e}",
        "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string", "default": "Ada"},
            "age": {"type": "integer", "default": 36},
            "size": {"type": "string", "enum": ["s", "m"], "default": "m"},
        }},
    });
    let mut client = start(&project, json!({}), &allow, json!({"elicitation": {}}));
    let answer = json!({"action": "accept", "content": {"name": "Eve", "age": 5}});
    let (asked, result) = client.call_and_answer("mcp__behind__ask", form.clone(), answer);
    let params = &asked["params"];
    assert_eq!(
        params["message"],
        "The MCP server `behind` asks: Your name?"
    );
    let fields = &params["requestedSchema"]["properties"];
    assert_eq!(fields["age"]["default"], 36, "{asked}");
    assert_eq!(fields["size"]["enum"], json!(["s", "m"]), "{asked}");
    let told = result["content"][0]["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(told).unwrap();
    assert_eq!(
        told,
        json!({"action": "accept", "content": {"name": "Eve", "age": 5}})
    );
    let decline = json!({"action": "decline"});
    let (_, result) = client.call_and_answer("mcp__behind__ask", form.clone(), decline);
    assert!(result.to_string().contains("decline"), "{result}");
    client.close();
    // A client that cannot ask is not asked.
    let mut client = start(&project, json!({}), &allow, json!({}));
    let result = client.call("mcp__behind__ask", form);
    assert!(result.to_string().contains("cancel"), "{result}");
    client.close();
}

fn written() -> Value {
    json!({"role": "assistant", "content": {"type": "text", "text": "hi there"}, "model": "m"})
}

#[test]
fn a_server_uses_the_clients_model_only_if_its_entry_says_so() {
    let project = project();
    let allow = ["--allow", "mcp__behind"];
    let lends = json!({"sampling": {}});
    let mut client = start(&project, json!({"sampling": true}), &allow, lends.clone());
    let wish = json!({"includeContext": "allServers", "maxTokens": 1_000_000_000});
    let call = json!({"name": "mcp__behind__sample", "arguments": wish});
    let id = client.begin("tools/call", call);
    let asked = client.asked("sampling/createMessage");
    let params = &asked["params"];
    assert_eq!(
        params["messages"][0]["content"]["text"], "say hi",
        "{asked}"
    );
    assert_eq!(params["maxTokens"], 16_384, "{asked}");
    assert_eq!(params.get("includeContext"), None, "{asked}");
    client.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": written()}));
    let result = client.answer_to(id);
    assert!(result.to_string().contains("hi there"), "{result}");
    // Tools of its own it may not bring.
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    let result = client.call("mcp__behind__sample", json!({"tools": [tool]}));
    assert!(result.to_string().contains("tools of its own"), "{result}");
    client.close();

    let mut client = start(&project, json!({}), &allow, lends);
    let result = client.call("mcp__behind__sample", json!({}));
    assert!(result.to_string().contains("to nobody"), "{result}");
    client.close();
    let mut client = start(&project, json!({"sampling": true}), &allow, json!({}));
    let result = client.call("mcp__behind__sample", json!({}));
    assert!(result.to_string().contains("no model to lend"), "{result}");
    client.close();
}

#[test]
fn lists_that_change_behind_us_change_for_the_client() {
    let project = project();
    let allow = ["--allow", "mcp__behind"];
    let mut client = start(&project, json!({}), &allow, json!({}));
    let before = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(!names(&before).contains(&"mcp__behind__grown"));
    let call = json!({"name": "mcp__behind__grow", "arguments": {}});
    client.begin("tools/call", call);
    let mut told = Vec::new();
    while told.len() < 2 {
        let line = client.hear();
        let method = line["method"].as_str().unwrap_or_default().to_owned();
        if method.ends_with("list_changed") {
            told.push(method);
        }
    }
    told.sort();
    assert_eq!(
        told,
        [
            "notifications/prompts/list_changed",
            "notifications/tools/list_changed"
        ]
    );
    let after = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names_now = names(&after);
    assert_eq!(names_now.len(), names(&before).len() + 1, "{names_now:?}");
    assert!(names_now.contains(&"mcp__behind__grown"));
    // What was there stands where it stood.
    assert_eq!(after[0], before[0]);
    let result = client.call("mcp__behind__grown", json!({}));
    assert!(result.to_string().contains("it works"), "{result}");
    let prompts = client.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    assert!(names(&prompts).contains(&"grown"), "{prompts}");
    client.close();
}

#[test]
fn without_sessions_a_prompt_is_asked_about_in_rounds() {
    let project = project();
    let config = given(json!({"stateful": true}));
    let server = Server::start(&project, &["--mcp-config", &config]);
    let can = json!({"elicitation": {}});
    let params = json!({"name": "test_simple_prompt"});
    let first = server.alone("prompts/get", params.clone(), &can).answer();
    let result = &first["result"];
    assert_eq!(result["resultType"], "input_required", "{first}");
    let again = |method: &str, mut params: Value| {
        params["requestState"] = result["requestState"].clone();
        params["inputResponses"] = json!({"permission": accept("allow once")});
        server.alone(method, params, &can).answer()
    };
    // The answer is no answer to a call of a tool, nor to another prompt.
    for (method, params) in [
        (
            "tools/call",
            json!({"name": "mcp__behind__test_simple_prompt"}),
        ),
        ("prompts/get", json!({"name": "test_prompt_with_image"})),
    ] {
        let refused = again(method, params);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let told = again("prompts/get", params);
    let message = &told["result"]["messages"][0]["content"]["text"];
    assert_eq!(*message, "This is a simple prompt for testing.", "{told}");
}

#[test]
fn whoever_listens_without_a_session_hears_of_lists_that_change() {
    let project = project();
    let config = given(json!({}));
    let args = ["--mcp-config", &config, "--allow", "mcp__behind"];
    let server = Server::start(&project, &args);
    let none = json!({});
    let before = server.alone("tools/list", json!({}), &none).answer();
    let kinds = json!({"toolsListChanged": true, "promptsListChanged": true});
    let wanted = json!({"notifications": kinds});
    let mut listening = server.alone("subscriptions/listen", wanted, &none);
    let first = listening.next().unwrap();
    assert_eq!(first["params"]["notifications"], kinds, "{first}");
    let call = json!({"name": "mcp__behind__grow", "arguments": {}});
    server.alone("tools/call", call, &none).answer();
    let mut told: Vec<String> = (0..2)
        .map(|_| listening.next().unwrap()["method"].to_string())
        .collect();
    told.sort();
    assert!(
        told[0].contains("prompts/list_changed") && told[1].contains("tools/list_changed"),
        "{told:?}"
    );
    let after = server.alone("tools/list", json!({}), &none).answer();
    let count = |list: &Value| names(&list["result"]["tools"]).len();
    assert_eq!(count(&after), count(&before) + 1);
}

#[test]
fn who_watches_an_address_hears_of_it() {
    let project = project();
    let allow = ["--allow", "mcp__behind"];
    let mut client = start(&project, json!({}), &allow, json!({}));
    let watched = json!({"uri": "test://watched-resource"});
    let answer = client.ask("resources/subscribe", watched.clone());
    assert_eq!(answer["result"], json!({}), "{answer}");
    let odd = client.ask("resources/subscribe", json!({"uri": "test://nothing"}));
    assert_eq!(odd["error"]["code"], -32602, "{odd}");
    let touch = json!({"name": "mcp__behind__touch", "arguments": {}});
    let id = client.begin("tools/call", touch);
    // The word about it may come before the result, or after it.
    let (mut told, mut ended) = (Value::Null, false);
    while told.is_null() || !ended {
        let line = client.hear();
        ended |= line["id"] == id;
        if line["method"] == "notifications/resources/updated" {
            told = line["params"]["uri"].clone();
        }
    }
    assert_eq!(told, "test://watched-resource");
    client.ask("resources/unsubscribe", watched);
    // The server is told a moment later.
    loop {
        let said = client.call("mcp__behind__touch", json!({})).to_string();
        if said.contains("0 watched") {
            break;
        }
    }
    client.close();
    let server = Server::start(
        &project,
        &["--mcp-config", &given(json!({})), allow[0], allow[1]],
    );
    let wanted = json!({"notifications": {"resourceSubscriptions": ["test://watched-resource"]}});
    let mut listening = server.alone("subscriptions/listen", wanted, &json!({}));
    listening.next().unwrap();
    // Whether it is watched yet is not told.
    let touch = json!({"name": "mcp__behind__touch", "arguments": {}});
    while !server
        .alone("tools/call", touch.clone(), &json!({}))
        .answer()
        .to_string()
        .contains("1 watched")
    {}
    let told = listening.next().unwrap();
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], "test://watched-resource", "{told}");
}

#[test]
fn tools_of_servers_can_have_their_own_names_and_rules_have_the_whole() {
    let project = project();
    let can = json!({"elicitation": {}});
    let mut client = start(&project, json!({}), &["--plain-names"], can);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names = names(&listed);
    assert!(
        names.contains(&"grow") && names.contains(&"Read"),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.starts_with("mcp__")));
    let (asked, result) = client.call_and_answer("grow", json!({}), accept("allow once"));
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("mcp__behind__grow wants"), "{message}");
    assert!(result.to_string().contains("grown"), "{result}");
    client.close();
    let deny = ["--plain-names", "--deny", "mcp__behind__grow"];
    let mut client = start(&project, json!({}), &deny, json!({}));
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(!self::names(&listed).contains(&"grow"));
    let answer = client.ask("tools/call", json!({"name": "grow", "arguments": {}}));
    assert!(answer["error"].is_object(), "{answer}");
    client.close();
}

#[test]
fn a_question_that_nobody_answers_holds_nobody_up() {
    let project = project();
    let config = given(json!({}));
    let args = ["--mcp-config", &config, "--allow", "mcp__behind"];
    let server = Server::start(&project, &args);
    let can = json!({"elicitation": {}});
    let call = |params: Value| server.alone("tools/call", params, &can).answer();
    let form = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let ask = json!({"name": "mcp__behind__ask", "arguments": {
        "message": "a?", "requestedSchema": form,
    }});
    let left = call(ask.clone());
    assert_eq!(left["result"]["resultType"], "input_required", "{left}");
    // Neither of these may run beside another.
    let other = call(json!({"name": "mcp__behind__touch", "arguments": {}}));
    assert!(other.to_string().contains("0 watched"), "{other}");
    let mut again = ask;
    again["requestState"] = left["result"]["requestState"].clone();
    let answer = json!({"action": "accept", "content": {"a": "b"}});
    again["inputResponses"] = json!({"mcp__behind__question": answer});
    let told = call(again).to_string();
    assert!(
        told.contains("accept") && told.contains("\\\"b\\\""),
        "{told}"
    );
}

#[test]
fn what_a_client_reads_comes_from_a_server_in_its_own_folders() {
    let project = project();
    project.file("a/x.txt", "x");
    let script = project.root().join("behind.py").display().to_string();
    let config = given(json!({"args": [script]}));
    let server = Server::start(&project, &["--mcp-config", &config, "--client-roots"]);
    let read = json!({"uri": "test://folder"});
    let with_roots = |folder: &str| {
        let can = json!({"roots": {}});
        let asked = server.alone("resources/read", read.clone(), &can).answer();
        let uri = format!("file://{}", project.root().join(folder).display());
        let mut again = read.clone();
        again["requestState"] = asked["result"]["requestState"].clone();
        again["inputResponses"] = json!({"roots": {"roots": [{"uri": uri}]}});
        server.alone("resources/read", again, &can).answer()
    };
    let told = with_roots("a");
    let folder = told["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(folder, project.root().join("a").display().to_string());
    // One whose folders lie elsewhere gets nothing, and spoils nothing for the others.
    let told = with_roots("../../../usr").to_string();
    assert!(told.contains("none of the client's folders"), "{told}");
    let listed = server.alone("prompts/list", json!({}), &json!({})).answer();
    assert!(listed["result"]["prompts"].is_array(), "{listed}");
    let told = server.alone("resources/read", read, &json!({})).answer();
    let folder = told["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(folder, project.root().display().to_string());
}

#[test]
fn prompts_are_skills_for_a_model_and_for_a_person() {
    let project = project();
    let config = given(json!({}));
    let args = ["--mcp-config", config.as_str()];
    let listed = project.run(&[&args[..], &["call", "Skill"]].concat());
    listed.exits(0).prints(&[
        "mcp__behind__test_prompt_with_arguments (arg1, arg2) of the MCP server `behind`, which says",
    ]);
    let input = r#"{"skill": "mcp__behind__test_prompt_with_arguments", "arguments": {"arg1": "1", "arg2": "2"}}"#;
    let load = ["call", "Skill", input];
    project
        .run(&[&args[..], &load].concat())
        .exits(1)
        .complains(&["--allow 'Skill("]);
    let allow = ["--allow", "Skill(mcp__behind__test_prompt_with_arguments)"];
    project
        .run(&[&args[..], &allow, &load].concat())
        .exits(0)
        .prints(&["Prompt with arguments: arg1='1', arg2='2'"]);
    for (input, word) in [
        (r#"{"skill": "mcp__behind__nothing"}"#, "there is no skill"),
        (r#"{"skill": "mcp__other__x"}"#, "there is no skill"),
        (
            r#"{"skill": "mcp__behind__test_prompt_with_arguments"}"#,
            "needs the argument `arg1`; it takes arg1, arg2",
        ),
        (
            r#"{"skill": "mcp__behind__test_simple_prompt", "arguments": {"x": "1"}}"#,
            "no argument `x`; it takes none",
        ),
    ] {
        let all = [&args[..], &["--allow", "Skill"], &["call", "Skill", input]].concat();
        project.run(&all).exits(1).complains(&[word]);
    }
    // A rule that closes the server closes its skills.
    let closed = [&args[..], &["--allow", "Skill", "--deny", "mcp__behind"]].concat();
    let input = r#"{"skill": "mcp__behind__test_simple_prompt"}"#;
    project
        .run(&[&closed[..], &["call", "Skill", input]].concat())
        .exits(1)
        .complains(&["there is no skill"]);
    project
        .run(&[&closed[..], &["call", "Skill"]].concat())
        .exits(0)
        .prints(&["No MCP server offers a skill"]);
}

#[test]
fn an_agent_lends_its_model_over_lines() {
    let project = project();
    let config = given(json!({"sampling": true}));
    let args = ["--mcp-config", &config, "--allow", "mcp__behind"];
    let mut talk = Talk::start(&project, &[&args[..], &["--sampling"]].concat());
    talk.use_tool("t1", "mcp__behind__sample", json!({}));
    let asked = talk.until("sampling_request");
    assert_eq!(asked["server"], "behind", "{asked}");
    assert_eq!(asked["tool_use_id"], "t1", "{asked}");
    assert_eq!(asked["params"]["maxTokens"], 100, "{asked}");
    let id = asked["request_id"].clone();
    // What is neither leaves the question open.
    let neither = json!({"type": "sampling_response", "request_id": id});
    talk.say(neither);
    assert!(
        talk.until("error")["message"]
            .to_string()
            .contains("either")
    );
    talk.say(json!({"type": "sampling_response", "request_id": id, "result": written()}));
    let results = talk.end_turn();
    assert!(text(&results[0]).contains("hi there"), "{results:?}");
    talk.use_tool("t2", "mcp__behind__sample", json!({}));
    let asked = talk.until("sampling_request");
    let no = json!({"type": "sampling_response", "request_id": asked["request_id"], "error": "too dear"});
    talk.say(no);
    let results = talk.end_turn();
    assert!(text(&results[0]).contains("too dear"), "{results:?}");
    talk.close();
    // Whoever does not say so has no model.
    let mut talk = Talk::start(&project, &args);
    let said = talk.call("mcp__behind__sample", json!({}));
    assert!(text(&said).contains("to nobody"), "{said}");
    talk.close();
}
