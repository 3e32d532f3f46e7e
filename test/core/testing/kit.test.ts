import { createHook } from 'node:async_hooks';
import { createPublicKey, verify } from 'node:crypto';
import { definePlugin, type JsonObject } from '@toolmgr/core';
import { fakeClock, fakeServer, type TestClient, testGateway, text, tokenIssuer } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;

/** A server that asks before it answers. */
const asking = () =>
  fakeServer(['2026-07-28']).tool('ask', ({ params }) =>
    params.inputResponses === undefined
      ? { resultType: 'input_required', inputRequests: { q: { method: 'roots/list', params: {} } }, requestState: 's' }
      : text('answered'),
  );

describe('the test kit', () => {
  proves('ask.testing.kit', 'gives a gateway in memory with fake backends and clients of both eras', async () => {
    const one = fakeServer(['2025-11-25']).tool('add', ({ arguments: { a, b } }) =>
      text(String(Number(a) + Number(b))),
    );
    const two = fakeServer(['2026-07-28']).tool('greet', 'hello').prompt('plan', 'think').resource('memo://1', 'note');
    await using kit = await testGateway({ backends: { one, two } });
    for (const era of ERAS) {
      const client = await kit.client({ era });
      expect(await client.toolNames()).toEqual(['add', 'greet']);
      expect((await client.callTool('add', { a: 2, b: 3 })).content).toEqual([{ type: 'text', text: '5' }]);
      expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'hello' }]);
      expect((await client.request('resources/read', { uri: 'memo://1' })).result?.contents).toHaveLength(1);
      await client.close();
    }
    kit.setBackends({ one });
    const left = await kit.client();
    await expect.poll(() => left.toolNames()).toEqual(['add']);
    expect(kit.logged).toEqual([]);
  });

  proves('ask.testing.clock', 'has a clock that stands until it is moved, for sealed states and sessions', async () => {
    const clock = fakeClock();
    expect([clock.now(), clock.now()]).toEqual([Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1)]);
    const options = { plan: { limits: { requestStateTtlMs: 60_000, sessionIdleMs: 60_000 } }, now: clock.now };
    await using kit = await testGateway({ backends: { far: asking() }, ...options });
    const client = await kit.client({ capabilities: { roots: {} } });
    const legacy = await kit.client({ era: '2025-11-25' });
    const { result } = await client.request('tools/call', { name: 'ask', arguments: {} });
    const retry = { name: 'ask', arguments: {}, inputResponses: { q: { roots: [] } } };
    const answer = (): ReturnType<TestClient['request']> =>
      client.request('tools/call', { ...retry, requestState: String(result?.requestState) });
    clock.advance(59_000);
    expect((await answer()).result?.content).toEqual([{ type: 'text', text: 'answered' }]);
    expect((await legacy.request('ping')).status).toBe(200);
    clock.advance(61_000);
    expect((await answer()).error).toMatchObject({ code: -32602, message: 'requestState is invalid or expired' });
    expect((await legacy.request('ping')).status).toBe(404);
  });

  proves('ask.testing.token-issuer', 'has an issuer whose tokens a plugin can check', async () => {
    await using issuer = tokenIssuer(fakeClock().now);
    await using kit = await testGateway({ plugins: [bearer(issuer)], backends: { far: fakeServer().tool('t') } });
    const as = (token: string) => kit.client({ headers: { authorization: `Bearer ${token}` } });
    const token = issuer.token({ sub: 'ada' });
    expect(await (await as(token)).toolNames()).toEqual(['t']);
    const forged = `${token.slice(0, -4)}AAAA`;
    expect((await (await as(forged)).request('tools/list')).status).toBe(401);
    expect((await (await kit.client()).request('tools/list')).status).toBe(401);
    issuer.rotate(false);
    expect((await (await as(token)).request('tools/list')).status).toBe(401);
    expect(await (await as(issuer.token({ sub: 'ada' }))).toolNames()).toEqual(['t']);
    const url = await issuer.listen();
    const metadata = (await (await fetch(`${url}/.well-known/openid-configuration`)).json()) as { jwks_uri: string };
    expect(await (await fetch(metadata.jwks_uri)).json()).toEqual(issuer.jwks());
    expect(JSON.parse(Buffer.from(issuer.token({}).split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
      iss: url,
      iat: Date.UTC(2026, 0, 1) / 1000,
    });
  });

  proves('ask.testing.boot', 'boots a gateway in under 150 ms', async () => {
    const times: number[] = [];
    for (let round = 0; round < 10; round++) {
      const startedMs = performance.now();
      await using kit = await testGateway({ backends: { a: fakeServer().tool('t'), b: fakeServer().tool('u') } });
      await (await kit.client()).callTool('t');
      times.push(performance.now() - startedMs);
    }
    expect(Math.min(...times)).toBeLessThan(150); // the fastest: the machine of the test has other work
  });

  proves('ask.testing.no-sockets', 'opens no socket and starts no process unless asked', async () => {
    const opened: string[] = [];
    const watching = createHook({ init: (_id, type) => void (OUTSIDE.test(type) && opened.push(type)) }).enable();
    try {
      await using issuer = tokenIssuer();
      {
        await using kit = await testGateway({ backends: { far: fakeServer().tool('t') } });
        for (const era of ERAS) await (await kit.client({ era })).callTool('t');
        issuer.token({});
      }
      expect(opened).toEqual([]);
      await issuer.listen();
      expect(opened).toContain('TCPSERVERWRAP');
    } finally {
      watching.disable();
    }
  });
});

const OUTSIDE = /^(TCP|UDP|PIPE|PROCESS|GETADDRINFO|TLS)/;

describe('the stand-ins of the test kit', () => {
  it('leave callers to a plugin that authenticates, whatever its name, and stay for one that authorizes', async () => {
    const refusing = definePlugin({
      address: 'keys',
      config: z.strictObject({}),
      apply: ({ hooks }) => hooks.authenticate.tap('keys', () => undefined),
    });
    await using closed = await testGateway({ plugins: [refusing] });
    expect((await (await closed.client()).request('tools/list')).status).toBe(401);
    const policy = definePlugin({
      address: 'authorization/mine',
      config: z.strictObject({}),
      apply: ({ hooks }) => hooks.authorize.tap('authorization/mine', () => undefined),
    });
    await using open = await testGateway({ plugins: [policy], backends: { far: fakeServer().tool('t') } });
    expect(await (await open.client()).toolNames()).toEqual(['t']);
  });

  it('leave the strategy to the plugin of the catalogue', async () => {
    const plan = { plugins: [{ use: 'outgoing-auth/unauthenticated' }, { use: 'incoming-auth/anonymous' }] };
    await using kit = await testGateway({ catalogue, plan, backends: { far: fakeServer().tool('t') } });
    expect(await (await kit.client()).toolNames()).toEqual(['t']);
    expect(kit.gateway.taps().authenticate).toEqual(['incoming-auth/anonymous']);
  });
});

/** Authenticates callers with a token of the issuer. */
function bearer(issuer: Pick<ReturnType<typeof tokenIssuer>, 'jwks' | 'issuer'>) {
  return definePlugin({
    address: 'bearer',
    config: z.strictObject({}),
    apply({ hooks }) {
      hooks.authenticate.tap('bearer', ({ headers }) => {
        const claims = claimsOf(headers.authorization?.slice('Bearer '.length) ?? '', issuer.jwks().keys);
        if (claims?.iss !== issuer.issuer) return undefined;
        return { issuer: issuer.issuer, subject: String(claims.sub), key: `i\0${claims.sub}`, claims };
      });
    },
  });
}

function claimsOf(token: string, keys: readonly JsonObject[]): JsonObject | undefined {
  const [head = '', body = '', signature = ''] = token.split('.');
  const { kid } =
    head === '' ? { kid: '' } : (JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string });
  const jwk = keys.find((key) => key.kid === kid);
  if (jwk === undefined) return undefined;
  const key = createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' });
  const isGenuine = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  return isGenuine ? (JSON.parse(Buffer.from(body, 'base64url').toString()) as JsonObject) : undefined;
}
