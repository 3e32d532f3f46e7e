"""A server of Python's own package. Usage: server.py stdio | server.py streamable-http PORT"""

import asyncio
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("python-server", instructions="Made in Python.")
left: list[str] = []


class Person(BaseModel):
    name: str


@server.tool()
def py_echo(message: str) -> str:
    return f"python: {message}"


@server.tool()
async def py_progress(ctx: Context) -> str:
    for step in (1, 2):
        await ctx.report_progress(step, 2)
    return "done"


@server.tool()
async def py_wait() -> str:
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        left.append("cancelled")
        raise
    return "waited"


@server.tool()
def py_left() -> str:
    return ",".join(left)


def who() -> Elicit[Person]:
    return Elicit("Who are you?", Person)


@server.tool()
def py_greet(person: Annotated[Person, Resolve(who)]) -> str:
    return f"hello {person.name}"


@server.resource("py://note", mime_type="text/plain")
def note() -> str:
    return "a note from Python"


@server.prompt()
def py_prompt(topic: str) -> str:
    return f"Think about {topic}"


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
