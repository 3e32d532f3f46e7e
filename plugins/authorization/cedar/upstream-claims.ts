import { type Caller, type Core, GatewayFault } from '@toolmgr/core';
import { type UpstreamToken, upstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { unknownUpstream } from '@toolmgr/plugins/kit/oauth/settings';

/** The claims that policies read when they are those of an upstream provider. */
export interface UpstreamClaims {
  /** The caller with the claims of its upstream token, when the token is here. */
  known(caller: Caller): Caller | undefined;
  /** The same, read or refreshed first. @throws the faults of `UpstreamTokens.obtain` */
  read(caller: Caller, signal: AbortSignal): Promise<Caller>;
}

/**
 * Creates the claims of one provider. The principal is the `sub` of that provider too. The first provider also gives
 * `name` and `email` of the issued token, which are its own, when the access token has none.
 * @throws GatewayFault PLAN_INVALID without an authorization server, and for a name that it does not have
 */
export function createUpstreamClaims({ slot }: Pick<Core, 'slot'>, provider: string): UpstreamClaims {
  const wrong = (why: string) =>
    new GatewayFault('PLAN_INVALID', `authorization/cedar: primaryUpstreamProvider: ${why}`);
  const servers = slot(upstreamTokens);
  if (!servers.has(SERVER)) {
    throw wrong(`"${provider}" is a provider of the authorization server, and there is none; add authServerConfig`);
  }
  const tokens = servers.get(SERVER);
  const { providers } = tokens;
  if (!providers.includes(provider)) throw wrong(unknownUpstream(provider, providers));
  const added = providers[0] === provider ? OF_FIRST : [];
  // the same caller object for the same claims, because facts are cached by it
  const seen = new WeakMap<Caller, { readonly token: UpstreamToken; readonly caller: Caller }>();
  const withClaims = (caller: Caller, token: UpstreamToken): Caller => {
    const last = seen.get(caller);
    if (last?.token.claims === token.claims) return last.caller;
    const ofIssued = added.filter((name) => Object.hasOwn(caller.claims, name));
    const claims = {
      ...Object.fromEntries(ofIssued.map((name) => [name, caller.claims[name] ?? null])),
      ...token.claims,
    };
    const subject = typeof claims.sub === 'string' ? claims.sub : caller.subject;
    const made = { ...caller, subject, claims };
    seen.set(caller, { token, caller: made });
    return made;
  };
  return {
    known(caller) {
      const token = tokens.known(caller, provider);
      return token === undefined ? undefined : withClaims(caller, token);
    },
    read: async (caller, signal) => withClaims(caller, await tokens.obtain(caller, provider, signal)),
  };
}

/** The only name in the slot `upstreamTokens`. */
const SERVER = 'auth-server';

/** Claims of the issued token that come from the first provider. */
const OF_FIRST: readonly string[] = ['name', 'email'];
