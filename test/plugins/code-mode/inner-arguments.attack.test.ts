import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it, vi } from 'vitest';
import { callArguments } from '../../../plugins/code-mode/quickjs/call-arguments.ts';
import { proves } from '../../support/proves.ts';
import { openSandbox, resultOf } from '../../support/sandbox.ts';
import { runScript, scriptedGateway } from '../../support/scripted-gateway.ts';

const LONG = 120_000;
const LARGE = 500_000; // characters
/** An object of some 800 KB with 15,000 members. */
const BIG = 'const big = {}; for (let i = 0; i < 9000; i++) big["k" + i] = "x".repeat(75);';

describe('large arguments of inner calls', () => {
  proves(
    'choice.code-mode.arguments-undecoded',
    'are not decoded by the gateway for an unknown tool',
    async () => {
      await using kit = await scriptedGateway({ far: fakeServer().tool('echo') });
      const client = await kit.client();
      const decoded = await largeDecoded(async () => {
        const script = `${BIG} let last; for (let i = 0; i < 20; i++) last = await callTool("nope" + i, big).catch((e) => e.message); return last`;
        expect((await runScript(client, script)).value).toMatch(/^unknown tool "nope19"/);
      });
      expect(decoded).toBe(0);
    },
    LONG,
  );

  it(
    'reach a tool unchanged, without decoding when no policy reads them',
    async () => {
      let seen: unknown;
      const far = fakeServer().tool('counts', ({ arguments: given }) => {
        seen = given;
        return { content: [{ type: 'text', text: String(Object.keys(given).length) }] };
      });
      await using kit = await scriptedGateway({ far });
      const client = await kit.client();
      expect((await runScript(client, `${BIG} return far.counts(big)`)).value).toBe(9_000);
      expect(seen).toMatchObject({ k0: 'x'.repeat(75), k8999: 'x'.repeat(75) });
    },
    LONG,
  );

  it(
    'are bounded while they wait for calls in flight',
    async () => {
      await using sandbox = await openSandbox();
      const script = `const a = "x".repeat(1e6); let said;
        for (let i = 0; i < 45; i++) echo({ a }).catch((e) => { said ??= e.message });
        for (let i = 0; i < 100; i++) await null;
        return said`;
      const outcome = await sandbox.run(script, { call: () => new Promise(() => {}) }, { wallClockMs: LONG });
      expect(resultOf(outcome)).toBe('the arguments of queued calls are larger than 33554432 bytes');
    },
    LONG,
  );
});

/** The bridge code inside the sandbox is not trusted: a script may send any text. */
describe('arguments from a script that bypasses the bridge code', () => {
  it.each([
    ['no JSON', '{"a":', { problem: 'the arguments are not a JSON object' }],
    ['an array', '[1]', { problem: 'the arguments are not a JSON object' }],
    ['null', 'null', { problem: 'the arguments are not a JSON object' }],
    ['a member twice', '{"a":1,"a":2}', '{"a":2}'],
    ['__proto__', '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
    ['brackets in a string', `{"a":"${'['.repeat(500)}"}`, `{"a":"${'['.repeat(500)}"}`],
  ])('%s', (_, text, expected) => {
    const read = callArguments(text);
    expect('bytes' in read ? Buffer.from(read.bytes).toString() : read).toEqual(expected);
  });
});

/** Counts large texts that this thread decodes during `run`; scripts run on other threads. */
async function largeDecoded(run: () => Promise<void>): Promise<number> {
  let count = 0;
  const parse = JSON.parse;
  const spy = vi.spyOn(JSON, 'parse').mockImplementation((text: string, reviver) => {
    if (text.length > LARGE) count++;
    return parse(text, reviver) as unknown;
  });
  try {
    await run();
  } finally {
    spy.mockRestore();
  }
  return count;
}
