import type { BackendState, JsonObject } from '@toolmgr/core';
import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { createGaps } from '../../../core/pipeline/missing-backends.ts';
import { legacySession } from '../../support/gateway-streams.ts';
import type { EventReader } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { heldServer as held, program, startingGateway as starting } from '../../support/starting-gateway.ts';
import { until } from '../../support/until.ts';

/** Resolves when the stream says that the tools are others now. */
async function heardChange(stream: EventReader): Promise<void> {
  for (;;) {
    const event = await stream.next();
    if (event === undefined) throw new Error('the stream ended before a change was told');
    if (event.message.method === 'notifications/tools/list_changed') return;
  }
}

const namesIn = ({ result }: { result: JsonObject }) =>
  (result.tools as readonly { readonly name: string }[]).map(({ name }) => name);

describe('a program that failed and is started once more', () => {
  it('is away with its cause, not still starting', () => {
    const failed = (cause: BackendState['cause']): BackendState => ({
      backend: { name: 'gone', transport: 'stdio', command: { file: 'gone', args: [] } } as BackendState['backend'],
      status: 'unknown',
      era: undefined,
      cause,
      sinceMs: 0,
      startingSinceMs: 0,
      hello: undefined,
    });
    const gapsOf = (cause: BackendState['cause']) =>
      createGaps({
        manager: {
          states: () => [failed(cause)],
          listings: () => new Map(),
          required: () => new Map(),
          unread: () => new Map(),
        },
        expected: () => [],
        now: () => 5_000,
      });
    const again = gapsOf({ category: 'process_exited', message: 'ended with exit code 1' });
    expect(again.mayBeOf('')).toBe('a backend whose lists are not known now: gone (process_exited)');
    expect(again.lacking('')).toMatchObject([{ name: 'gone', status: 'unknown' }]);
    expect(again.inLists('')).toBe('no backend is available: gone (process_exited)');
    const first = gapsOf(undefined);
    expect(first.mayBeOf('')).toBe('a backend that is still starting: gone, 5 s so far');
    expect(first.lacking('')).toMatchObject([{ name: 'gone', status: 'starting', seconds: 5 }]);
    expect(first.inLists('')).toBe(undefined);
  });
});

describe('the first lists', () => {
  proves('choice.first-lists.wait', 'have the newest lists, also when the catalogue was read before', async () => {
    const slow = held('echo');
    const { gateway, list } = await starting({ slow: slow.server }, (push) => push([program('slow')]), {
      coalesceMs: 60_000, // nothing but the start itself builds the catalogue again
    });
    expect(gateway.catalog().visible('tool')).toEqual([]);
    const asked = list();
    slow.release();
    expect(namesIn(await asked)).toEqual(['echo']);
  });

  proves('choice.first-lists.wait', 'wait for what a source expects and has not described yet', async () => {
    const servers = { a: fakeServer().tool('one'), b: fakeServer().tool('two') };
    const expected = [{ name: 'b', sinceMs: Date.now() }];
    const { list, push } = await starting(servers, (given) => given([program('a')], expected), { discoveryMs: 60_000 });
    const asked = list();
    push([program('a'), program('b')]);
    const answered = await asked;
    expect(namesIn(answered)).toEqual(['one', 'two']);
    expect(answered.result._meta).not.toHaveProperty('dev.toolmgr/lacking');
  });

  proves('choice.first-lists.wait', 'do not wait for what could not be started, and name it', async () => {
    const expected = [{ name: 'b', sinceMs: Date.now(), hasFailed: true }];
    const { list } = await starting({ a: fakeServer().tool('one') }, (push) => push([program('a')], expected), {
      discoveryMs: 60_000,
    });
    const answered = await list();
    expect(namesIn(answered)).toEqual(['one']);
    const lacking = [{ name: 'b', status: 'unavailable', seconds: expect.any(Number) }];
    expect(answered.result._meta).toMatchObject({ 'dev.toolmgr/lacking': lacking });
  });

  proves(
    ['choice.first-lists.bounded', 'choice.first-lists.incomplete'],
    'go on without a slow backend after discoveryMs, say that it is missing, and a notification follows it',
    async () => {
      const slow = held('late');
      const servers = { fast: fakeServer(['2025-11-25']).tool('early'), slow: slow.server };
      const { gateway, list } = await starting(servers, (push) => push([program('fast'), program('slow')]), {
        discoveryMs: 300,
      });
      const session = await legacySession(gateway);
      const stream = await session.stream();
      const startedMs = performance.now();
      const { result } = (await session.request('tools/list')) as { result: JsonObject };
      expect(performance.now() - startedMs).toBeLessThan(3_000);
      expect(namesIn({ result })).toEqual(['early']);
      const lacking = { 'dev.toolmgr/lacking': [{ name: 'slow', status: 'starting', seconds: expect.any(Number) }] };
      expect(result._meta).toEqual(lacking);
      expect((await list()).result._meta).toMatchObject(lacking);

      slow.release();
      await heardChange(stream);
      const whole = (await session.request('tools/list')) as { result: JsonObject };
      expect(namesIn(whole)).toEqual(['early', 'late']);
      expect(whole.result).not.toHaveProperty('_meta');
      expect((await list()).result._meta).not.toHaveProperty('dev.toolmgr/lacking');
    },
  );

  proves(
    'choice.first-lists.incomplete',
    'lack no backend without its name: it is in the first list after it is ready',
    async () => {
      const slow = held('late');
      const servers = { fast: fakeServer().tool('early'), slow: slow.server };
      const limits = { discoveryMs: 100, coalesceMs: 60_000 }; // no timer builds the catalogue again
      const { gateway, list } = await starting(servers, (push) => push([program('fast'), program('slow')]), limits);
      expect(namesIn(await list())).toEqual(['early']);
      slow.release();
      await until(() => gateway.backends().every(({ status }) => status === 'ready'));
      expect(namesIn(await list())).toEqual(['early', 'late']);
    },
  );

  proves(
    'choice.first-lists.below-clients',
    'with the defaults are answered in time for clients that end a tools/list after 5 s',
    async () => {
      const { list } = await starting({ slow: held('late').server }, (push) => push([program('slow')]));
      const ended = AbortSignal.timeout(5_000);
      const answered = await list();
      expect(ended.aborted).toBe(false);
      expect(answered.result._meta).toHaveProperty('dev.toolmgr/lacking');
    },
  );

  proves('choice.first-lists.incomplete', 'that were refused are followed by a notification too', async () => {
    const { gateway, push } = await starting({ ok: fakeServer().tool('one') }, (given) =>
      given([{ name: 'gone', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' }]),
    );
    const session = await legacySession(gateway, { sampling: {} });
    const stream = await session.stream();
    expect((await session.request('tools/list')).error).toMatchObject({ message: expect.stringContaining('gone') });
    push([program('ok')]);
    await heardChange(stream);
    expect(namesIn((await session.request('tools/list')) as { result: JsonObject })).toEqual(['one']);
  });

  proves('choice.first-lists.after-reload', 'have what was added a moment ago', async () => {
    const added = held('two');
    const servers = { a: fakeServer().tool('one'), b: added.server };
    const { gateway, list, push } = await starting(servers, (given) => given([program('a')]), { coalesceMs: 60_000 });
    await gateway.settled();
    expect(namesIn(await list())).toEqual(['one']);
    push([program('a'), program('b')]);
    const asked = list();
    await until(() => added.server.received.some(({ method }) => method === 'tools/list'));
    added.release();
    expect(namesIn(await asked)).toEqual(['one', 'two']);
  });
});
