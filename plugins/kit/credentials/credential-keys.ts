import { createHash } from 'node:crypto';
import type { Caller, Secret } from '@toolmgr/core';

/**
 * Makes cache keys of a backend, a caller and the token that the credential is made from: the caller's own, or one of an upstream
 * provider. A key has a hash and no token; it is computed once per caller object and token.
 */
export function createCredentialKeys(): (backend: string, caller: Caller, subject: Secret | undefined) => string {
  const digests = new WeakMap<Caller, { readonly subject: Secret; readonly digest: string }>();
  const digestOf = (caller: Caller, subject: Secret): string => {
    const known = digests.get(caller);
    if (known?.subject === subject) return known.digest;
    const own = caller.token === subject ? '' : (caller.token?.reveal() ?? '');
    const text = `${caller.key}\0${own}\0${subject.reveal()}`;
    const digest = createHash('sha256').update(text).digest('base64url');
    digests.set(caller, { subject, digest });
    return digest;
  };
  return (backend, caller, subject) => `${backend}\0${subject === undefined ? '' : digestOf(caller, subject)}`;
}
