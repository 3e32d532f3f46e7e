"""Goes through a gateway with Python's own client and prints what it found as one JSON object.

Usage: client.py URL MODE, where MODE is legacy, auto or a version.
"""

import asyncio
import json
import sys

import anyio
from mcp import Client
from mcp.types import ElicitResult


async def elicit(_context, params) -> ElicitResult:
    wanted = params.requested_schema["properties"]
    return ElicitResult(action="accept", content={name: "Ada" for name in wanted if name == "name"})


async def main(url: str, mode: str) -> dict:
    found: dict = {}
    async with Client(url, mode=mode, elicitation_callback=elicit) as client:
        found["version"] = client.protocol_version
        found["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        found["echo"] = text_of(await client.call_tool("echo", {"message": "hi"}))

        progress: list[float] = []

        async def on_progress(done: float, _total, _message) -> None:
            progress.append(done)

        slow = {"duration": 0.2, "steps": 2}
        await client.call_tool("trigger-long-running-operation", slow, progress_callback=on_progress)
        found["progress"] = progress
        with anyio.move_on_after(1) as scope:
            await client.call_tool("trigger-long-running-operation", {"duration": 30, "steps": 1})
        found["cancelled"] = scope.cancelled_caught
        found["after"] = text_of(await client.call_tool("echo", {"message": "still here"}))
        found["elicited"] = text_of(await client.call_tool("test_input_required_result_elicitation", {}))
        found["elicitedLegacy"] = text_of(await client.call_tool("trigger-elicitation-request", {}))
        found["resources"] = [str(item.uri) for item in (await client.list_resources()).resources]
        found["read"] = (await client.read_resource("test://static-text")).contents[0].text
        found["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("args-prompt", {"city": "Rome"})
        found["prompt"] = prompt.messages[0].content.text
    return found


def text_of(result) -> str:
    return result.content[0].text


print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2]))))
