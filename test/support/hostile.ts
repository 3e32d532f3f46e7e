import type { JsonObject } from '@toolmgr/core';
import { fakeServer, type TestClient, type TestGateway } from '@toolmgr/core/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runScript, type Scripted, scriptedGateway } from './scripted-gateway.ts';

/** A malicious script and its expected end: a value, a failure that matches, or either. */
export type HostileCase = readonly [name: string, script: string, end: { readonly value: unknown } | RegExp | 'any'];

const LONG = 180_000;
const HOSTILE_DATA = { __proto__: { polluted: true }, constructor: { prototype: { polluted: true } }, toJSON: 'x' };

/** Many steps, little memory. */
const TIGHT_LIMITS = {
  stepLimit: 1_000_000,
  memoryBytes: 33_554_432,
  resultBytes: 100_000,
  logBytes: 10_000,
  maxToolCalls: 50,
};

/**
 * Runs each case through a whole gateway, and after each a script and a call of a normal client in the same sandbox and
 * threads.
 */
export function hostileCases(cases: readonly HostileCase[], more: JsonObject = {}): void {
  let kit: TestGateway;
  let client: TestClient;
  beforeAll(async () => {
    const far = fakeServer()
      .tool('echo')
      .tool('odd', () => ({
        content: [],
        structuredContent: JSON.parse('{"__proto__":{"polluted":1},"toJSON":"x","then":"y","a":1}') as JsonObject,
      }))
      .tool(
        'hangs',
        ({ signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
      );
    kit = await scriptedGateway({ far }, { ...TIGHT_LIMITS, ...more }, { sandbox: { workers: 2, warm: 1 } });
    client = await kit.client();
  }, LONG);
  afterAll(() => kit[Symbol.asyncDispose]());

  it.each(cases)(
    '%s',
    async (_, script, end) => {
      const scripted = await runScript(client, script, HOSTILE_DATA as unknown as JsonObject);
      expectEnd(scripted, end);
      expect(
        (await runScript(client, 'return [1 + 1, typeof polluted, ({}).polluted, await far.echo({ a: 1 })]')).value,
      ).toEqual([2, 'undefined', null, { a: 1 }]);
      expect(await client.callTool('far_echo', { b: 2 })).toMatchObject({ content: [{ text: '{"b":2}' }] });
      expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
    },
    LONG,
  );
}

function expectEnd({ value, failure }: Scripted, end: HostileCase[2]): void {
  if (end === 'any') return expect([value, failure]).toContain(undefined);
  if (!(end instanceof RegExp)) return expect({ failure, value }).toEqual({ failure: undefined, value: end.value });
  expect(failure).toMatch(/^script execution failed: /);
  expect(failure).toMatch(end);
  expect(failure?.length).toBeLessThan(6_000);
  // no paths of the host
  expect(failure).not.toMatch(/node:internal|file:\/\/\/(?!etc)|\/plugins\/|\/tmp\/|worker/);
}
