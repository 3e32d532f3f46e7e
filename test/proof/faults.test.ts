import { readFileSync } from 'node:fs';
import type { JsonObject } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LiveThings, leftOver } from '../support/leaks.ts';
import { processesWith } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { CELLS, IS_LONG } from './rig/cells.ts';
import { steadyCalls } from './rig/load.ts';
import {
  benchBackend,
  type GatewayProgram,
  gatewayProgram,
  type HardServer,
  hardServer,
  hardStdio,
} from './rig/programs.ts';
import { type Backends, flooded, type NearClient, nearClient, serve } from './rig/served.ts';

const LONG = 120_000;
/** Takes 3 seconds on an idle machine. */
const PATIENCE = 60_000;
/**
 * What calls to other backends may take meanwhile: 1 to 60 ms on a quiet machine, half a second where a flood holds up the
 * event loop. On a busy machine ten times what they take without any trouble comes on top.
 */
const P99_MS = 400;
const BUSY_FACTOR = 10;
const CALL_MS = 1_500;

const BAD = ['old', 'new', 'piped'] as const;
const GOOD = ['goodOld_quick', 'goodNew_quick', 'goodPiped_quick'] as const;

/** 0 for a process that has ended since it was seen: those of other tests come and go. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

function textOf(result: JsonObject): string {
  const [first] = result.content as JsonObject[];
  return String(first?.text);
}

describe('while a backend is faulty, the others answer', () => {
  const endings: (() => void | Promise<void>)[] = [];
  const later = (end: () => void | Promise<void>): void => {
    endings.unshift(end);
  };
  let gateway: GatewayProgram;
  let clients: readonly NearClient[];
  let before: LiveThings;
  let allowedMs = P99_MS;
  const ledgers: Record<string, () => readonly string[]> = {};

  beforeAll(async () => {
    const [old, young, good] = await Promise.all([
      hardServer('legacy', later),
      hardServer('modern', later),
      hardServer('both', later),
    ]);
    const piped = hardStdio({}, later);
    const goodPipe = hardStdio({}, later);
    Object.assign(ledgers, { old: old.notes, new: young.notes, piped: piped.notes });
    const backends: Backends = {
      old: { transport: 'streamable-http', url: old.url, era: 'legacy' },
      new: { transport: 'streamable-http', url: young.url, era: 'modern' },
      piped: { ...piped.backend, era: 'legacy' },
      goodOld: { transport: 'streamable-http', url: good.url, era: 'legacy' },
      goodNew: { transport: 'streamable-http', url: good.url, era: 'modern' },
      goodPiped: { ...goodPipe.backend, era: 'legacy' },
    };
    const perWorkloadMs = { old: CALL_MS, new: CALL_MS, piped: CALL_MS };
    const named = Object.entries(backends).map(([name, backend]) => ({ ...backend, name }));
    const plan = { timeouts: { perWorkloadMs }, limits: { callTotalMs: 2 * CALL_MS } };
    gateway = await gatewayProgram(named, plan, later);
    clients = await Promise.all(CELLS.map(({ near }) => nearClient(gateway.url, { era: near })));
    for (const client of clients) {
      for (const name of Object.keys(backends)) await client.callTool(`${name}_quick`);
    }
    const untroubled = steadyCalls(clients, GOOD);
    await until(() => untroubled.count() >= 200);
    allowedMs += BUSY_FACTOR * (await untroubled.stop()).p99Ms;
    before = await gateway.counts();
  }, LONG);

  afterAll(async () => {
    for (const end of endings) await end();
  });

  /** Runs something during steady calls to the good backends, then checks that all resources are released. */
  async function besides(what: string, run: () => Promise<void>): Promise<void> {
    const steady = steadyCalls(clients, GOOD);
    try {
      await run();
      await until(() => steady.count() >= 100);
    } finally {
      const { calls, p50Ms, p99Ms: measuredMs, failures } = await steady.stop();
      console.log(`${what}: ${calls} other calls, p50 ${p50Ms.toFixed(1)} ms, p99 ${measuredMs.toFixed(1)} ms`);
      expect(failures).toBe(0);
      expect(measuredMs).toBeLessThan(allowedMs);
    }
    await until(async () => leftOver(before, await gateway.counts()).length === 0);
    const [client] = clients;
    // a busy machine may take longer than CALL_MS for one of them
    for (const name of BAD)
      await until(async () => textOf((await client?.callTool(`${name}_quick`)) ?? {}) === 'quick');
  }

  const young = () => nearClient(gateway.url);

  /** A call that fails, with the code that the model reads. */
  async function failure(name: string, given: JsonObject = {}): Promise<string> {
    const client = await young();
    const result = await client.callTool(name, given);
    await client.close();
    expect(result.isError, textOf(result)).toBe(true);
    return textOf(result);
  }

  it.each(BAD)('%s hangs', { timeout: LONG }, async (name) => {
    await besides(`${name} hangs`, async () => {
      const texts = await Promise.all(Array.from({ length: 20 }, () => failure(`${name}_hang`)));
      for (const text of texts) expect(text).toContain('BACKEND_TIMEOUT');
    });
  });

  it.each(BAD)('%s trickles', { timeout: LONG }, async (name) => {
    await besides(`${name} trickles`, async () => {
      const client = await young();
      expect(textOf(await client.callTool(`${name}_trickle`))).toBe('trickled');
      await client.close();
      expect(await failure(`${name}_drip`)).toContain('BACKEND_TIMEOUT');
    });
  });

  // each flood lasts until the time limit of its call: the short form has one of each kind and of each backend
  it.each(IS_LONG ? (['old', 'new'] as const) : (['old'] as const))(
    '%s floods a call with log messages',
    {
      timeout: LONG,
    },
    async (name) => {
      await besides(`${name} floods`, async () => {
        expect(await flooded(gateway.url, `${name}_flood`)).toContain('BACKEND_TIMEOUT');
      });
    },
  );

  it.each(IS_LONG ? BAD : (['new'] as const))('%s floods a call with progress', { timeout: LONG }, async (name) => {
    await besides(`${name} floods with progress`, async () => {
      expect(await flooded(gateway.url, `${name}_progressFlood`)).toContain('BACKEND_TIMEOUT');
    });
  });

  it('piped floods the whole connection with log messages', { timeout: LONG }, async () => {
    await besides('piped floods', async () => {
      expect(await flooded(gateway.url, 'piped_flood')).toContain('BACKEND_TIMEOUT');
    });
  });

  it.each(BAD)('%s answers 100 MB', { timeout: LONG }, async (name) => {
    await besides(`${name} answers 100 MB`, async () => {
      expect(await failure(`${name}_big`, { mebibytes: 100 })).toMatch(/BACKEND_(TOO_LARGE|TIMEOUT)/);
    });
  });

  it.each(['old', 'new'] as const)('%s resets the connection', { timeout: LONG }, async (name) => {
    await besides(`${name} resets`, async () => {
      const texts = await Promise.all(Array.from({ length: 10 }, () => failure(`${name}_reset`)));
      for (const text of texts) expect(text).toContain('BACKEND_UNREACHABLE');
      expect(await failure(`${name}_halfReset`)).toContain('BACKEND_UNREACHABLE');
    });
  });

  it.each(BAD)('%s answers out of order', { timeout: LONG }, async (name) => {
    await besides(`${name} answers out of order`, async () => {
      const client = await young();
      const marks = ['a', 'b', 'c'];
      const results = await Promise.all(marks.map((mark) => client.callTool(`${name}_reversed`, { mark })));
      expect(results.map(textOf)).toEqual(marks);
      await client.close();
    });
  });

  it.each(BAD)('%s answers twice', { timeout: LONG }, async (name) => {
    await besides(`${name} answers twice`, async () => {
      const client = await young();
      for (let n = 0; n < 5; n++) expect(textOf(await client.callTool(`${name}_twice`))).toBe('first');
      expect(textOf(await client.callTool(`${name}_quick`))).toBe('quick');
      await client.close();
    });
  });

  it('none of these calls was sent twice', () => {
    const sent = (name: string, tool: string) =>
      ledgers[name]?.().filter((line) => line.startsWith(`call ${tool} `)).length;
    for (const name of ['old', 'new']) {
      expect(sent(name, 'reset'), name).toBe(10);
      expect(sent(name, 'halfReset'), name).toBe(1);
    }
    for (const name of BAD) {
      expect(sent(name, 'hang'), name).toBe(20);
      expect(sent(name, 'drip'), name).toBe(1);
      expect(sent(name, 'twice'), name).toBe(5);
    }
  });
});

describe('kill -9 during calls', () => {
  it('of an HTTP backend: its calls fail once, none is repeated, others continue', { timeout: LONG }, async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const [victim, good] = await Promise.all([hardServer(era), hardServer(era)]);
      const http = ({ url }: HardServer) => ({ transport: 'streamable-http', url, era }) as const;
      await using at = await serve({ victim: http(victim), good: http(good) });
      const clients = await Promise.all(CELLS.map(({ near }) => at.client({ era: near })));
      for (const client of clients)
        await Promise.all(['victim', 'good'].map((name) => client.callTool(`${name}_quick`)));
      const steady = steadyCalls(clients, ['good_quick']);
      const marks = Array.from({ length: 40 }, (_, n) => `m${n}`);
      const calls = marks.map((mark, n) => clients[n % 4]?.callTool('victim_slow', { mark, ms: 5_000 }));
      await until(() => victim.notes().filter((line) => line.startsWith('call slow m')).length === marks.length);
      await victim.kill();
      for (const result of await Promise.all(calls)) expect(textOf(result ?? {})).toContain('BACKEND_UNREACHABLE');
      const others = await steady.stop();
      expect(others).toMatchObject({ failures: 0 });
      expect(others.p99Ms).toBeLessThan(10 * P99_MS);
      for (const mark of marks) expect(victim.notes().filter((line) => line === `call slow ${mark}`)).toHaveLength(1);
      await until(async () => {
        const client = await at.client();
        const result = await client.callTool('victim_quick');
        await client.close();
        return result.isError === true && at.gateway.backends()[1]?.status === 'unavailable';
      });
      expect(at.gateway.counts().callsInFlight).toBe(0);
      for (const client of clients) await client.close();
    }
  });

  it('of a program: its calls fail once, none is repeated, and it is restarted', { timeout: LONG }, async () => {
    const { backend, notes } = hardStdio();
    const good = await hardServer();
    await using at = await serve({ piped: backend, good: { transport: 'streamable-http', url: good.url } });
    const clients = await Promise.all(CELLS.slice(0, 2).map(({ near }) => at.client({ era: near })));
    const pids = new Set<number>();
    for (const client of clients) pids.add(Number(textOf(await client.callTool('piped_pid'))));
    const steady = steadyCalls(clients, ['good_quick']);
    const marks = Array.from({ length: 20 }, (_, n) => `m${n}`);
    const calls = marks.map((mark, n) => clients[n % 2]?.callTool('piped_slow', { mark, ms: 5_000 }));
    await until(() => notes().filter((line) => line.startsWith('call slow m')).length === marks.length);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    for (const result of await Promise.all(calls)) expect(textOf(result ?? {})).toContain('BACKEND_UNREACHABLE');
    expect(await steady.stop()).toMatchObject({ failures: 0 });
    for (const mark of marks) expect(notes().filter((line) => line === `call slow ${mark}`)).toHaveLength(1);
    for (const client of clients) {
      const pid = Number(textOf(await client.callTool('piped_pid')));
      expect(pid).toBeGreaterThan(0);
      expect(pids.has(pid)).toBe(false);
      await client.close();
    }
  });

  it('of the gateway: no program survives, not even one that ignores the end of its input', {
    timeout: LONG,
  }, async () => {
    const polite = hardStdio();
    const deaf = hardStdio({ isDeaf: true });
    const gateway = await gatewayProgram([
      { ...polite.backend, name: 'polite', era: 'legacy' },
      { ...deaf.backend, name: 'deaf', era: 'legacy' },
    ]);
    const clients = await Promise.all(CELLS.slice(0, 2).map(() => nearClient(gateway.url, { era: '2025-11-25' })));
    for (const client of clients) {
      await client.callTool('polite_quick');
      await client.callTool('deaf_quick');
    }
    // each has the gateway's own process and one per client
    const serversOf = (file: string) => processesWith(file).filter(({ pid }) => pid !== gateway.pid);
    for (const { file } of [polite, deaf]) expect(serversOf(file)).toHaveLength(3);
    const calls = clients.flatMap((client) =>
      ['polite_hang', 'deaf_hang'].map((name) =>
        client.callTool(name).then(
          () => 'answered',
          () => 'broken',
        ),
      ),
    );
    const hangs = () => [...polite.notes(), ...deaf.notes()].filter((line) => line.startsWith('call hang'));
    await until(() => hangs().length === 4);
    await gateway.kill();
    expect(await Promise.all(calls)).toEqual(['broken', 'broken', 'broken', 'broken']);
    for (const { file } of [polite, deaf]) await until(() => processesWith(file).length === 0, PATIENCE);
    expect(hangs()).toHaveLength(4);
    for (const client of clients) client.drop();
  });

  it('of the process that watches its programs: the gateway continues, and a new one starts immediately', {
    timeout: LONG,
  }, async () => {
    const deaf = hardStdio({ isDeaf: true });
    const gateway = await gatewayProgram([{ ...deaf.backend, name: 'deaf', era: 'legacy' }]);
    const guards = () =>
      processesWith('toolmgr-orphan-watch')
        .map(({ pid }) => pid)
        .filter((pid) => parentOf(pid) === gateway.pid);
    for (let times = 0; times < 2; times++) {
      const [guard, ...others] = guards();
      if (guard === undefined) throw new Error('no guard was there');
      expect(others).toEqual([]);
      process.kill(guard, 'SIGKILL');
      // without any new program: those that run are to be guarded too
      await until(() => guards().some((pid) => pid !== guard), PATIENCE);
    }
    const client = await nearClient(gateway.url, { era: '2025-11-25' });
    expect(textOf(await client.callTool('deaf_quick'))).toBe('quick');
    expect(guards()).toHaveLength(1);
    await gateway.kill();
    await until(() => processesWith(deaf.file).length === 0, PATIENCE);
    client.drop();
  });
});

describe('abandoned sessions', () => {
  it('end after their idle time, 1,000 of them, with their backend sessions', { timeout: LONG }, async () => {
    const old = await hardServer('legacy');
    const plan = { limits: { sessionIdleMs: 4_000 } };
    await using at = await serve({ old: { transport: 'streamable-http', url: old.url, era: 'legacy' } }, { plan });
    const start = { ...at.gateway.counts() };
    let [mostSessions, mostLinks] = [0, 0];
    for (let n = 0; n < 1_000; n += 50) {
      const clients = await Promise.all(Array.from({ length: 50 }, () => at.client({ era: '2025-11-25' })));
      if (n < 200) await Promise.all(clients.map((client) => client.callTool('old_quick')));
      for (const client of clients) client.drop();
      // on a busy machine the first ones end before the last ones begin
      mostSessions = Math.max(mostSessions, at.gateway.counts().sessions - start.sessions);
      mostLinks = Math.max(mostLinks, at.gateway.counts().links - start.links);
    }
    expect(mostSessions).toBeGreaterThanOrEqual(50);
    expect(mostLinks).toBeGreaterThanOrEqual(50);
    await until(() => leftOver(start, { ...at.gateway.counts() }).length === 0);
  });

  const SESSIONS = IS_LONG ? 5_000 : 1_500;
  const KILOBYTE = 1_024;

  /** Resident memory also holds what V8 keeps ready after the garbage of that many calls, so it has a bound of its own. */
  it.each([
    { what: 'opened only', calls: 0, mostResident: 20 * KILOBYTE },
    { what: 'with a backend session each', calls: 1, mostResident: 60 * KILOBYTE },
  ])(`cost at most 20 KB each at ${SESSIONS}: $what`, { timeout: LONG }, async ({ what, calls, mostResident }) => {
    const far = await benchBackend();
    // all of one caller, who is to have more than a caller's share
    const limits = { sessionsPerCaller: 10_000, linksPerCaller: 6_000 };
    const gateway = await gatewayProgram([{ name: 'far', transport: 'streamable-http', url: far.url, era: 'legacy' }], {
      limits,
    });
    const open = async (number: number): Promise<void> => {
      for (let n = 0; n < number; n += 50) {
        const clients = await Promise.all(
          Array.from({ length: 50 }, () => nearClient(gateway.url, { era: '2025-11-25' })),
        );
        for (let m = 0; m < calls; m++) await Promise.all(clients.map((client) => client.callTool('far_tool_0')));
        for (const client of clients) client.drop();
      }
    };
    await open(200);
    const before = await gateway.memory();
    await open(SESSIONS);
    const after = await gateway.memory();
    expect(await gateway.counts()).toMatchObject({ sessions: SESSIONS + 200 });
    const each = (kind: 'heapUsed' | 'external' | 'rss') => (after[kind] - before[kind]) / SESSIONS;
    const bytes = each('heapUsed') + each('external');
    console.log(
      `idle session, ${what}: ${bytes.toFixed(0)} bytes of heap and buffers, ${each('rss').toFixed(0)} resident`,
    );
    expect(bytes).toBeLessThan(20 * KILOBYTE);
    expect(each('rss')).toBeLessThan(mostResident);
  });
});
