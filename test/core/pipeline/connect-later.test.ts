import type { Era, JsonObject } from '@toolmgr/core';
import { fakeServer, type TestClient, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { type ConnectLater, connectLater, LINK, SENTENCE } from '../../support/connect-later.ts';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { httpBackend, httpServer, legacyAnswers, modernAnswers } from '../backend/support.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const CELLS = ERAS.flatMap((client) => ERAS.map((backend) => ({ client, backend })));
const ANSWERS = { '2025-11-25': legacyAnswers, '2026-07-28': modernAnswers };
const URL_MODE = { elicitation: { url: {} } };
const CALL = { name: 'echo', arguments: { message: 'hi' } };
const IN_WORDS = `${SENTENCE} (USER_ACTION_REQUIRED). Open this link in a browser, then repeat the call: ${LINK}`;

interface Kit {
  readonly later: ConnectLater;
  readonly kit: TestGateway;
  readonly far: Awaited<ReturnType<typeof httpServer>>;
}

async function gatewayTo(
  backend: Era,
  options: Parameters<typeof legacyAnswers>[0] = {},
): Promise<Kit & AsyncDisposable> {
  const later = connectLater();
  const far = await httpServer(ANSWERS[backend](options));
  const kit = await testGateway({ plugins: [later.plugin], backends: { far: httpBackend(far.url) } });
  return { later, kit, far, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

function textOf(result: JsonObject | undefined): unknown {
  return (result?.content as { text: string }[] | undefined)?.[0]?.text;
}

/** The retry of a call whose link was opened, or not. */
function retry(result: JsonObject | undefined, action: string, call: JsonObject = CALL): JsonObject {
  const [key = ''] = Object.keys(result?.inputRequests as object);
  return { ...call, inputResponses: { [key]: { action } }, requestState: String(result?.requestState) };
}

describe.each(CELLS)('an account that is connected later: client $client, backend $backend', ({ client, backend }) => {
  proves(
    client === '2025-11-25' ? 'choice.connect-later.legacy' : 'choice.connect-later.modern',
    'is asked for with a link, and then the same call is made',
    async () => {
      await using at = await gatewayTo(backend);
      const near = await at.kit.client({ era: client, capabilities: URL_MODE });
      expect(await near.toolNames()).toEqual(['echo']);
      const asked = await near.request('tools/call', CALL);
      expect(asked.status).toBe(200);
      at.later.isConnected = true;
      if (client === '2025-11-25') {
        const elicitation = {
          mode: 'url',
          elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          url: LINK,
          message: SENTENCE,
        };
        expect(asked.error).toEqual({ code: -32042, message: SENTENCE, data: { elicitations: [elicitation] } });
        expect(textOf((await near.request('tools/call', CALL)).result)).toMatch(/legacy|modern/);
      } else {
        expect(asked.result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
        expect(Object.values(asked.result?.inputRequests as object)).toEqual([
          { method: 'elicitation/create', params: { mode: 'url', url: LINK, message: SENTENCE } },
        ]);
        const { result } = await near.request('tools/call', retry(asked.result, 'accept'));
        expect(textOf(result)).toMatch(/legacy|modern/);
      }
      const calls = at.far.of('tools/call');
      expect(calls).toHaveLength(1);
      expect(calls[0]?.message?.params).toMatchObject(CALL);
      expect(calls[0]?.message?.params).not.toHaveProperty('inputResponses');
      expect(calls[0]?.message?.params).not.toHaveProperty('requestState');
      expect(at.kit.logged).toEqual([]);
    },
  );

  proves(
    'choice.connect-later.in-words',
    'is a tool failure with the link for a client that opens no URLs',
    async () => {
      await using at = await gatewayTo(backend);
      for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
        const near = await at.kit.client({ era: client, capabilities });
        const { status, result } = await near.request('tools/call', CALL);
        expect([status, result?.isError, textOf(result)]).toEqual([200, true, IN_WORDS]);
      }
      expect(at.kit.logged).toEqual([]);
    },
  );

  it('is -32603 with the link for other requests of such a client', async () => {
    const answers = { capabilities: { tools: {}, prompts: {}, resources: { subscribe: true } }, before: listsMore };
    await using at = await gatewayTo(backend, answers);
    const near = await at.kit.client({ era: client });
    for (const [method, params] of OTHER_CALLS) {
      const { error } = await near.request(method, params);
      expect([method, error?.code, error?.message]).toEqual([method, -32603, IN_WORDS]);
    }
  });

  it('is asked for by a link in prompts and resources too', async () => {
    const answers = { capabilities: { tools: {}, prompts: {}, resources: { subscribe: true } }, before: listsMore };
    await using at = await gatewayTo(backend, answers);
    const near = await at.kit.client({ era: client, capabilities: URL_MODE });
    for (const [method, params] of OTHER_CALLS) {
      const { error, result } = await near.request(method, params);
      const mayAsk = method !== 'completion/complete';
      const expected = client === '2025-11-25' ? -32042 : mayAsk ? 'input_required' : -32603;
      expect([method, error?.code ?? result?.resultType]).toEqual([method, expected]);
    }
    expect(await subscribed(near, client)).toEqual(client === '2025-11-25' ? -32042 : undefined);
  });
});

const OTHER_CALLS = [
  ['prompts/get', { name: 'poem' }],
  ['resources/read', { uri: 'test://a' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'poem' }, argument: { name: 'a', value: 'b' } }],
] as const;

/** Lists of prompts and resources. */
function listsMore({
  message,
  response,
}: Parameters<NonNullable<NonNullable<Parameters<typeof legacyAnswers>[0]>['before']>>[0]): boolean {
  const lists: Readonly<Record<string, JsonObject>> = {
    'prompts/list': { prompts: [{ name: 'poem' }] },
    'resources/list': { resources: [{ uri: 'test://a', name: 'a' }] },
    'resources/templates/list': { resourceTemplates: [] },
  };
  const found = lists[message?.method ?? ''];
  if (found === undefined) return false;
  const result = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...found };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message?.id, result }));
  return true;
}

async function subscribed(near: TestClient, era: Era): Promise<number | undefined> {
  if (era === '2026-07-28') return undefined; // this era subscribes with a listen stream, which leaves the resource out
  return (await near.request('resources/subscribe', { uri: 'test://a' })).error?.code;
}

describe('the link to a 2026-07-28 client', () => {
  proves(
    'choice.connect-later.declined',
    'when it is declined or cancelled, gives a tool failure, and calls nothing',
    async () => {
      await using at = await gatewayTo('2026-07-28');
      const near = await at.kit.client({ capabilities: URL_MODE });
      for (const action of ['decline', 'cancel', 'anything']) {
        const asked = await near.request('tools/call', CALL);
        at.later.isConnected = true;
        const { result } = await near.request('tools/call', retry(asked.result, action));
        expect(result?.isError).toBe(true);
        expect(textOf(result)).toBe(
          'the call was not made, because the link was not opened; repeat the call to get a new link',
        );
        at.later.isConnected = false;
      }
      expect(at.far.of('tools/call')).toHaveLength(0);
      expect(at.kit.logged).toEqual([]);
    },
  );

  proves('choice.connect-later.waits', 'is not sent again at once while the person is in the browser', async () => {
    await using at = await gatewayTo('2026-07-28');
    const near = await at.kit.client({ capabilities: URL_MODE });
    const asked = await near.request('tools/call', CALL);
    let tries = 0;
    at.later.before = () => {
      at.later.isConnected = ++tries === 2;
    };
    const { result } = await near.request('tools/call', retry(asked.result, 'accept'));
    expect([tries, textOf(result)]).toEqual([2, 'modern']);
  });

  it('comes again when the retry has no answer to it', async () => {
    await using at = await gatewayTo('2026-07-28');
    const near = await at.kit.client({ capabilities: URL_MODE });
    const asked = await near.request('tools/call', CALL);
    const again = await near.request('tools/call', {
      ...CALL,
      inputResponses: {},
      requestState: String(asked.result?.requestState),
    });
    expect(again.result?.resultType).toBe('input_required');
  });

  it('does not lose the state of a backend that asked before', async () => {
    const form = { message: 'sure?', requestedSchema: { type: 'object' } };
    await using at = await gatewayTo('2026-07-28', {
      before({ message, response }) {
        if (message?.method !== 'tools/call') return false;
        const { inputResponses, requestState } = message.params as JsonObject;
        const question = {
          resultType: 'input_required',
          inputRequests: { q: { method: 'elicitation/create', params: form } },
          requestState: 'of the backend',
        };
        const done = { resultType: 'complete', content: [{ type: 'text', text: String(requestState) }] };
        const result = inputResponses === undefined ? question : done;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
        return true;
      },
    });
    const near = await at.kit.client({ capabilities: { elicitation: { form: {}, url: {} } } });
    at.later.isConnected = true;
    const first = await near.request('tools/call', CALL);
    at.later.isConnected = false; // disconnected between the rounds
    const second = await near.request('tools/call', retry(first.result, 'accept'));
    expect(Object.keys(second.result?.inputRequests as object)).toEqual(['toolmgr.link']);
    at.later.isConnected = true;
    const third = await near.request('tools/call', retry(second.result, 'accept'));
    expect(Object.keys(third.result?.inputRequests as object)).toEqual(['q']); // it asks again, because its answer was not sent on
    const fourth = await near.request('tools/call', retry(third.result, 'accept'));
    expect(textOf(fourth.result)).toBe('of the backend');
  });
});

describe('lists without an account', () => {
  for (const era of ERAS) {
    proves(
      'choice.connect-later.lists',
      `lack only the entries of the backend that needs it; a ${era} client gets them after it is connected`,
      async () => {
        const later = connectLater();
        later.listsAreFree = false;
        const far = await httpServer(modernAnswers());
        const near = fakeServer().tool('near');
        await using kit = await testGateway({
          plugins: [later.plugin],
          backends: { far: httpBackend(far.url), near },
        });
        const client = await kit.client({ era, capabilities: URL_MODE });
        expect(await client.toolNames()).toEqual(['near']);
        const { result } = await client.request('tools/call', { name: 'near', arguments: {} });
        expect(result?.isError).toBeUndefined();
        later.isConnected = true;
        // lists of a caller are tried again after five seconds
        await until(async () => (await client.toolNames()).includes('echo'));
        expect(kit.logged.filter((line) => line.includes('lists of a capability class'))).toEqual([]);
      },
    );
  }

  proves(
    'choice.connect-later.list-changed',
    'that change when the account is connected are announced to the client at its next request',
    async () => {
      const later = connectLater();
      later.listsAreFree = false;
      const far = await httpServer(modernAnswers());
      await using kit = await testGateway({
        plugins: [later.plugin],
        backends: { far: httpBackend(far.url), near: fakeServer().tool('near') },
      });
      const session = await legacySession(kit.gateway);
      const stream = await session.stream();
      await session.request('tools/list');
      later.isConnected = true;
      let isTold = false;
      const told = stream.next().then((event) => {
        isTold = true;
        return event?.message.method;
      });
      await until(async () => {
        await session.request('tools/call', { name: 'near', arguments: {} });
        return isTold;
      });
      expect(await told).toBe('notifications/tools/list_changed');
      await stream.close();
    },
  );

  it('are empty, and no error, when the only backend needs it', async () => {
    const later = connectLater();
    later.listsAreFree = false;
    const far = await httpServer(modernAnswers());
    await using kit = await testGateway({ plugins: [later.plugin], backends: { far: httpBackend(far.url) } });
    for (const era of ERAS) {
      const { result } = await (await kit.client({ era })).request('tools/list');
      const lacking = [{ name: 'far', status: 'action_required', message: SENTENCE, url: LINK }];
      expect([result?.tools, result?._meta]).toMatchObject([[], { 'dev.toolmgr/lacking': lacking }]);
    }
  });
});
