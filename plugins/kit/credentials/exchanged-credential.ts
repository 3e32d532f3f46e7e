import { type AuthContext, type Authorizer, type Caller, GatewayFault, type Log, type Secret } from '@toolmgr/core';
import type { Cached, CredentialCache, Issued } from './credential-cache.ts';
import { createCredentialKeys } from './credential-keys.ts';
import type { Subject, SubjectTokens } from './subject-tokens.ts';

/** What {@link createExchangeAuthorizer} needs. Credentials are values of the header. */
export interface ExchangeParts {
  /** Lower case. */
  readonly headerName: string;
  readonly subjects: SubjectTokens;
  readonly cache: CredentialCache<string>;
  /** What callers without a subject lack, for errors: `an exchanged token`. */
  readonly what: string;
  readonly log: Log;
  /** Exchanges a subject. @throws GatewayFault AUTH_STRATEGY_REFUSED, AUTH_STRATEGY_FAILED */
  exchange(subjectToken: string, backend: string): Promise<Issued<string>>;
  /** A credential of the gateway itself; `undefined` when none is issued. Absent: the gateway has none. */
  readonly own: ((backend: string) => Promise<Issued<string> | undefined>) | undefined;
}

/**
 * Makes an authorizer that exchanges the token of each caller for one of the backend, cached by that token. The gateway's own
 * requests, e.g. for lists, use a credential of its own, or none.
 */
export function createExchangeAuthorizer(parts: ExchangeParts): Authorizer {
  const { headerName, subjects, cache, own } = parts;
  const keyOf = createCredentialKeys();
  const last = new WeakMap<Caller, Secret>(); // a refusal may come when the subject is no longer known
  const without = new Set<string>(); // backends whose lists are read without a credential; the log says it once
  const setHeader = (headers: Record<string, string>, { value }: Cached<string>): void => {
    if (value !== undefined) headers[headerName] = value;
  };
  const applySubject = (
    headers: Record<string, string>,
    backend: string,
    { caller, signal }: AuthContext,
    { token, untilMs }: Subject,
  ): void | Promise<void> => {
    const key = keyOf(backend, caller, token);
    const kept = cache.find(key);
    if (kept !== undefined) return setHeader(headers, kept);
    last.set(caller, token);
    const wanted = { make: () => parts.exchange(token.reveal(), backend), untilMs };
    return cache.obtain(key, wanted, signal).then((made) => setHeader(headers, made));
  };
  const applyOwn = (headers: Record<string, string>, backend: string, { caller, signal }: AuthContext) => {
    if (own === undefined) return undefined;
    const key = keyOf(backend, caller, undefined);
    const kept = cache.find(key);
    if (kept !== undefined) return setHeader(headers, kept);
    const wanted = { make: () => ownCredential(own, backend, without, parts.log), untilMs: undefined };
    return cache.obtain(key, wanted, signal).then((made) => setHeader(headers, made));
  };
  return {
    headerNames: [headerName],
    perCaller: true,
    apply({ backend: { name }, headers }, context) {
      const { caller, purpose, signal } = context;
      const subject = subjects.known(caller);
      if (subject !== undefined) return applySubject(headers, name, context, subject);
      if (purpose === 'discovery') return applyOwn(headers, name, context);
      const obtaining = subjects.obtain(caller, signal);
      if (obtaining === undefined) throw withoutSubject(name, parts.what);
      return obtaining.then((obtained) => applySubject(headers, name, context, obtained));
    },
    refused({ name }, caller) {
      const token = subjects.known(caller)?.token ?? last.get(caller);
      return (token !== undefined || own !== undefined) && cache.renew(keyOf(name, caller, token));
    },
  };
}

async function ownCredential(
  own: NonNullable<ExchangeParts['own']>,
  backend: string,
  without: Set<string>,
  log: Log,
): Promise<Issued<string> | undefined> {
  const issued = await own(backend);
  if (issued !== undefined) {
    without.delete(backend);
  } else if (!without.has(backend)) {
    without.add(backend);
    log.warn('lists are read without a credential: the token endpoint issues none for the gateway itself', { backend });
  }
  return issued;
}

function withoutSubject(backend: string, what: string): GatewayFault {
  return new GatewayFault('AUTH_STRATEGY_REFUSED', `backend "${backend}" needs ${what}, but this caller has no token`);
}
