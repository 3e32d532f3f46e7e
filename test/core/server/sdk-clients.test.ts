import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { type OpenEndpoint, openEndpoint } from '../../support/open-endpoint.ts';

const INFO = { name: 'test-client', version: '1.0.0' };

async function connectV2(open: OpenEndpoint, mode: 'auto' | 'legacy' | { pin: string }, elicitation = false) {
  const client = new ClientV2(INFO, {
    versionNegotiation: { mode },
    capabilities: elicitation ? { elicitation: {} } : {},
  });
  if (elicitation) {
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Ada' } }));
  }
  await client.connect(new TransportV2(new URL(open.url)));
  return client;
}

describe('an SDK client of the second generation', () => {
  it('negotiates the stateless revision by itself and opens no session', async () => {
    await using open = await openEndpoint();
    const client = await connectV2(open, 'auto');
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(client.getServerVersion()?.name).toBe('fake-gateway');
    expect(client.getInstructions()).toBe('Be kind.');
    expect(open.endpoint.counts().sessions).toBe(0);
    await client.close();
  });

  for (const mode of ['auto', 'legacy'] as const) {
    it(`lists and calls in ${mode} mode`, async () => {
      await using open = await openEndpoint();
      const client = await connectV2(open, mode);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
      const result = await client.callTool({ name: 'echo', arguments: { deep: [{ a: 1 }], ümlaut: 'ß' } });
      expect(result.structuredContent).toEqual({ deep: [{ a: 1 }], ümlaut: 'ß' });
      expect((await client.readResource({ uri: 'test://a' })).contents).toEqual([{ uri: 'test://a', text: 'here' }]);
      expect((await client.listPrompts()).prompts).toEqual([]);
      await client.close();
    });

    it(`gets progress in ${mode} mode`, async () => {
      await using open = await openEndpoint();
      const client = await connectV2(open, mode);
      const seen: number[] = [];
      await client.callTool({ name: 'progress' }, { onprogress: ({ progress }) => void seen.push(progress) });
      expect(seen).toEqual([1, 2, 3]);
      await client.close();
    });
  }

  it('falls back to initialize when the stateless revision is switched off', async () => {
    await using open = await openEndpoint();
    open.service.eras = ['2025-11-25'];
    const client = await connectV2(open, 'auto');
    expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
  });

  it('answers an elicitation in legacy mode', async () => {
    await using open = await openEndpoint();
    const client = await connectV2(open, 'legacy', true);
    const result = await client.callTool({ name: 'elicit' });
    expect(JSON.stringify(result.content)).toContain('Ada');
    await client.close();
  });

  it('listens for changed lists in the stateless revision', async () => {
    await using open = await openEndpoint();
    const client = await connectV2(open, 'auto');
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
    });
    const subscription = await client.listen({ toolsListChanged: true, promptsListChanged: true });
    expect(subscription.honoredFilter).toEqual({ toolsListChanged: true });
    open.service.changeLists({ capabilityClass: '', kinds: ['tools'] });
    await changed;
    await subscription.close();
    await client.close();
  });
});

describe('an SDK client of the first generation', () => {
  it('initializes, lists, calls, answers an elicitation and ends its session', async () => {
    await using open = await openEndpoint();
    const client = new ClientV1(INFO, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Bo' } }));
    const transport = new TransportV1(new URL(open.url));
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('elicit');
    expect(JSON.stringify((await client.callTool({ name: 'elicit' })).content)).toContain('Bo');
    const seen: number[] = [];
    await client.callTool({ name: 'progress' }, undefined, { onprogress: ({ progress }) => void seen.push(progress) });
    expect(seen).toEqual([1, 2, 3]);
    await client.ping();
    await transport.terminateSession();
    expect(open.ended.map(({ reason }) => reason)).toEqual(['deleted']);
    expect(open.service.released).toHaveLength(1);
    await client.close();
  });
});
