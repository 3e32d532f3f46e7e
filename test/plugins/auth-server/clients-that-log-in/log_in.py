"""Logs in at an MCP server with the Python SDK, 1.x or 2.x, and calls tools.

Arguments: URL of the server, redirect URI, URL of the client's metadata document or "-", names of tools.
Prints `OPEN URL` when a browser is needed, reads the URL of the redirect from stdin, and prints one JSON line:
the client id, the names of all tools, and the text that each tool answered.
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlparse

from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

try:
    from mcp.shared.auth import AuthorizationCodeResult
except ImportError:
    AuthorizationCodeResult = None

URL, REDIRECT, DOCUMENT, *TOOLS = sys.argv[1:]


class Memory(TokenStorage):
    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens) -> None:
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info) -> None:
        self.client = client_info


async def open_browser(url: str) -> None:
    print("OPEN", url, flush=True)


async def callback():
    line = await asyncio.to_thread(sys.stdin.readline)
    query = {name: values[0] for name, values in parse_qs(urlparse(line.strip()).query).items()}
    if AuthorizationCodeResult is None:
        return query["code"], query.get("state")
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def main() -> None:
    memory = Memory()
    auth = OAuthClientProvider(
        server_url=URL,
        client_metadata=OAuthClientMetadata(client_name="Client of a test", redirect_uris=[REDIRECT]),
        storage=memory,
        redirect_handler=open_browser,
        callback_handler=callback,
        client_metadata_url=None if DOCUMENT == "-" else DOCUMENT,
    )
    texts, names = await with_version_2(auth) if AuthorizationCodeResult else await with_version_1(auth)
    client = memory.client.client_id if memory.client else None
    has_refresh = memory.tokens is not None and memory.tokens.refresh_token is not None
    print(json.dumps({"client": client, "hasRefresh": has_refresh, "tools": names, "texts": texts}), flush=True)


async def with_version_1(auth):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(URL, auth=auth) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        return await called(session)


async def with_version_2(auth):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        async with Client(streamable_http_client(URL, http_client=http)) as client:
            return await called(client)


async def called(session):
    names = [tool.name for tool in (await session.list_tools()).tools]
    return [(await session.call_tool(name, {})).content[0].text for name in TOOLS], names


asyncio.run(main())
