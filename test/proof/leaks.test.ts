import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, createServer } from 'node:net';
import type { JsonObject } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Census, type LiveThings, openCensus } from '../support/leaks.ts';
import { until } from '../support/until.ts';
import { CELLS, ERAS, IS_LONG } from './rig/cells.ts';
import { hardServer, hardStdio, type Later } from './rig/programs.ts';
import { type Backends, fetchOver, type ServedGateway, serve } from './rig/served.ts';

const CALLS = IS_LONG ? 5_000 : 100;
const STARTS = IS_LONG ? 200 : 10;
const LONG = IS_LONG ? 600_000 : 60_000;

/** Two HTTP servers, one of each revision, and a program. */
async function farServers(later?: Later): Promise<Backends> {
  const [old, young] = await Promise.all([hardServer('legacy', later), hardServer('modern', later)]);
  return {
    old: { transport: 'streamable-http', url: old.url, era: 'legacy' },
    new: { transport: 'streamable-http', url: young.url, era: 'modern' },
    piped: { ...hardStdio({}, later).backend, era: 'legacy' },
  };
}

describe('the census', () => {
  const leaks: Readonly<Record<string, () => (() => void) | Promise<() => void>>> = {
    'a timer': () => {
      const timer = setInterval(() => {}, 60_000);
      return () => clearInterval(timer);
    },
    'an unreferenced timer': () => {
      const timer = setTimeout(() => {}, 60_000).unref();
      return () => clearTimeout(timer);
    },
    'a file': () => {
      const file = openSync(import.meta.filename, 'r');
      return () => closeSync(file);
    },
    'a socket': async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { readonly port: number };
      const socket = connect(port, '127.0.0.1');
      await new Promise((resolve) => socket.once('connect', resolve));
      return () => {
        socket.destroy();
        server.close();
      };
    },
    'a child process': async () => {
      const child = spawn('sleep', ['60'], { stdio: 'ignore' });
      await new Promise((resolve) => child.once('spawn', resolve));
      return () => child.kill('SIGKILL');
    },
    'a listener of the process': () => {
      const listener = (): void => {};
      process.on('SIGUSR2', listener);
      return () => process.off('SIGUSR2', listener);
    },
    'a listener of a live signal': () => {
      const controller = new AbortController();
      const listener = (): void => {};
      controller.signal.addEventListener('abort', listener);
      return () => controller.signal.removeEventListener('abort', listener);
    },
    'an additional count': () => {
      sessions++;
      return () => sessions--;
    },
  };
  let sessions = 0;

  for (const [name, leak] of Object.entries(leaks)) {
    it(`fails while ${name} is not released, and passes afterwards`, async () => {
      using census = openCensus(() => ({ sessions }));
      const before = await census.count();
      const mend = await leak();
      await expect(census.settles(before, 250)).rejects.toThrow('not released after 250 ms');
      mend();
      await census.settles(before);
    });
  }
});

describe('all resources are released', () => {
  const endings: (() => void | Promise<void>)[] = [];
  let backends: Backends;
  let at: ServedGateway;
  let census: Census;
  let start: Promise<LiveThings> | undefined;

  beforeAll(async () => {
    backends = await farServers((end) => {
      endings.unshift(end);
    });
    at = await serve(backends);
    endings.unshift(async () => at[Symbol.asyncDispose]());
    census = openCensus(() => at.gateway.counts());
    // A caller keeps a session with each stateful server between calls, until `limits.linkIdleMs`.
    const first = await at.client();
    await Promise.all(['old', 'new', 'piped'].map((name) => first.callTool(`${name}_quick`)));
    await first.close();
  }, LONG);

  /** Counted inside the first test that asks, since the runner's own timer of a test is among the counts. */
  const atStart = (): Promise<LiveThings> => {
    start ??= census.quiet();
    return start;
  };

  afterAll(async () => {
    census[Symbol.dispose]();
    for (const end of endings) await end();
  });

  it(`after ${CALLS} calls in each of the four cells and to a program`, { timeout: LONG }, async () => {
    const before = await atStart();
    const cells = [...CELLS, ...ERAS.map((near) => ({ near, workload: 'piped' }))];
    await Promise.all(
      cells.map(async ({ near, workload }) => {
        const client = await at.client({ era: near });
        for (let n = 0; n < CALLS; n += 10) {
          const tokens = Array.from({ length: 10 }, (_, m) => ({ progressToken: `p${n + m}` }));
          await Promise.all(tokens.map((meta) => client.callTool(`${workload}_quick`, {}, meta)));
        }
        await client.close();
      }),
    );
    await census.settles(before);
  });

  it('after 60 closed sessions and 40 clients that disconnected during calls', { timeout: LONG }, async () => {
    const before = await atStart();
    for (let n = 0; n < 60; n += 10) {
      const clients = await Promise.all(Array.from({ length: 10 }, () => at.client({ era: '2025-11-25' })));
      await Promise.all(clients.map((each) => each.callTool(n === 0 ? 'piped_quick' : 'old_quick')));
      await Promise.all(clients.map((each) => each.close()));
    }
    const gone = await Promise.all(Array.from({ length: 40 }, () => at.client()));
    const calls = gone.map((each, n) => each.callTool(n % 2 === 0 ? 'new_hang' : 'old_hang').catch(() => undefined));
    await until(() => at.gateway.counts().callsInFlight === 40);
    for (const each of gone) each.drop();
    await Promise.all(calls);
    await census.settles(before);
  });

  it('after 50 listens and 20 session streams that were dropped', { timeout: LONG }, async () => {
    const before = await atStart();
    const params: JsonObject = { notifications: { toolsListChanged: true } };
    for (let round = 0; round < 5; round++) {
      const clients = await Promise.all(Array.from({ length: 10 }, () => at.client()));
      const listens = clients.map((each) => each.request('subscriptions/listen', params).catch(() => undefined));
      await until(() => at.gateway.counts().streams === 10);
      for (const each of clients) each.drop();
      await Promise.all(listens);
      await until(() => at.gateway.counts().streams === 0);
    }
    await Promise.all(Array.from({ length: 20 }, () => sessionStream(at.url)));
    await census.settles(before);
  });

  it('after backends were added, removed, replaced and killed', { timeout: LONG }, async () => {
    const before = await atStart();
    const { gateway, setBackends } = at;
    const client = await at.client();
    const areReady = (number: number): boolean => {
      const states = gateway.backends();
      return states.length === number && states.every(({ status }) => status === 'ready');
    };
    for (let round = 0; round < 4; round++) {
      const program = { ...hardStdio().backend, era: 'legacy' } as const;
      const another: Backends[string] = {
        ...backends.old,
        transport: 'streamable-http',
        metadata: { round: `${round}` },
      };
      setBackends({ ...backends, another, program });
      await until(() => areReady(5));
      await until(async () => (await client.toolNames()).includes('program_pid'));
      const told = await client.callTool('program_pid');
      process.kill(Number((told.content as JsonObject[])[0]?.text), 'SIGKILL');
      await until(async () => (await client.callTool('program_quick')).isError !== true);
      // a backend with the same name and another description is a new backend
      setBackends({ ...backends, another: { ...another, metadata: { round: 'again' } } });
      await until(() => areReady(4));
      setBackends(backends);
    }
    await client.close();
    await census.settles(before);
  });

  it(`after a gateway was started and stopped ${STARTS} times`, { timeout: LONG }, async () => {
    const before = await atStart();
    const round = async (): Promise<void> => {
      await using own = await serve(backends);
      const [old, young] = await Promise.all([own.client({ era: '2025-11-25' }), own.client()]);
      await Promise.all([old.callTool('old_quick'), young.callTool('new_quick'), young.callTool('piped_quick')]);
      // a stop ends sessions that clients did not close
      old.drop();
      young.drop();
    };
    for (let n = 0; n < STARTS; n++) await round();
    await census.settles(before);
  });
});

/** Opens a session and its stream, drops the connection of the stream, then ends the session. */
async function sessionStream(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const fetch = fetchOver(agent);
  const plain = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'leaks', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const opened = await fetch(new Request(url, { method: 'POST', headers: plain, body }));
  await opened.text();
  const headers = { ...plain, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const drop = new AbortController();
  const stream = await fetch(new Request(url, { headers, signal: drop.signal }));
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  drop.abort();
  expect((await fetch(new Request(url, { method: 'DELETE', headers }))).status).toBe(200);
  agent.destroy();
}
