import { resultFromValue } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { ClientRequester } from '../../../../core/contract/client-context.ts';
import { fulfil } from '../../../../core/pipeline/bridge/input-required.ts';
import { proves } from '../../../support/proves.ts';

const signal = new AbortController().signal;
const needsInput = (state?: string) =>
  resultFromValue({
    resultType: 'input_required',
    inputRequests: {
      name: { method: 'elicitation/create', params: { message: 'who?' } },
      dirs: { method: 'roots/list' },
    },
    ...(state === undefined ? {} : { requestState: state }),
  });
const accept: ClientRequester = async (method) => ({ result: Buffer.from(`{"for":"${method}"}`) });

describe('the questions of a modern backend', () => {
  proves(
    ['choice.bridge.legacy-to-modern-input', 'choice.request-state.exact-echo'],
    'reach a legacy client as requests, and the backend gets bare answers and its exact state',
    async () => {
      const sent: unknown[] = [];
      const end = await fulfil(needsInput('opaque é'), {
        ask: accept,
        maxRounds: 3,
        signal,
        again: async (responses, state, round) => {
          sent.push([responses?.toString(), state, round]);
          return resultFromValue({ content: [] });
        },
      });
      expect('value' in end && end.value).toEqual({ content: [] });
      const answers = '{"name":{"for":"elicitation/create"},"dirs":{"for":"roots/list"}}';
      expect(sent).toEqual([[answers, 'opaque é', 2]]);
    },
  );

  it('send no state where the backend gave none', async () => {
    let seen: string | undefined = 'unset';
    await fulfil(needsInput(), {
      ask: accept,
      maxRounds: 3,
      signal,
      again: async (_responses, state) => {
        seen = state;
        return resultFromValue({});
      },
    });
    expect(seen).toBeUndefined();
  });

  proves('choice.bridge.legacy-to-modern-rounds', 'end after a bounded number of rounds', async () => {
    let calls = 0;
    const end = await fulfil(needsInput('s'), {
      ask: accept,
      maxRounds: 3,
      signal,
      again: async () => {
        calls++;
        return needsInput('s');
      },
    });
    expect(end).toEqual({ unanswered: 'the backend asked for input more than 3 times' });
    expect(calls).toBe(2);
  });

  it('end with a sentence when the client cannot be asked or answers with an error', async () => {
    const again = async () => resultFromValue({});
    const mute = await fulfil(needsInput(), { ask: undefined, maxRounds: 3, signal, again });
    expect(mute).toEqual({ unanswered: 'the backend needs input, but this client cannot receive requests' });
    const refusing: ClientRequester = async () => ({ error: { code: -32601, message: 'no such method' } });
    const refused = await fulfil(needsInput(), { ask: refusing, maxRounds: 3, signal, again });
    expect(refused).toEqual({ unanswered: "the client did not answer the backend's request: no such method" });
  });

  proves('choice.bridge.url-elicitation-id', 'get an elicitationId when they are in url mode', async () => {
    const first = resultFromValue({
      resultType: 'input_required',
      inputRequests: {
        u: { method: 'elicitation/create', params: { mode: 'url', url: 'https://x.test', message: 'go' } },
      },
    });
    let params = '';
    await fulfil(first, {
      ask: async (_method, raw) => {
        params = raw.toString();
        return { result: Buffer.from('{"action":"accept"}') };
      },
      maxRounds: 3,
      signal,
      again: async () => resultFromValue({}),
    });
    expect(JSON.parse(params)).toMatchObject({ mode: 'url', url: 'https://x.test', elicitationId: expect.any(String) });
  });
});
