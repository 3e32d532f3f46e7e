import { hash } from 'node:crypto';
import type { Caller } from '@toolmgr/core';
import type { UpstreamToken } from '@toolmgr/plugins/kit/extension-points';
import { LRUCache } from 'lru-cache';

/**
 * Tokens that cannot be refreshed and that one backend refused, e.g. after the person removed the gateway at the provider. Other
 * backends still get such a token: a backend that refuses all tokens must not disconnect a person from the others.
 */
export interface RefusedTokens {
  has(backend: string, caller: Caller, token: UpstreamToken): boolean;
  /** Notes a refused token. Returns `false` for a new token: then another sign-in would not help. */
  note(backend: string, caller: Caller, token: UpstreamToken): boolean;
}

const MAX_REFUSED = 10_000; // the least recently used is dropped
/** A backend that refuses a token this new refuses every token of the person. */
const NEW_MS = 5 * 60_000;

/** Creates an empty list; `now` returns epoch milliseconds. */
export function createRefusedTokens(now: () => number): RefusedTokens {
  const refused = new LRUCache<string, string>({ max: MAX_REFUSED });
  const keyOf = (backend: string, { key }: Caller): string => `${backend}\0${key}`;
  return {
    has(backend, caller, token) {
      if (refused.size === 0) return false;
      const digest = refused.get(keyOf(backend, caller));
      return digest !== undefined && digest === digestOf(token);
    },
    note(backend, caller, token) {
      if (now() - token.issuedMs < NEW_MS) return false;
      refused.set(keyOf(backend, caller), digestOf(token));
      return true;
    },
  };
}

function digestOf({ accessToken }: UpstreamToken): string {
  return hash('sha256', accessToken.reveal(), 'base64');
}
