import { ANONYMOUS, type CallResult, type ClientContext, DEFAULT_LIMITS, resultFromValue } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { ClientResponse } from '../../../../core/contract/client-context.ts';
import { createSuspendedCalls, type RoundEnd } from '../../../../core/pipeline/bridge/suspended-calls.ts';
import { silentClient } from '../../../../core/pipeline/silent-client.ts';
import { proves } from '../../../support/proves.ts';

const caller = ANONYMOUS;
const other = { ...caller, key: 'other' };
const client = silentClient({
  key: 'o',
  caller,
  capabilities: { elicitation: {} },
  capabilityClass: 'elicitation',
});
const never = () => new AbortController().signal;
const asking = (signal = never(), remoteAddress = '10.0.0.1') => ({
  client,
  caller,
  signal,
  inbound: { method: 'POST', path: '/mcp', headers: {}, remoteAddress, signal },
});
const LIMITS = { parkedCalls: 10, parkedPerCaller: 10, requestStateTtlMs: 1000 };
const form = Buffer.from('{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}');

function questionsIn(end: RoundEnd): string[] {
  return 'questions' in end ? [...end.questions.keys()] : [];
}

/** A call that asks `times` times, one after another, and ends with what it heard. */
async function askInTurn(from: ClientContext, times: number): Promise<CallResult> {
  const heard: string[] = [];
  for (let n = 0; n < times; n++) {
    const answer = (await from.request?.('elicitation/create', form, never())) as ClientResponse;
    heard.push('result' in answer ? answer.result.toString() : answer.error.message);
  }
  return resultFromValue({ heard });
}

describe('a suspended call', () => {
  it('waits between two requests and ends with the answers', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    const first = await suspendedCalls.run(asking(), (from) => askInTurn(from, 2));
    expect(questionsIn(first)).toEqual(['q1']);
    expect(suspendedCalls.size).toBe(1);
    const handle = 'parked' in first ? first.parked : '';
    const second = await suspendedCalls.resume(handle, asking(), Buffer.from('{"q1":{"action":"accept"}}'));
    expect(second && questionsIn(second)).toEqual(['q2']);
    const last = await suspendedCalls.resume(handle, asking(), Buffer.from('{"q2":{"action":"decline"},"unknown":{}}'));
    expect(last && 'result' in last && last.result.value).toEqual({
      heard: ['{"action":"accept"}', '{"action":"decline"}'],
    });
    expect(suspendedCalls.size).toBe(0);
  });

  it('asks again for answers that are missing', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    const end = await suspendedCalls.run(asking(), (from) => askInTurn(from, 1));
    const handle = 'parked' in end ? end.parked : '';
    const again = await suspendedCalls.resume(handle, asking(), Buffer.from('{"other":{}}'));
    expect(again && questionsIn(again)).toEqual(['q1']);
    const unspoken = await suspendedCalls.resume(handle, asking(), undefined);
    expect(unspoken && questionsIn(unspoken)).toEqual(['q1']);
    suspendedCalls.stop();
  });

  it('belongs to its caller, and to one request at a time', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    const end = await suspendedCalls.run(asking(), (from) => askInTurn(from, 2));
    const handle = 'parked' in end ? end.parked : '';
    expect(suspendedCalls.resume(handle, { ...asking(), caller: other }, undefined)).toBeUndefined();
    expect(suspendedCalls.resume('guessed', asking(), undefined)).toBeUndefined();
    suspendedCalls.stop();
  });

  it('is cancelled when its client goes away in the middle of a round', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    const gone = new AbortController();
    let cancelled: unknown;
    const running = suspendedCalls.run(asking(gone.signal), (_from, signal) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          cancelled = signal.reason;
          reject(signal.reason);
        });
      });
    });
    gone.abort();
    await expect(running).rejects.toThrow('the client cancelled');
    expect(cancelled).toBeInstanceOf(Error);
    expect(suspendedCalls.size).toBe(0);
  });

  it('does not wait for a client that went away while the backend asked', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    const leaving = new AbortController();
    const end = suspendedCalls.run(asking(leaving.signal), async (from, signal) => {
      await new Promise(setImmediate);
      void from.request?.('elicitation/create', form, never());
      queueMicrotask(() => leaving.abort());
      await new Promise(setImmediate);
      signal.throwIfAborted();
      return resultFromValue({});
    });
    await expect(end).rejects.toThrow('the client cancelled');
    expect(suspendedCalls.size).toBe(0);
  });

  it('asks for nothing that was withdrawn in the same moment', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    const withdrawing = new AbortController();
    const end = await suspendedCalls.run(asking(), async (from) => {
      await new Promise(setImmediate);
      const asked = from.request?.('elicitation/create', form, withdrawing.signal);
      queueMicrotask(() => withdrawing.abort());
      await asked;
      return resultFromValue({ went: 'on' });
    });
    expect('result' in end && end.result.value).toEqual({ went: 'on' });
    expect(suspendedCalls.size).toBe(0);
  });

  it('is cancelled when its client does not retry in time', async () => {
    let nowMs = 0;
    const suspendedCalls = createSuspendedCalls(LIMITS, () => nowMs);
    let heard: ClientResponse | undefined;
    await suspendedCalls.run(asking(), async (from) => {
      heard = await from.request?.('elicitation/create', form, never());
      return resultFromValue({});
    });
    nowMs = 999;
    suspendedCalls.sweep();
    expect(suspendedCalls.size).toBe(1);
    nowMs = 1000;
    suspendedCalls.sweep();
    expect(suspendedCalls.size).toBe(0);
    await Promise.resolve();
    expect(heard && 'error' in heard && heard.error.message).toBe('the client did not send its responses in time');
  });

  it('is not possible at the limit: the backend gets an error and the call continues', async () => {
    const suspendedCalls = createSuspendedCalls({ ...LIMITS, parkedCalls: 1 }, () => 0);
    await suspendedCalls.run(asking(never(), '10.0.0.1'), (from) => askInTurn(from, 1));
    const end = await suspendedCalls.run(asking(never(), '10.0.0.2'), (from) => askInTurn(from, 1));
    expect('result' in end && end.result.value).toEqual({ heard: ['too many calls are waiting for an answer'] });
    suspendedCalls.stop();
  });

  proves('choice.share.parked', 'replaces the oldest call of its caller, and no call of others', async () => {
    expect([DEFAULT_LIMITS.parkedPerCaller, DEFAULT_LIMITS.parkedCalls]).toEqual([64, 256]);
    const suspendedCalls = createSuspendedCalls({ ...LIMITS, parkedCalls: 4, parkedPerCaller: 3 }, () => 0);
    const heard: string[] = [];
    const park = (name: string, address: string) =>
      suspendedCalls.run(asking(never(), address), async (from) => {
        const answer = (await from.request?.('elicitation/create', form, never())) as ClientResponse;
        heard.push(`${name}: ${'result' in answer ? 'answered' : answer.error.message}`);
        return resultFromValue({});
      });
    for (const name of ['eve 1', 'eve 2', 'eve 3']) await park(name, '10.0.0.9');
    await park('ada 1', '10.0.0.1');
    await park('eve 4', '10.0.0.9'); // over its share
    expect(heard).toEqual(['eve 1: it was ended for another call']);
    await park('bob 1', '10.0.0.2'); // all places are taken, and one caller has the most
    expect(heard.slice(1)).toEqual(['eve 2: it was ended for another call']);
    const ada = await park('ada 2', '10.0.0.1'); // no caller has more calls than she has: her own oldest one is cancelled
    expect(heard.slice(2)).toEqual(['ada 1: it was ended for another call']);
    expect(suspendedCalls.size).toBe(4);
    const resumed = suspendedCalls.resume(
      'parked' in ada ? ada.parked : '',
      asking(never(), '10.0.0.1'),
      Buffer.from('{"q1":{"action":"accept"}}'),
    );
    expect('result' in ((await resumed) ?? {})).toBe(true);
    expect(heard.at(-1)).toBe('ada 2: answered');
    suspendedCalls.stop();
  });

  it('gets no request whose capability its client did not declare', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    const end = await suspendedCalls.run(asking(), async (from) => {
      const answer = (await from.request?.('sampling/createMessage', Buffer.from('{}'), never())) as ClientResponse;
      return resultFromValue({ code: 'error' in answer ? answer.error.code : 0 });
    });
    expect('result' in end && end.result.value).toEqual({ code: -32601 });
  });

  it('fails when its body fails, and leaves nothing behind', async () => {
    const suspendedCalls = createSuspendedCalls(LIMITS, () => 0);
    await expect(suspendedCalls.run(asking(), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(suspendedCalls.size).toBe(0);
  });
});
