import { type Caller, GatewayFault, type JsonObject, type Secret } from '@toolmgr/core';
import { jwtClaims } from '../oauth/jwt-claims.ts';
import type { UpstreamToken, UpstreamTokens } from '../oauth/upstream-tokens.ts';

const EARLY_MS = 30_000; // an ID token is not sent shortly before its end

/** The token that a credential for a backend is made from. */
export interface Subject {
  readonly token: Secret;
  /** Epoch milliseconds; `undefined` when the end is not known. */
  readonly untilMs: number | undefined;
  /** Claims about the caller, from where the token is. */
  readonly claims: JsonObject;
}

/** Where a strategy takes subjects from. */
export interface SubjectTokens {
  /** The subject of a caller, when it is here and valid. */
  known(caller: Caller): Subject | undefined;
  /**
   * The subject of a caller; `undefined` when it can have none.
   * @throws as `UpstreamTokens.obtain`; GatewayFault AUTH_STRATEGY_FAILED when the provider gave no token of the kind
   */
  obtain(caller: Caller, signal: AbortSignal): Promise<Subject> | undefined;
}

/** The token of the caller's own request. */
export const OWN_TOKENS: SubjectTokens = {
  known({ token, claims }) {
    if (token === undefined) return undefined;
    return { token, untilMs: typeof claims.exp === 'number' ? claims.exp * 1000 : undefined, claims };
  },
  obtain: () => undefined,
};

/** Which token of a provider is the subject; `jwt`: the access token when it is a JWT, else the ID token. */
export type SubjectKind = 'accessToken' | 'idToken' | 'jwt';

/** Tokens that callers got from an upstream provider. `now` returns epoch milliseconds. */
export function upstreamSubjects(
  tokens: UpstreamTokens,
  provider: string,
  kind: SubjectKind,
  now: () => number,
): SubjectTokens {
  const subjects = new WeakMap<UpstreamToken, Subject | 'none'>();
  const subjectOf = (token: UpstreamToken): Subject | 'none' => {
    const found = subjects.get(token) ?? chosen(token, kind);
    subjects.set(token, found);
    return found;
  };
  return {
    known(caller) {
      const token = tokens.known(caller, provider);
      if (token === undefined) return undefined;
      const subject = subjectOf(token);
      if (subject === 'none' || (subject.untilMs !== undefined && subject.untilMs <= now())) return undefined;
      return subject;
    },
    async obtain(caller, signal) {
      const token = await tokens.obtain(caller, provider, signal, kind === 'idToken' ? 'idToken' : 'accessToken');
      let subject = subjectOf(token);
      if (subject !== 'none' && subject.token === token.idToken && kind === 'jwt') {
        subject = subjectOf(await tokens.obtain(caller, provider, signal, 'idToken'));
      }
      if (subject === 'none') throw withoutKind(provider, kind);
      return subject;
    },
  };
}

function chosen({ accessToken, idToken, expiresMs, claims }: UpstreamToken, kind: SubjectKind): Subject | 'none' {
  if (kind === 'accessToken' || (kind === 'jwt' && jwtClaims(accessToken) !== undefined)) {
    return { token: accessToken, untilMs: expiresMs, claims };
  }
  if (idToken === undefined) return 'none';
  const { exp } = jwtClaims(idToken) ?? ({} as JsonObject);
  return { token: idToken, untilMs: typeof exp === 'number' ? exp * 1000 - EARLY_MS : undefined, claims };
}

function withoutKind(provider: string, kind: SubjectKind): GatewayFault {
  const missing = kind === 'idToken' ? 'no ID token' : 'neither an access token that is a JWT nor an ID token';
  const message = `the upstream provider ${provider} gave ${missing}; its scopes need openid`;
  return new GatewayFault('AUTH_STRATEGY_FAILED', message);
}
