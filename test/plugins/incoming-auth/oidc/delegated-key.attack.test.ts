import { type Caller, definePlugin, type Gateway, type JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { shareOf } from '../../../../core/mcp/shares.ts';
import { callerFromClaims } from '../../../../plugins/incoming-auth/oidc/caller-from-claims.ts';
import { proves } from '../../../support/proves.ts';

const PERSON = { sub: 'ada' };
const AGENT = { sub: 'ada', act: { iss: 'https://agents', sub: 'agent' } };
const OTHER_AGENT = { sub: 'ada', act: { iss: 'https://agents', sub: 'other' } };
const CHAIN = { sub: 'ada', act: { iss: 'https://agents', sub: 'agent', act: { sub: 'other' } } };

function callerOf(claims: JsonObject): Caller {
  const caller = callerFromClaims(claims, 'https://id', 'token', 'Bearer');
  if (typeof caller === 'string') throw new Error(caller);
  return caller;
}

/** Takes claims from a header, as the verifier of tokens does after the verification. */
const verified = definePlugin({
  address: 'test/verified',
  config: z.strictObject({}),
  apply(core) {
    core.hooks.authenticate.tap('test/verified', ({ headers }) =>
      callerOf(JSON.parse(headers['x-claims'] ?? '{}') as JsonObject),
    );
  },
});

const headersOf = (claims: JsonObject) => ({ 'x-claims': JSON.stringify(claims) });

const gatewayWith = (...more: readonly { readonly use: string; readonly with?: JsonObject }[]) =>
  testGateway({
    catalogue,
    plugins: [verified],
    plan: { plugins: [{ use: verified.address }, ...more] },
    backends: { far: fakeServer().tool('echo', () => ({ content: [] })) },
  });

describe('a delegated token', () => {
  proves('choice.oidc.actor-in-key', 'has a key of its own for each actor and chain of actors', () => {
    const callers = [PERSON, AGENT, OTHER_AGENT, CHAIN, { sub: 'ada', act: 'agent' }].map(callerOf);
    expect(new Set(callers.map(({ key }) => key)).size).toBe(callers.length);
    expect(callerOf(PERSON).key).toBe('https://id\0ada');
    const renewed = { exp: 2, sub: 'ada', act: { sub: 'agent', iss: 'https://agents' } };
    expect(callerOf(renewed).key).toBe(callerOf(AGENT).key);
  });

  proves(
    'choice.oidc.actor-in-key',
    'cannot use a session of its person, nor the person one of the agent',
    async () => {
      await using kit = await gatewayWith();
      for (const [opener, thief] of [
        [PERSON, AGENT],
        [AGENT, PERSON],
        [AGENT, OTHER_AGENT],
      ] as const) {
        for (const use of [post, stream]) {
          const session = await open(kit.gateway, opener);
          expect((await post(kit.gateway, opener, session)).status).toBe(200);
          expect((await use(kit.gateway, thief, session)).status).toBe(404);
        }
      }
    },
  );

  it('counts in the rate and the shares of its person, so that no person gets more by delegating', async () => {
    await using kit = await gatewayWith(
      { use: 'stores/memory' },
      { use: 'rate-limit', with: { perUser: { maxTokens: 2, refillPeriod: '1h' } } },
    );
    const statuses: unknown[] = [];
    for (const claims of [PERSON, AGENT, OTHER_AGENT, { sub: 'bob' }]) {
      const client = await kit.client({ headers: headersOf(claims) });
      const { result, error } = await client.request('tools/call', { name: 'echo', arguments: {} });
      statuses.push(error?.code ?? result?.isError ?? 'served');
    }
    expect(statuses).toEqual(['served', 'served', 429, 'served']);
    expect(shareOf(callerOf(AGENT), undefined)).toBe(shareOf(callerOf(PERSON), undefined));
  });
});

const URL_IN_MEMORY = 'http://localhost/mcp';

async function open(gateway: Gateway, claims: JsonObject) {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const opened = await post(gateway, claims, {}, 'initialize', params);
  return { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
}

function post(
  gateway: Gateway,
  claims: JsonObject,
  more: Readonly<Record<string, string>>,
  method = 'tools/list',
  params: JsonObject = {},
) {
  const accept = 'application/json, text/event-stream';
  const headers = { 'content-type': 'application/json', accept, ...headersOf(claims), ...more };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return gateway.fetch(new Request(URL_IN_MEMORY, { method: 'POST', headers, body }));
}

function stream(gateway: Gateway, claims: JsonObject, more: Readonly<Record<string, string>>) {
  const headers = { accept: 'text/event-stream', ...headersOf(claims), ...more };
  return gateway.fetch(new Request(URL_IN_MEMORY, { headers }));
}
