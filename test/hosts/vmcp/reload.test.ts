import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type RunningCli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { INITIALIZE, request } from '../../support/replicas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;
const SLOW = { name: 'one_slow', arguments: {} };
let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder('reload');
  file = join(folder, 'vmcp.yaml');
});

const write = async (backends: Record<string, string>, more: object = {}): Promise<void> => {
  await writeVmcpFile(folder, backends, more);
};

const openedSession = async (url: string): Promise<string> => (await send(url, undefined, INITIALIZE)).session ?? '';

async function started(): Promise<{ running: RunningCli; url: string }> {
  const running = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
  const [, url = ''] = await running.printed(/serves (http:\S+)/);
  await running.printed(/backend ready/);
  return { running, url };
}

const headersOf = (session: string | undefined) => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...(session === undefined ? {} : { 'mcp-session-id': session }),
});

async function send(url: string, session: string | undefined, message: object) {
  const response = await fetch(url, { method: 'POST', headers: headersOf(session), body: JSON.stringify(message) });
  return { status: response.status, session: response.headers.get('mcp-session-id'), text: await response.text() };
}

async function streamOf(url: string, session: string) {
  const response = await fetch(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session } });
  const stream = { seen: '', hasEnded: false };
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of response.body ?? []) stream.seen += decoder.decode(chunk as Uint8Array);
    stream.hasEnded = true;
  })().catch(() => {
    stream.hasEnded = true;
  });
  return stream;
}

const reloads = (running: RunningCli) => (running.err().match(/configuration reloaded/g) ?? []).length;

describe('a vmcp file that changes while it is served', () => {
  proves(
    [
      'choice.reload.on-change',
      'choice.reload.keeps-call',
      'choice.reload.session-moves',
      'choice.reload.stream-stays',
    ],
    'loses none of 200 calls in flight over five changes, and neither a session nor its stream',
    async () => {
      const gate = Promise.withResolvers<void>();
      await using server = await recordingServer(() => gate.promise);
      await write({ one: server.url });
      const { running, url } = await started();
      await using _ = running;
      const sessions = await Promise.all(Array.from({ length: 10 }, () => openedSession(url)));
      const stream = await streamOf(url, sessions[0] ?? '');
      const calls: Promise<{ status: number; text: string }>[] = [];
      for (let round = 0; round < 5; round++) {
        for (let n = 0; n < 40; n++) {
          calls.push(send(url, sessions[n % 10], request('tools/call', SLOW, `${round}-${n}`)));
        }
        await until(() => server.calls.length >= calls.length, 30_000);
        // each change is different: backends are added and removed, policies change
        const more: Record<string, string> = round % 2 === 0 ? { two: server.url } : {};
        await write({ one: server.url, ...more }, { operational: { timeouts: { default: `${40 + round}s` } } });
        await until(() => reloads(running) === round + 1, 30_000);
      }
      gate.resolve();
      const ended = await Promise.all(calls);
      expect(ended.filter(({ status, text }) => status === 200 && text.includes('late'))).toHaveLength(200);
      for (const id of sessions) expect((await send(url, id, request('tools/list'))).text).toContain('two_echo');
      await until(() => stream.seen.includes('notifications/tools/list_changed'));
      expect(stream.hasEnded).toBe(false);
    },
    LONG,
  );

  proves(
    'choice.reload.failed',
    'keeps sessions and streams when the new file is invalid',
    async () => {
      await using server = await recordingServer();
      await write({ one: server.url });
      const { running, url } = await started();
      await using _ = running;
      const id = await openedSession(url);
      const stream = await streamOf(url, id);
      await write({ one: server.url }, { agregation: {} });
      await running.printed(/the previous configuration stays.*did you mean/s);
      await write({ one: server.url }, { plugins: [{ use: './missing.mjs' }] });
      await running.printed(/the previous configuration stays.*missing\.mjs/s);
      const manual = { aggregation: { conflictResolution: 'manual', tools: [{ workload: 'one' }] } };
      await write({ one: server.url, two: server.url }, manual);
      await running.printed(/the previous configuration stays.*unresolved tool name conflicts/s);
      expect(reloads(running)).toBe(0);
      const echo = request('tools/call', { name: 'one_echo', arguments: { message: 'still' } });
      expect((await send(url, id, echo)).text).toContain('echo: still');
      expect(stream.hasEnded).toBe(false);
    },
    LONG,
  );

  proves(
    'choice.reload.not-fitting',
    'reports why sessions end that cannot continue',
    async () => {
      await using server = await recordingServer();
      await write({ one: server.url });
      const { running, url } = await started();
      await using _ = running;
      const session = await openedSession(url);
      await write({ one: server.url }, { limits: { sessions: 7 } });
      await running.printed(/client sessions end.*limits changed/);
      await until(() => reloads(running) === 1);
      expect((await send(url, session, request('ping'))).status).toBe(404);
    },
    LONG,
  );
});

describe('a vmcp process with a faulty configuration', () => {
  proves(
    ['choice.process.conflict-stays-up', 'choice.endpoint.readyz-catalogue'],
    'reports name conflicts, answers lists with an error, is not ready, and recovers with the next file',
    async () => {
      await using server = await recordingServer();
      const manual = { aggregation: { conflictResolution: 'manual', tools: [{ workload: 'one' }] } };
      await write({ one: server.url, two: server.url }, manual);
      await using running = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      await running.printed(/no catalogue.*CATALOG_CONFLICT.*\[one, two\]/);
      await running.printed(/backend ready/);
      const session = await openedSession(url);
      expect((await send(url, session, request('tools/list'))).text).toContain('-32603');
      const notReady = await fetch(new URL('/readyz', url));
      expect([notReady.status, await notReady.json()]).toEqual([
        503,
        { status: 'not_ready', mode: 'static', reason: 'catalogue_unavailable' },
      ]);
      expect((await fetch(new URL('/health', url))).status).toBe(200);
      await write({ one: server.url, two: server.url });
      await until(() => reloads(running) === 1);
      await until(async () => (await fetch(new URL('/readyz', url))).status === 200);
      expect((await send(url, session, request('tools/list'))).text).toContain('two_echo');
    },
    LONG,
  );

  proves(
    'choice.process.rejection-heard',
    'logs an unhandled rejection of a plugin and continues',
    async () => {
      await using server = await recordingServer();
      await writeFile(
        join(folder, 'careless.ts'),
        `export default {
          address: 'test/careless',
          config: { parse: () => ({}), safeParse: () => ({ success: true, data: {} }) },
          apply: (core) => core.hooks.callSettled.tap('test/careless', () => void Promise.reject(new Error('no handler'))),
        };`,
      );
      await write({ one: server.url }, { plugins: [{ use: './careless.ts' }] });
      const { running, url } = await started();
      await using _ = running;
      const session = await openedSession(url);
      const echo = request('tools/call', { name: 'one_echo', arguments: { message: 'still' } });
      await send(url, session, echo);
      await running.printed(/unhandled promise rejection.*no handler.*careless\.ts/);
      expect((await send(url, session, echo)).text).toContain('echo: still');
    },
    LONG,
  );
});

describe('log settings of a changed file', () => {
  it(
    'apply from the reload on: its level, and its warnings',
    async () => {
      await using server = await recordingServer();
      await write({ one: server.url });
      const { running } = await started();
      await using _ = running;
      await write(
        { one: server.url },
        { operational: { logLevel: 'debug' }, telemetry: { endpoint: 'localhost:4318' } },
      );
      await running.printed(/configuration reloaded/);
      expect(running.err()).toMatch(/"level":"warn","message":"[^"]*telemetry.endpoint: is not used/);
      await running.printed(/"level":"debug"/);
      await write({ one: server.url });
      await until(() => reloads(running) === 2);
      const told = running.err().split('configuration reloaded').at(-1);
      expect(told).not.toContain('"debug"');
    },
    LONG,
  );
});

describe('a vmcp process that stops', () => {
  proves(
    ['choice.stop.calls-end', 'choice.stop.not-ready-first'],
    'is immediately not ready, refuses new requests, and ends after its calls',
    async () => {
      const gate = Promise.withResolvers<void>();
      await using server = await recordingServer(() => gate.promise);
      await write({ one: server.url });
      const { running, url } = await started();
      await using _ = running;
      const id = await openedSession(url);
      const ready = async () => {
        const response = await fetch(new URL('/readyz', url));
        return [response.status, ((await response.json()) as { reason?: string }).reason];
      };
      expect(await ready()).toEqual([200, undefined]);
      // one of them began with a previous configuration
      const calls = [send(url, id, request('tools/call', SLOW, 'before'))];
      await until(() => server.calls.length === 1);
      await write({ one: server.url, two: server.url });
      await until(() => reloads(running) === 1);
      calls.push(send(url, id, request('tools/call', SLOW, 'after')));
      await until(() => server.calls.length === 2);
      running.signal('SIGTERM');
      await until(async () => (await ready())[0] === 503);
      expect(await ready()).toEqual([503, 'stopping']);
      const late = await fetch(url, { method: 'POST', headers: headersOf(id), body: JSON.stringify(request('ping')) });
      expect([late.status, late.headers.get('retry-after'), late.headers.get('connection')]).toEqual([
        503,
        '1',
        'close',
      ]);
      expect(await late.json()).toMatchObject({ code: 'GATEWAY_STOPPING' });
      gate.resolve();
      for (const call of calls) expect((await call).text).toContain('late');
      expect((await running.finished).code).toBe(0);
      await expect(fetch(new URL('/readyz', url))).rejects.toThrow();
    },
    LONG,
  );

  it(
    'ends although a plugin still waits',
    async () => {
      await using server = await recordingServer();
      await writeFile(
        join(folder, 'waits.ts'),
        `export default {
          address: 'test/waits',
          config: { parse: () => ({}), safeParse: () => ({ success: true, data: {} }) },
          apply: (core) => core.hooks.starting.tap('test/waits', () => void setTimeout(() => {}, 3_600_000)),
        };`,
      );
      await write({ one: server.url }, { plugins: [{ use: './waits.ts' }] });
      const { running } = await started();
      await using _ = running;
      running.signal('SIGTERM');
      expect((await running.finished).code).toBe(0);
    },
    LONG,
  );

  proves(
    'choice.stop.calls-end',
    'cancels calls that take longer than limits.stopMs',
    async () => {
      await using server = await recordingServer(() => new Promise(() => {}));
      await write({ one: server.url }, { limits: { stopMs: 100 } });
      const { running, url } = await started();
      await using _ = running;
      const session = await openedSession(url);
      const cut = send(url, session, request('tools/call', SLOW)).catch(() => undefined);
      await until(() => server.calls.length === 1);
      running.signal('SIGTERM');
      expect((await running.finished).code).toBe(0);
      expect((await cut)?.text ?? 'stopping').toContain('stopping');
    },
    LONG,
  );
});
