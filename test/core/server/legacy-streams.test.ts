import { encode } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../core/pipeline/mcp-request.ts';
import { type FakeTool, text } from '../../support/fake-gateway.ts';
import { type OpenEndpoint, openEndpoint, openSession, type ServerEvent } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const LISTS = { capabilityClass: '', kinds: ['tools'] } as const;
const TOKEN = { _meta: { progressToken: 'p' } };
const progress = (n: number) => encode({ progressToken: 'p', progress: n });
const numbers = (events: readonly ServerEvent[]) =>
  events.map(({ message }) => message.params?.progress ?? message.method ?? 'result');

/** A tool that tells and ends when the test says so. */
function heldTool(open: OpenEndpoint): {
  tell(n: number): void;
  log(n: number): void;
  end(): void;
  readonly calls: number;
} {
  let client: Parameters<FakeTool>[0]['client'] | undefined;
  let finish: ((answer: Answer) => void) | undefined;
  let calls = 0;
  open.service.tools.set('held', (intent) => {
    client = intent.client;
    calls++;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  return {
    tell: (n) => client?.notify('notifications/progress', progress(n)),
    log: (n) => client?.notify('notifications/message', encode({ level: 'info', data: n })),
    end: () => finish?.(text('the end')),
    get calls() {
      return calls;
    },
  };
}

/** Calls the held tool and disconnects after its first message, which it gives. */
async function callAndLeave(
  open: OpenEndpoint,
  session: Awaited<ReturnType<typeof openSession>>,
  held: ReturnType<typeof heldTool>,
  say: () => void,
): Promise<ServerEvent | undefined> {
  const gone = new AbortController();
  const opening = session.stream('tools/call', { name: 'held', ...TOKEN }, 9, gone.signal);
  await until(() => held.calls === 1);
  say();
  const seen = await (await opening).next();
  gone.abort();
  await until(() => open.endpoint.counts().streams === 0);
  return seen;
}

describe('the GET stream of a session', () => {
  proves(['ask.legacy.get-stream', 'choice.session.priming-event'], 'begins with an id to come back with', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    const stream = await session.get();
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    const first = await stream.nextRaw();
    expect(first).toMatchObject({ id: '0-0', data: '' });
    expect(Number(first?.retry)).toBeGreaterThan(0);
    expect(open.endpoint.counts().streams).toBe(1);
    await stream.close();
    await until(() => open.endpoint.counts().streams === 0);
  });

  it('has no event without data for clients before 2025-11-25', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url, { version: '2025-06-18' });
    const stream = await session.get();
    open.service.changeLists(LISTS);
    expect((await stream.nextRaw())?.message.method).toBe('notifications/tools/list_changed');
    await stream.close();
  });

  proves('choice.http.get-not-acceptable', 'needs an Accept that names it', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    for (const accept of ['application/json', '*/*']) {
      const reply = await fetch(open.url, { headers: { ...session.headers, accept } });
      expect(reply.status).toBe(406);
      expect(await reply.json()).toMatchObject({ error: { code: -32600 } });
    }
  });

  proves('choice.session.get-stream-second', 'is one: a second gets 409, one that comes back takes over', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    const first = await session.get();
    expect((await session.get()).response.status).toBe(409);
    const second = await session.get({ 'last-event-id': '0-0' });
    expect(second.response.status).toBe(200);
    expect((await first.rest()).length).toBe(0);
    open.service.changeLists(LISTS);
    expect((await second.next())?.id).toBe('0-1');
    await second.close();
  });

  proves(
    ['ask.legacy.list-changed', 'choice.session.message-on-one-stream'],
    'tells each changed list once',
    async () => {
      await using open = await openEndpoint();
      const session = await openSession(open.url);
      const other = await openSession(open.url, { capabilities: { sampling: {} } });
      const [stream, otherStream] = await Promise.all([session.get(), other.get()]);
      open.service.changeLists({ capabilityClass: '', kinds: ['tools', 'prompts', 'resources'] });
      const methods = [await stream.next(), await stream.next(), await stream.next()].map(
        (event) => event?.message.method,
      );
      expect(methods).toEqual(['tools', 'prompts', 'resources'].map((kind) => `notifications/${kind}/list_changed`));
      open.service.changeLists({ capabilityClass: 'sampling', kinds: ['prompts'] });
      expect((await otherStream.next())?.message.method).toBe('notifications/prompts/list_changed');
      await Promise.all([stream.close(), otherStream.close()]);
    },
  );

  it('gets what happened before it was there, each change once', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    for (let n = 0; n < 5; n++) open.service.changeLists(LISTS);
    open.service.welcomed[0]?.owner.sink?.logged('w', encode({ level: 'error', data: 'early' }));
    open.service.welcomed[0]?.owner.sink?.logged('w', encode({ level: 'debug', data: 'unwanted' }));
    const stream = await session.get();
    expect((await stream.next())?.message.method).toBe('notifications/tools/list_changed');
    expect((await stream.next())?.message.params).toEqual({ level: 'error', data: 'early' });
    await stream.close();
    await until(() => open.endpoint.counts().streams === 0);
    const again = await session.get();
    open.service.changeLists({ capabilityClass: '', kinds: ['prompts'] });
    expect((await again.next())?.message.method).toBe('notifications/prompts/list_changed');
    await again.close();
  });

  proves('ask.legacy.roots', 'carries a question outside any call, answered by POST', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url, { capabilities: { roots: {} } });
    const ask = open.service.welcomed[0]?.owner.sink?.request;
    const asked = ask?.('roots/list', encode({}), new AbortController().signal);
    const stream = await session.get();
    const question = await stream.next();
    expect(question?.message.method).toBe('roots/list');
    const answer = { id: question?.message.id ?? null, result: { roots: [{ uri: 'file:///x' }] } };
    expect((await session.send(answer)).status).toBe(202);
    expect(await asked).toEqual({ result: encode({ roots: [{ uri: 'file:///x' }] }) });
    await stream.close();
  });
});

describe('a resumed stream', () => {
  proves(
    ['ask.legacy.resumable', 'choice.session.resume', 'choice.session.disconnect-is-not-cancel'],
    'sends missed events once, and continues; the call was not interrupted',
    async () => {
      await using open = await openEndpoint();
      const held = heldTool(open);
      const session = await openSession(open.url);
      const gone = new AbortController();
      const opening = session.stream('tools/call', { name: 'held', ...TOKEN }, 9, gone.signal);
      await until(() => held.calls === 1);
      held.tell(1);
      const stream = await opening;
      expect((await stream.nextRaw())?.data).toBe('');
      const seen = await stream.next();
      gone.abort();
      await until(() => open.endpoint.counts().streams === 0);
      held.log(2);
      held.tell(3);
      expect(open.service.seen.at(-1)?.cancel.aborted).toBe(false);
      const resumed = await session.get({ 'last-event-id': seen?.id ?? '' });
      const missed = [await resumed.next(), await resumed.next()] as ServerEvent[];
      expect(numbers(missed)).toEqual(['notifications/message', 3]);
      held.tell(4);
      held.end();
      const rest = await resumed.rest();
      expect(numbers(rest)).toEqual([4, 'result']);
      expect(rest.at(-1)?.message).toMatchObject({ id: 9, result: { content: [{ text: 'the end' }] } });
      const ids = [seen, ...missed, ...rest].map((event) => event?.id);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  it('sends the result of a call that ended while the client was disconnected', async () => {
    await using open = await openEndpoint();
    const held = heldTool(open);
    const session = await openSession(open.url);
    const seen = await callAndLeave(open, session, held, () => held.tell(1));
    held.end();
    for (let time = 0; time < 2; time++) {
      const rest = await (await session.get({ 'last-event-id': seen?.id ?? '' })).rest();
      expect(numbers(rest)).toEqual(['result']);
    }
    expect((await session.get({ 'last-event-id': '0-0' })).response.status).toBe(200);
  });

  it('never sends events of another stream', async () => {
    await using open = await openEndpoint();
    const held = heldTool(open);
    const session = await openSession(open.url);
    open.service.changeLists(LISTS);
    const opening = session.stream('tools/call', { name: 'held', ...TOKEN });
    await until(() => held.calls === 1);
    held.tell(1);
    const stream = await opening;
    const seen = await stream.next();
    const get = await session.get({ 'last-event-id': '0-0' });
    held.tell(2);
    held.end();
    expect(numbers(await stream.rest())).toEqual([2, 'result']);
    expect((await get.next())?.message.method).toBe('notifications/tools/list_changed');
    const back = await session.get({ 'last-event-id': seen?.id ?? '' });
    expect(numbers(await back.rest())).toEqual([2, 'result']);
    await get.close();
  });

  it('is refused for an id that was never given out', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url);
    for (const id of ['zz-1', 'x', '1', '-1', '0-', `0-${'9'.repeat(30)}`, '../0-1']) {
      expect([id, (await session.get({ 'last-event-id': id })).response.status]).toEqual([id, 400]);
    }
  });

  it('is kept within its bounds: the oldest news goes, the result stays', async () => {
    await using open = await openEndpoint({ limits: { replayEvents: 4 } });
    const held = heldTool(open);
    const session = await openSession(open.url);
    const seen = await callAndLeave(open, session, held, () => held.log(0));
    for (let n = 1; n <= 10; n++) held.log(n);
    held.end();
    const rest = await (await session.get({ 'last-event-id': seen?.id ?? '' })).rest();
    expect(rest.map(({ message }) => message.params?.data ?? 'result')).toEqual([8, 9, 10, 'result']);
  });

  it('says so when the result was too large to be kept', async () => {
    await using open = await openEndpoint({ limits: { replayBytes: 2000 } });
    open.service.tools.set('large', ({ client }) => {
      client.notify('notifications/progress', progress(1));
      return text('x'.repeat(5000));
    });
    const session = await openSession(open.url);
    const all = await (await session.stream('tools/call', { name: 'large', ...TOKEN }, 9)).rest();
    expect(JSON.stringify(all.at(-1)?.message.result)).toContain('xxx');
    const rest = await (await session.get({ 'last-event-id': all[0]?.id ?? '' })).rest();
    expect(rest.map(({ message }) => [message.id, message.error?.code])).toEqual([[9, -32603]]);
  });
});

describe('a question to a legacy client', () => {
  proves(
    ['ask.legacy.elicitation', 'choice.capability.elicitation'],
    'comes on the stream of its call, and its answer goes to the call',
    async () => {
      await using open = await openEndpoint();
      const session = await openSession(open.url, { capabilities: { elicitation: {} } });
      const get = await session.get();
      const stream = await session.stream('tools/call', { name: 'elicit' });
      const question = await stream.next();
      expect(question?.message).toMatchObject({ method: 'elicitation/create', params: { message: 'Who are you?' } });
      expect((await session.send({ id: 999, result: {} })).status).toBe(202);
      await session.send({ id: question?.message.id ?? null, result: { action: 'accept', _meta: { 'x.mcp/y': 1 } } });
      const [last] = await stream.rest();
      expect(last?.message.result).toMatchObject({ content: [{ text: '{"action":"accept"}' }] });
      await get.close();
    },
  );

  it('that fails at the client gives the backend the error', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url, { capabilities: { elicitation: {} } });
    const stream = await session.stream('tools/call', { name: 'elicit' });
    const question = await stream.next();
    await session.send({ id: question?.message.id ?? null, error: { code: -1, message: 'user rejected' } });
    expect(JSON.stringify(await stream.rest())).toContain('error -1');
  });

  it('is never put to a client that did not declare it, or reads no streams', async () => {
    await using open = await openEndpoint();
    const plain = await openSession(open.url);
    expect((await plain.request('tools/call', { name: 'elicit' })).text).toContain('error -32601');
    const headers = { accept: 'application/json' };
    const jsonOnly = await openSession(open.url, { capabilities: { elicitation: {} }, headers });
    expect((await jsonOnly.request('tools/call', { name: 'elicit' })).text).toContain('cannot ask');
  });

  it('is cancelled without an answer in time', async () => {
    await using open = await openEndpoint({ limits: { askTimeoutMs: 100 } });
    const session = await openSession(open.url, { capabilities: { elicitation: {} } });
    const stream = await session.stream('tools/call', { name: 'elicit' });
    const events = await stream.rest();
    expect(events.map(({ message }) => message.method ?? 'result')).toEqual([
      'elicitation/create',
      'notifications/cancelled',
      'result',
    ]);
    expect(events[1]?.message.params?.requestId).toBe(events[0]?.message.id);
    expect(JSON.stringify(events.at(-1))).toContain('error -32603');
  });

  it('is withdrawn when its call is cancelled, and the stream still ends with a response', async () => {
    await using open = await openEndpoint();
    const session = await openSession(open.url, { capabilities: { elicitation: {} } });
    const stream = await session.stream('tools/call', { name: 'elicit' }, 'e');
    await stream.next();
    await session.send({ method: 'notifications/cancelled', params: { requestId: 'e' } });
    const events = await stream.rest();
    expect(events.map(({ message }) => message.method ?? message.id)).toEqual(['notifications/cancelled', 'e']);
  });

  it('of another session cannot be answered', async () => {
    await using open = await openEndpoint();
    const capabilities = { elicitation: {} };
    const asked = await openSession(open.url, { capabilities });
    const other = await openSession(open.url, { capabilities });
    const stream = await asked.stream('tools/call', { name: 'elicit' });
    const question = await stream.next();
    const id = question?.message.id ?? null;
    expect((await other.send({ id, result: { action: 'accept', content: { name: 'Mallory' } } })).status).toBe(202);
    await asked.send({ id, result: { action: 'decline' } });
    expect(JSON.stringify(await stream.rest())).toContain('decline');
  });
});

describe('a long legacy call', () => {
  it('becomes a resumable stream with keep-alive comments', async () => {
    await using open = await openEndpoint({ limits: { keepAliveMs: 100 } });
    const held = heldTool(open);
    const session = await openSession(open.url);
    const stream = await session.stream('tools/call', { name: 'held' });
    expect((await stream.nextRaw())?.id).toBe('1-0');
    expect((await stream.nextRaw())?.comment).toBe('keep-alive');
    held.end();
    expect((await stream.next())?.id).toBe('1-1');
  });
});
