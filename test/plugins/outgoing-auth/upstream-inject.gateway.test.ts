import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Caller, createGateway, definePlugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { type UpstreamTokens, upstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { accountsOnMemory, signedIn } from '../../support/accounts.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';

const HOUR_MS = 3_600_000;

/** A gateway whose callers signed in at `idp`, with the backends `plain`, `fixed` and `theirs`. */
async function gatewayWith(over: Partial<UpstreamTokens> = {}) {
  const accounts = accountsOnMemory();
  const [ada, bob] = [await signedIn(accounts, accounts.idp, 'ada'), await signedIn(accounts, accounts.idp, 'bob')];
  const callers = new Map<string, Caller>([
    ['token-of-ada', ada.caller],
    ['token-of-bob', bob.caller],
  ]);
  const backend = await recordingServer();
  onTestFinished(() => backend[Symbol.asyncDispose]());
  const people = definePlugin({
    address: 'testing/people',
    config: z.strictObject({}),
    apply({ hooks, slot }) {
      hooks.authenticate.tap('testing/people', ({ headers }) => {
        const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
        const caller = callers.get(token);
        if (caller === undefined) return { refused: true, status: 401, reason: 'unknown token' };
        return { ...caller, token: { reveal: () => token } };
      });
      slot(upstreamTokens).register('auth-server', {
        providers: ['idp', 'github'],
        primary: 'idp',
        isInjectionDisabled: false,
        ...accounts.upstreamTokens,
        ...over,
      });
    },
  });
  const { log, lines } = pluginCore();
  const names = ['plain', 'fixed', 'theirs', 'later'];
  const use = (name: string) => ({ use: `outgoing-auth/${name}` });
  const inject = (providerName: string) => ({ type: 'upstream_inject', options: { providerName } });
  const gateway = await createGateway(
    {
      plugins: [
        { use: 'testing/people' },
        ...['unauthenticated', 'header-injection', 'upstream-inject'].map(use),
        {
          use: 'backend-sources/static',
          with: { backends: names.map((name) => ({ name, url: backend.url, transport: 'streamable-http' })) },
        },
        { use: 'aggregation', with: { conflictResolution: 'prefix' } },
      ],
      outgoingAuth: {
        default: { type: 'unauthenticated' },
        backends: {
          fixed: { type: 'header_injection', options: { headerName: 'X-Key', headerValue: 'static-key' } },
          theirs: inject('idp'),
          later: inject('github'),
        },
      },
    },
    { catalogue, plugins: [people], now: accounts.clock.now, log },
  );
  onTestFinished(() => gateway.stop());
  await gateway.settled();
  const server = await loopbackServer((request, response) => gateway.handle(request, response));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const url = new URL(`${server.url}/mcp`);
  const clientOf = async (name: string, more: Record<string, string> = {}): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer token-of-${name}`, ...more };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    onTestFinished(() => client.close());
    return client;
  };
  const call = async (client: Client, tool: string) => {
    await client.callTool({ name: `${tool}_echo`, arguments: { text: 'x' } });
    return backend.calls.at(-1) ?? {};
  };
  return { ...accounts, ada, clientOf, call, backend, lines };
}

describe('a gateway with upstream_inject', () => {
  it('sends each caller of one backend their own token, and a refreshed one in the same session', async () => {
    const { clientOf, call, clock } = await gatewayWith();
    const [ada, bob] = [await clientOf('ada'), await clientOf('bob')];
    expect((await call(ada, 'theirs')).authorization).toBe('Bearer access.idp.ada.1');
    expect((await call(bob, 'theirs')).authorization).toBe('Bearer access.idp.bob.2');
    clock.advance(HOUR_MS);
    expect((await call(ada, 'theirs')).authorization).toBe('Bearer access.idp.ada.3');
    expect((await call(bob, 'theirs')).authorization).toBe('Bearer access.idp.bob.4');
  });

  it('needs the person only for calls to the backend of a provider that is not connected', async () => {
    const { clientOf, call, accounts, github, ada: person, lines } = await gatewayWith();
    const ada = await clientOf('ada');
    await call(ada, 'theirs');
    const failed = await ada.callTool({ name: 'later_echo', arguments: { text: 'x' } });
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed.content)).toContain('https://gateway.example/oauth/connect?ticket=');
    await accounts.connect(person.person, 'github', github.grant('ada-at-github'));
    expect((await call(ada, 'later')).authorization).toBe('Bearer access.github.ada-at-github.1');
    expect(JSON.stringify(lines)).not.toMatch(/access\.|refresh\./);
  });
});

describe('a gateway with disableUpstreamTokenInjection', () => {
  proves(
    [
      'vmcp.auth-server.disable-upstream-token-injection-strips',
      'vmcp.auth-server.disable-upstream-token-injection-unauthenticated',
    ],
    'sends backends neither Authorization, Cookie nor Proxy-Authorization, and static headers as before',
    async () => {
      const { clientOf, call } = await gatewayWith({ isInjectionDisabled: true });
      const ada = await clientOf('ada', { cookie: 'session=1', 'proxy-authorization': 'Basic eDp5' });
      for (const name of ['plain', 'theirs', 'fixed']) {
        const headers = await call(ada, name);
        expect(headers).not.toHaveProperty('authorization');
        expect(headers).not.toHaveProperty('cookie');
        expect(headers).not.toHaveProperty('proxy-authorization');
        expect(headers['x-key']).toBe(name === 'fixed' ? 'static-key' : undefined);
      }
    },
  );
});
