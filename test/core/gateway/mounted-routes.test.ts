import { definePlugin } from '@toolmgr/core';
import { testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const about = definePlugin({
  address: 'test/about',
  config: z.strictObject({}),
  apply: ({ hooks }) =>
    hooks.mount.tap('test/about', (routes) =>
      routes.add('GET', `/about${routes.endpointPath}`, (_inbound, _body, responder) =>
        responder.send(200, {}, 'hello'),
      ),
    ),
});
const twice = definePlugin({
  address: 'test/twice',
  config: z.strictObject({}),
  apply: ({ hooks }) => hooks.mount.tap('test/twice', (routes) => routes.add('GET', '/about/tools', () => {})),
});
const plan = (...plugins: { readonly address: string }[]) => ({
  endpoint: { path: '/tools' },
  plugins: plugins.map(({ address }) => ({ use: address })),
});

describe('routes of plugins', () => {
  it('may be made of the path of the endpoint', async () => {
    await using kit = await testGateway({ plugins: [about], plan: plan(about) });
    const answer = await kit.gateway.fetch(
      new Request('http://localhost/about/tools', { headers: { host: 'localhost' } }),
    );
    expect([answer.status, await answer.text()]).toEqual([200, 'hello']);
  });

  it('are read by a host that protects them itself, whatever Host the endpoint serves', async () => {
    const endpoint = { path: '/tools', allowedHosts: ['gateway.test'] };
    await using kit = await testGateway({ plugins: [about], plan: { ...plan(about), endpoint } });
    expect(await kit.gateway.read('/about/tools')).toEqual({ status: 200, headers: {}, body: 'hello' });
    expect(await kit.gateway.read('/nowhere')).toMatchObject({
      status: 404,
      body: expect.stringContaining('ROUTE_UNKNOWN'),
    });
  });

  it('do not take each other’s place', async () => {
    const opening = testGateway({ plugins: [about, twice], plan: plan(about, twice) });
    await expect(opening).rejects.toMatchObject({ code: 'ROUTE_TAKEN', message: 'GET /about/tools is mounted twice' });
  });

  it('are not at a path of HTTP+SSE, whose paths differ from the others', async () => {
    const open = (sse: object, more: object = {}) => {
      const endpoint = { path: '/tools', sse, ...more };
      return testGateway({ plugins: [about], plan: { ...plan(about), endpoint } });
    };
    await using kit = await open({});
    expect((await kit.gateway.fetch(new Request('http://localhost/sse', { method: 'POST' }))).status).toBe(405);
    for (const [given, message] of [
      [{ messagesPath: '/about/tools' }, '/about/tools is the path of messages of the endpoint'],
      [{ path: '/tools' }, '/tools is both the path of MCP and the path of event streams'],
      [{ messagesPath: '/sse' }, '/sse is both the path of event streams and the path of messages'],
    ] as const)
      await expect(open(given), message).rejects.toThrow(message);
    await expect(open({}, { postOnly: true })).rejects.toThrow('endpoint.sse needs GET');
  });
});
