// One call or refusal of each copied plugin. Runs with `node --test` in a folder that has the plugins and the installed packages.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { definePlugin, GatewayFault, type Plugin } from '@toolmgr/core';
import { fakeServer, type TestGatewayOptions, testGateway, tokenIssuer } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { type UpstreamTokens, upstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import cedar from './authorization/cedar/index.ts';
import composite from './composite/engine/index.ts';
import oidc from './incoming-auth/oidc/index.ts';
import xaa from './outgoing-auth/xaa/index.ts';
import rateLimit from './rate-limit/index.ts';

test('rate-limit refuses the second call', async (context) => {
  const client = await clientOf(context, {
    catalogue,
    plugins: [rateLimit],
    plan: {
      plugins: [
        { use: 'stores/memory' },
        { use: rateLimit.address, with: { shared: { maxTokens: 1, refillPeriod: '1h' } } },
      ],
    },
    backends: { far: fakeServer().tool('echo', 'hello') },
  });
  assert.deepEqual((await client.callTool('echo')).content, [{ type: 'text', text: 'hello' }]);
  const { error } = await client.request('tools/call', { name: 'echo', arguments: {} });
  assert.match(error?.message ?? '', /rate limit/i);
});

test('authorization/cedar hides and refuses what no policy permits', async (context) => {
  const policies = ['permit(principal, action, resource == Tool::"read");'];
  const client = await clientOf(context, {
    plugins: [cedar],
    plan: { plugins: [{ use: cedar.address, with: { policies } }] },
    backends: { far: fakeServer().tool('read', 'hello').tool('drop', 'gone') },
  });
  assert.deepEqual((await client.callTool('read')).content, [{ type: 'text', text: 'hello' }]);
  const { error } = await client.request('tools/call', { name: 'drop', arguments: {} });
  assert.match(error?.message ?? '', /denied by authorization policy/);
});

test('composite/engine runs a step', async (context) => {
  const greet = {
    name: 'greet',
    description: 'Greets a person',
    parameters: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
    steps: [{ id: 'hello', tool: 'echo', arguments: { message: 'Hello {{ .params.who }}' } }],
    output: { properties: { said: { type: 'string', value: '{{ .steps.hello.output.text }}' } } },
  };
  const client = await clientOf(context, {
    plugins: [composite],
    plan: { plugins: [{ use: composite.address, with: { compositeTools: [greet] } }] },
    backends: {
      far: fakeServer().tool('echo', ({ arguments: { message } }) => ({
        content: [{ type: 'text', text: String(message) }],
      })),
    },
  });
  assert.deepEqual((await client.callTool('greet', { who: 'Ada' })).structuredContent, { said: 'Hello Ada' });
});

test('incoming-auth/oidc verifies tokens', async (context) => {
  await using issuer = tokenIssuer();
  await issuer.listen();
  const kit = await started(context, {
    plugins: [oidc],
    plan: {
      plugins: [
        {
          use: oidc.address,
          with: {
            issuer: issuer.issuer,
            clientId: 'gateway',
            audience: 'gateway',
            insecureAllowHttp: true,
            jwksAllowPrivateIp: true,
          },
        },
      ],
    },
    backends: { far: fakeServer().tool('echo', 'hello') },
  });
  const token = issuer.token({ sub: 'ada', aud: 'gateway' });
  const client = await kit.client({ headers: { authorization: `Bearer ${token}` } });
  assert.deepEqual((await client.callTool('echo')).content, [{ type: 'text', text: 'hello' }]);
  const refused = await kit.gateway.fetch(new Request('http://localhost/mcp', { method: 'POST' }));
  assert.equal(refused.status, 401);
});

test('outgoing-auth/xaa sends the token of the backend for the ID token of the caller', async (context) => {
  const audience = 'https://auth.tickets.example';
  const idp = await served(context, (_, response) => {
    const assertion = jwt({ sub: 'ada', aud: audience, exp: 4_000_000_000 });
    const type = 'urn:ietf:params:oauth:token-type:id-jag';
    answer(response, { access_token: assertion, issued_token_type: type, token_type: 'N_A', expires_in: 300 });
  });
  const target = await served(context, (_, response) =>
    answer(response, { access_token: 'ticket', token_type: 'Bearer', expires_in: 3600 }),
  );
  const tickets = await started(context, { backends: { tickets: fakeServer().tool('list', 'two tickets') } });
  const sent = new Set<string | undefined>();
  const url = await served(context, (request, response) => {
    sent.add(request.headers.authorization);
    tickets.gateway.handle(request, response);
  });
  const signIn: Plugin = definePlugin({
    address: 'own-sign-in',
    config: z.strictObject({}),
    apply: (core) => core.slot(upstreamTokens).register('auth-server', signedIn),
  });
  const client = await clientOf(context, {
    plugins: [signIn, xaa],
    plan: {
      plugins: [{ use: signIn.address }, { use: xaa.address }],
      outgoingAuth: {
        backends: {
          far: {
            type: 'xaa',
            options: { idpTokenUrl: `${idp}/token`, targetAudience: audience, targetTokenUrl: `${target}/token` },
          },
        },
      },
    },
    backends: { far: { transport: 'streamable-http', url: `${url}/mcp` } },
  });
  assert.deepEqual((await client.callTool('list')).content, [{ type: 'text', text: 'two tickets' }]);
  assert.ok(sent.has('Bearer ticket'));
});

/** Everybody has signed in at one provider. */
const token = {
  accessToken: secretOf('opaque'),
  idToken: secretOf(jwt({ sub: 'ada' })),
  issuedMs: 0,
  expiresMs: undefined,
  claims: {},
};
const signedIn: UpstreamTokens = {
  providers: ['idp'],
  primary: 'idp',
  isInjectionDisabled: false,
  known: () => token,
  obtain: async () => token,
  refused: () => false,
  signInAgain: async () => new GatewayFault('AUTH_STRATEGY_REFUSED', 'sign in again'),
};

async function started(context: TestContext, options: TestGatewayOptions) {
  const kit = await testGateway(options);
  context.after(() => kit.gateway.stop());
  return kit;
}

async function clientOf(context: TestContext, options: TestGatewayOptions) {
  return (await started(context, options)).client();
}

/** A server on this machine; returns its origin. */
async function served(context: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer(response: Parameters<RequestListener>[1], body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function jwt(claims: object): string {
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${encoded({ alg: 'RS256' })}.${encoded(claims)}.c2lnbmF0dXJl`;
}
