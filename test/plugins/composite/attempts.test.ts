import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { attempt, delayBefore, policyFrom } from '../../../plugins/composite/engine/attempts.ts';
import { coerceToSchema, valueFromText } from '../../../plugins/composite/engine/coerce.ts';
import { StepFailure } from '../../../plugins/composite/engine/step-failure.ts';
import { proves } from '../../support/proves.ts';

describe('retries', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  proves(
    'choice.composite.retry',
    'double the delay each time, with jitter in the upper half, up to sixty times the first delay',
    () => {
      expect([0, 1, 2, 3].map((retry) => delayBefore(retry, 1000, 1))).toEqual([1000, 2000, 4000, 8000]);
      expect([0, 1, 2, 3].map((retry) => delayBefore(retry, 1000, 0))).toEqual([1000, 1000, 2000, 4000]);
      expect(delayBefore(9, 1000, 1)).toBe(60_000);
      expect(policyFrom({ onError: { action: 'retry', retryCount: 99 }, timeout: undefined }).retries).toBe(10);
      expect(policyFrom({ onError: undefined, timeout: undefined })).toEqual({
        action: 'abort',
        retries: 0,
        delayMs: 1000,
        timeoutMs: 300_000,
      });
    },
  );

  it('happen after these delays; the last failure is reported', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const at: number[] = [];
    const began = Date.now();
    const policy = policyFrom({ onError: { action: 'retry', retryCount: 3, retryDelay: 1000 }, timeout: undefined });
    const run = attempt(policy, new AbortController().signal, async () => {
      at.push(Date.now() - began);
      throw new StepFailure(`failure ${at.length}`, false);
    });
    const failed = expect(run).rejects.toThrow('failure 4');
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;
    expect(at).toEqual([0, 1000, 3000, 7000]);
  });

  it('end at the timeout of the step, which includes the delays, and leave no timer behind', async () => {
    const policy = policyFrom({ onError: { action: 'retry', retryCount: 10, retryDelay: 1000 }, timeout: 2500 });
    let calls = 0;
    const run = attempt(policy, new AbortController().signal, async () => {
      calls++;
      throw new StepFailure('busy', false);
    });
    const failed = expect(run).rejects.toThrow('timed out after 2500 ms');
    await vi.advanceTimersByTimeAsync(2500);
    await failed;
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('end at once when the call is cancelled', async () => {
    const gone = new AbortController();
    const policy = policyFrom({ onError: { action: 'retry', retryCount: 10, retryDelay: 60_000 }, timeout: undefined });
    const run = attempt(policy, gone.signal, async () => {
      throw new StepFailure('busy', false);
    });
    const failed = expect(run).rejects.toThrow('the client left');
    await vi.advanceTimersByTimeAsync(1);
    gone.abort(new Error('the client left'));
    await failed;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a text', () => {
  it('is converted to the requested type, or refused', () => {
    const rows = [
      ['integer', '42', 42],
      ['integer', ' -7\n', -7],
      ['integer', '1.5', undefined],
      ['integer', '9007199254740993', undefined],
      ['integer', '', undefined],
      ['integer', '0x10', undefined],
      ['number', '1.5e3', 1500],
      ['number', '1e999', undefined],
      ['number', 'NaN', undefined],
      ['boolean', 'TRUE', true],
      ['boolean', '1', undefined],
      ['object', '{"a":1}', { a: 1 }],
      ['object', '[1]', undefined],
      ['array', '[1]', [1]],
      ['array', '{}', undefined],
      ['string', ' as it is ', ' as it is '],
    ] as const;
    for (const [type, given, expected] of rows)
      expect(valueFromText(given, type), `${type} of ${given}`).toEqual(expected);
  });

  it('is converted where the schema asks for another type, and unchanged elsewhere', () => {
    const schema = {
      type: 'object',
      properties: { n: { type: ['integer', 'null'] }, o: { type: 'object', properties: { b: { type: 'boolean' } } } },
      additionalProperties: { type: 'number' },
    };
    expect(coerceToSchema({ n: '5', o: '{"b":"true"}', other: '1.5', text: 'x' }, schema)).toEqual({
      n: 5,
      o: { b: true },
      other: 1.5,
      text: 'x',
    });
    expect(coerceToSchema({ n: 'null' }, schema)).toEqual({ n: null });
    expect(coerceToSchema({ n: '5' }, undefined)).toEqual({ n: '5' });
    const poisoned = JSON.parse('{"__proto__":"5","constructor":"6"}');
    const safe = coerceToSchema(poisoned, { type: 'object', properties: { n: { type: 'integer' } } }) as object;
    expect(Object.getPrototypeOf(safe)).toBe(Object.prototype);
    expect(JSON.stringify(safe)).toBe('{"__proto__":"5","constructor":"6"}');
  });
});
