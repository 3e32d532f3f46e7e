import type { JsonObject } from '@toolmgr/core';
import { fakeServer, type TestClient, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { META } from '../../../core/mcp/meta.ts';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { networked } from './networked.ts';

/** A stateless program: its tool logs when it is let go on. Nothing on its only channel says for which call. */
function loggingProgram(hasLogging = true) {
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  let running = 0;
  const server = fakeServer(['2026-07-28']).tool(
    'log',
    async ({ log, meta, arguments: { mark, level = 'warning' } }) => {
      running++;
      await promise;
      if (meta[META.logLevel] !== undefined) log(String(level), String(mark)); // as MCP 2026-07-28 demands
      return text('logged');
    },
  );
  if (hasLogging) server.capabilities.logging = {};
  return { server, letGo, running: () => running };
}

/** Calls the tool and returns what was logged on the stream of the call. */
async function heardBy(client: TestClient, mark: string, more: JsonObject = {}, logLevel = 'info'): Promise<unknown[]> {
  const meta = { [META.logLevel]: logLevel };
  const { told } = await client.request('tools/call', { name: 'log', arguments: { mark, ...more }, _meta: meta });
  return told.map(({ params }) => (params as JsonObject).data);
}

const MARKS = Array.from({ length: 12 }, (_, at) => `mark ${at}`);

describe('calls to a stdio backend of 2026-07-28 at the same time', () => {
  proves('choice.logs.nothing-lost', 'of one stateless client hear every log message between them', async () => {
    const { server, letGo, running } = loggingProgram();
    await using kit = await testGateway({ backends: { far: server } });
    const client = await kit.client();
    const { opened } = server;
    const heard = Promise.all(MARKS.map((mark) => heardBy(client, mark)));
    await until(() => running() === MARKS.length);
    letGo();
    expect((await heard).flat().sort()).toEqual([...MARKS].sort());
    expect(server.opened).toBe(opened);
  });

  proves('choice.logs.nothing-lost', 'of one client with a session hear every log message between them', async () => {
    const { server, letGo, running } = loggingProgram();
    await using kit = await testGateway({ backends: { far: server } });
    const session = await legacySession(kit.gateway);
    const heard: unknown[] = [];
    const stream = await session.stream();
    const client = await kit.client({ era: '2025-11-25' });
    const answers = Promise.all(
      MARKS.map((mark) => client.request('tools/call', { name: 'log', arguments: { mark } })),
    );
    await until(() => running() === MARKS.length);
    letGo();
    for (const { told } of await answers) heard.push(...told.map(({ params }) => (params as JsonObject).data));
    expect(heard.sort()).toEqual([...MARKS].sort());
    await stream.close();
  });

  proves('choice.logs.level', 'get a message on a call whose level it reaches', async () => {
    const { server, letGo, running } = loggingProgram();
    await using kit = await testGateway({ backends: { far: server } });
    const client = await kit.client();
    const quiet = heardBy(client, 'serious', { level: 'error' }, 'error');
    await until(() => running() === 1);
    const chatty = heardBy(client, 'detail', { level: 'debug' }, 'debug');
    await until(() => running() === 2);
    letGo();
    expect([await quiet, await chatty]).toEqual([['serious'], ['detail']]);
  });

  proves('choice.logs.no-stranger', 'of several callers hear their own messages only', async () => {
    const { server, letGo, running } = loggingProgram();
    await using kit = await testGateway({ backends: { far: server } });
    await using net = await networked(kit);
    const one = await net.clientFrom('127.0.0.1');
    const other = await net.clientFrom('127.0.0.2');
    const { opened } = server;
    const calls = [one, other].map((client, at) => Promise.all([0, 1, 2].map((n) => heardBy(client, `${at} ${n}`))));
    await until(() => running() === 6);
    letGo();
    const heard = (await Promise.all(calls)).map((each) => each.flat().sort());
    expect(heard).toEqual([
      ['0 0', '0 1', '0 2'],
      ['1 0', '1 1', '1 2'],
    ]);
    expect(server.opened).toBe(opened + 1);
  });

  proves('choice.logs.bounded', 'of a caller without a free program are made, without log messages', async () => {
    const { server, letGo, running } = loggingProgram();
    await using kit = await testGateway({ backends: { far: server }, plan: { limits: { processesPerBackend: 1 } } });
    await using net = await networked(kit);
    const clients = [];
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) clients.push(await net.clientFrom(address));
    const calls = Promise.all(clients.map((client, at) => heardBy(client, String(at))));
    await until(() => running() === 3);
    letGo();
    const heard = await calls;
    for (const [at, texts] of heard.entries()) expect([[], [String(at)]]).toContainEqual(texts);
    expect(heard.flat()).toHaveLength(2);
  });

  proves('choice.logs.bounded', 'share the program when it declares no logs', async () => {
    const { server, letGo, running } = loggingProgram(false);
    await using kit = await testGateway({ backends: { far: server } });
    await using net = await networked(kit);
    const { opened } = server;
    const clients = [await net.clientFrom('127.0.0.1'), await net.clientFrom('127.0.0.2')];
    const calls = Promise.all(clients.map((client) => heardBy(client, 'x')));
    await until(() => running() === 2);
    letGo();
    await calls;
    expect(server.opened).toBe(opened);
  });
});
