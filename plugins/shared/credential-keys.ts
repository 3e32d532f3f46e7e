import { createHash } from 'node:crypto';
import type { Caller } from '@toolmgr/core';

/**
 * Makes cache keys of a backend and a caller. A key has a hash of caller and token, which is computed once per caller
 * object, and no token.
 */
export function createCredentialKeys(): (backend: string, caller: Caller) => string {
  const digests = new WeakMap<Caller, string>();
  const digestOf = (caller: Caller): string => {
    if (caller.token === undefined) return '';
    const known = digests.get(caller);
    if (known !== undefined) return known;
    const text = `${caller.key}\0${caller.token.reveal()}`;
    const digest = createHash('sha256').update(text).digest('base64url');
    digests.set(caller, digest);
    return digest;
  };
  return (backend, caller) => `${backend}\0${digestOf(caller)}`;
}
