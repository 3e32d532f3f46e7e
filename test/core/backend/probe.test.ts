import { type BackendHealth, classifySignal, GatewayFault } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import {
  answer,
  type FakeOptions,
  type Got,
  httpBackend,
  httpServer,
  json,
  legacyAnswers,
  managerWith,
  modernAnswers,
  refuse,
  send,
} from './support.ts';

const NEVER = new AbortController().signal;
const PROBE_MS = 5_000;

/** The sign that a probe of a server gives whose probe request is answered in some way. */
async function signWhen(era: 'legacy' | 'modern', before: FakeOptions['before'], ms = PROBE_MS) {
  const answers = era === 'legacy' ? legacyAnswers : modernAnswers;
  let isUp = false;
  const server = await httpServer(answers({ before: (got) => isUp && before?.(got) === true }));
  const { manager } = await managerWith([httpBackend(server.url)]);
  expect(manager.states()[0]?.status).toBe('ready');
  const before_ = server.all.length;
  isUp = true;
  const sign = await manager.probe('far', ms, NEVER).then(() => ({ is: 'alive' }) as const, classifySignal);
  const asked = server.all.slice(before_).flatMap(({ message }) => message?.method ?? []);
  return { sign, asked, manager, server };
}

const health = (status: BackendHealth['status']): BackendHealth => ({
  status,
  consecutiveFailures: status === 'unhealthy' ? 3 : 0,
  checkedMs: 0,
  errorCategory: status === 'unhealthy' ? 'timeout' : undefined,
  sinceMs: 0,
});

/** Answers the probe request alone. */
const toProbe = (method: string, reply: (got: Got) => void) => (got: Got) => {
  if (got.message?.method !== method) return false;
  reply(got);
  return true;
};

describe('a probe', () => {
  proves('choice.health.probe-cheap', 'is one request over the open connection: ping, or server/discover', async () => {
    const legacy = await signWhen(
      'legacy',
      toProbe('ping', (got) => answer(got, {})),
    );
    expect(legacy).toMatchObject({ sign: { is: 'alive' }, asked: ['ping'] });
    const modern = await signWhen('modern', undefined);
    expect(modern).toMatchObject({ sign: { is: 'alive' }, asked: ['server/discover'] });
  });

  proves('choice.health.no-false-alarm', 'counts every response as a sign that the backend works', async () => {
    const status = (code: number) => (got: Got) => void got.response.writeHead(code).end();
    const alive: Record<string, (got: Got) => void> = {
      'no such method': (got) => refuse(got, -32601, 'ping is unknown'),
      'an error in an HTTP error': (got) => refuse(got, -32600, 'not now', 400),
      'an error without words': (got) => refuse(got, -32000, '', 500),
      400: status(400),
      405: status(405),
      406: status(406),
      415: status(415),
      429: status(429),
    };
    for (const [what, reply] of Object.entries(alive)) {
      for (const [era, method] of [
        ['legacy', 'ping'],
        ['modern', 'server/discover'],
      ] as const) {
        const { sign, asked } = await signWhen(era, toProbe(method, reply));
        expect({ what, era, sign, asked }).toEqual({ what, era, sign: { is: 'alive' }, asked: [method] });
      }
    }
  });

  it('asks for nothing that the server did not advertise', async () => {
    const { sign, asked } = await signWhen('legacy', (got) => {
      if (got.message?.method === 'ping') refuse(got, -32601, 'unknown');
      return got.message?.method === 'ping';
    });
    expect(sign).toEqual({ is: 'alive' });
    expect(asked.filter((method) => method.endsWith('/list'))).toEqual([]);
  });

  it('distinguishes an outage, refused credentials, silence and garbage from a working backend', async () => {
    const cases: [(got: Got) => void, object][] = [
      [(got) => json(got.response, '', 503), { is: 'failed', category: 'backend_unavailable' }],
      [(got) => json(got.response, '', 401), { is: 'unauthenticated', category: 'authentication_failed' }],
      [(got) => json(got.response, 'no JSON at all'), { is: 'failed', category: 'health_check_failed' }],
      [() => undefined, { is: 'failed', category: 'timeout' }],
    ];
    for (const [reply, expected] of cases) {
      expect((await signWhen('legacy', toProbe('ping', reply), 400)).sign).toEqual(expected);
    }
    expect(classifySignal(new GatewayFault('AUTH_STRATEGY_FAILED', 'no token'))).toMatchObject({
      is: 'unauthenticated',
    });
    expect(classifySignal(new Error('a plugin broke'))).toEqual({ is: 'nothing' });
  });

  it('looks for the backend anew when its session or its connection has gone, and when the last probe was in vain', async () => {
    const lost = await signWhen(
      'legacy',
      toProbe('ping', (got) => json(got.response, '', 404)),
    );
    expect(lost.sign).toEqual({ is: 'alive' });
    expect(lost.asked).toContain('initialize');

    let isDeaf = true;
    const deaf = await signWhen('legacy', (got) => isDeaf && got.message !== undefined, 200);
    expect(deaf.sign).toEqual({ is: 'failed', category: 'timeout' });
    isDeaf = false;
    await deaf.manager.probe('far', PROBE_MS, NEVER);
    expect(deaf.server.of('initialize').length).toBe(2);

    const gone = await signWhen('legacy', undefined);
    await gone.server.close();
    const sign = await gone.manager.probe('far', PROBE_MS, NEVER).catch(classifySignal);
    expect(sign).toEqual({ is: 'failed', category: 'connection_failed' });
    expect(gone.manager.states()[0]?.status).toBe('unavailable');
    await httpServer(legacyAnswers(), gone.server.port);
    await gone.manager.probe('far', PROBE_MS, NEVER);
    expect(gone.manager.states()[0]?.status).toBe('ready');
  });

  it('trusts a backend that was found again meanwhile: what has just begun is not begun anew', async () => {
    const { manager, server } = await signWhen('legacy', undefined);
    await server.close();
    await manager.probe('far', PROBE_MS, NEVER).catch(() => undefined);
    const back = await httpServer(legacyAnswers(), server.port);
    await until(() => manager.states()[0]?.status === 'ready');
    const hellos = back.of('initialize').length;
    await manager.probe('far', PROBE_MS, NEVER);
    expect([back.of('initialize').length, back.of('ping').length]).toEqual([hellos, 1]);
  });

  it('ends with its signal, and reports nothing about a backend when the manager stops', async () => {
    const stop = new AbortController();
    const { manager, server } = await signWhen('modern', undefined);
    await server.close();
    const quiet = await httpServer(() => undefined, server.port);
    const ended = manager.probe('far', PROBE_MS, stop.signal).catch((cause: unknown) => cause);
    await until(() => quiet.all.length > 0);
    stop.abort('enough');
    expect(await ended).toBe('enough');
    const stopped = manager.probe('far', PROBE_MS, NEVER).catch(classifySignal);
    await manager.stop();
    expect(await stopped).toEqual({ is: 'nothing' });
    await expect(manager.probe('far', PROBE_MS, NEVER)).rejects.toMatchObject({ code: 'BACKEND_UNKNOWN' });
  });
});

describe('a backend that a monitor calls unhealthy', () => {
  proves(
    'choice.health.set-aside',
    'gets no call, keeps its lists for the grace period, and gets them back with its health',
    async () => {
      const server = await httpServer(legacyAnswers());
      const { manager, listed } = await managerWith([httpBackend(server.url)], { limits: { listGraceMs: 60 } });
      const calls = () => server.of('tools/call').length;
      await send(manager, { backend: 'far', original: 'echo' });
      manager.setHealth('far', health('unhealthy'));
      await expect(send(manager, { backend: 'far', original: 'echo' })).rejects.toMatchObject({
        code: 'BACKEND_UNREACHABLE',
        message: 'backend "far" is unavailable (timeout)',
      });
      expect(calls()).toBe(1);
      expect(manager.listings('').has('far')).toBe(true);
      await until(() => !manager.listings('').has('far'));
      expect(manager.states()[0]).toMatchObject({ status: 'ready', health: { status: 'unhealthy' } });
      listed.length = 0;
      manager.setHealth('far', health('degraded'));
      await until(() => manager.listings('').has('far'));
      expect(listed).toEqual(['far/']);
      await send(manager, { backend: 'far', original: 'echo' });
      expect(calls()).toBe(2);
    },
  );

  it('that recovers within the grace time changes no list', async () => {
    const server = await httpServer(legacyAnswers());
    const { manager, listed } = await managerWith([httpBackend(server.url)], { limits: { listGraceMs: 200 } });
    listed.length = 0;
    for (let n = 0; n < 5; n++) {
      manager.setHealth('far', health('unhealthy'));
      manager.setHealth('far', health('degraded'));
    }
    await new Promise((resolve) => setTimeout(resolve, 300)); // past the grace time
    expect(manager.listings('').has('far')).toBe(true);
    expect(listed).toEqual([]);
  });

  it('is judged anew when its description changes', async () => {
    const [one, other] = await Promise.all([httpServer(legacyAnswers()), httpServer(legacyAnswers())]);
    const { manager } = await managerWith([httpBackend(one.url)]);
    manager.setHealth('far', health('unhealthy'));
    manager.replace([httpBackend(other.url)]);
    await manager.settling();
    expect(manager.states()[0]).not.toHaveProperty('health');
    await send(manager, { backend: 'far', original: 'echo' });
  });
});
