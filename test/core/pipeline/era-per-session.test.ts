import type { JsonObject } from '@toolmgr/core';
import { type FakeServer, fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { FAKE_PROGRAM } from '../../../core/testing/fake-process.ts';
import { legacySession } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const form = { message: 'name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const answering = {
  era: '2025-11-25',
  capabilities: { elicitation: {} },
  answer: () => ({ action: 'accept', content: { name: 'Ada' } }),
} as const;

/** As servers of both eras are that ask in the middle of a call: they do so in a session, and cannot without one. */
function direct(server: FakeServer): FakeServer {
  return server.tool('greet', async ({ era, ask }) => {
    if (era === '2026-07-28') throw { code: -32603, message: 'no session, no client to ask' };
    const answer = await ask('elicitation/create', form);
    return text(`hello ${(answer.content as JsonObject | undefined)?.name}`);
  });
}

const initialized = (server: FakeServer): number =>
  server.received.filter(({ method }) => method === 'initialize').length;

const callsOf = (server: FakeServer): number => server.received.filter(({ method }) => method === 'tools/call').length;

describe('a backend of both eras', () => {
  proves(
    ['choice.era.legacy-session', 'choice.era.modern-client'],
    'serves each legacy client in a session of its own, and modern ones without',
    async () => {
      const server = direct(fakeServer());
      await using kit = await testGateway({ backends: { far: server } });
      expect(kit.gateway.backends()[0]?.era).toBe('2026-07-28');
      const legacy = await kit.client(answering);
      expect(await legacy.callTool('greet')).toMatchObject({ content: [{ text: 'hello Ada' }] });
      const other = await kit.client(answering);
      expect(await other.callTool('greet')).toMatchObject({ content: [{ text: 'hello Ada' }] });
      expect(initialized(server)).toBe(2);
      const modern = await kit.client({ ...answering, era: '2026-07-28' });
      await expect(modern.callTool('greet')).rejects.toThrow('no session, no client to ask');
      expect(initialized(server)).toBe(2);
      await legacy.close();
      await other.close();
      await until(() => kit.gateway.counts().links === 1);
    },
  );

  proves(
    ['choice.era.legacy-session', 'choice.bridge.legacy-to-legacy-structured'],
    'gives a legacy client results in its own era as they are, and its own word of changed lists',
    async () => {
      const array = { type: 'array', items: { type: 'integer' } };
      const server = fakeServer().tool(
        'list',
        ({ era }) => text('x', { structuredContent: era === '2025-11-25' ? { result: [1] } : [1] }),
        { outputSchema: array },
      );
      await using kit = await testGateway({ backends: { far: server } });
      const legacy = await kit.client({ era: '2025-11-25' });
      expect((await legacy.callTool('list')).structuredContent).toEqual({ result: [1] });
      const { result } = await legacy.request('tools/list');
      expect(result?.tools).toMatchObject([{ outputSchema: { type: 'object', properties: { result: array } } }]);
      const session = await legacySession(kit.gateway);
      const stream = await session.stream();
      await session.request('tools/call', { name: 'list', arguments: {} });
      server.notify('notifications/tools/list_changed');
      expect((await stream.next())?.message).toMatchObject({ method: 'notifications/tools/list_changed' });
      await stream.close();
    },
  );

  proves('choice.era.modern-only', 'that refuses a session is bridged, and asked once only', async () => {
    const server = fakeServer(['2026-07-28']).tool('greet', ({ params }) => {
      const { inputResponses } = params as { inputResponses?: { who: { content: { name: string } } } };
      if (inputResponses !== undefined) return text(`hello ${inputResponses.who.content.name}`);
      const inputRequests = { who: { method: 'elicitation/create', params: form } };
      return { resultType: 'input_required', inputRequests, requestState: 's' };
    });
    await using kit = await testGateway({ backends: { far: server } });
    for (let client = 0; client < 2; client++) {
      const legacy = await kit.client(answering);
      expect(await legacy.callTool('greet')).toMatchObject({ content: [{ text: 'hello Ada' }] });
    }
    expect(initialized(server)).toBe(1);
    expect(kit.gateway.counts().links).toBe(1);
    kit.setBackends({});
    await until(() => kit.gateway.backends().length === 0);
    kit.setBackends({ far: server });
    await until(() => kit.gateway.backends()[0]?.status === 'ready');
    const clients = await Promise.all(Array.from({ length: 4 }, () => kit.client(answering)));
    const answers = await Promise.all(clients.map((legacy) => legacy.callTool('greet')));
    for (const answer of answers) expect(answer).toMatchObject({ content: [{ text: 'hello Ada' }] });
  });

  proves('choice.era.setting', 'stays modern for everybody where it is set so', async () => {
    const server = direct(fakeServer());
    await using kit = await testGateway({ backends: { far: server } });
    const far = { transport: 'stdio', command: { file: `${FAKE_PROGRAM}far`, args: [] }, era: 'modern' } as const;
    kit.setBackends({ far });
    await until(() => kit.gateway.backends()[0]?.backend.era === 'modern' && kit.gateway.counts().links === 1);
    const legacy = await kit.client(answering);
    await expect(legacy.callTool('greet')).rejects.toThrow('no session, no client to ask');
    expect(initialized(server)).toBe(0);
    const { era: _, ...auto } = far;
    kit.setBackends({ far: { ...auto, sessions: 'shared' } });
    await until(() => kit.gateway.backends()[0]?.backend.sessions === 'shared' && kit.gateway.counts().links === 1);
    await expect((await kit.client(answering)).callTool('greet')).rejects.toThrow('no session, no client to ask');
    expect(initialized(server)).toBe(0);
  });

  proves('choice.era.no-room', 'bridges a legacy client for which it has no session left', async () => {
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const server = fakeServer().tool('hold', async ({ era }) => {
      if (era === '2025-11-25') await held;
      return text(era);
    });
    await using kit = await testGateway({
      backends: { far: server },
      plan: { limits: { processesPerBackend: 1 } },
    });
    const [one, other] = [await kit.client(answering), await kit.client(answering)];
    const first = one.callTool('hold');
    await until(() => callsOf(server) === 1);
    expect(await other.callTool('hold')).toMatchObject({ content: [{ text: '2026-07-28' }] });
    letGo();
    expect(await first).toMatchObject({ content: [{ text: '2025-11-25' }] });
  });
});
