import { type Core, definePlugin, UserActionRequired } from '@toolmgr/core';
import { fakeServer, type TestReply, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { heldServer, program, startingGateway } from '../../support/starting-gateway.ts';
import { until } from '../../support/until.ts';
import { httpBackend, httpServer, modernAnswers } from '../backend/support.ts';

const LINK = 'https://gateway.test/oauth/connect?ticket=1';

const call = (name: string) => ({ name, arguments: {} });
const textOf = ({ result }: TestReply): unknown => (result?.content as { text: string }[] | undefined)?.[0]?.text;

/** A strategy whose credentials depend on the caller, and may take long or be refused. */
function slowCredentials() {
  const state: { wait: Promise<void>; fault: Error | undefined; asked: number; core: Core | undefined } = {
    wait: Promise.resolve(),
    fault: undefined,
    asked: 0,
    core: undefined,
  };
  const plugin = definePlugin({
    address: 'test/slow-credentials',
    config: z.strictObject({}),
    apply(core) {
      state.core = core;
      core.slots.authStrategies.register('unauthenticated', {
        prepare: async () => ({
          perCaller: true,
          async apply(_request, { purpose }) {
            if (purpose === 'discovery') throw new UserActionRequired('the gateway has no account', LINK);
            state.asked++;
            await state.wait;
            if (state.fault !== undefined) throw state.fault;
          },
        }),
      });
    },
  });
  return { state, plugin };
}

describe('a call of a tool that no list has', () => {
  proves('choice.unlisted.waits', 'waits for the list of a backend that is connected for the first time', async () => {
    const slow = heldServer('late');
    const servers = { fast: fakeServer().tool('early'), slow: slow.server };
    const begin = [program('fast'), program('slow')];
    const { modern } = await startingGateway(servers, (push) => push(begin), { discoveryMs: 20 });
    const asked = modern.request('tools/call', call('late'));
    await until(() => slow.server.received.some(({ method }) => method === 'tools/list'));
    expect(await modern.toolNames()).toEqual(['early']); // the lists wait no longer than discoveryMs
    slow.release();
    const answered = await asked;
    expect([answered.error, answered.result?.isError]).toEqual([undefined, undefined]);
  });

  proves('choice.unlisted.named', 'is refused with the name of the backend that is not there in time', async () => {
    const slow = heldServer('late');
    const { modern } = await startingGateway({ slow: slow.server }, (push) => push([program('slow')]), {
      discoveryMs: 20,
      helloMs: 100,
    });
    const { error } = await modern.request('tools/call', call('late'));
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/slow, \d+ s so far/) });
  });

  proves('choice.unlisted.named', 'is refused with the name and the state of a backend without lists', async () => {
    await using kit = await testGateway({
      backends: { near: fakeServer().tool('near'), gone: httpBackend('http://127.0.0.1:1/mcp') },
    });
    const { error } = await (await kit.client()).request('tools/call', call('far'));
    expect(error?.message).toBe(
      'unknown tool: tool "far" not found; it may belong to a backend whose lists are not known now: gone (refused)',
    );
  });

  proves(
    'choice.unlisted.waits',
    'waits for lists that depend on the caller and whose credentials come late',
    async () => {
      const { state, plugin } = slowCredentials();
      const { promise, resolve: release } = Promise.withResolvers<void>();
      state.wait = promise;
      const far = await httpServer(modernAnswers());
      await using kit = await testGateway({
        plugins: [plugin],
        backends: { far: httpBackend(far.url), near: fakeServer().tool('near') },
        plan: { limits: { discoveryMs: 20 } },
      });
      const client = await kit.client();
      expect(await client.toolNames()).toEqual(['near']);
      const asked = client.request('tools/call', { name: 'echo', arguments: { message: 'hi' } });
      await until(() => state.asked > 0);
      expect(await client.toolNames()).toEqual(['near']); // waited for discoveryMs again
      release();
      expect(textOf(await asked)).toMatch(/modern/);
    },
  );

  proves('choice.unlisted.named', 'names the backend whose lists this caller has not got', async () => {
    const { state, plugin } = slowCredentials();
    state.wait = new Promise(() => {});
    const far = await httpServer(modernAnswers());
    await using kit = await testGateway({
      plugins: [plugin],
      backends: { far: httpBackend(far.url), near: fakeServer().tool('near') },
      plan: { limits: { discoveryMs: 20, helloMs: 100 } },
    });
    const client = await kit.client();
    const listed = await client.request('tools/list');
    expect(listed.result?._meta).toMatchObject({ 'dev.toolmgr/lacking': [{ name: 'far', status: 'unknown' }] });
    const { error } = await client.request('tools/call', call('echo'));
    expect(error?.message).toMatch(
      /: far \(its lists (?:for this caller are being read|could not be read for this caller: timeout)\)$/,
    );
  });

  proves('choice.unlisted.named', 'says what the caller has to do before a backend gives it lists', async () => {
    const { state, plugin } = slowCredentials();
    state.fault = new UserActionRequired('connect your account at github', LINK);
    const far = await httpServer(modernAnswers());
    await using kit = await testGateway({ plugins: [plugin], backends: { far: httpBackend(far.url) } });
    const { error } = await (await kit.client()).request('tools/call', call('echo'));
    expect(error?.message).toContain(`far (connect your account at github: ${LINK})`);
  });
});

describe('credentials of a caller that changed', () => {
  for (const era of ['2025-11-25', '2026-07-28'] as const) {
    proves('choice.unlisted.credentials-changed', `give a ${era} client the tools at once`, async () => {
      const { state, plugin } = slowCredentials();
      state.fault = new UserActionRequired('connect your account at github', LINK);
      const far = await httpServer(modernAnswers());
      await using kit = await testGateway({
        plugins: [plugin],
        backends: { far: httpBackend(far.url), near: fakeServer().tool('near') },
      });
      const client = await kit.client({ era });
      expect(await client.toolNames()).toEqual(['near']);
      state.fault = undefined;
      state.core?.backends.credentialsChanged(({ subject }) => subject === 'someone else');
      expect(await client.toolNames()).toEqual(['near']);
      state.core?.backends.credentialsChanged(({ subject }) => subject === 'anonymous');
      expect(textOf(await client.request('tools/call', { name: 'echo', arguments: { message: 'hi' } }))).toMatch(
        /modern/,
      );
    });
  }

  proves(
    'choice.unlisted.credentials-changed',
    'are followed by a notification to the sessions of the caller',
    async () => {
      const { state, plugin } = slowCredentials();
      state.fault = new UserActionRequired('connect your account at github', LINK);
      const far = await httpServer(modernAnswers());
      await using kit = await testGateway({
        plugins: [plugin],
        backends: { far: httpBackend(far.url), near: fakeServer().tool('near') },
      });
      const session = await legacySession(kit.gateway);
      const stream = await session.stream();
      await session.request('tools/list');
      state.fault = undefined;
      state.core?.backends.credentialsChanged(() => true);
      const { message } = (await stream.next()) ?? {};
      expect(message?.method).toBe('notifications/tools/list_changed');
    },
  );
});
