import { describe, expect, it } from 'vitest';
import { statusRoutes } from '../../../hosts/http/status-routes.ts';
import { httpServer, json, legacyAnswers, refuse } from '../../core/backend/support.ts';
import { serve } from '../../proof/rig/served.ts';
import { until } from '../../support/until.ts';

const SECRET = 'sk-live-0123456789';
const SOON = { healthCheckInterval: '50ms', healthCheckTimeout: '500ms', unhealthyThreshold: 2 };

/** A gateway that probes one backend, which `hostile` answers after a switch. */
async function watching(hostile: NonNullable<Parameters<typeof legacyAnswers>[0]>['before']) {
  let isHostile = false;
  const server = await httpServer(legacyAnswers({ before: (got) => isHostile && hostile?.(got) === true }));
  const plugins = [{ use: 'health', with: SOON }];
  const at = await serve(
    { bad: { transport: 'streamable-http', url: server.url, era: 'legacy' } },
    { plan: { plugins, limits: { resultBytes: 65_536 } }, logLevel: 'debug' },
  );
  const health = () => at.gateway.backends()[0]?.health;
  await until(() => health()?.status === 'healthy');
  isHostile = true;
  return { at, server, health };
}

describe('a hostile backend', () => {
  it('cannot put texts on a status page', async () => {
    const { at, server, health } = await watching((got) => {
      if (got.message?.method === 'ping') refuse(got, -32000, `token=${SECRET}`, 503, { SECRET });
      else json(got.response, { error: SECRET }, 500);
      return true;
    });
    await using _ = at;
    const before = server.all.length;
    await until(() => server.all.length > before + 2);
    await server.close();
    await until(() => health()?.status === 'unhealthy');
    const facts = { version: '1', groupRef: 'g', mode: 'static', authTypeOf: () => 'unauthenticated' } as const;
    for (const route of statusRoutes(at.gateway, facts)) {
      const { body } = await route.answer(new URLSearchParams(), { path: route.path, headers: {} });
      expect(JSON.stringify(body), route.path).not.toContain(SECRET);
      expect(JSON.stringify(body), route.path).not.toContain(server.url);
    }
    const health_ = at.lines.filter((line) => line.includes('health'));
    expect(health_.length).toBeGreaterThan(0);
    expect(health_.join('\n')).not.toContain(SECRET);
  });

  it('that answers a probe endlessly delays no other probe and keeps no connection', async () => {
    const { at, server, health } = await watching(({ message, response }) => {
      if (message?.method === undefined) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const drip = setInterval(() => response.write(': more\n\n'), 5);
      response.once('close', () => clearInterval(drip));
      return true;
    });
    const open = () => server.all.filter(({ response }) => !response.closed && response.headersSent).length;
    await until(() => health()?.status === 'unhealthy');
    expect(open()).toBeLessThanOrEqual(4);
    await at[Symbol.asyncDispose]();
    await until(() => open() === 0);
  });

  it('that answers a probe with too many bytes is alive, and its response is dropped', async () => {
    const { at, server, health } = await watching((got) => {
      if (got.message?.method !== 'ping') return false;
      json(got.response, `{"jsonrpc":"2.0","id":${got.message.id},"result":{"x":"${'y'.repeat(1_000_000)}"}}`);
      return true;
    });
    await using _ = at;
    const before = server.of('ping').length;
    await until(() => server.of('ping').length > before + 3);
    await until(() => health()?.status === 'healthy' && health()?.consecutiveFailures === 0);
  });
});
