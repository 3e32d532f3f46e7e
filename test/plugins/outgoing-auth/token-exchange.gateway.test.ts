import type { ServerResponse } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Caller, createGateway, type Era, type PlanInput } from '@toolmgr/core';
import { fakeClock, testClient } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, onTestFinished } from 'vitest';
import {
  answer,
  event,
  type FakeOptions,
  type Got,
  httpServer,
  json,
  legacyAnswers,
  modernAnswers,
  openStream,
} from '../../core/backend/support.ts';
import { bearerCallers } from '../../support/bearer-callers.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { proves } from '../../support/proves.ts';
import { type TokenEndpoint, tokenEndpoint } from '../../support/token-endpoint.ts';
import { until } from '../../support/until.ts';

const AUDIENCE = 'https://far.internal';
const ERAS = ['2025-11-25', '2026-07-28'] as const satisfies readonly Era[];

interface GuardedOptions extends FakeOptions {
  /** The tools that a subject is shown; default: `whoami` for everybody. */
  toolsOf?(subject: string): readonly string[];
}

/** A backend that takes only tokens of the endpoint that are meant for it, and says whose it got. */
async function guardedBackend(endpoint: TokenEndpoint, era: Era, options: GuardedOptions = {}) {
  const seen: string[] = [];
  const before = (got: Got): boolean => {
    const token = got.headers.authorization?.replace(/^Bearer /, '') ?? '';
    seen.push(got.headers.authorization ?? 'none');
    const who = endpoint.introspect(token);
    if (who?.audience !== AUDIENCE) {
      json(got.response, { error: 'invalid_token' }, 401);
      return true;
    }
    if (options.before?.(got) === true) return true;
    if (got.message?.method === 'tools/list' && options.toolsOf !== undefined) {
      const tools = options.toolsOf(who.subject).map((name) => ({ name, inputSchema: { type: 'object' } }));
      answer(got, { tools, resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
      return true;
    }
    if (got.message?.method !== 'tools/call') return false;
    answer(got, { content: [{ type: 'text', text: `you are ${who.subject}` }], resultType: 'complete' });
    return true;
  };
  const make = era === '2026-07-28' ? modernAnswers : legacyAnswers;
  const server = await httpServer(
    make({ tools: [{ name: 'whoami', inputSchema: { type: 'object' } }], ...options, before }),
  );
  return { ...server, seen };
}

interface Setting {
  readonly endpoint: TokenEndpoint;
  readonly backends: Readonly<Record<string, string>>;
  readonly tokenExchange?: Record<string, unknown>;
  readonly plan?: Partial<PlanInput>;
}

/** A gateway on a real port whose callers are known by tokens, and whose backends get exchanged ones. */
async function gatewayWith({ endpoint, backends, tokenExchange = {}, plan = {} }: Setting) {
  const callers = new Map([...endpoint.subjects]);
  const clock = fakeClock();
  const options = { tokenUrl: endpoint.url, audience: AUDIENCE, clientId: 'gateway', ...tokenExchange };
  const gateway = await createGateway(
    {
      plugins: [
        { use: 'testing/bearer-callers' },
        { use: 'outgoing-auth/token-exchange' },
        {
          use: 'backend-sources/static',
          with: {
            backends: Object.entries(backends).map(([name, url]) => ({ name, url, transport: 'streamable-http' })),
          },
        },
        { use: 'aggregation', with: { conflictResolution: 'prefix' } },
      ],
      outgoingAuth: { default: { type: 'token_exchange', options } },
      ...plan,
    },
    { catalogue, plugins: [bearerCallers(callers)], now: clock.now, log: SILENT },
  );
  onTestFinished(() => gateway.stop());
  await gateway.settled();
  const server = await loopbackServer((request, response) => gateway.handle(request, response));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const url = `${server.url}/mcp`;
  return { gateway, url, callers, clock };
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const WITH_SECRET = { clientId: 'gateway', clientSecret: 'c1ient-s3cret' };

async function endpointWith(clients: Record<string, string> = {}): Promise<TokenEndpoint> {
  const endpoint = await tokenEndpoint({ clients });
  endpoint.subjects.set('token-of-ada', 'ada').set('token-of-bob', 'bob');
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  return endpoint;
}

/** A client of the official SDK. */
async function sdkClient(url: string, token: string, era: Era): Promise<Client> {
  const mode = era === '2026-07-28' ? { pin: era } : ('legacy' as const);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

describe('callers of a gateway that exchanges their tokens', () => {
  for (const era of ERAS) {
    proves(
      ['vmcp.config-outgoing.type-token-exchange', 'choice.outgoing.never-the-incoming-token'],
      `reach a backend of ${era} each with a token of their own, meant for the backend`,
      async () => {
        const endpoint = await endpointWith({ gateway: 'c1ient-s3cret' });
        const far = await guardedBackend(endpoint, era);
        const { url } = await gatewayWith({ endpoint, backends: { far: far.url }, tokenExchange: WITH_SECRET });
        for (const clientEra of ERAS) {
          const ada = await sdkClient(url, 'token-of-ada', clientEra);
          const bob = await sdkClient(url, 'token-of-bob', clientEra);
          expect((await ada.listTools()).tools.map(({ name }) => name)).toEqual(['far_whoami']);
          const answers = await Promise.all(
            [ada, bob, ada, bob].map((client) => client.callTool({ name: 'far_whoami', arguments: {} })),
          );
          expect(answers.map(textOf)).toEqual(['you are ada', 'you are bob', 'you are ada', 'you are bob']);
        }
        expect(far.seen.join()).not.toMatch(/token-of-/);
        // one for the gateway, one for each caller, whatever the number of calls
        expect(endpoint.requests.map(({ form }) => form.subject_token ?? 'own').sort()).toEqual([
          'own',
          'token-of-ada',
          'token-of-bob',
        ]);
      },
    );
  }

  proves('choice.token-exchange.renewed-on-401', 'notice nothing when a kept token was taken back', async () => {
    const endpoint = await endpointWith({ gateway: 'c1ient-s3cret' });
    const far = await guardedBackend(endpoint, '2026-07-28');
    const { url, clock } = await gatewayWith({ endpoint, backends: { far: far.url }, tokenExchange: WITH_SECRET });
    const ada = await sdkClient(url, 'token-of-ada', '2026-07-28');
    await ada.callTool({ name: 'far_whoami', arguments: {} });
    endpoint.revokeAll();
    clock.advance(60_000);
    const asked = Array.from({ length: 5 }, () => ada.callTool({ name: 'far_whoami', arguments: {} }));
    expect((await Promise.all(asked)).map(textOf)).toEqual(Array.from({ length: 5 }, () => 'you are ada'));
    expect(endpoint.requests.filter(({ form }) => form.subject_token === 'token-of-ada')).toHaveLength(2);
  });

  proves(
    'choice.token-exchange.renewed-on-401',
    "notice nothing when the gateway's own token was taken back",
    async () => {
      const endpoint = await endpointWith({ gateway: 'c1ient-s3cret' });
      let isForgotten = false;
      const far = await guardedBackend(endpoint, '2025-11-25', {
        before: ({ message, response }) => {
          if (message?.method !== 'tools/call' || !isForgotten) return false;
          isForgotten = false;
          response.writeHead(404).end();
          return true;
        },
      });
      const setting = await gatewayWith({ endpoint, backends: { far: far.url }, tokenExchange: WITH_SECRET });
      const { gateway, url, clock } = setting;
      const ada = await sdkClient(url, 'token-of-ada', '2025-11-25');
      await ada.callTool({ name: 'far_whoami', arguments: {} });
      endpoint.revokeAll();
      clock.advance(60_000);
      await ada.callTool({ name: 'far_whoami', arguments: {} });
      isForgotten = true; // a server that forgot one session is looked for anew, with the gateway's own token
      expect(textOf(await ada.callTool({ name: 'far_whoami', arguments: {} }))).toBe('you are ada');
      await until(() => endpoint.requests.filter(({ form }) => form.grant_type === 'client_credentials').length === 2);
      await until(() => far.of('tools/list').length === 2);
      expect(gateway.backends()).toMatchObject([{ status: 'ready' }]);
    },
  );

  proves(
    ['choice.token-exchange.errors', 'choice.token-exchange.recovers'],
    'get an error that tells a needed sign-in from an unavailable token endpoint, and are served when it is back',
    async () => {
      const endpoint = await endpointWith({ gateway: 'c1ient-s3cret' });
      const far = await guardedBackend(endpoint, '2026-07-28');
      const { url, clock } = await gatewayWith({ endpoint, backends: { far: far.url }, tokenExchange: WITH_SECRET });
      const ada = await sdkClient(url, 'token-of-ada', '2026-07-28');
      const call = () => ada.callTool({ name: 'far_whoami', arguments: {} });
      endpoint.subjects.delete('token-of-ada');
      expect(await call()).toMatchObject({ isError: true });
      expect(textOf(await call())).toBe(
        'backend "far": its token endpoint does not take the caller\'s token: the caller has to sign in again (invalid_grant) (AUTH_STRATEGY_REFUSED)',
      );
      clock.advance(3_000);
      endpoint.before = (_request, response) => {
        response.writeHead(503).end();
        return true;
      };
      expect(textOf(await call())).toBe(
        'backend "far": its token endpoint answered with status 503 (AUTH_STRATEGY_FAILED)',
      );
      endpoint.before = undefined;
      endpoint.subjects.set('token-of-ada', 'ada');
      clock.advance(3_000);
      expect(textOf(await call())).toBe('you are ada');
    },
  );

  proves('choice.token-exchange.present-token', 'may change their token in the middle of a session', async () => {
    const endpoint = await endpointWith({ gateway: 'c1ient-s3cret' });
    endpoint.lifetime = 60;
    const far = await guardedBackend(endpoint, '2025-11-25');
    const setting = await gatewayWith({ endpoint, backends: { far: far.url }, tokenExchange: WITH_SECRET });
    const { url, callers, clock } = setting;
    const headers: Record<string, string> = { authorization: 'Bearer token-of-ada' };
    const client = await testClient((request) => fetch(request), url, { era: '2025-11-25', headers });
    expect(textOf(await client.callTool('far_whoami'))).toBe('you are ada');
    endpoint.subjects.delete('token-of-ada');
    endpoint.subjects.set('fresh-token-of-ada', 'ada');
    callers.set('fresh-token-of-ada', 'ada');
    clock.advance(70_000);
    headers.authorization = 'Bearer fresh-token-of-ada';
    expect(textOf(await client.callTool('far_whoami'))).toBe('you are ada');
    await client.close();
    await until(() => far.all.some(({ method }) => method === 'DELETE'));
    const subjects = endpoint.requests.map(({ form }) => form.subject_token ?? 'own');
    expect(subjects.filter((subject) => subject === 'token-of-ada')).toHaveLength(1);
    expect(subjects.at(-1)).toBe('fresh-token-of-ada');
    const ofTheSession = far.all.filter(({ method }) => method === 'DELETE');
    expect(
      ofTheSession.map(({ headers: { authorization = '' } }) => endpoint.introspect(authorization.slice(7))),
    ).toEqual([expect.objectContaining({ subject: 'ada' })]);
  });
});

describe('outgoing credentials', () => {
  proves('choice.outgoing.redirects-stay', 'do not follow a redirect to another origin', async () => {
    const endpoint = await endpointWith({ gateway: 'c1ient-s3cret' });
    const elsewhere = await guardedBackend(endpoint, '2026-07-28');
    let away = '';
    const far = await guardedBackend(endpoint, '2026-07-28', {
      before: (got) => {
        if (away === '' || got.message?.method !== 'tools/call') return false;
        got.response.writeHead(307, { location: away }).end();
        return true;
      },
    });
    const { url } = await gatewayWith({ endpoint, backends: { far: far.url }, tokenExchange: WITH_SECRET });
    const ada = await sdkClient(url, 'token-of-ada', '2026-07-28');
    for (const [location, sentence] of [
      [elsewhere.url, 'responded with HTTP 307'],
      [elsewhere.url.replace('127.0.0.1', '127.0.0.1.'), 'responded with HTTP 307'],
      [far.url.replace('http://127.0.0.1', '//localhost'), 'responded with HTTP 307'],
    ] as const) {
      away = location;
      const result = await ada.callTool({ name: 'far_whoami', arguments: {} });
      expect(textOf(result), location).toContain(sentence);
    }
    expect(elsewhere.all).toHaveLength(0);
  });
});

describe('a backend that lists for its callers only', () => {
  /** Everybody may ask who they are; the rest is theirs. */
  const toolsOf = (subject: string) => ['whoami', `secret_of_${subject}`];
  const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name).sort();

  for (const era of ERAS) {
    proves(
      'choice.token-exchange.caller-lists',
      `shows each caller what it shows this caller, and no other (backend of ${era})`,
      async () => {
        const endpoint = await endpointWith();
        const far = await guardedBackend(endpoint, era, { toolsOf });
        const { gateway, url } = await gatewayWith({ endpoint, backends: { far: far.url } });
        expect(gateway.backends()).toMatchObject([
          { status: 'unauthenticated', cause: { category: 'unauthenticated' } },
        ]);
        for (const clientEra of ERAS) {
          const [ada, bob, adaAgain] = await Promise.all([
            sdkClient(url, 'token-of-ada', clientEra),
            sdkClient(url, 'token-of-bob', clientEra),
            sdkClient(url, 'token-of-ada', clientEra),
          ]);
          const names = await Promise.all([ada, bob, adaAgain].map(namesOf));
          expect(names).toEqual([
            ['far_secret_of_ada', 'far_whoami'],
            ['far_secret_of_bob', 'far_whoami'],
            ['far_secret_of_ada', 'far_whoami'],
          ]);
          expect(textOf(await ada.callTool({ name: 'far_whoami', arguments: {} }))).toBe('you are ada');
          // what is not listed for a caller does not exist for it
          await expect(bob.callTool({ name: 'far_secret_of_ada', arguments: {} })).rejects.toThrow(/unknown tool/);
        }
        expect(
          far
            .of('tools/call')
            .map(({ headers: { authorization = '' } }) => endpoint.introspect(authorization.slice(7))?.subject),
        ).toEqual(['ada', 'ada']);
      },
    );
  }

  proves('choice.token-exchange.caller-lists', 'stands beside backends that list for everybody', async () => {
    const endpoint = await endpointWith();
    const far = await guardedBackend(endpoint, '2025-11-25', { toolsOf });
    const open = await httpServer(modernAnswers());
    const { url } = await gatewayWith({
      endpoint,
      backends: { far: far.url, open: open.url },
      plan: {
        plugins: [
          { use: 'testing/bearer-callers' },
          { use: 'outgoing-auth/token-exchange' },
          { use: 'outgoing-auth/unauthenticated' },
          {
            use: 'backend-sources/static',
            with: {
              backends: [
                { name: 'far', url: far.url, transport: 'streamable-http' },
                { name: 'open', url: open.url, transport: 'streamable-http' },
              ],
            },
          },
        ],
        outgoingAuth: {
          default: { type: 'unauthenticated' },
          backends: { far: { type: 'token_exchange', options: { tokenUrl: endpoint.url, audience: AUDIENCE } } },
        },
      },
    });
    for (const era of ERAS) {
      const ada = await sdkClient(url, 'token-of-ada', era);
      expect(await namesOf(ada)).toEqual(['echo', 'secret_of_ada', 'whoami']);
      expect(textOf(await ada.callTool({ name: 'echo', arguments: {} }))).toBe('modern');
    }
    expect(open.all.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });

  proves(
    ['choice.token-exchange.caller-lists', 'choice.token-exchange.recovers'],
    'is listed as soon as the token endpoint is back, and says what is missing until then',
    async () => {
      const endpoint = await endpointWith();
      const far = await guardedBackend(endpoint, '2025-11-25', { toolsOf });
      const { url, clock } = await gatewayWith({ endpoint, backends: { far: far.url } });
      endpoint.before = (_request, response) => {
        response.writeHead(503).end();
        return true;
      };
      const ada = await sdkClient(url, 'token-of-ada', '2025-11-25');
      await expect(ada.listTools()).rejects.toThrow('no backend is available: far (unauthenticated)');
      endpoint.before = undefined;
      clock.advance(6_000);
      expect(await namesOf(ada)).toEqual(['far_secret_of_ada', 'far_whoami']);
    },
  );

  proves('choice.token-exchange.caller-lists', 'tells the one caller whose lists have changed', async () => {
    const endpoint = await endpointWith();
    const streams = new Map<string, ServerResponse>();
    const more = new Map<string, string>();
    const far = await guardedBackend(endpoint, '2025-11-25', {
      capabilities: { tools: { listChanged: true } },
      toolsOf: (subject) => [...toolsOf(subject), ...(more.has(subject) ? [`${more.get(subject)}`] : [])],
      before: ({ method, headers, response }) => {
        if (method !== 'GET') return false;
        openStream(response);
        streams.set(endpoint.introspect(String(headers.authorization).slice(7))?.subject ?? '', response);
        return true;
      },
    });
    const { url } = await gatewayWith({ endpoint, backends: { far: far.url } });
    const told: string[] = [];
    for (const name of ['ada', 'bob']) {
      const client = await sdkClient(url, `token-of-${name}`, '2025-11-25');
      client.setNotificationHandler('notifications/tools/list_changed', () => void told.push(name));
      expect(await namesOf(client)).toHaveLength(2);
    }
    await until(() => streams.size === 2);
    more.set('ada', 'new_for_ada');
    for (const stream of streams.values())
      event(stream, { jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await until(() => told.length > 0);
    const ada = await sdkClient(url, 'token-of-ada', '2026-07-28');
    expect(await namesOf(ada)).toContain('far_new_for_ada');
    await until(() => far.of('tools/list').length >= 4);
    expect(told).toEqual(['ada']);
  });

  proves('choice.token-exchange.caller-lists', 'is open to calls from code under the name of a caller', async () => {
    const endpoint = await endpointWith();
    const far = await guardedBackend(endpoint, '2025-11-25', { toolsOf });
    const { gateway } = await gatewayWith({ endpoint, backends: { far: far.url } });
    const callerOf = (subject: string): Caller => {
      const token = { reveal: () => `token-of-${subject}` };
      return { issuer: 'idp', subject, key: `idp\0${subject}`, claims: {}, token };
    };
    const own = await gateway.perform({ name: 'far_secret_of_ada', caller: callerOf('ada') });
    expect(own).toMatchObject({ result: { isError: false } });
    const other = await gateway.perform({ name: 'far_secret_of_ada', caller: callerOf('bob') });
    expect(other).toMatchObject({ error: { message: expect.stringContaining('unknown tool') } });
    expect(await gateway.perform({ name: 'far_secret_of_ada' })).toMatchObject({ error: {} });
  });

  proves(
    'choice.token-exchange.caller-lists',
    'is read again after a minute without change notifications',
    async () => {
      const endpoint = await endpointWith();
      let more: string[] = [];
      const far = await guardedBackend(endpoint, '2026-07-28', {
        toolsOf: (subject) => [...toolsOf(subject), ...more],
      });
      const { url, clock } = await gatewayWith({ endpoint, backends: { far: far.url } });
      const ada = await sdkClient(url, 'token-of-ada', '2026-07-28');
      expect(await namesOf(ada)).toEqual(['far_secret_of_ada', 'far_whoami']);
      more = ['new'];
      expect(await namesOf(ada)).toEqual(['far_secret_of_ada', 'far_whoami']);
      clock.advance(61_000);
      await until(async () => (await namesOf(ada)).includes('far_new'));
      const bob = await sdkClient(url, 'token-of-bob', '2026-07-28');
      expect(await namesOf(bob)).toEqual(['far_new', 'far_secret_of_bob', 'far_whoami']);
    },
  );

  proves('choice.token-exchange.caller-lists', 'is kept for a bounded number of callers', async () => {
    const endpoint = await endpointWith();
    const names = Array.from({ length: 6 }, (_, at) => `caller${at}`);
    for (const name of names) endpoint.subjects.set(`token-of-${name}`, name);
    const far = await guardedBackend(endpoint, '2026-07-28', { toolsOf });
    const { url, gateway } = await gatewayWith({
      endpoint,
      backends: { far: far.url },
      plan: { limits: { callerLists: 2 } },
    });
    for (const round of [1, 2]) {
      for (const name of names) {
        const client = await sdkClient(url, `token-of-${name}`, '2026-07-28');
        expect(await namesOf(client), `${round}`).toEqual([`far_secret_of_${name}`, 'far_whoami']);
      }
    }
    expect(gateway.backends()).toMatchObject([{ status: 'unauthenticated' }]);
    expect(far.of('tools/list').length).toBeGreaterThanOrEqual(12);
  });
});
