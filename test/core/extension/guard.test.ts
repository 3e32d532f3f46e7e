import { GatewayFault, Registry } from '@toolmgr/core';
import { AsyncSeriesBailHook, SyncHook } from 'tapable';
import { describe, expect, it } from 'vitest';
import { guard } from '../../../core/extension/guard.ts';
import { createHooks } from '../../../core/extension/hooks.ts';
import { proves } from '../../support/proves.ts';

const bail = () => guard('authorize', new AsyncSeriesBailHook<[string], string | undefined>(['call']));

describe('a guarded hook', () => {
  proves(
    'ask.core.guard-sync-throw',
    'rejects when a second tapPromise throws synchronously, instead of leaving the caller waiting for ever',
    async () => {
      const hook = bail();
      hook.tapPromise('first', async () => undefined);
      hook.tapPromise('cedar', () => {
        throw new Error('boom');
      });
      await expect(hook.promise('x')).rejects.toMatchObject({
        code: 'PLUGIN_FAILED',
        message: 'cedar failed in authorize',
      });
    },
  );

  proves(
    'ask.core.guard-named',
    'names the plugin and keeps the cause when a tap throws, and passes faults as they are',
    async () => {
      const hook = bail();
      const cause = new Error('inside');
      hook.tap('rate-limit', () => {
        throw cause;
      });
      await expect(hook.promise('x')).rejects.toMatchObject({ message: 'rate-limit failed in authorize', cause });
      const other = bail();
      const fault = new GatewayFault('STORE_UNAVAILABLE', 'redis is away');
      other.tapPromise('x', async () => Promise.reject(fault));
      await expect(other.promise('x')).rejects.toBe(fault);
    },
  );

  proves(
    ['ask.core.guard-twice', 'ask.core.guard-late'],
    'refuses a second tap of one plugin and every tap after it was sealed',
    () => {
      const hook = bail();
      hook.tap('a', () => undefined);
      expect(() => hook.tap('a', () => undefined)).toThrow('a tapped authorize twice');
      hook.seal();
      expect(() => hook.tap('b', () => undefined)).toThrow('b tapped authorize after the gateway was sealed');
      expect(hook.tapNames()).toEqual(['a']);
    },
  );

  it('reports that there are no taps although there is an interceptor', () => {
    const hook = bail();
    expect(hook.tapped()).toBe(false);
    hook.tap('a', () => undefined);
    expect(hook.tapped()).toBe(true);
  });

  proves('ask.core.guard-told', 'contains a failing listener: it is reported and the next one is still called', () => {
    const reported: string[] = [];
    const heard: string[] = [];
    const hook = guard('callSettled', new SyncHook<[string]>(['record']), 'tap', (fault) =>
      reported.push(fault.message),
    );
    hook.tap('bad', () => {
      throw new Error('boom');
    });
    hook.tap('good', (record) => {
      heard.push(record);
    });
    hook.call('r');
    expect(heard).toEqual(['r']);
    expect(reported).toEqual(['bad failed in callSettled']);
  });
});

describe('the hook table', () => {
  it('runs stopping in reverse plan order and continues when one tap fails', async () => {
    const reported: string[] = [];
    const hooks = createHooks((fault) => reported.push(fault.message));
    const order: string[] = [];
    for (const name of ['store', 'audit', 'telemetry']) {
      hooks.stopping.tapPromise(name, async () => {
        order.push(name);
        if (name === 'audit') throw new Error('disk full');
      });
    }
    await hooks.stopping.promise();
    expect(order).toEqual(['telemetry', 'audit', 'store']);
    expect(reported).toEqual(['audit failed in stopping']);
  });

  proves(
    ['ask.core.typed-hooks', 'ask.core.typed-results'],
    'does not compile with a wrong hook name or result',
    () => {
      const hooks = createHooks(() => {});
      // @ts-expect-error: the hook is called authorize
      expect(hooks.authorise).toBeUndefined();
      // @ts-expect-error: a limit answers with a refusal or nothing
      hooks.limit.tapPromise('x', async () => 5);
      // @ts-expect-error: a told hook cannot be waited for
      expect(() => hooks.callSettled.tapPromise('x', async () => {})).toThrow();
    },
  );
});

describe('a slot', () => {
  proves('ask.core.slot-unknown', 'lists what it knows and the nearest name when an implementation is unknown', () => {
    const slot = new Registry<number>('stores');
    slot.register('redis', 1);
    slot.register('memory', 2);
    expect(() => slot.get('rediss')).toThrow('slot stores has no rediss, did you mean redis? (known: memory, redis)');
    expect(() => slot.register('redis', 3)).toThrow('already has an implementation named redis');
  });

  it('gives its taps in running order while none of them waits, guarded like the hook itself', () => {
    const hook = bail();
    hook.tap({ name: 'late', stage: 10 }, () => 'late');
    hook.tap('early', () => {
      throw new Error('boom');
    });
    const [early, late] = hook.syncTaps() ?? [];
    expect(() => early?.('x')).toThrow('early failed in authorize');
    expect(late?.('x')).toBe('late');
    hook.tapPromise('waits', async () => undefined);
    expect(hook.syncTaps()).toBeUndefined();
  });
});
