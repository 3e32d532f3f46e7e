import type { IncomingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { fakeClock, fakeServer, type TestClient, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decisionPointConfig } from '../../../../plugins/authorization/decision-point/config.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { proves } from '../../../support/proves.ts';
import { claimsFromHeader, claimsHeader } from '../cedar/support.ts';

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  readonly text: string;
}

/** What a policy server decides about one question: a JSON value, or the status of an error. */
type Rule = (question: JsonObject) => JsonValue;

/** Permits members of `dev` everything but `deploy`. */
const RULE: Rule = ({ subject, resource }) => {
  const { properties } = subject as { properties: { claims: { groups?: readonly string[] } } };
  return (properties.claims.groups ?? []).includes('dev') && (resource as JsonObject).id !== 'deploy';
};

/** A policy server that speaks both protocols. */
async function policyServer(rule: Rule, status = () => 200) {
  const asked: Asked[] = [];
  const server = await loopbackServer(async (request, response) => {
    const text = await textOf(request);
    const body = JSON.parse(text) as JsonObject;
    const path = request.url ?? '';
    asked.push({ path, headers: request.headers, body, text });
    const evaluate = (question: JsonValue): JsonValue => {
      const decision = rule(question as JsonObject);
      return isObject(decision) ? decision : { decision };
    };
    const answers: Readonly<Record<string, () => JsonValue>> = {
      '/access/v1/evaluation': () => evaluate(body),
      '/access/v1/evaluations': () => ({ evaluations: (body.evaluations as JsonValue[]).map(evaluate) }),
      '/v1/data/mcp/allow': () => {
        const result = rule(body.input as JsonObject);
        return result === 'undefined' ? {} : { result };
      },
    };
    response.writeHead(status(), { 'content-type': 'application/json' }).end(JSON.stringify(answers[path]?.() ?? null));
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.url, asked };
}

const backend = () =>
  fakeServer().tool('deploy').tool('search').prompt('plan', 'x').resource('memo://code', 'x').template('memo://{id}');

function gateway(settings: JsonObject, { more = [], ...options }: Options = {}): Promise<TestGateway> {
  return testGateway({
    catalogue,
    plugins: [claimsFromHeader],
    backends: { far: backend() },
    ...options,
    plan: {
      name: 'gw',
      plugins: [
        { use: claimsFromHeader.address },
        { use: 'secrets/environment' },
        { use: 'authorization/decision-point', with: { claims: ['groups'], ...settings } },
        ...more,
      ],
    },
  });
}

interface Options {
  readonly more?: readonly { readonly use: string; readonly with?: JsonObject }[];
  readonly now?: () => number;
}

const client = (kit: TestGateway, groups: readonly string[]): Promise<TestClient> =>
  kit.client({ headers: claimsHeader({ sub: 'ada', email: 'ada@example.com', groups: [...groups] }) });

const dev = (kit: TestGateway): Promise<TestClient> => client(kit, ['dev']);

/** The text of a refused call. */
async function refusal(caller: TestClient, name: string, given: JsonObject = {}): Promise<string> {
  const { text } = await caller.request('tools/call', { name, arguments: given });
  return text;
}

describe('a policy server over AuthZEN', () => {
  proves('choice.decision-point.calls', 'decides about calls, and gets subject, action and resource', async () => {
    const { url, asked } = await policyServer(RULE);
    await using kit = await gateway({ url, cacheFor: '0s' });
    expect(await (await dev(kit)).callTool('search', { q: 'x' })).toMatchObject({ content: expect.anything() });
    expect(asked.map(({ path, body }) => [path, body])).toEqual([
      [
        '/access/v1/evaluation',
        {
          subject: {
            type: 'user',
            id: 'ada',
            properties: { issuer: expect.any(String), claims: { groups: ['dev'] } },
          },
          action: { name: 'call_tool' },
          resource: { type: 'tool', id: 'search', properties: { backend: 'far', originalName: 'search' } },
          context: { server: 'gw' },
        },
      ],
    ]);
    expect(asked[0]?.text).not.toMatch(/example\.com/);
    expect(await refusal(await dev(kit), 'deploy')).toContain('denied by authorization policy');
    expect(await refusal(await client(kit, []), 'search')).toContain('denied by authorization policy');
  });

  proves('choice.decision-point.lists', 'filters lists with one request each, and is not asked again', async () => {
    const { url, asked } = await policyServer(RULE);
    const clock = fakeClock();
    await using kit = await gateway({ url, cacheFor: '10s' }, { now: clock.now });
    const ada = await dev(kit);
    expect(await ada.toolNames()).toEqual(['search']);
    expect(asked.map(({ path }) => path)).toEqual(['/access/v1/evaluations']);
    await ada.toolNames();
    await ada.callTool('search', {});
    expect(asked).toHaveLength(1);
    clock.advance(10_001);
    await ada.callTool('search', {});
    expect(asked).toHaveLength(2);
    expect(await (await client(kit, [])).toolNames()).toEqual([]);
    const { result } = await ada.request('prompts/list', {});
    expect(result).toMatchObject({ prompts: [{ name: 'plan' }] });
  });

  it('is asked about at most 100 entries at once', async () => {
    const far = fakeServer();
    for (let n = 0; n < 250; n++) far.tool(`t${n}`);
    const { url, asked } = await policyServer(({ resource }) => (resource as JsonObject).id !== 't123');
    await using kit = await testGateway({
      catalogue,
      backends: { far },
      plan: { plugins: [{ use: 'authorization/decision-point', with: { url } }] },
    });
    const names = await (await kit.client()).toolNames();
    expect([names.length, names.includes('t123')]).toEqual([249, false]);
    expect(asked.map(({ body }) => (body.evaluations as unknown[]).length).sort()).toEqual([100, 100, 50]);
  });

  proves('choice.decision-point.arguments', 'gets arguments byte for byte where the file says so', async () => {
    const { url, asked } = await policyServer(({ context }) => (context as JsonObject).arguments !== undefined);
    await using kit = await gateway({ url, includeArguments: true });
    const ada = await dev(kit);
    await ada.callTool('search', { n: 1 });
    await ada.callTool('search', { n: 2 });
    expect(asked.map(({ text }) => /"arguments":(.*)}}$/.exec(text)?.[1])).toEqual(['{"n":1}', '{"n":2}']);
    expect(await refusal(ada, 'search', { q: 'x'.repeat(70_000) })).toContain('too large for the authorization policy');
    expect(Math.max(...asked.map(({ text }) => text.length))).toBeLessThan(1_000);
  });

  proves('choice.decision-point.dispatched', 'decides about what call_tool calls, not about call_tool', async () => {
    const { url, asked } = await policyServer(RULE);
    await using kit = await gateway(
      { url },
      { more: [{ use: 'optimizer/search' }, { use: 'optimizer/tools', with: {} }] },
    );
    const ada = await kit.client({ era: '2025-11-25', headers: claimsHeader({ sub: 'ada', groups: ['dev'] }) });
    const through = (name: string) => ada.callTool('call_tool', { tool_name: name, parameters: {} });
    expect(await through('search')).not.toHaveProperty('isError', true);
    expect(await through('deploy')).toMatchObject({ isError: true });
    expect(JSON.stringify(asked)).not.toContain('"id":"call_tool"');
  });
});

describe('a rule of Open Policy Agent', () => {
  it.each<[JsonValue, boolean]>([
    [true, true],
    [false, false],
    [{ allow: true }, true],
    [{ allow: false, reason: 'x' }, false],
    ['undefined', false],
  ])('with the result %j permits: %j', async (result, isAllowed) => {
    const { url, asked } = await policyServer(() => result);
    await using kit = await gateway({ protocol: 'opa', url: `${url}/v1/data/mcp/allow` });
    const text = await refusal(await dev(kit), 'search');
    expect(text.includes('denied by authorization policy')).toBe(!isAllowed);
    expect(asked[0]?.body.input).toMatchObject({ action: { name: 'call_tool' }, resource: { id: 'search' } });
  });
});

describe('without a decision', () => {
  const broken: Readonly<Record<string, [Rule, number]>> = {
    'an error of the server': [() => true, 500],
    'an answer without a decision': [() => ({}), 200],
    'a decision that is no boolean': [() => ({ decision: 'true' }), 200],
  };
  for (const [what, [rule, status]] of Object.entries(broken)) {
    proves(
      'choice.decision-point.default-deny',
      `calls are refused for now, and lists are errors: ${what}`,
      async () => {
        const { url } = await policyServer(rule, () => status);
        await using kit = await gateway({ url });
        const ada = await dev(kit);
        expect(await refusal(ada, 'search')).toContain('the policy server gives no decision now');
        expect((await ada.request('tools/list', {})).result).toBeUndefined();
      },
    );
  }

  proves('choice.decision-point.default-deny', 'a failure is not kept: the next call is asked about', async () => {
    let status = 503;
    const { url } = await policyServer(RULE, () => status);
    await using kit = await gateway({ url });
    const ada = await dev(kit);
    expect(await refusal(ada, 'search')).toContain('no decision now');
    status = 200;
    expect(await ada.toolNames()).toEqual(['search']);
    expect(await ada.callTool('search', {})).toMatchObject({ content: expect.anything() });
  });

  it('a server that does not answer costs the timeout', async () => {
    const server = await loopbackServer(() => {});
    onTestFinished(() => server[Symbol.asyncDispose]());
    await using kit = await gateway({ url: server.url, timeout: '100ms' });
    expect(await refusal(await dev(kit), 'search')).toContain('no decision now');
  });
});

describe('the token of the gateway', () => {
  proves('choice.decision-point.token', 'is a secret, is sent as bearer token, and never in the clear', async () => {
    const { url, asked } = await policyServer(RULE);
    process.env.TEST_PDP_TOKEN = 'pdp-token-1';
    onTestFinished(() => void delete process.env.TEST_PDP_TOKEN);
    await using kit = await gateway({ url, policyTokenEnv: 'TEST_PDP_TOKEN' });
    await (await dev(kit)).toolNames();
    expect(asked[0]?.headers.authorization).toBe('Bearer pdp-token-1');
    expect(kit.logged.join()).not.toContain('pdp-token-1');
    await expect(gateway({ url, policyTokenEnv: 'TEST_PDP_MISSING' })).rejects.toThrow(
      /decisionPoint\.policyTokenEnv.*TEST_PDP_MISSING/,
    );
    const issues = (given: object) =>
      decisionPointConfig.safeParse(given).error?.issues.map(({ path, message }) => `${path}: ${message}`) ?? [];
    expect(issues({ url: 'http://opa.example', policyTokenEnv: 'X' })).toEqual([
      expect.stringMatching(/^url: expected https/),
    ]);
    expect(issues({ url: 'https://opa.example', policyTokenEnv: 'X' })).toEqual([]);
  });
});
