"""The official Python client against our server: every transport, both manners of the protocol.

Started by run.py, which says in GIVEN where the server is and what it must offer.
"""

import asyncio
import json
import os

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.types import ElicitResult

GIVEN = json.loads(os.environ["GIVEN"])


async def answer(context, params):
    """Whoever asks gets a yes, to permissions and to questions alike."""
    if "answer" in params.requested_schema["properties"]:
        return ElicitResult(action="accept", content={"answer": "allow once"})
    fields = params.requested_schema["properties"]
    return ElicitResult(action="accept", content={name: "Ada" for name in fields})


async def check(where, transport, mode):
    progress = []

    async def heard(done, total, message):
        progress.append((done, total))

    async with Client(transport, mode=mode, elicitation_callback=answer) as client:
        version = client.protocol_version
        wanted = "2025-11-25" if mode == "legacy" else "2026-07-28"
        assert version == wanted, (where, version)
        listed = {tool.name for tool in (await client.list_tools()).tools}
        offered = GIVEN["offered"]
        missing = {*GIVEN["names"], *offered["tools"]} - listed
        assert not missing, (where, missing)
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert set(offered["prompts"]) <= prompts, (where, prompts)
        resources = {str(one.uri) for one in (await client.list_resources()).resources}
        assert set(offered["resources"]) <= resources, (where, resources)
        templates = (await client.list_resource_templates()).resource_templates
        templates = {template.uri_template for template in templates}
        assert set(offered["templates"]) <= templates, (where, templates)
        told = await client.get_prompt("test_simple_prompt")
        assert "simple prompt" in told.messages[0].content.text, (where, told)

        result = await client.call_tool("Read", {"file_path": "hello.txt"})
        assert "hello from a file" in result.content[0].text, (where, result)
        result = await client.call_tool("test_tool_with_progress", {}, progress_callback=heard)
        assert [done for done, _ in progress] == [0, 50, 100], (where, progress)
        result = await client.call_tool("test_error_handling", {})
        assert result.is_error and "intentionally" in result.content[0].text, (where, result)

        # A question in the middle of a call, and a permission.
        result = await client.call_tool("test_elicitation", {"message": "Who are you?"})
        assert not result.is_error and "Ada" in result.content[0].text, (where, result)
        name = f"{mode}-{where}.txt"
        result = await client.call_tool("Write", {"file_path": name, "content": "written"})
        assert not result.is_error, (where, result)
        with open(name, encoding="utf-8") as file:
            assert file.read() == "written", where
        os.remove(name)

        # A result that is too long can be read in full.
        result = await client.call_tool("Bash", {"command": "seq 1 50000"})
        link = result.content[-1]
        assert link.type == "resource_link", (where, result)
        found = [resource.uri for resource in (await client.list_resources()).resources]
        assert link.uri in found, (where, found)
        read = await client.read_resource(link.uri)
        assert "\n49999\n50000" in read.contents[0].text, where
    print(f"Python client over {where}: {version}, {len(listed)} tools")


async def main():
    token = GIVEN.get("token")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for mode in ["legacy", "auto"]:
        http = create_mcp_http_client(headers=headers)
        await check("HTTP", streamable_http_client(GIVEN["url"], http_client=http), mode)
        if token:
            command, *arguments = GIVEN["command"]
            stdio = StdioServerParameters(
                command=command, args=arguments, env=dict(os.environ), cwd=os.getcwd()
            )
            await check("stdio", stdio, mode)


asyncio.run(main())
