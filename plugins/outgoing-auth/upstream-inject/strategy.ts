import { type Authorizer, type AuthStrategy, type Core, explainIssues, GatewayFault, type Log } from '@toolmgr/core';
import { bearerValue } from '@toolmgr/plugins/kit/credentials';
import type { UpstreamToken, UpstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { upstreamTokensFor, warnWithoutInjection } from '@toolmgr/plugins/kit/oauth/settings';
import { upstreamInjectOptions } from './config.ts';
import { createRefusedTokens, type RefusedTokens } from './refused-tokens.ts';

/** Creates the strategy `upstream_inject`. */
export function createUpstreamInject(parts: {
  readonly slot: Core['slot'];
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
}): AuthStrategy {
  return {
    async prepare(given, where) {
      const read = upstreamInjectOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, upstreamInjectOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const { providerName: provider } = read.data;
      const header = read.data.headerName.toLowerCase();
      const tokens = upstreamTokensFor(parts, provider, { where, option: 'providerName' });
      if (tokens !== undefined && !tokens.isInjectionDisabled) {
        return createAuthorizer(tokens, createRefusedTokens(parts.now), provider, header);
      }
      warnWithoutInjection(parts.log, 'upstream_inject', where);
      return { headerNames: [header], apply: () => undefined };
    },
  };
}

/**
 * Synchronous while the token is known. The gateway's own requests, e.g. for lists, have no caller and carry no credential.
 */
function createAuthorizer(
  tokens: UpstreamTokens,
  refused: RefusedTokens,
  provider: string,
  header: string,
): Authorizer {
  const values = new WeakMap<UpstreamToken, string>();
  const add = (headers: Record<string, string>, backend: string, token: UpstreamToken): void => {
    const value = values.get(token) ?? bearerValue(token.accessToken);
    if (value === undefined) throw unsendable(backend, provider);
    values.set(token, value);
    headers[header] = value;
  };
  return {
    headerNames: [header],
    perCaller: true,
    apply({ headers, backend }, { caller, purpose, signal }) {
      if (purpose === 'discovery') return;
      const known = tokens.known(caller, provider);
      if (known !== undefined && !refused.has(backend.name, caller, known)) return add(headers, backend.name, known);
      return tokens.obtain(caller, provider, signal).then(async (token) => {
        if (refused.has(backend.name, caller, token)) throw await tokens.signInAgain(caller, provider);
        add(headers, backend.name, token);
      });
    },
    refused(backend, caller) {
      const sent = tokens.known(caller, provider);
      return tokens.refused(caller, provider) || (sent !== undefined && refused.note(backend.name, caller, sent));
    },
  };
}

function unsendable(backend: string, provider: string): GatewayFault {
  const message = `backend "${backend}": the access token of ${provider} is not a valid header value`;
  return new GatewayFault('AUTH_STRATEGY_FAILED', message);
}
