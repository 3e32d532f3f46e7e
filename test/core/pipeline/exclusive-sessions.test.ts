import type { JsonObject } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestReply, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { META } from '../../../core/mcp/meta.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { published } from '../backend/support.ts';
import { networked } from './networked.ts';

const form = { message: 'name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const capabilities = { elicitation: {} };

/** A stdio server of the revision with sessions: one tool asks, one logs when it is let go on, one just answers. */
function talkative(): { server: FakeServer; letGo: () => void; logging: () => number } {
  let letGo = (): void => {};
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let logging = 0;
  const server = fakeServer(['2025-11-25'])
    .tool('greet', async ({ ask, arguments: { title } }) => {
      const answer = await ask('elicitation/create', { ...form, message: `name, ${title}?` });
      return text(`hello ${title} ${(answer.content as JsonObject | undefined)?.name}`);
    })
    .tool('log', async ({ log, arguments: { mark } }) => {
      logging++;
      await until;
      log('warning', String(mark));
      return text('logged');
    })
    .tool('echo');
  server.capabilities.logging = {};
  return { server, letGo, logging: () => logging };
}

const questionOf = ({ result }: TestReply): string =>
  JSON.stringify((result?.inputRequests as JsonObject | undefined) ?? result);

describe('calls of one stateless client to a stdio server with sessions, at the same time', () => {
  proves(
    ['choice.bridge.question-of-its-call', 'choice.bridge.no-stranger'],
    'are each asked their own question, and wait for no answer but their own',
    async () => {
      const { server } = talkative();
      await using kit = await testGateway({ backends: { far: server } });
      const client = await kit.client({
        capabilities,
        answer: (_method, { message }) => ({ action: 'accept', content: { name: String(message).slice(-4, -1) } }),
      });
      const greet = (title: string) => client.request('tools/call', { name: 'greet', arguments: { title } });
      const [one, other] = await Promise.all([greet('Dr'), greet('Sir')]);
      expect(questionOf(one)).toContain('name, Dr?');
      expect(questionOf(other)).toContain('name, Sir?');
      expect(kit.gateway.counts().parked).toBe(2);
      // the first two are abandoned, which does not affect these
      expect(await client.callTool('greet', { title: 'Ada' })).toMatchObject({ content: [{ text: 'hello Ada Ada' }] });
      expect(await client.callTool('echo', { a: 1 })).toMatchObject({ content: [{ text: '{"a":1}' }] });
    },
  );

  proves('choice.bridge.log-of-its-call', 'hear their own log messages', async () => {
    const { server, letGo, logging } = talkative();
    await using kit = await testGateway({ backends: { far: server } });
    const client = await kit.client();
    const log = async (mark: string) => {
      const meta = { [META.logLevel]: 'info' };
      const { told } = await client.request('tools/call', { name: 'log', arguments: { mark }, _meta: meta });
      return told.map(({ params }) => (params as JsonObject).data);
    };
    const both = Promise.all([log('one'), log('other')]);
    await until(() => logging() === 2);
    letGo();
    expect(await both).toEqual([['one'], ['other']]);
  });

  proves('choice.bridge.own-sessions-pooled', 'use the sessions of those before them', async () => {
    const { server } = talkative();
    await using kit = await testGateway({ backends: { far: server } });
    const client = await kit.client({ capabilities });
    for (let call = 0; call < 5; call++) await client.callTool('echo');
    const oneByOne = server.opened;
    const greet = () => client.request('tools/call', { name: 'greet', arguments: {} });
    await Promise.all([greet(), greet(), greet()]);
    expect(server.opened - oneByOne).toBe(2);
    for (let call = 0; call < 5; call++) await client.callTool('echo');
    expect(server.opened - oneByOne).toBe(3);
  });

  proves(
    ['choice.bridge.own-sessions-bounded', 'choice.limit.sessions-per-asked-caller'],
    'are bounded: more wait in turn, and are busy when their time is over',
    async () => {
      const { server, letGo, logging } = talkative();
      const plan = { limits: { sessionsPerAskedCaller: 1 }, timeouts: { defaultMs: 400 } };
      await using kit = await testGateway({ backends: { far: server }, plan });
      const client = await kit.client({ capabilities });
      const opened = server.opened;
      const first = client.callTool('log', { mark: 1 });
      await until(() => logging() === 1);
      const second = client.callTool('echo');
      letGo();
      await first;
      expect(await second).toMatchObject({ content: [{ text: '{}' }] });
      expect(server.opened - opened).toBeLessThanOrEqual(1);
      await client.request('tools/call', { name: 'greet', arguments: {} });
      const busy = await client.callTool('echo');
      expect(busy).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('BACKEND_BUSY') }] });
    },
  );
});

const GREET = { name: 'greet', arguments: {} };
const ECHO = { content: [{ text: '{}' }] };

describe('calls of stateless clients without identity, on two networks, to a stdio server with sessions', () => {
  proves(
    ['choice.bridge.no-stranger', 'choice.share.asked-sessions'],
    'hold sessions of their own network: none waits for answers that another owes',
    async () => {
      const { server } = talkative();
      const plan = { limits: { sessionsPerAskedCaller: 2 }, timeouts: { defaultMs: 600 } };
      await using kit = await testGateway({ backends: { far: server }, plan });
      await using net = await networked(kit, { capabilities });
      const mallory = await net.clientFrom('127.0.0.1');
      const ada = await net.clientFrom('127.0.0.2');
      for (let call = 0; call < 2; call++) {
        expect(questionOf(await mallory.request('tools/call', GREET))).toContain('name, undefined?');
      }
      expect(await mallory.callTool('echo')).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('BACKEND_BUSY') }],
      });
      expect(await ada.callTool('echo')).toMatchObject(ECHO);
      expect(questionOf(await ada.request('tools/call', GREET))).toContain('name, undefined?');
      expect(await ada.callTool('echo')).toMatchObject(ECHO);
    },
  );

  proves(
    'choice.share.parked-gives-way',
    'take the place of a call that waits for an answer when one network has taken all',
    async () => {
      const { server } = talkative();
      const plan = { limits: { processesPerBackend: 3 }, timeouts: { defaultMs: 600 } };
      await using kit = await testGateway({ backends: { far: server }, plan });
      await using net = await networked(kit, { capabilities });
      const mallory = await net.clientFrom('127.0.0.1');
      const ada = await net.clientFrom('127.0.0.2');
      const parked: TestReply[] = [];
      for (let call = 0; call < 3; call++) parked.push(await mallory.request('tools/call', GREET));
      expect(await mallory.callTool('echo')).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('BACKEND_BUSY') }],
      });
      expect(await ada.callTool('echo')).toMatchObject(ECHO);
      const ends = await Promise.all(parked.map(({ result }) => mallory.request('tools/call', retryOf(result))));
      const texts = ends.map(({ result }) => JSON.stringify(result?.content)).sort();
      expect(texts).toEqual([
        expect.stringContaining('BACKEND_BUSY'),
        expect.stringContaining('hello undefined Bob'),
        expect.stringContaining('hello undefined Bob'),
      ]);
    },
  );
});

function retryOf(result: JsonObject | undefined): JsonObject {
  const [key = ''] = Object.keys(result?.inputRequests as JsonObject);
  const inputResponses = { [key]: { action: 'accept', content: { name: 'Bob' } } };
  return { ...GREET, inputResponses, requestState: String(result?.requestState) };
}

describe('calls of one client with a session to a stdio server, at the same time', () => {
  proves(
    'choice.bridge.legacy-question-any-call',
    'are asked on their own streams where the client has no other',
    async () => {
      const { server } = talkative();
      await using kit = await testGateway({ backends: { far: server } });
      const client = await kit.client({
        era: '2025-11-25',
        capabilities,
        answer: (_method, { message }) => ({ action: 'accept', content: { name: String(message).slice(-4, -1) } }),
      });
      const both = await Promise.all(['Ada', 'Bob'].map((title) => client.callTool('greet', { title })));
      expect(both).toMatchObject([{ content: [{ text: 'hello Ada Ada' }] }, { content: [{ text: 'hello Bob Bob' }] }]);
    },
  );
});

describe('the Everything server over stdio', () => {
  proves('choice.bridge.question-of-its-call', 'asks two calls of a stateless client at the same time', async () => {
    const every = {
      transport: 'stdio',
      command: { file: process.execPath, args: [published('everything'), 'stdio'] },
    } as const;
    await using kit = await testGateway({ backends: { every } });
    const answer = () => ({ action: 'accept', content: { name: 'Ada', check: true } });
    const client = await kit.client({ capabilities: { elicitation: {} }, answer });
    // it shows the tool a moment after its hello, when it knows what its client can do
    await until(async () => (await client.toolNames()).includes('trigger-elicitation-request'));
    const ask = () => client.callTool('trigger-elicitation-request');
    for (const result of await Promise.all([ask(), ask()])) expect(JSON.stringify(result)).toContain('Ada');
  });
});
