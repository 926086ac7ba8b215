#!/usr/bin/env python3
"""An MCP server that stands behind `toolbay mcp serve`: prompts, resources, templates, completion,
and tools that ask the client for something. It speaks 2025-11-25 on standard input and output.

The conformance suite asks for these prompts and addresses by name; the integration tests use the
tools as well.
"""

import base64
import json
import sys

# One red pixel.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
OBJECT = {"type": "object"}

tools = [
    {"name": "ask", "description": "Asks the person what the form says.", "inputSchema": OBJECT},
    {"name": "sample", "description": "Has the model write something.", "inputSchema": OBJECT},
    {"name": "grow", "description": "Adds a tool and a prompt.", "inputSchema": OBJECT},
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
]
templates = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "data",
        "description": "Data by its id",
        "mimeType": "application/json",
    }
]
next_id = 0


class Wrong(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def ask_client(method, params):
    """Asks, and answers whatever else comes until the answer is there."""
    global next_id
    next_id += 1
    mine = f"behind-{next_id}"
    send({"id": mine, "method": method, "params": params})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == mine and "method" not in message:
            return message.get("result") or {"error": message["error"]}
        handle(message)
    sys.exit(0)


def text(words):
    return {"type": "text", "text": words}


def user(content):
    return {"role": "user", "content": content}


def read(uri):
    if uri == "test://static-text":
        return {"uri": uri, "mimeType": "text/plain", "text": "This text never changes."}
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
        if len(tools) == 3:
            tools.append({"name": "grown", "description": "Was not there.", "inputSchema": OBJECT})
            prompts.append({"name": "grown", "description": "Was not there."})
        send({"method": "notifications/tools/list_changed"})
        send({"method": "notifications/prompts/list_changed"})
        return "grown"
    if name == "grown":
        return "it works"
    raise Wrong(-32602, "there is no such tool")


def complete(params):
    begun = params["argument"]["value"]
    values = [word for word in ["paris", "park", "party"] if word.startswith(begun)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def answer(method, params):
    if method == "initialize":
        changing = {"listChanged": True}
        able = {"tools": changing, "prompts": changing, "resources": changing, "completions": {}}
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
    if method == "completion/complete":
        return complete(params)
    if method == "ping":
        return {}
    raise Wrong(-32601, "no such method")


def handle(message):
    if "method" not in message or "id" not in message:
        return
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
