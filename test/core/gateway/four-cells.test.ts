import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Era } from '@toolmgr/core';
import { type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';
import { fixture, published, stdioBackend } from '../backend/support.ts';

const INFO = { name: 'cell', version: '1.0.0' };
const ACCEPT = { action: 'accept' as const, content: { ok: true } };

/** What a test does with a client of either SDK. */
interface AnyClient {
  names(): Promise<string[]>;
  /** The text of a tool's first content block, and the progress that came before. */
  call(name: string, given: Record<string, unknown>): Promise<{ text: unknown; progress: number[] }>;
  close(): Promise<void>;
}

async function legacyClient(url: URL): Promise<AnyClient> {
  const client = new ClientV1(INFO, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ACCEPT);
  await client.connect(new TransportV1(url) as Parameters<typeof client.connect>[0]);
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, given) {
      const progress: number[] = [];
      const onprogress = (told: { progress: number }) => void progress.push(told.progress);
      const result = await client.callTool({ name, arguments: given }, undefined, { onprogress });
      return { text: (result.content as { text?: string }[])[0]?.text, progress };
    },
    close: () => client.close(),
  };
}

async function modernClient(url: URL): Promise<AnyClient> {
  const versionNegotiation = { mode: { pin: '2026-07-28' } } as const;
  const client = new ClientV2(INFO, { versionNegotiation, capabilities: { elicitation: {} } });
  client.setRequestHandler('elicitation/create', async () => ACCEPT);
  await client.connect(new TransportV2(url));
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, given) {
      const progress: number[] = [];
      const onprogress = (told: { progress: number }) => void progress.push(told.progress);
      const result = await client.callTool({ name, arguments: given }, { onprogress });
      return { text: (result.content as { text?: string }[])[0]?.text, progress };
    },
    close: () => client.close(),
  };
}

const CLIENTS: Readonly<Record<Era, (url: URL) => Promise<AnyClient>>> = {
  '2025-11-25': legacyClient,
  '2026-07-28': modernClient,
};

describe('real clients and real servers', () => {
  let kit: TestGateway;
  let url: URL;
  const server = createServer((request, response) => kit.gateway.handle(request, response));
  beforeAll(async () => {
    const plan = { plugins: [{ use: 'aggregation', with: {} }], limits: { discoveryMs: 20_000 } };
    const backends = {
      everything: stdioBackend('everything', published('everything')),
      dual: stdioBackend('dual', fixture('dual-server.ts'), [], { era: 'modern' }),
    };
    kit = await testGateway({ catalogue, plan, backends });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  });
  afterAll(async () => {
    await kit[Symbol.asyncDispose]();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  for (const era of ['2025-11-25', '2026-07-28'] as const) {
    proves('ask.backend.four-cells', `meet when the client speaks ${era}`, async () => {
      const eras = kit.gateway.backends().map(({ backend, era: spoken }) => [backend.name, spoken]);
      expect(eras).toEqual([
        ['dual', '2026-07-28'],
        ['everything', '2025-11-25'],
      ]);
      const client = await CLIENTS[era](url);
      expect(await client.names()).toEqual(expect.arrayContaining(['dual_echo', 'everything_echo']));
      expect((await client.call('everything_echo', { message: 'hi' })).text).toBe('Echo: hi');
      expect((await client.call('dual_echo', { text: 'hi' })).text).toBe('hi');
      const long = await client.call('everything_trigger-long-running-operation', { duration: 0.1, steps: 2 });
      expect(long.progress).toEqual([1, 2]);
      expect((await client.call('dual_progress', {})).progress).toEqual([1, 2]);
      expect((await client.call('dual_confirm', {})).text).toBe('answer accept');
      expect((await client.call('everything_trigger-elicitation-request', {})).text).toMatch(/provided|accept/i);
      await client.close();
    });
  }
});
