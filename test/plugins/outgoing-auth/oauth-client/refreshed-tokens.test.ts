import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createRefreshedTokens,
  type RefreshedTokens,
  type TokenState,
} from '../../../../plugins/outgoing-auth/oauth-client/refreshed-tokens.ts';
import type { IssuedTokens, TokenFailure } from '../../../../plugins/outgoing-auth/oauth-client/token-request.ts';
import type { TokenStore } from '../../../../plugins/outgoing-auth/oauth-client/token-store.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const HOUR = 3_600_000;
const AWAY: TokenFailure = { isPermanent: false, reason: 'the token endpoint answered with status 503' };
const REVOKED: TokenFailure = { isPermanent: true, error: 'invalid_grant', reason: 'the grant was revoked' };
const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A login whose token endpoint answers as `answers` says, the last one for ever. */
interface Rig {
  readonly tokens: RefreshedTokens;
  /** Refresh tokens that were sent, in order. */
  readonly sent: string[];
  readonly states: TokenState[];
  /** What happened, in order: `sent`, `wrote`. */
  readonly events: string[];
  readonly stored: () => Partial<IssuedTokens>;
  /** Answers of the token endpoint; a function decides when it answers. */
  answers: (IssuedTokens | TokenFailure | (() => Promise<IssuedTokens | TokenFailure>))[];
}

async function rig(first: Partial<IssuedTokens>, answers: Rig['answers'] = []): Promise<Rig> {
  let stored = first;
  const sent: string[] = [];
  const states: TokenState[] = [];
  const events: string[] = [];
  const store: Omit<TokenStore, 'lacks'> = {
    read: async () => stored,
    async write(tokens) {
      events.push(`wrote ${tokens.refreshToken ?? 'no refresh token'}`);
      stored = { ...stored, ...tokens };
    },
    async forget() {
      stored = {};
    },
  };
  const made: Rig = {
    ...{ sent, states, events, answers, stored: () => stored },
    tokens: await createRefreshedTokens({
      store,
      async refresh(refreshToken) {
        sent.push(refreshToken);
        events.push(`sent ${refreshToken}`);
        const answer = made.answers.length > 1 ? made.answers.shift() : made.answers[0];
        if (answer === undefined) throw new Error('the test has no answer');
        return typeof answer === 'function' ? answer() : answer;
      },
      changed: (state) => void states.push(state),
      logInAgain: 'log in again',
      log: SILENT,
      now: Date.now,
      random: () => 0,
    }),
  };
  return made;
}

const issued = (name: string, lifeMs = HOUR): IssuedTokens => ({
  accessToken: `access-${name}`,
  refreshToken: `refresh-${name}`,
  expiresAtMs: Date.now() + lifeMs,
});

describe('the tokens of a login', () => {
  it('are used while they are valid, without a request', async () => {
    const { tokens, sent } = await rig(issued('1'));
    expect(tokens.current()).toBe('Bearer access-1');
    expect(await tokens.obtain(never)).toBe('Bearer access-1');
    expect(sent).toEqual([]);
  });

  it('are refreshed one minute before their end, and the new refresh token is stored before it is used', async () => {
    const { tokens, events, answers } = await rig(issued('1'), []);
    answers.push(
      async () => issued('2'),
      async () => issued('3'),
    );
    await vi.advanceTimersByTimeAsync(HOUR - 61_000);
    expect(events).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(tokens.current()).toBe('Bearer access-2');
    await vi.advanceTimersByTimeAsync(HOUR - 60_000);
    expect(events).toEqual(['sent refresh-1', 'wrote refresh-2', 'sent refresh-2', 'wrote refresh-3']);
  });

  it('are refreshed by one request for all callers that wait', async () => {
    let answer: (tokens: IssuedTokens) => void = () => {};
    const pending = new Promise<IssuedTokens>((resolve) => {
      answer = resolve;
    });
    const { tokens, sent } = await rig({ ...issued('1'), expiresAtMs: Date.now() - 1 }, [() => pending]);
    const waiting = Promise.all([tokens.obtain(never), tokens.obtain(never), tokens.obtain(never)]);
    const impatient = new AbortController();
    const left = tokens.obtain(impatient.signal);
    impatient.abort(new Error('the caller left'));
    await expect(left).rejects.toThrow('the caller left');
    answer(issued('2'));
    expect(await waiting).toEqual(['Bearer access-2', 'Bearer access-2', 'Bearer access-2']);
    expect(sent).toEqual(['refresh-1']);
  });

  it('are refreshed a long time after the last check, e.g. when the machine slept', async () => {
    const { tokens } = await rig({ ...issued('1'), expiresAtMs: Date.now() - 48 * HOUR }, [issued('2')]);
    expect(tokens.current()).toBeUndefined();
    expect(await tokens.obtain(never)).toBe('Bearer access-2');
  });

  it('stay in use while the token endpoint is away, then requests fail until it is back', async () => {
    const made = await rig(issued('1', 10 * 60_000), [AWAY]);
    const { tokens, states, sent } = made;
    await vi.advanceTimersByTimeAsync(9 * 60_000 + 1_000);
    expect(sent).toHaveLength(1);
    expect(tokens.current()).toBe('Bearer access-1');
    expect(states).toEqual([]);
    await vi.advanceTimersByTimeAsync(70_000);
    expect(states).toEqual(['auth_retrying']);
    await expect(tokens.obtain(never)).rejects.toThrow(/cannot be refreshed now: .* status 503/);
    made.answers = [issued('2')];
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(states).toEqual(['auth_retrying', 'authenticated']);
    expect(tokens.current()).toBe('Bearer access-2');
  });

  it('are asked for after 10 s, 20 s … 2 minutes, then every 10 minutes, for 24 hours', async () => {
    const { tokens, states, sent } = await rig({ ...issued('1'), expiresAtMs: Date.now() - 1 }, [AWAY]);
    await expect(tokens.obtain(never)).rejects.toThrow(/cannot be refreshed now/);
    const gaps: number[] = [];
    for (let last = 0; gaps.length < 7; last = sent.length) {
      let gapMs = 0;
      for (; sent.length <= Math.max(last, 1); gapMs += 10_000) await vi.advanceTimersByTimeAsync(10_000);
      gaps.push(gapMs);
    }
    expect(gaps).toEqual([10_000, 20_000, 40_000, 80_000, 120_000, 600_000, 600_000]);
    expect(states).toEqual(['auth_retrying']);
    await vi.advanceTimersByTimeAsync(25 * HOUR);
    expect(states).toEqual(['auth_retrying', 'unauthenticated']);
    const before = sent.length;
    await vi.advanceTimersByTimeAsync(25 * HOUR);
    expect(sent).toHaveLength(before);
  });

  it('are removed when the grant was revoked, and the error says what to do', async () => {
    const { tokens, states, sent, stored } = await rig({ ...issued('1'), expiresAtMs: Date.now() - 1 }, [REVOKED]);
    await expect(tokens.obtain(never)).rejects.toThrow('log in again: the grant was revoked');
    expect(states).toEqual(['unauthenticated']);
    expect(stored()).toEqual({});
    await expect(tokens.obtain(never)).rejects.toThrow('log in again');
    expect(sent).toHaveLength(1);
  });

  it('end without a refresh token when they expire', async () => {
    const { accessToken, expiresAtMs } = issued('1');
    const { tokens, states } = await rig({ accessToken, expiresAtMs: expiresAtMs ?? 0 });
    await vi.advanceTimersByTimeAsync(HOUR + 1_000);
    expect(states).toEqual(['unauthenticated']);
    await expect(tokens.obtain(never)).rejects.toThrow(/log in again: the access token has expired/);
  });

  it('are refreshed once when the server refuses them; a refusal of the new one ends the login', async () => {
    const { tokens, states, sent, answers } = await rig(issued('1'), []);
    answers.push(async () => issued('2'));
    expect(tokens.refused()).toBe(true);
    expect(await tokens.obtain(never)).toBe('Bearer access-2');
    // a late refusal of the token before
    expect(tokens.refused()).toBe(true);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(tokens.refused()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(states).toEqual(['unauthenticated']);
    await expect(tokens.obtain(never)).rejects.toThrow(/log in again: the server refuses the access token/);
  });

  it('are not refreshed any more after the end', async () => {
    const { tokens, sent } = await rig(issued('1'), [issued('2')]);
    tokens.close();
    await vi.advanceTimersByTimeAsync(2 * HOUR);
    expect(sent).toEqual([]);
  });

  it('are refreshed later when an attempt fails in an unexpected way', async () => {
    const made = await rig({ ...issued('1'), expiresAtMs: Date.now() - 1 }, []);
    made.answers.push(
      async () => {
        throw new Error('no space left on device');
      },
      async () => issued('2'),
    );
    await expect(made.tokens.obtain(never)).rejects.toThrow(/cannot be refreshed now: no space left/);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(made.tokens.current()).toBe('Bearer access-2');
  });
});
