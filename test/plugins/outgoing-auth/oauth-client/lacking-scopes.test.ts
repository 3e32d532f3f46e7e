import { describe, expect, it } from 'vitest';
import { createLackingScopes, scopesLackedIn } from '../../../../plugins/outgoing-auth/oauth-client/lacking-scopes.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const challenge = (scope: string): string => `Bearer error="insufficient_scope", scope="${scope}"`;

/** What the function does with challenges when the last login requested these scopes. */
function rig(requested: readonly string[]) {
  const kept: (readonly string[])[] = [];
  let found = 0;
  const advise = createLackingScopes({
    store: {
      async lacks(scopes) {
        kept.push(scopes);
        return scopes.some((scope) => !requested.includes(scope));
      },
    },
    workload: 'far',
    log: SILENT,
    found: () => void found++,
  });
  return { advise, kept, found: () => found };
}

describe('the scopes that a server asks for', () => {
  it('are those of a bearer challenge with insufficient_scope, once each, without what no scope can be', async () => {
    expect(await scopesLackedIn(challenge('a b a'))).toEqual(['a', 'b']);
    expect(await scopesLackedIn(`Basic realm="x", ${challenge('a')}`)).toEqual(['a']);
    expect(await scopesLackedIn(challenge(`a ${'b'.repeat(257)} é`))).toEqual(['a']);
    expect(await scopesLackedIn(challenge(Array.from({ length: 99 }, (_, at) => `s${at}`).join(' ')))).toHaveLength(32);
    const others = [
      'Bearer scope="a"',
      'Bearer error="invalid_token", scope="a"',
      'Bearer error="insufficient_scope"',
      '',
    ];
    for (const other of [...others, '"']) expect(await scopesLackedIn(other)).toEqual([]);
  });

  it('are kept once for each challenge, and the user is told what to do', async () => {
    const { advise, kept, found } = rig(['a']);
    const told = await Promise.all([advise(challenge('b')), advise(challenge('b')), advise(challenge('b'))]);
    expect(new Set(told)).toEqual(new Set(['a login with the scope b is needed: toolmgr restart far']));
    expect([kept, found()]).toEqual([[['b']], 1]);
  });

  it('ask for no login when the last one requested them', async () => {
    const { advise, found } = rig(['a']);
    expect([await advise(challenge('a')), found()]).toEqual([undefined, 0]);
  });

  it('are looked at in 32 challenges at most', async () => {
    const { advise, kept } = rig([]);
    for (let at = 0; at < 40; at++) await advise(challenge(`s${at}`));
    expect(kept).toHaveLength(32);
  });
});
