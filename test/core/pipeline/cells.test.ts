import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Era, JsonObject } from '@toolmgr/core';
import {
  type FakeContext,
  type FakeServer,
  fakeServer,
  type TestClientOptions,
  testGateway,
  text,
} from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const CELLS = ERAS.flatMap((client) => ERAS.map((backend) => ({ client, backend })));
const CELL_IDS = {
  '2025-11-25 2025-11-25': 'choice.bridge.legacy-to-legacy',
  '2025-11-25 2026-07-28': 'choice.bridge.legacy-to-modern',
  '2026-07-28 2025-11-25': 'choice.bridge.modern-to-legacy',
  '2026-07-28 2026-07-28': 'choice.bridge.modern-to-modern',
} as const;

const form = { message: 'name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

/** Asks in the way of its era and greets with the answer. */
function greeter(server: FakeServer): FakeServer {
  return server.tool('greet', async (context) => {
    if (context.era === '2025-11-25') {
      const answer = await context.ask('elicitation/create', form);
      return text(`hello ${(answer.content as JsonObject | undefined)?.name}`);
    }
    const { inputResponses, requestState } = context.params;
    if (inputResponses === undefined) {
      const inputRequests = { who: { method: 'elicitation/create', params: form } };
      return { resultType: 'input_required', inputRequests, requestState: 'bank state' };
    }
    if (requestState !== 'bank state') throw { code: -32602, message: `state was ${String(requestState)}` };
    const { who } = inputResponses as { who: { content: { name: string } } };
    return text(`hello ${who.content.name}`);
  });
}

const answering: TestClientOptions = {
  capabilities: { elicitation: {} },
  answer: () => ({ action: 'accept', content: { name: 'Ada' } }),
};

async function cell(client: Era, server: FakeServer, options: TestClientOptions = {}) {
  const gateway = await testGateway({ backends: { far: server } });
  return {
    ...gateway,
    near: await gateway.client({ era: client, ...options }),
    [Symbol.asyncDispose]: gateway[Symbol.asyncDispose],
  };
}

describe.each(CELLS)('client $client, backend $backend', ({ client, backend }) => {
  const isLegacy = client === '2025-11-25';
  const cellId = CELL_IDS[`${client} ${backend}`];

  proves([cellId, 'ask.backend.four-cells'], 'calls a tool, with progress before the result', async () => {
    const server = fakeServer([backend]).tool('work', (context: FakeContext) => {
      context.progress(1, 2);
      context.progress(2, 2);
      return text('done');
    });
    await using at = await cell(client, server);
    const params = { name: 'work', arguments: {}, _meta: { progressToken: 'mine' } };
    const { result, told } = await at.near.request('tools/call', params);
    expect(result?.content).toEqual([{ type: 'text', text: 'done' }]);
    const tokens = told.map(({ params }) => (params as JsonObject).progressToken);
    expect(tokens).toEqual(['mine', 'mine']);
    expect(told.map(({ params }) => (params as JsonObject).progress)).toEqual([1, 2]);
    const sent = server.received.find(({ method }) => method === 'tools/call')?.params._meta as JsonObject;
    expect(sent.progressToken).not.toBe('mine');
  });

  const inputId = client === '2026-07-28' ? 'ask.modern.input-required' : 'ask.legacy.elicitation';
  proves([inputId, cellId], 'sends a request to the client during a call and continues with the answer', async () => {
    const server = greeter(fakeServer([backend]));
    await using at = await cell(client, server, answering);
    const result = await at.near.callTool('greet');
    expect(result.content).toEqual([{ type: 'text', text: 'hello Ada' }]);
    expect(at.gateway.counts()).toMatchObject({ parked: 0, callsInFlight: 0 });
  });

  proves(
    ['choice.capability.sampling', 'choice.capability.roots', ...(isLegacy ? (['ask.legacy.sampling'] as const) : [])],
    'brings sampling and roots of the backend to the client during its call, and the answers back',
    async () => {
      const sampling = { messages: [{ role: 'user', content: { type: 'text', text: 'hm?' } }], maxTokens: 5 };
      const server = fakeServer([backend]).tool('think', async (context) => {
        if (context.era === '2025-11-25') {
          const sampled = await context.ask('sampling/createMessage', sampling);
          const { roots } = await context.ask('roots/list', {});
          return text(JSON.stringify([sampled.model, roots]));
        }
        const answers = context.params.inputResponses as { s: JsonObject; r: JsonObject } | undefined;
        if (answers !== undefined) return text(JSON.stringify([answers.s.model, answers.r.roots]));
        const inputRequests = {
          s: { method: 'sampling/createMessage', params: sampling },
          r: { method: 'roots/list', params: {} },
        };
        return { resultType: 'input_required', inputRequests, requestState: 'x' };
      });
      const asked: string[] = [];
      await using at = await cell(client, server, {
        capabilities: { sampling: {}, roots: {} },
        answer: (method, params) => {
          asked.push(method);
          if (method === 'roots/list') return { roots: [{ uri: 'file:///home' }] };
          expect(params).toEqual(sampling);
          return { role: 'assistant', content: { type: 'text', text: 'ha' }, model: 'm1' };
        },
      });
      const result = await at.near.callTool('think');
      expect(result.content).toEqual([{ type: 'text', text: '["m1",[{"uri":"file:///home"}]]' }]);
      expect(asked.sort()).toEqual(['roots/list', 'sampling/createMessage']);
    },
  );

  proves(
    [
      'ask.fidelity.byte-equal',
      'ask.fidelity.reserved-meta',
      'choice.fidelity.unknown-fields',
      'choice.fidelity.unknown-content-types',
      'choice.fidelity.structured-content',
      'choice.fidelity.big-integers',
      'choice.fidelity.meta',
      'choice.fidelity.trace-context',
    ],
    'passes unknown fields, content types, big integers and end-to-end _meta byte-equal, and reserved _meta not at all',
    async () => {
      const inside =
        '"content":[{"type":"widget","n":12345678901234567890,"x":{"b":1,"a":2}}],"structuredContent":{"big":9007199254740993},"vendor":1.0';
      const meta = '{"vendor/x":1,"io.modelcontextprotocol/serverInfo":{"name":"forged"}}';
      const complete = backend === '2026-07-28' ? '"resultType":"complete",' : '';
      const server = fakeServer([backend]).tool('raw', () => ({ raw: `{${complete}${inside},"_meta":${meta}}` }));
      await using at = await cell(client, server);
      const trace = { traceparent: '00-abc', tracestate: 'v=1', baggage: 'user=a' };
      const sent = { 'vendor/y': 2, ...trace, 'io.modelcontextprotocol/forged': 1 };
      const reply = await at.near.request('tools/call', { name: 'raw', arguments: {}, _meta: sent });
      expect(reply.text).toContain(inside);
      expect(reply.text).not.toContain('forged');
      expect((reply.result?._meta as JsonObject)['vendor/x']).toBe(1);
      const got = server.received.find(({ method }) => method === 'tools/call')?.params._meta as JsonObject;
      expect(got).toMatchObject({ 'vendor/y': 2, ...trace });
      expect(got['io.modelcontextprotocol/forged']).toBeUndefined();
    },
  );

  proves(
    [
      'choice.fidelity.schemas',
      'choice.fidelity.annotations-and-icons',
      'choice.fidelity.schema-refs',
      'choice.fidelity.unknown-fields',
    ],
    'lists schemas, annotations, icons and unknown members byte-equal, and fetches no $ref',
    async () => {
      let fetched = 0;
      await using elsewhere = await listening(() => void fetched++);
      const object = '"type":"object","properties":{"n":{"const":12345678901234567890}}';
      const definition =
        `"description":"d","inputSchema":{${object},"allOf":[{"$ref":"${elsewhere.url}/in.json"}]},` +
        `"outputSchema":{${object},"$defs":{"a":{"$ref":"${elsewhere.url}/out.json"}}},` +
        '"annotations":{"readOnlyHint":true,"vendor":1.0},"icons":[{"src":"data:,x","sizes":["1x1"]}],"vendor":{"b":1,"a":2}';
      const complete = backend === '2026-07-28' ? '"resultType":"complete","ttlMs":0,"cacheScope":"private",' : '';
      const server = fakeServer([backend])
        .tool('t')
        .on('tools/list', () => ({ raw: `{${complete}"tools":[{"name":"t",${definition}}]}` }));
      await using at = await cell(client, server);
      expect((await at.near.request('tools/list')).text).toContain(definition);
      await at.near.callTool('t', { n: 1 });
      expect(fetched).toBe(0);
    },
  );

  it('cancels: the backend stops working', async () => {
    let aborted = false;
    let started = false;
    const server = fakeServer([backend]).tool('slow', ({ signal }) => {
      started = true;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject({ code: -32603, message: 'cancelled' });
        });
      });
    });
    await using at = await cell(client, server);
    const leaving = new AbortController();
    const calling = at.near
      .request('tools/call', { name: 'slow', arguments: {} }, leaving.signal)
      .catch(() => undefined);
    await until(() => started);
    if (client === '2026-07-28') leaving.abort();
    // The request ids of the test client count from 1: initialize was the first.
    else await at.near.notify('notifications/cancelled', { requestId: 2 });
    await until(() => aborted);
    leaving.abort();
    await calling;
    await until(() => at.gateway.counts().callsInFlight === 0);
  });

  proves(
    [
      'choice.capability.completions',
      ...(isLegacy ? (['ask.legacy.completions', 'ask.legacy.prompts', 'ask.legacy.resources'] as const) : []),
    ],
    'reads resources and prompts, completes arguments, and says what is not found in the code of its era',
    async () => {
      const server = fakeServer([backend])
        .resource('memo://1', 'remember')
        .template('memo://{id}')
        .prompt('plan', 'think')
        .on('completion/complete', ({ params }) => ({
          completion: { values: [(params.ref as JsonObject).name ?? (params.ref as JsonObject).uri ?? 'neither'] },
        }))
        .on('resources/read', ({ params }) => {
          if (params.uri === 'memo://gone') {
            const code = backend === '2025-11-25' ? -32002 : -32602;
            throw { code, message: 'no such memo', data: { uri: 'memo://gone' } };
          }
          return { contents: [{ uri: String(params.uri), mimeType: 'text/plain', text: 'remember' }] };
        });
      server.capabilities.completions = {};
      await using at = await cell(client, server);
      const read = await at.near.request('resources/read', { uri: 'memo://1' });
      expect(read.result?.contents).toEqual([{ uri: 'memo://1', mimeType: 'text/plain', text: 'remember' }]);
      const prompts = await at.near.request('prompts/list');
      const [{ name = '' } = {}] = prompts.result?.prompts as { name: string }[];
      expect((await at.near.request('prompts/get', { name })).result?.messages).toHaveLength(1);
      const ref = { type: 'ref/prompt', name };
      const completed = await at.near.request('completion/complete', { ref, argument: { name: 'a', value: '' } });
      expect(completed.result?.completion).toEqual({ values: ['plan'] });
      for (const uri of ['memo://{id}', 'memo://1']) {
        const asked = { ref: { type: 'ref/resource', uri }, argument: { name: 'id', value: '' } };
        const filled = await at.near.request('completion/complete', asked);
        expect(filled.result?.completion).toEqual({ values: [uri] });
      }
      const templates = await at.near.request('resources/templates/list');
      expect(templates.result?.resourceTemplates).toMatchObject([{ uriTemplate: 'memo://{id}' }]);
      const byTemplate = await at.near.request('resources/read', { uri: 'memo://7' });
      expect(byTemplate.result?.contents).toMatchObject([{ uri: 'memo://7' }]);
      const missing = await at.near.request('resources/read', { uri: 'memo://gone' });
      expect(missing.error?.code).toBe(client === '2025-11-25' ? -32002 : -32602);
    },
  );
});

describe('a modern client of a legacy backend', () => {
  proves(
    'choice.bridge.modern-to-legacy-input',
    'gets the question as an input-required result and finds its call waiting',
    async () => {
      const server = greeter(fakeServer(['2025-11-25']));
      await using at = await cell('2026-07-28', server, answering);
      const { result } = await at.near.request('tools/call', { name: 'greet', arguments: {} });
      expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
      expect(at.gateway.counts().parked).toBe(1);
      const key = Object.keys(result?.inputRequests as JsonObject)[0] ?? '';
      const inputResponses = { [key]: { action: 'accept', content: { name: 'Bob' } } };
      const retry = { name: 'greet', arguments: {}, inputResponses, requestState: String(result?.requestState) };
      const end = await at.near.request('tools/call', retry);
      expect(end.result?.content).toEqual([{ type: 'text', text: 'hello Bob' }]);
      const again = await at.near.request('tools/call', retry);
      expect(again.error).toMatchObject({ code: -32602, message: 'requestState is invalid or expired' });
      expect(server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
    },
  );

  proves(
    ['choice.bridge.modern-to-legacy-undeclared', 'choice.wire.capability-missing'],
    'gets -32021 when it did not declare what the backend asks for',
    async () => {
      const server = fakeServer(['2025-11-25']).tool('greet', async (context) => {
        const answer = await context.ask('elicitation/create', form).catch((error: JsonObject) => error);
        return text(JSON.stringify(answer));
      });
      await using at = await cell('2026-07-28', server);
      const { status, error } = await at.near.request('tools/call', { name: 'greet', arguments: {} });
      expect(status).toBe(400);
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
    },
  );

  proves(
    ['choice.bridge.modern-to-legacy-result', 'choice.bridge.modern-to-legacy-content'],
    'gets resultType, and an empty content where the server left it out',
    async () => {
      const server = fakeServer(['2025-11-25']).tool('bare', () => ({ structuredContent: { a: 1 } }));
      await using at = await cell('2026-07-28', server);
      const result = await at.near.callTool('bare');
      expect(result).toMatchObject({ resultType: 'complete', content: [], structuredContent: { a: 1 } });
      const list = await at.near.request('tools/list');
      expect(list.result).toMatchObject({ resultType: 'complete', ttlMs: 5_000, cacheScope: 'private' });
    },
  );

  proves('choice.bridge.modern-to-legacy-url-elicitation', 'gets "open this URL" as a request', async () => {
    let visited = false;
    const server = fakeServer(['2025-11-25']).tool('pay', () => {
      if (visited) return text('paid');
      visited = true;
      const elicitations = [{ mode: 'url', url: 'https://pay.test/1', message: 'pay here', elicitationId: 'e1' }];
      throw { code: -32042, message: 'open the URL', data: { elicitations } };
    });
    const asked: JsonObject[] = [];
    await using at = await cell('2026-07-28', server, {
      capabilities: { elicitation: { url: {} } },
      answer: (_method, params) => {
        asked.push(params);
        return { action: 'accept' };
      },
    });
    expect((await at.near.callTool('pay')).content).toEqual([{ type: 'text', text: 'paid' }]);
    expect(asked).toEqual([{ mode: 'url', url: 'https://pay.test/1', message: 'pay here' }]);
  });
});

describe('a legacy client of a modern backend', () => {
  proves(
    'choice.bridge.legacy-to-modern-structured',
    'gets structuredContent as an object, and a schema that says so',
    async () => {
      const schema = { type: 'array', items: { type: 'integer' } };
      const server = fakeServer(['2026-07-28']).tool('list', () => text('x', { structuredContent: [1, 2] }), {
        outputSchema: schema,
      });
      await using at = await cell('2025-11-25', server);
      expect(await at.near.callTool('list')).toMatchObject({ structuredContent: { result: [1, 2] } });
      const { result } = await at.near.request('tools/list');
      const [{ outputSchema }] = result?.tools as [{ outputSchema: JsonObject }];
      expect(outputSchema).toMatchObject({ type: 'object', properties: { result: schema } });
    },
  );

  proves(
    'choice.bridge.legacy-to-legacy-structured',
    'gets structuredContent of a legacy backend as it is, whatever it is',
    async () => {
      const schema = { type: 'array', items: { type: 'integer' } };
      const server = fakeServer(['2025-11-25']).tool('list', () => text('x', { structuredContent: [1, 2] }), {
        outputSchema: schema,
      });
      await using at = await cell('2025-11-25', server);
      expect((await at.near.callTool('list')).structuredContent).toEqual([1, 2]);
      const { result } = await at.near.request('tools/list');
      expect(result?.tools).toMatchObject([{ outputSchema: schema }]);
    },
  );

  proves(
    'choice.bridge.legacy-to-modern-cannot-ask',
    'that cannot receive requests gets a tool failure with the reason',
    async () => {
      await using at = await cell('2025-11-25', greeter(fakeServer(['2026-07-28'])));
      const result = await at.near.callTool('greet');
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toContain('does not support elicitation/create');
    },
  );

  proves('choice.bridge.legacy-to-modern-ping', 'is answered by the gateway when it pings', async () => {
    const server = fakeServer(['2026-07-28']).tool('x');
    await using at = await cell('2025-11-25', server);
    expect((await at.near.request('ping')).result).toEqual({});
    expect(server.received.some(({ method }) => method === 'ping')).toBe(false);
  });
});

/** Counts what arrives over HTTP. */
async function listening(arrived: () => void): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => {
    arrived();
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
