import {
  ANONYMOUS,
  type Call,
  type CallRecord,
  type CallResult,
  type ClientContext,
  callWith,
  DEFAULT_LIMITS,
  encode,
  GatewayFault,
  RawObject,
  resultFromValue,
} from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { Catalogs } from '../../../core/catalog/catalog.ts';
import { createHooks } from '../../../core/extension/hooks.ts';
import { ByteBudget } from '../../../core/mcp/byte-budget.ts';
import { BackendError } from '../../../core/mcp/errors.ts';
import { createStateSeal } from '../../../core/pipeline/bridge/request-state.ts';
import { type CallFields, createCall } from '../../../core/pipeline/call-value.ts';
import { createPausedCalls } from '../../../core/pipeline/paused-calls.ts';
import { type PipelineContext, perform } from '../../../core/pipeline/perform.ts';
import { compilePipeline } from '../../../core/pipeline/pipeline.ts';
import { silentClient } from '../../../core/pipeline/silent-client.ts';
import { Cancel } from '../../../core/timing/cancel.ts';
import { proves } from '../../support/proves.ts';

const caller = ANONYMOUS;
const entry = (key: string) => ({
  kind: 'tool' as const,
  key,
  backend: 'w',
  original: key,
  definition: encode({ name: key }),
  shapedBy: [],
});

function clientOf(era: ClientContext['era']): ClientContext {
  return { ...silentClient({ key: 'o', caller, capabilities: {}, capabilityClass: '' }), era };
}

function callOf(
  name = 'echo',
  round = 1,
  era: ClientContext['era'] = '2026-07-28',
  more: Partial<CallFields> = {},
): Call {
  return createCall({
    id: 'c1',
    method: 'tools/call',
    name,
    target: entry(name),
    members: RawObject.parse(Buffer.from(`{"name":"${name}","arguments":{"n":12345678901234567890}}`)),
    meta: undefined,
    caller,
    client: clientOf(era),
    headers: {},
    parent: undefined,
    round,
    backendState: undefined,
    inputResponses: undefined,
    cancel: new Cancel(),
    ...more,
  });
}

function contextOf(dispatch: (call: Call) => Promise<CallResult>, known = ['echo', 'other']) {
  const hooks = createHooks(() => {});
  const settled: CallRecord[] = [];
  const reported: unknown[] = [];
  let nowMs = 1000;
  const now = () => nowMs++;
  hooks.callSettled.tap('test', (record) => {
    settled.push(record);
  });
  const catalog = { find: (_kind: string, name: string) => (known.includes(name) ? entry(name) : undefined) };
  const freeze = (): PipelineContext => {
    const pipeline = compilePipeline(hooks, dispatch, now);
    return {
      pipeline,
      rounds: createPausedCalls(2, 60_000, now, (record) => settled.push(record), new ByteBudget(DEFAULT_LIMITS)),
      catalogs: { of: () => catalog } as unknown as Catalogs,
      directPath: undefined,
      bridging: { seal: createStateSeal(undefined, 60_000, 4_096, now), limits: DEFAULT_LIMITS },
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: (_text, facts) => reported.push(facts) },
    };
  };
  return { hooks, settled, reported, freeze };
}

const echo = async (call: Call) => resultFromValue({ content: [], called: call.name });

describe('a call', () => {
  it('passes rewrite, authorize, limit, dispatch and the result rewrite in this order, and is told last', async () => {
    const order: string[] = [];
    const { hooks, freeze, settled } = contextOf(async (call) => {
      order.push('dispatch');
      return echo(call);
    });
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
    const reply = await perform(freeze(), callOf());
    expect(order).toEqual(['rewriteCall', 'authorize', 'limit', 'dispatch', 'rewriteResult']);
    expect('result' in reply && reply.result.value.called).toBe('echo');
    expect(settled.map(({ outcome }) => outcome)).toEqual(['ok']);
  });

  proves('choice.order.denied-spends-nothing', 'that is denied takes no token and reaches no backend', async () => {
    let reached = 0;
    const { hooks, freeze, settled } = contextOf(async (call) => {
      reached++;
      return echo(call);
    });
    hooks.authorize.tap('policy', () => ({ refused: true, status: 403, reason: 'no' }));
    hooks.limit.tap('limit', () => {
      reached++;
      return undefined;
    });
    const reply = await perform(freeze(), callOf());
    expect(reply).toMatchObject({ refusal: { status: 403 } });
    expect(reached).toBe(0);
    expect(settled[0]).toMatchObject({ outcome: 'refused', refusal: { reason: 'no' } });
  });

  it('that is denied with 403 carries the challenge of its caller, unless the policy has its own', async () => {
    const told = { ...caller, challenge: 'Bearer resource_metadata="https://gw.test/meta"' };
    for (const [refusal, header] of [
      [{ refused: true, status: 403, reason: 'no' }, told.challenge],
      [{ refused: true, status: 403, reason: 'no', headers: { 'www-authenticate': 'Own' } }, 'Own'],
      [{ refused: true, status: 429, reason: 'slow' }, undefined],
    ] as const) {
      const { hooks, freeze } = contextOf(echo);
      hooks.authorize.tap('policy', () => refusal);
      const reply = await perform(freeze(), callOf('echo', 1, '2026-07-28', { caller: told }));
      expect('refusal' in reply && reply.refusal.headers?.['www-authenticate']).toBe(header);
      const plain = await perform(freeze(), callOf());
      expect('refusal' in plain && plain.refusal).toBe(refusal);
    }
  });

  it('that a rewrite renames is authorized and dispatched as the new one, or unknown', async () => {
    const { hooks, freeze } = contextOf(echo);
    const authorized: string[] = [];
    hooks.rewriteCall.tap('rename', (call) => callWith(call, { name: call.name === 'echo' ? 'other' : 'missing' }));
    hooks.authorize.tap('policy', (call) => void authorized.push(`${call.name}/${call.target.key}`));
    const context = freeze();
    const reply = await perform(context, callOf());
    expect('result' in reply && reply.result.value.called).toBe('other');
    expect(authorized).toEqual(['other/other']);
    const unknown = await perform(context, callOf('other'));
    expect(unknown).toMatchObject({ error: { code: -32602 } });
    expect(authorized).toHaveLength(1);
  });

  it('fails closed when a policy throws, without internals on the wire', async () => {
    const { hooks, freeze, settled, reported } = contextOf(echo);
    hooks.authorize.tap('policy', () => {
      throw new Error('secret internals');
    });
    const reply = await perform(freeze(), callOf());
    expect(reply).toEqual({ error: { code: -32603, message: 'internal error', status: 500 } });
    expect(settled[0]?.outcome).toBe('fault');
    expect(reported).toHaveLength(1);
  });

  it('that needs an identity provider which is away is a tool failure that says so, without its address', async () => {
    const { freeze, reported } = contextOf(() =>
      Promise.reject(
        new GatewayFault('REMOTE_UNAVAILABLE', 'upstream corp: http://10.0.0.7/token: connect ECONNREFUSED'),
      ),
    );
    const context = freeze();
    const reply = await perform(context, callOf());
    expect('result' in reply && reply.result.isError).toBe(true);
    const text = 'result' in reply ? reply.result.bytes.toString() : '';
    expect(text).toMatch(/does not answer now; repeat the call later \(REMOTE_UNAVAILABLE\)/);
    expect(text).not.toContain('10.0.0.7');
    expect(reported).toHaveLength(1);
    const prompt = callOf('echo', 1, '2026-07-28', { method: 'prompts/get' });
    expect(await perform(context, prompt)).toMatchObject({
      error: { code: -32603, message: expect.stringContaining('repeat') },
    });
  });

  it('that needs a store which is away is an error that says so, with status 503 and without its address', async () => {
    const { freeze, reported } = contextOf(() =>
      Promise.reject(new GatewayFault('STORE_UNAVAILABLE', 'redis-1.internal:6379: connect ECONNREFUSED')),
    );
    const reply = await perform(freeze(), callOf());
    expect(reply).toMatchObject({
      error: {
        code: -32603,
        status: 503,
        message: 'a store of the gateway does not answer now; repeat the call later (STORE_UNAVAILABLE)',
      },
    });
    expect(reported).toHaveLength(1);
  });

  it('to a backend that failed is a tool failure that says so, and an error for other methods', async () => {
    const { freeze } = contextOf(() =>
      Promise.reject(new GatewayFault('BACKEND_TIMEOUT', 'backend w did not answer in 30000 ms')),
    );
    const context = freeze();
    const reply = await perform(context, callOf());
    expect('result' in reply && reply.result.isError).toBe(true);
    expect('result' in reply && reply.result.bytes.toString()).toContain('BACKEND_TIMEOUT');
    const prompt = callOf('echo', 1, '2026-07-28', { method: 'prompts/get' });
    expect(await perform(context, prompt)).toMatchObject({ error: { code: -32603 } });
  });

  proves(
    'choice.bridge.modern-to-legacy-not-found',
    'maps the not-found of a legacy backend for a modern client only',
    async () => {
      const { freeze } = contextOf(() => Promise.reject(new BackendError('w', -32002, 'gone', encode({ uri: 'x' }))));
      const context = freeze();
      expect(await perform(context, callOf())).toMatchObject({ error: { code: -32602, message: 'gone' } });
      const legacy = await perform(context, callOf('echo', 1, '2025-11-25'));
      expect(legacy).toMatchObject({ error: { code: -32002, data: encode({ uri: 'x' }) } });
    },
  );

  proves(
    'choice.request-state.one-call',
    'of several rounds is limited and told once, and a replayed state is limited again',
    async () => {
      let limited = 0;
      const { hooks, freeze, settled } = contextOf(async (call) =>
        call.round === 1 ? resultFromValue({ resultType: 'input_required', requestState: 's' }) : echo(call),
      );
      hooks.limit.tap('limit', () => {
        limited++;
        return undefined;
      });
      const context = freeze();
      await perform(context, callOf('echo', 1));
      expect(settled).toHaveLength(0);
      await perform(context, callOf('echo', 2));
      expect(limited).toBe(1);
      expect(settled).toMatchObject([{ outcome: 'ok', rounds: 2, startedMs: 1000 }]);
      await perform(context, callOf('echo', 2)); // the same state once more
      expect(limited).toBe(2);
    },
  );

  it('that its client does not continue is recorded as abandoned', async () => {
    const { freeze, settled } = contextOf(async () => resultFromValue({ resultType: 'input_required' }));
    const context = freeze();
    for (const id of ['a', 'b', 'c']) {
      await perform(context, callOf('echo', 1, '2026-07-28', { id }));
    }
    expect(settled).toMatchObject([{ call: { id: 'a' }, outcome: 'abandoned' }]);
    expect(context.rounds.size).toBe(2);
    context.rounds.end();
    expect(settled.map(({ call, outcome, result }) => [call.id, outcome, result])).toEqual([
      ['a', 'abandoned', undefined],
      ['b', 'abandoned', undefined],
      ['c', 'abandoned', undefined],
    ]);
  });

  it('is reported with its result', async () => {
    const { freeze, settled } = contextOf(echo);
    await perform(freeze(), callOf());
    expect(settled[0]?.result?.value).toMatchObject({ called: 'echo' });
    expect(settled[0]?.resultBytes).toBe(settled[0]?.result?.bytes.length);
  });

  it('keeps big integers of its arguments when a plugin changes nothing or something else', () => {
    const call = callOf();
    expect(call.params.toString()).toContain('12345678901234567890');
    expect(callWith(call, { name: 'other' }).params.toString()).toContain('12345678901234567890');
    expect(callWith(call, { arguments: { n: 1 } }).arguments).toEqual({ n: 1 });
  });
});
