#!/usr/bin/env python3
"""An MCP server that stands behind `toolbay mcp serve`: prompts, resources, templates, completion,
and tools that ask the client for something. It speaks 2025-11-25 on standard input and output.

The conformance suite asks for these prompts and addresses by name; the integration tests use the
tools as well.
"""

import base64
import itertools
import json
import os
import queue
import sys
import threading

# One red pixel.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
OBJECT = {"type": "object"}
PROMPT = {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}

# Fields with something in them already.
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {
        "type": "string",
        "enum": ["active", "inactive", "pending"],
        "default": "active",
    },
    "verified": {"type": "boolean", "default": True},
}
# Every way to write down a choice.
WORDS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{at}", "title": f"Option {at}"} for at in (1, 2, 3)]
CHOICES = {
    "untitledSingle": {"type": "string", "enum": WORDS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": WORDS, "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": WORDS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}

tools = [
    {"name": "ask", "description": "Asks the person what the form says.", "inputSchema": OBJECT},
    {"name": "sample", "description": "Has the model write something.", "inputSchema": OBJECT},
    {"name": "grow", "description": "Adds a tool and a prompt.", "inputSchema": OBJECT},
    {"name": "touch", "description": "Tells who watches.", "inputSchema": OBJECT},
    # By these names the conformance suite calls what only a server behind ours can do.
    {"name": "test_sampling", "description": "Asks the model.", "inputSchema": PROMPT},
    {"name": "test_elicitation_sep1034_defaults", "description": "A form.", "inputSchema": OBJECT},
    {"name": "test_elicitation_sep1330_enums", "description": "A form.", "inputSchema": OBJECT},
    {"name": "test_trigger_tool_change", "description": "Another list.", "inputSchema": OBJECT},
    {"name": "test_trigger_prompt_change", "description": "Another list.", "inputSchema": OBJECT},
    {
        "name": "test_input_required_result_sampling",
        "description": "Asks the model.",
        "inputSchema": OBJECT,
    },
    {
        "name": "test_input_required_result_capabilities",
        "description": "Asks the person, and the model if nobody can be asked.",
        "inputSchema": OBJECT,
    },
]
prompts = [
    {"name": "test_simple_prompt", "description": "A prompt without anything to fill in."},
    {
        "name": "test_prompt_with_arguments",
        "description": "A prompt with two things to fill in.",
        "arguments": [
            {"name": "arg1", "description": "The first", "required": True},
            {"name": "arg2", "description": "The second", "required": True},
        ],
    },
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "A prompt that carries something to read.",
        "arguments": [{"name": "resourceUri", "description": "Its address", "required": True}],
    },
    {"name": "test_prompt_with_image", "description": "A prompt with a picture."},
    {"name": "test_input_required_result_prompt", "description": "A prompt that asks."},
]
resources = [
    {
        "uri": "test://static-text",
        "name": "text",
        "description": "A text",
        "mimeType": "text/plain",
    },
    {
        "uri": "test://static-binary",
        "name": "picture",
        "description": "A picture",
        "mimeType": "image/png",
    },
    {
        "uri": "test://watched-resource",
        "name": "watched",
        "description": "A text that may change",
        "mimeType": "text/plain",
    },
    {"uri": "test://folder", "name": "folder", "description": "Where this server works"},
]
templates = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "data",
        "description": "Data by its id",
        "mimeType": "application/json",
    }
]
numbers = itertools.count(1)
answers = {}
speaking = threading.Lock()
watched = set()


class Wrong(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def send(message):
    with speaking:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask_client(method, params):
    mine = f"behind-{next(numbers)}"
    answers[mine] = queue.Queue()
    send({"id": mine, "method": method, "params": params})
    message = answers[mine].get()
    return message.get("result") or {"error": message["error"]}


def text(words):
    return {"type": "text", "text": words}


def user(content):
    return {"role": "user", "content": content}


def read(uri):
    if uri == "test://static-text":
        return {"uri": uri, "mimeType": "text/plain", "text": "This text never changes."}
    if uri == "test://watched-resource":
        return {"uri": uri, "mimeType": "text/plain", "text": "This text may change."}
    if uri == "test://folder":
        return {"uri": uri, "text": os.getcwd()}
    if uri == "test://static-binary":
        return {"uri": uri, "mimeType": "image/png", "blob": PICTURE}
    if uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.split("/")[3]
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        return {"uri": uri, "mimeType": "application/json", "text": json.dumps(data)}
    raise Wrong(-32002, "nothing stands there")


def get_prompt(name, given):
    if name == "test_simple_prompt":
        return [user(text("This is a simple prompt for testing."))]
    if name == "test_prompt_with_arguments":
        words = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
        return [user(text(words))]
    if name == "test_prompt_with_embedded_resource":
        carried = {"uri": given["resourceUri"], "mimeType": "text/plain", "text": "Carried along."}
        both = {"type": "resource", "resource": carried}
        return [user(both), user(text("Please work with what is above."))]
    if name == "test_prompt_with_image":
        picture = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
        return [user(picture), user(text("Please look at the picture."))]
    if name == "test_input_required_result_prompt":
        return [user(text(elicited("What is it about?", {"context": {"type": "string"}})))]
    if name == "grown":
        return [user(text("grown")), {"role": "assistant", "content": text("indeed")}]
    raise Wrong(-32602, "there is no such prompt")


def call(name, given):
    if name == "ask":
        answer = ask_client("elicitation/create", given)
        return json.dumps(answer)
    if name == "sample":
        wish = {"messages": [user(text("say hi"))], "maxTokens": 100, **given}
        return json.dumps([ask_client("sampling/createMessage", wish)])
    if name == "grow":
        if all(tool["name"] != "grown" for tool in tools):
            tools.append({"name": "grown", "description": "Was not there.", "inputSchema": OBJECT})
            prompts.append({"name": "grown", "description": "Was not there."})
        send({"method": "notifications/tools/list_changed"})
        send({"method": "notifications/prompts/list_changed"})
        return "grown"
    if name == "grown":
        return "it works"
    if name == "touch":
        for uri in sorted(watched):
            send({"method": "notifications/resources/updated", "params": {"uri": uri}})
        return f"{len(watched)} watched"
    if name == "test_sampling":
        wish = {"messages": [user(text(given["prompt"]))], "maxTokens": 100}
        written = ask_client("sampling/createMessage", wish)
        return f"LLM response: {written['content']['text']}"
    if name == "test_input_required_result_sampling":
        wish = {"messages": [user(text("What is the capital of France?"))], "maxTokens": 100}
        written = ask_client("sampling/createMessage", wish)
        return f"The model says: {written['content']['text']}"
    if name == "test_input_required_result_capabilities":
        said = elicited("Who are you?", {"name": {"type": "string"}})
        return said if "accept" in said else call("test_input_required_result_sampling", given)
    if name == "test_elicitation_sep1034_defaults":
        return elicited("Please look at the defaults.", DEFAULTS)
    if name == "test_elicitation_sep1330_enums":
        return elicited("Please choose.", CHOICES)
    if name == "test_trigger_tool_change":
        at = len(tools)
        tools.append({"name": f"more_{at}", "description": "More.", "inputSchema": OBJECT})
        send({"method": "notifications/tools/list_changed"})
        return "another list"
    if name == "test_trigger_prompt_change":
        prompts.append({"name": f"more_{len(prompts)}", "description": "More."})
        send({"method": "notifications/prompts/list_changed"})
        return "another list"
    raise Wrong(-32602, "there is no such tool")


def elicited(message, fields):
    form = {"type": "object", "properties": fields, "required": []}
    answer = ask_client("elicitation/create", {"message": message, "requestedSchema": form})
    said = json.dumps(answer.get("content"))
    return f"Elicitation completed: action={answer.get('action')}, content={said}"


def complete(params):
    begun = params["argument"]["value"]
    values = [word for word in ["paris", "park", "party"] if word.startswith(begun)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def answer(method, params):
    if method == "initialize":
        changing = {"listChanged": True}
        able = {"tools": changing, "prompts": changing, "completions": {}}
        able["resources"] = {"listChanged": True, "subscribe": True}
        us = {"name": "behind", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": us}
    if method == "tools/list":
        return {"tools": tools}
    if method == "tools/call":
        return {"content": [text(call(params["name"], params.get("arguments") or {}))]}
    if method == "prompts/list":
        return {"prompts": prompts}
    if method == "prompts/get":
        messages = get_prompt(params["name"], params.get("arguments") or {})
        return {"description": "behind", "messages": messages}
    if method == "resources/list":
        return {"resources": resources}
    if method == "resources/templates/list":
        return {"resourceTemplates": templates}
    if method == "resources/read":
        return {"contents": [read(params["uri"])]}
    if method == "resources/subscribe":
        watched.add(params["uri"])
        return {}
    if method == "resources/unsubscribe":
        watched.discard(params["uri"])
        return {}
    if method == "completion/complete":
        return complete(params)
    if method == "ping":
        return {}
    raise Wrong(-32601, "no such method")


def handle(message):
    if "id" not in message:
        return
    if "method" not in message:
        answers[message["id"]].put(message)
        return
    # Some wait for an answer of the client, and some for one that never comes.
    threading.Thread(target=respond, args=[message], daemon=True).start()


def respond(message):
    try:
        result = answer(message["method"], message.get("params") or {})
        send({"id": message["id"], "result": result})
    except Wrong as wrong:
        error = {"code": wrong.code, "message": str(wrong)}
        send({"id": message["id"], "error": error})
    except (KeyError, TypeError) as wrong:
        error = {"code": -32602, "message": f"the parameters lack something: {wrong}"}
        send({"id": message["id"], "error": error})


if __name__ == "__main__":
    assert base64.b64decode(PICTURE).startswith(b"\x89PNG")
    for line in sys.stdin:
        if line.strip():
            handle(json.loads(line))
