import { type CallRecord, definePlugin, type JsonObject } from '@toolmgr/core';
import { type FakeResult, fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const MIB = 1_048_576;
const FORM = { mode: 'form', message: 'sure?', requestedSchema: { type: 'object', properties: {} } };
const QUESTION = { q: { method: 'elicitation/create', params: FORM } };
const ANSWER = { q: { action: 'accept', content: {} } };

/** A tool that asks its client, and what is recorded of its calls. */
async function asking(memoryBudgetBytes: number) {
  const server = fakeServer(['2026-07-28']).tool('ask', ({ params }): FakeResult => {
    if (params.inputResponses !== undefined) return text('done') as FakeResult;
    return { resultType: 'input_required', inputRequests: QUESTION, requestState: 's' } as unknown as FakeResult;
  });
  const outcomes: CallRecord['outcome'][] = [];
  const records = definePlugin({
    address: 'test/records',
    config: z.strictObject({}),
    apply: ({ hooks }) => hooks.callSettled.tap('test/records', ({ outcome }) => void outcomes.push(outcome)),
  });
  const kit = await testGateway({
    plugins: [records],
    backends: { far: server },
    plan: { limits: { memoryBudgetBytes } },
  });
  const client = await kit.client({ capabilities: { elicitation: {} } });
  const call = (given: JsonObject, more: JsonObject = {}) =>
    client.request('tools/call', { name: 'ask', arguments: given, ...more });
  return { kit, outcomes, call };
}

describe('calls that were answered with a question', () => {
  it('do not keep more than a part of the memory budget: the oldest of the caller is given up', async () => {
    const { kit, outcomes, call } = await asking(64 * MIB);
    await using _ = kit;
    const big = { x: 'y'.repeat(MIB) };
    for (let n = 0; n < 12; n++) expect((await call(big)).result?.resultType).toBe('input_required');
    expect(outcomes.filter((outcome) => outcome === 'abandoned').length).toBeGreaterThanOrEqual(7);
    const { result: small } = await call({ x: 1 });
    const { result: newest } = await call(big);
    for (const [given, asked] of [
      [{ x: 1 }, small],
      [big, newest],
    ] as const) {
      const requestState = String(asked?.requestState);
      const done = await call(given, { inputResponses: ANSWER, requestState });
      expect(JSON.stringify(done.result)).toContain('done');
    }
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(2);
  });

  it('free it when they continue', async () => {
    const { kit, outcomes, call } = await asking(64 * MIB);
    await using _ = kit;
    const big = { x: 'y'.repeat(MIB) };
    for (let n = 0; n < 12; n++) {
      const { result } = await call(big);
      await call(big, { inputResponses: ANSWER, requestState: String(result?.requestState) });
    }
    expect(outcomes).toEqual(Array(12).fill('ok'));
  });
});
