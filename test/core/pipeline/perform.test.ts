import {
  ANONYMOUS,
  type Call,
  type CallRecord,
  type Core,
  callWith,
  DEFAULT_LIMITS,
  type Dispatch,
  definePlugin,
  GatewayFault,
  type JsonObject,
} from '@toolmgr/core';
import { fakeClock, fakeServer, type TestGateway, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { ByteBudget } from '../../../core/mcp/byte-budget.ts';
import { createPausedCalls } from '../../../core/pipeline/paused-calls.ts';
import { modernRequest } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';

const FORM = { mode: 'form', message: 'sure?', requestedSchema: { type: 'object', properties: {} } };
const QUESTION = { q: { method: 'elicitation/create', params: FORM } };
const ANSWER = { q: { action: 'accept', content: {} } };

/** A gateway whose calls a plugin taps, its backend, and the records of its calls. */
async function tapped(tap: (hooks: Core['hooks']) => void = () => {}, server = fakeServer()) {
  server.tool('echo', 'of echo').tool('other', 'of other').prompt('echo', 'x');
  const settled: CallRecord[] = [];
  const plugin = definePlugin({
    address: 'test/taps',
    config: z.strictObject({}),
    apply({ hooks }) {
      hooks.callSettled.tap('test/taps', (record) => void settled.push(record));
      tap(hooks);
    },
  });
  const clock = fakeClock();
  const kit = await testGateway({ plugins: [plugin], backends: { far: server }, now: clock.now });
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const calls = () => server.received.filter(({ method }) => method === 'tools/call').length;
  return {
    kit,
    settled,
    server,
    clock,
    calls,
    echo: (caller = ANONYMOUS) => kit.gateway.perform({ name: 'echo', caller }),
  };
}

/** The same, when every call to the backend fails. */
const failing = (fault: GatewayFault) =>
  tapped(({ wrapDispatch }) => {
    const fails: Dispatch = () => Promise.reject(fault);
    wrapDispatch.tap('test/taps', () => fails);
  });

const reports = ({ logged }: TestGateway) => logged.filter((line) => line.includes('a call failed'));

describe('a call', () => {
  it('passes rewrite, authorize, limit, dispatch and the result rewrite in this order, and is told last', async () => {
    const order: string[] = [];
    const server = fakeServer().tool('step', () => {
      order.push('dispatch');
      return text('stepped');
    });
    const { kit, settled } = await tapped((hooks) => {
      hooks.rewriteCall.tap('t', (call) => {
        order.push('rewriteCall');
        return call;
      });
      hooks.authorize.tap('t', () => void order.push('authorize'));
      hooks.limit.tap('t', () => void order.push('limit'));
      hooks.rewriteResult.tap('t', (result) => {
        order.push('rewriteResult');
        return result;
      });
      hooks.callSettled.tap('t', () => void order.push('settled'));
    }, server);
    const reply = await kit.gateway.perform({ name: 'step' });
    expect(order).toEqual(['rewriteCall', 'authorize', 'limit', 'dispatch', 'rewriteResult', 'settled']);
    const value = { content: [{ type: 'text', text: 'stepped' }] };
    expect(reply).toMatchObject({ result: { value } });
    expect(settled).toMatchObject([{ outcome: 'ok', result: { value } }]);
    expect(settled[0]?.resultBytes).toBe(settled[0]?.result?.bytes.length);
  });

  proves('choice.order.denied-spends-nothing', 'that is denied takes no token and reaches no backend', async () => {
    let limited = 0;
    const { echo, settled, calls } = await tapped((hooks) => {
      hooks.authorize.tap('policy', () => ({ refused: true, status: 403, reason: 'no' }));
      hooks.limit.tap('limit', () => {
        limited++;
        return undefined;
      });
    });
    expect(await echo()).toMatchObject({ refusal: { status: 403 } });
    expect([limited, calls()]).toEqual([0, 0]);
    expect(settled[0]).toMatchObject({ outcome: 'refused', refusal: { reason: 'no' } });
  });

  it('that is denied with 403 carries the challenge of its caller, unless the policy has its own', async () => {
    const told = { ...ANONYMOUS, challenge: 'Bearer resource_metadata="https://gw.test/meta"' };
    for (const [refusal, header] of [
      [{ refused: true, status: 403, reason: 'no' }, told.challenge],
      [{ refused: true, status: 403, reason: 'no', headers: { 'www-authenticate': 'Own' } }, 'Own'],
      [{ refused: true, status: 429, reason: 'slow' }, undefined],
    ] as const) {
      const { echo } = await tapped((hooks) => hooks.authorize.tap('policy', () => refusal));
      const reply = await echo(told);
      expect('refusal' in reply && reply.refusal.headers?.['www-authenticate']).toBe(header);
      const plain = await echo();
      expect('refusal' in plain && plain.refusal).toBe(refusal);
    }
  });

  it('that a rewrite renames is authorized and dispatched as the new one, or unknown', async () => {
    const authorized: string[] = [];
    const { kit, echo } = await tapped((hooks) => {
      hooks.rewriteCall.tap('rename', (call) => callWith(call, { name: call.name === 'echo' ? 'other' : 'missing' }));
      hooks.authorize.tap('policy', (call) => void authorized.push(`${call.name}/${call.target.key}`));
    });
    expect(await echo()).toMatchObject({ result: { value: { content: [{ text: 'of other' }] } } });
    expect(authorized).toEqual(['other/other']);
    expect(await kit.gateway.perform({ name: 'other' })).toMatchObject({ error: { code: -32602 } });
    expect(authorized).toHaveLength(1);
  });

  it('fails closed when a policy throws, without internals on the wire', async () => {
    const { kit, echo, settled, calls } = await tapped((hooks) =>
      hooks.authorize.tap('policy', () => {
        throw new Error('secret internals');
      }),
    );
    expect(await echo()).toEqual({ error: { code: -32603, message: 'internal error', status: 500 } });
    expect([settled[0]?.outcome, calls()]).toEqual(['fault', 0]);
    expect(reports(kit)).toHaveLength(1);
  });

  it('that needs an identity provider which is away is a tool failure that says so, without its address', async () => {
    const away = 'upstream corp: http://10.0.0.7/token: connect ECONNREFUSED';
    const { kit, echo } = await failing(new GatewayFault('REMOTE_UNAVAILABLE', away));
    const reply = await echo();
    expect('result' in reply && reply.result.isError).toBe(true);
    const said = 'result' in reply ? reply.result.bytes.toString() : '';
    expect(said).toMatch(/does not answer now; repeat the call later \(REMOTE_UNAVAILABLE\)/);
    expect(said).not.toContain('10.0.0.7');
    expect(reports(kit)).toHaveLength(1);
    const prompt = await (await kit.client()).request('prompts/get', { name: 'echo' });
    expect(prompt.error).toMatchObject({ code: -32603, message: expect.stringContaining('repeat') });
  });

  it('that needs a store which is away is an error that says so, with status 503 and without its address', async () => {
    const away = 'redis-1.internal:6379: connect ECONNREFUSED';
    const { kit, echo } = await failing(new GatewayFault('STORE_UNAVAILABLE', away));
    const message = 'a store of the gateway does not answer now; repeat the call later (STORE_UNAVAILABLE)';
    expect(await echo()).toMatchObject({ error: { code: -32603, status: 503, message } });
    expect(reports(kit)).toHaveLength(1);
  });

  it('to a backend that failed is a tool failure that says so, and an error for other methods', async () => {
    const fault = new GatewayFault('BACKEND_TIMEOUT', 'backend far did not answer in 30000 ms');
    const { kit, echo } = await failing(fault);
    const reply = await echo();
    expect('result' in reply && reply.result.isError).toBe(true);
    expect('result' in reply && reply.result.bytes.toString()).toContain('BACKEND_TIMEOUT');
    const prompt = await (await kit.client()).request('prompts/get', { name: 'echo' });
    expect(prompt.error).toMatchObject({ code: -32603 });
  });

  proves(
    'choice.bridge.modern-to-legacy-not-found',
    'maps the not-found of a legacy backend for a modern client only',
    async () => {
      const server = fakeServer(['2025-11-25']).tool('gone', () => {
        throw { code: -32002, message: 'gone', data: { uri: 'x' } };
      });
      const { kit } = await tapped(undefined, server);
      for (const [era, code] of [
        ['2026-07-28', -32602],
        ['2025-11-25', -32002],
      ] as const) {
        const { error } = await (await kit.client({ era })).request('tools/call', { name: 'gone', arguments: {} });
        expect(error, era).toEqual({ code, message: 'gone', data: { uri: 'x' } });
      }
    },
  );

  proves(
    'choice.request-state.one-call',
    'of several rounds is limited and told once, and a replayed state is limited again',
    async () => {
      let limited = 0;
      const { kit, settled, clock } = await tapped(
        (hooks) =>
          hooks.limit.tap('limit', () => {
            limited++;
            return undefined;
          }),
        asking(),
      );
      const startedMs = clock.now();
      const { result, call } = await firstRound(kit);
      expect(settled).toHaveLength(0);
      clock.advance(1_000);
      const more = { inputResponses: ANSWER, requestState: String(result?.requestState) };
      expect((await call(more)).result).toMatchObject({ content: [{ text: 'done' }] });
      expect(limited).toBe(1);
      expect(settled).toMatchObject([{ outcome: 'ok', rounds: 2, startedMs }]);
      await call(more); // the same state once more
      expect(limited).toBe(2);
    },
  );

  it('that its client does not continue is recorded as abandoned when the gateway stops, without a result', async () => {
    const { kit, settled } = await tapped(undefined, asking());
    for (let n = 0; n < 3; n++) await firstRound(kit);
    expect(settled).toEqual([]);
    await kit.gateway.stop();
    const told = settled.map(({ outcome, result }) => [outcome, result]);
    expect(told).toEqual(Array.from({ length: 3 }, () => ['abandoned', undefined]));
    expect(new Set(settled.map(({ call }) => call.id)).size).toBe(3);
  });

  it('that waits for its client is recorded as abandoned, the oldest first, when there are too many', async () => {
    const { echo, settled } = await tapped();
    for (let n = 0; n < 3; n++) await echo();
    const given: CallRecord[] = [];
    const budget = new ByteBudget(DEFAULT_LIMITS);
    const rounds = createPausedCalls(2, 60_000, Date.now, (record) => given.push(record), budget);
    for (const record of settled) rounds.pause(record);
    expect(given).toMatchObject([{ call: { id: settled[0]?.call.id }, outcome: 'abandoned' }]);
    expect(rounds.size).toBe(2);
    rounds.end();
    expect(given.map(({ call, outcome }) => [call.id, outcome])).toEqual(
      settled.map(({ call }) => [call.id, 'abandoned']),
    );
  });

  it('keeps big integers of its arguments when a plugin changes nothing or something else', async () => {
    const seen: Call[] = [];
    const { kit } = await tapped((hooks) => hooks.authorize.tap('see', (call) => void seen.push(call)));
    const { body, headers } = modernRequest('tools/call', { name: 'echo', arguments: { n: 0 } });
    const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
    const sent = JSON.stringify(body).replace('"n":0', '"n":12345678901234567890');
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: all, body: sent });
    expect((await kit.gateway.fetch(request)).status).toBe(200);
    const [call] = seen;
    if (call === undefined) throw new Error('no call');
    expect(call.params.toString()).toContain('12345678901234567890');
    expect(callWith(call, { name: 'other' }).params.toString()).toContain('12345678901234567890');
    expect(callWith(call, { arguments: { n: 1 } }).arguments).toEqual({ n: 1 });
  });
});

/** A backend whose tool asks its client. */
function asking() {
  return fakeServer(['2026-07-28']).tool('ask', ({ params }) =>
    params.inputResponses === undefined
      ? { resultType: 'input_required', inputRequests: QUESTION, requestState: 's' }
      : text('done'),
  );
}

async function firstRound(kit: TestGateway) {
  const client = await kit.client({ capabilities: { elicitation: {} } });
  const call = (more: JsonObject = {}) => client.request('tools/call', { name: 'ask', arguments: {}, ...more });
  const { result } = await call();
  expect(result?.resultType).toBe('input_required');
  return { result, call };
}
