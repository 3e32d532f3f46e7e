import { describe, expect, it } from 'vitest';
import { createStateSeal, type StateBinding } from '../../../../core/pipeline/bridge/request-state.ts';
import { proves } from '../../../support/proves.ts';

const alice = { issuer: 'https://id', subject: 'alice', key: 'https://id\0alice', claims: {} };
const mallory = { ...alice, subject: 'mallory', key: 'https://id\0mallory' };
const binding: StateBinding = { caller: alice, method: 'tools/call', name: 'pay', arguments: { to: 'bob', sum: 5 } };
const state = { callId: 'c1', round: 2, backend: 'bank', inner: 'backend words' };

function sealAt(nowMs: () => number, secret?: string) {
  return createStateSeal(secret, 60_000, 4096, nowMs);
}

describe('a sealed requestState', () => {
  proves(
    ['choice.request-state.sealed', 'ask.modern.request-state'],
    'opens for what it was sealed for, in any order of argument keys, and shows nothing of its inside',
    () => {
      const seal = sealAt(() => 0);
      const sealed = seal.seal(state, binding);
      expect(seal.open(sealed, { ...binding, arguments: { sum: 5, to: 'bob' } })).toEqual(state);
      expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('backend words');
    },
  );

  proves(
    'choice.request-state.tampered',
    'is refused when any bit of it is changed, cut or spelled another way',
    () => {
      const seal = sealAt(() => 0);
      const sealed = seal.seal(state, binding);
      const bytes = Buffer.from(sealed, 'base64url');
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect(seal.open(changed.toString('base64url'), binding)).toBeUndefined();
      }
      for (const text of ['', 'x', sealed.slice(1), sealed.slice(0, -1), `${sealed}=`, ` ${sealed}`, 'A'.repeat(200)]) {
        expect(seal.open(text, binding)).toBeUndefined();
      }
    },
  );

  proves(['choice.request-state.expired', 'ask.modern.request-state'], 'is refused when its time is over', () => {
    let nowMs = 0;
    const seal = sealAt(() => nowMs);
    const sealed = seal.seal(state, binding);
    nowMs = 59_999;
    expect(seal.open(sealed, binding)).toEqual(state);
    nowMs = 60_000;
    expect(seal.open(sealed, binding)).toBeUndefined();
  });

  proves(['choice.request-state.other-caller', 'ask.modern.request-state'], 'is refused for another caller', () => {
    const seal = sealAt(() => 0);
    expect(seal.open(seal.seal(state, binding), { ...binding, caller: mallory })).toBeUndefined();
  });

  proves(
    ['choice.request-state.other-tool', 'ask.modern.request-state'],
    'is refused for another tool, method or other arguments',
    () => {
      const seal = sealAt(() => 0);
      const sealed = seal.seal(state, binding);
      expect(seal.open(sealed, { ...binding, name: 'refund' })).toBeUndefined();
      expect(seal.open(sealed, { ...binding, method: 'prompts/get' })).toBeUndefined();
      expect(seal.open(sealed, { ...binding, arguments: { to: 'bob', sum: 6 } })).toBeUndefined();
      expect(seal.open(sealed, { ...binding, arguments: {} })).toBeUndefined();
    },
  );

  proves('choice.request-state.size-cap', 'is refused unread when it is larger than its bound', () => {
    const seal = createStateSeal(undefined, 60_000, 64, () => 0);
    expect(seal.open(seal.seal(state, binding), binding)).toBeUndefined();
  });

  it('opens on another replica with the same secret, and not without it', () => {
    const secret = 'the same on every replica, 32 characters or more';
    const sealed = sealAt(() => 0, secret).seal(state, binding);
    expect(sealAt(() => 0, secret).open(sealed, binding)).toEqual(state);
    expect(sealAt(() => 0).open(sealed, binding)).toBeUndefined();
  });
});
