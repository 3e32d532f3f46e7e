// What every embed example does at an endpoint: a client of each era lists the tools and calls one.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Throws AssertionError when a client of either protocol revision cannot list and call at the URL. */
export async function listAndCall(story: string, url: string): Promise<void> {
  const { pathname } = new URL(url);
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'story', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const { tools } = await client.listTools();
    assert.ok(
      tools.some(({ name }) => name === 'read_graph'),
      `${pathname} lists the tools of the memory server`,
    );
    const answer = await client.callTool({ name: 'read_graph', arguments: {} });
    assert.notEqual(answer.isError, true, `${pathname} calls one of them`);
    console.log(
      `${story}: a ${client.getProtocolEra()} client listed ${tools.length} tools at ${pathname} and called one`,
    );
    await client.close();
  }
}
