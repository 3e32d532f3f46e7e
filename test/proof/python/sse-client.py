"""Goes through an endpoint over HTTP+SSE with the client of the mcp 1.x package and prints what it found as one JSON object.

Usage: sse-client.py URL
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession
from mcp.client.sse import sse_client


async def main(url: str) -> None:
    async with sse_client(url) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        result = await session.call_tool("echo", {"message": "hi"})
        found = {
            "version": hello.protocolVersion,
            "tools": [tool.name for tool in (await session.list_tools()).tools],
            "echo": result.content[0].text,
        }
        print(json.dumps(found), flush=True)
        os._exit(0)  # this client fails when a notification arrives while it closes


asyncio.run(main(sys.argv[1]))
