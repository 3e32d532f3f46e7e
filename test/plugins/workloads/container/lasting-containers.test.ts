import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@toolmgr/core';
import { expect } from 'vitest';
import { type ContainerEngine, engineCall, SERVER_IMAGE } from '../../../support/container-engine.ts';
import { LONG, onEngines } from '../../../support/on-engines.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';

const COUNTER = join(import.meta.dirname, 'counter.mjs');

interface Gateway extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  kill(): Promise<void>;
}

async function serve({ socket }: ContainerEngine, workload: JsonObject): Promise<Gateway> {
  const file = join(import.meta.dirname, 'gateway-process.ts');
  const given = JSON.stringify({ socket, workload: { group: 'default', ...workload } });
  const child = spawn(process.execPath, ['--conditions=development', file, given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first] = await once(child.stdout, 'data');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  return {
    child,
    url: String(first).trim(),
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: () => end('SIGTERM'),
  };
}

async function connected(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await until(async () => (await client.listTools()).tools.length > 0, LONG);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

async function count(client: Client, name = 'count'): Promise<string> {
  const { content } = await client.callTool({ name, arguments: {} });
  return (content as { text: string }[])[0]?.text ?? '';
}

interface Listed {
  readonly Id: string;
  readonly State: string;
}

async function containersOf({ socket }: ContainerEngine): Promise<readonly Listed[]> {
  return JSON.parse((await engineCall(socket, 'GET', '/v1.41/containers/json?all=true')).text) as Listed[];
}

const idsOf = (listed: readonly Listed[]): string[] => listed.map(({ Id }) => Id).sort();

onEngines('a shared stdio container on', (on) => {
  const { name, runs } = on;
  const folder = temporaryFolderOfFile('kept');
  const counter = (more: JsonObject = {}): JsonObject => ({
    name: 'counter',
    transport: 'stdio',
    sessions: 'shared',
    keepFile: join(folder, 'kept.json'),
    container: { image: SERVER_IMAGE, args: ['stdio'], mounts: [{ source: COUNTER, target: '/app/server.mjs' }] },
    ...more,
  });

  /** Whether one of the containers has got the slow call. */
  const isSlow = async (ids: readonly string[]): Promise<boolean> => {
    const logs = ids.map((id) => engineCall(on.engine.socket, 'GET', `/v1.41/containers/${id}/logs?stderr=1`));
    return (await Promise.all(logs)).some(({ text }) => text.includes('slow is called'));
  };

  runs(
    name === 'docker'
      ? 'keeps its state when the gateway is killed: the next gateway attaches to it'
      : 'is replaced after the gateway was killed',
    async () => {
      const first = await serve(on.engine, counter());
      const one = await connected(first.url);
      expect(await count(one)).toBe('1');
      expect(await count(one)).toBe('2');
      const before = idsOf(await containersOf(on.engine));
      const lost = count(one, 'slow').catch(() => 'lost');
      await until(() => isSlow(before), LONG);
      await first.kill();
      expect(await lost).toBe('lost');
      {
        await using second = await serve(on.engine, counter());
        await using two = await connected(second.url);
        await using three = await connected(second.url);
        if (name === 'podman') {
          expect(await count(two)).toBe('1');
          expect(idsOf(await containersOf(on.engine)).filter((id) => before.includes(id))).toEqual([]);
          return;
        }
        expect(await count(two)).toBe('3'); // with it ends the slow call
        expect(idsOf(await containersOf(on.engine))).toEqual(before);
        // the response to the call of the killed gateway is discarded
        expect(await count(three)).toBe('5');
      }
      expect(await containersOf(on.engine)).toEqual([]);
    },
    LONG,
  );

  runs(
    'is replaced when its settings have changed, and removed with the containers of sessions',
    async () => {
      const first = await serve(on.engine, counter());
      expect(await count(await connected(first.url))).toBe('1');
      const before = idsOf(await containersOf(on.engine));
      await first.kill();
      await using second = await serve(on.engine, counter({ env: { LEVEL: 'debug' } }));
      await using client = await connected(second.url);
      expect(await count(client)).toBe('1');
      expect(idsOf(await containersOf(on.engine)).filter((id) => before.includes(id))).toEqual([]);
    },
    LONG,
  );

  runs(
    'and containers of sessions are there again after the engine was killed and started',
    async () => {
      await using shared = await serve(on.engine, counter());
      await using alone = await serve(on.engine, counter({ name: 'alone', sessions: 'perClient' }));
      const clients = [await connected(shared.url), await connected(alone.url)];
      for (const client of clients) expect(await count(client)).toBe('1');
      await on.engine.kill();
      await on.engine.restart();
      for (const client of clients) {
        await until(async () => {
          await pause(500);
          return /^\d+$/.test(await count(client).catch(() => ''));
        }, 60_000);
        await client.close();
      }
    },
    LONG,
  );
});
